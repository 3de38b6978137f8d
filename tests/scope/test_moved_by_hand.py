"""Worktrees, submodules and git folders moved with `mv`: as git handles them, or with a remedy."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment

from codelens.errors import UnsupportedRepository
from codelens.scope.repository import Repository
from codelens.scope.uncommitted_changes import is_dirty


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"lamp.py": "lit = True\n"})
    return made


def _submodule(repo: GitRepo, tmp_path: Path) -> GitRepo:
    above = GitRepo.init(tmp_path / "above")
    above.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.root), "lib"
    )
    return above


def _why_not(root: Path) -> str:
    with pytest.raises(UnsupportedRepository) as caught:
        Repository.at(root)
    return str(caught.value)


def test_a_linked_worktree_that_was_moved_stays_one(repo: GitRepo, tmp_path: Path) -> None:
    repo.worktree(tmp_path / "was", branch="side")
    (tmp_path / "was").rename(tmp_path / "now")
    now = GitRepo(tmp_path / "now")
    assert now.text("status", "--porcelain") == ""
    found = Repository.at(now.root)
    assert (found.place.root, found.scope().branch) == (str(now.root), "side")
    assert found.scope().repo_id == Repository.at(repo.root).scope().repo_id
    assert is_dirty(found) is False
    now.write("lamp.py", "lit = False\n")
    assert is_dirty(found) is True


def test_each_copy_of_a_worktree_has_its_own_files(repo: GitRepo, tmp_path: Path) -> None:
    first = repo.worktree(tmp_path / "first", branch="side")
    shutil.copytree(first.root, tmp_path / "second")
    first.write("lamp.py", "lit = False\n")
    found = Repository.at(tmp_path / "second")
    assert found.place.root == str(tmp_path / "second")
    assert (is_dirty(found), is_dirty(Repository.at(first.root))) == (False, True)


def test_a_linked_worktree_whose_files_are_elsewhere_is_refused(
    repo: GitRepo, tmp_path: Path
) -> None:
    linked = repo.worktree(tmp_path / "linked", branch="side")
    (tmp_path / "other").mkdir()
    repo.config("core.worktree", str(tmp_path / "other"))
    assert linked.text("rev-parse", "--show-toplevel") == str(linked.root)
    assert Repository.at(linked.root).place.root == str(linked.root)
    repo.git("config", "--unset", "core.worktree")
    repo.config("extensions.worktreeConfig", "true")
    linked.git("config", "--worktree", "core.worktree", str(tmp_path / "other"))
    assert linked.text("rev-parse", "--show-toplevel") == str(tmp_path / "other")
    assert f"core.worktree points to {str(tmp_path / 'other')!r};" in _why_not(linked.root)


def test_when_the_main_repository_moved_the_cure_works(repo: GitRepo, tmp_path: Path) -> None:
    linked = repo.worktree(tmp_path / "linked", branch="side")
    repo.root.rename(tmp_path / "moved")
    _run(_why_not(linked.root).split("`")[1], tmp_path / "moved")
    assert Repository.at(linked.root).scope().branch == "side"


def test_when_the_folder_that_core_worktree_names_is_gone_the_cure_works(
    repo: GitRepo, tmp_path: Path
) -> None:
    repo.config("core.worktree", str(tmp_path / "a b"))
    said = _why_not(repo.root)
    assert "which is gone" in said
    _run(said.split("`")[1], tmp_path)
    assert Repository.at(repo.root).place.root == str(repo.root)


def test_a_moved_submodule_is_refused_with_the_git_command(repo: GitRepo, tmp_path: Path) -> None:
    above = _submodule(repo, tmp_path)
    (above.root / "lib").rename(above.root / "lamps")
    assert "move the submodule back" in _why_not(above.root / "lamps")
    (above.root / "lamps").rename(tmp_path / "lamps")
    assert "git mv" in _why_not(tmp_path / "lamps")


def test_a_separate_git_folder_may_lie_anywhere_as_long_as_it_is_named(
    repo: GitRepo, tmp_path: Path
) -> None:
    GitRepo.clone(repo.root, tmp_path / "was", f"--separate-git-dir={tmp_path / 'git'}")
    now = (tmp_path / "was").rename(tmp_path / "now")
    assert Repository.at(now).place.root == str(now)
    moved = (tmp_path / "git").rename(tmp_path / "elsewhere")
    assert "write its new path" in _why_not(now)
    (now / ".git").write_text(f"gitdir: {moved}\n")
    assert Repository.at(now).place.root == str(now)


def _run(command: str, folder: Path) -> None:
    subprocess.run(
        shlex.split(command), cwd=folder, env=git_environment(), check=True, capture_output=True
    )
