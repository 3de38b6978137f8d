"""Where links to code lead: editors by name, or an address; never one that a browser runs."""

from __future__ import annotations

import pytest

from codelens.errors import SettingError
from codelens.ui.page_questions import editor_template


@pytest.mark.parametrize(
    ("editor", "address"),
    [
        ("", "vscode://file{path}:{line}"),
        ("cursor", "cursor://file{path}:{line}"),
        ("none", ""),
        ("my-editor://open?file={path}&line={line}", "my-editor://open?file={path}&line={line}"),
    ],
)
def test_an_editor_has_an_address(editor: str, address: str) -> None:
    assert editor_template(editor) == address


@pytest.mark.parametrize(
    "editor",
    ["vim", "javascript://{path}", "data://{path}", "https://evil.example/{path}", "x://open",
     "JavaScript://{path}", "x://{path}\n", "x://{path}\"onclick"],
)  # fmt: skip
def test_links_that_no_editor_accepts_are_refused(editor: str) -> None:
    with pytest.raises(SettingError, match=r"unknown editor .* use one of vscode"):
        editor_template(editor)
