"""Where a path leads: links that leave a worktree are reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.scope.location import link_out


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"src/a.py": "a = 1\n"})
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    os.symlink("../outside", made.path("out"))
    os.symlink("src", made.path("in"))
    os.symlink("loop", made.path("loop"))
    os.symlink("none", made.path("dangling"))
    return made


@pytest.mark.parametrize("path", ["out", "out/deep", "out/none", "in/../out", "src/../out/."])
def test_a_path_by_a_link_out_is_reported(repo: GitRepo, path: str) -> None:
    found = link_out(f"{repo.root}/{path}")
    assert found is not None
    assert found[:2] == (str(repo.root / "out"), str(repo.root))
    assert found.target == str(repo.root.parent / "outside")


@pytest.mark.parametrize("path", ["", "src/a.py", "in/a.py", "in", "loop", "dangling", "none/x"])
def test_a_path_that_stays_inside_is_not_reported(repo: GitRepo, path: str) -> None:
    assert link_out(f"{repo.root}/{path}") is None


def test_links_to_plain_folders_are_allowed(repo: GitRepo, tmp_path: Path) -> None:
    os.symlink(repo.root, tmp_path / "project")
    assert link_out(tmp_path / "project" / "src") is None
    assert link_out(tmp_path / "project" / "out") is not None


def test_links_in_a_home_folder_under_git_are_allowed(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = GitRepo.init(tmp_path / "home")
    os.symlink(repo.root, home.path("project"))
    monkeypatch.setenv("HOME", str(home.root))
    assert link_out("~/project/src") is None


def test_a_link_into_a_nested_repository_of_the_worktree_stays(repo: GitRepo) -> None:
    nested = GitRepo.init(repo.root / "vendor")
    os.symlink("vendor", repo.path("by-link"))
    assert link_out(repo.root / "by-link") is None
    os.symlink("..", nested.path("up"))
    found = link_out(nested.root / "up")
    assert found is not None
    assert found.worktree == str(nested.root)
