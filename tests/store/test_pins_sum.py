"""A pin that reads differently than it was written is restored from the copy, or reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codelens.errors import StoreError
from codelens.store.saved import pins

SCOPE = "worktree:/home/me/lamp:main"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "pins" / "pins-1.json"
    pins.set_pinned(file, SCOPE, pinned=True)
    return file


def test_a_letter_that_changed_is_noticed_and_restored(path: Path) -> None:
    text = path.read_text()
    for at in [at for at in range(len(text)) if text[at].isalpha()]:
        changed = text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]
        path.write_text(changed)
        assert pins.pinned_scopes(path) == {SCOPE}, changed
        path.write_text(text)


def test_an_unusable_copy_is_reported_as_well(path: Path) -> None:
    for file in (path, path.with_name(f"{path.name}.backup")):
        file.write_text(file.read_text().replace("lamp", "lump"))
    with pytest.raises(StoreError, match="checksum does not match"):
        pins.pinned_scopes(path)


def test_a_file_of_an_earlier_version_has_no_sum_and_is_taken(path: Path) -> None:
    fields = json.loads(path.read_text())
    del fields["sum"]
    path.write_text(json.dumps(fields))
    assert pins.pinned_scopes(path) == {SCOPE}
