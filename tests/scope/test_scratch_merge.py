"""git's own merge in a scratch folder: what it writes there, and that nothing stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.errors import ReadError
from codelens.scope.repository import Repository
from codelens.scope.scratch_merge import ScratchMerge

EDIT = {b"lib.py": (0o100644, b"x = 2\n")}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("lib.py", "x = 1\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "one")
    return repo


def test_merges_are_written_to_the_folder_of_TMPDIR(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch_folder = tmp_path / "scratch"
    scratch_folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch_folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    commit = repo.head()
    with ScratchMerge(Repository.at(repo.root), {}) as scratch:
        mine = scratch.with_edits(commit, EDIT)
        theirs = scratch.with_edits(commit, {b"lib.py": (0o100644, b"x = 3\n")})
        assert os.listdir(scratch_folder)
        (merge,) = scratch.merges([(mine, theirs)])
    assert merge.paths == (b"lib.py",)
    assert os.listdir(scratch_folder) == []


def test_no_room_for_uncommitted_edits_is_a_read_error(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with ScratchMerge(Repository.at(repo.root), {}) as scratch:
        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(ReadError, match=r"No space left.*set TMPDIR"):
            scratch.with_edits(repo.head(), EDIT)
