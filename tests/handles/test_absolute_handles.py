"""Handles with an absolute path, and the worktree that they belong to."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.handles.handle_grammar import common_worktree, in_worktree, parse_handle


@pytest.mark.parametrize("handle", ["a.py#B.c~2", "a.py:3-9", "a.py", "d/e f.py#x y"])
@pytest.mark.parametrize("ref", ["", "main", "feature/x"])
@pytest.mark.parametrize("name", ["repo", "with:colon", "with#sharp", "50%", "ünï"])
def test_an_absolute_handle_reads_as_the_relative_one(
    tmp_path: Path, handle: str, ref: str, name: str
) -> None:
    root = str(tmp_path / name)
    own = f"{ref}:{handle}" if ref else handle
    # Field by field: a bare handle may also be a name, an absolute one never is.
    read = parse_handle(in_worktree(own, root, ref), root)
    plain = parse_handle(own, root)
    assert (read.path, read.lines, read.ref) == (plain.path, plain.lines, plain.ref)
    if "#" in handle:
        assert (read.symbol, read.ordinal) == (plain.symbol, plain.ordinal)


def test_the_worktree_of_absolute_handles(tmp_path: Path) -> None:
    first, second = GitRepo.init(tmp_path / "a b"), GitRepo.init(tmp_path / "second")
    first.write("src/x.py", "pass\n")
    root = str(first.root)
    assert common_worktree([f"{root}/src/x.py#f", f"main:{root}/src/x.py:3-4"]) == root
    assert common_worktree([f"{root}/gone/deep/x.py"]) == root
    assert common_worktree([f"{root}/src/x.py", f"{second.root}/y.py"]) == ""
    assert common_worktree(["src/x.py"]) == ""
    assert common_worktree([f"{root}/src/x.py", "src/x.py"]) == ""
    assert common_worktree([]) == ""


def test_a_file_does_not_select_its_folder_without_git(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "secret.txt").write_text("x")
    assert common_worktree([str(tmp_path / "notes" / "secret.txt")]) == ""
