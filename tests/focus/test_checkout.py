"""The hook reads its repository and branch from three files; `scope` with pygit2 agrees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.focus.checkout import checkout_at, head_commit, sibling_roots
from codelens.scope.repository import Repository


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "shop")
    made.commit("first", {"src/till.py": "x = 1\n"})
    return made


def same(path: Path) -> None:
    place, scope = checkout_at(str(path)), Repository.at(path).scope()
    assert (place.root, place.branch) == (scope.root, scope.branch)
    assert place.repository == scope.repo_id
    assert os.path.realpath(place.common_dir) == os.path.realpath(scope.common_dir)
    assert head_commit(place) == scope.head


def test_the_main_worktree_and_folders_below_it(repo: GitRepo) -> None:
    same(repo.root)
    same(repo.root / "src")
    same(repo.root / "src" / "till.py")


def test_a_linked_worktree(repo: GitRepo, tmp_path: Path) -> None:
    second = repo.worktree(tmp_path / "second", branch="feature/login")
    same(second.root)
    assert checkout_at(str(second.root)).branch == "feature/login"
    assert sibling_roots(checkout_at(str(second.root))) == [str(repo.root)]
    assert sibling_roots(checkout_at(str(repo.root))) == [str(second.root)]


def test_a_detached_head_packed_refs_and_a_branch_without_commits(repo: GitRepo) -> None:
    repo.git("pack-refs", "--all")
    same(repo.root)
    repo.git("checkout", "-q", "--detach")
    same(repo.root)
    assert checkout_at(str(repo.root)).label == repo.text("rev-parse", "HEAD")[:10]
    repo.git("checkout", "-q", "--orphan", "empty")
    same(repo.root)


def test_a_submodule_and_a_nested_repository(repo: GitRepo, tmp_path: Path) -> None:
    inner = GitRepo.init(repo.root / "vendor" / "inner")
    inner.commit("in", {"a.py": "a = 1\n"})
    same(inner.root)
    library = GitRepo.init(tmp_path / "library")
    library.commit("lib", {"b.py": "b = 1\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "sub")
    same(repo.root / "sub")


def test_a_plain_folder(tmp_path: Path) -> None:
    place = checkout_at(str(tmp_path))
    assert (place.root, place.branch, place.label) == (str(tmp_path), "", "")
    assert place.repository == Repository.at(tmp_path).scope().repo_id


@pytest.mark.parametrize("name", ["HEAD", "commondir"])
def test_anything_but_a_file_is_not_waited_for(repo: GitRepo, name: str) -> None:
    file = repo.root / ".git" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    assert checkout_at(str(repo.root)).branch == ("" if name == "HEAD" else "main")


def test_an_odd_git_file_is_a_plain_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"gitdir: nowhere\0\xff" + b"x" * 10_000)
    assert checkout_at(str(tmp_path)).root == str(tmp_path)
    (tmp_path / ".git").write_bytes(b"something else")
    assert checkout_at(str(tmp_path)).branch == ""
