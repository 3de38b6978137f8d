"""Repositories inside a worktree are separate: which folders git takes for one."""

from __future__ import annotations

import os
from pathlib import Path

from gitrepo import GitRepo
from membership_trees import expected, found_as_git_lists, listed, track, walk, walker

from codelens.scope.ignore_rules import IgnoreSettings
from codelens.scope.membership import marks_hold


def nested_kinds(repo: GitRepo, outside: Path) -> dict[str, bool]:
    """Makes a folder for each kind of `.git`; returns whether git sees a repository."""
    kinds = {
        "empty-git": False, "gitfile-nowhere": False, "no-gitfile": False, "unborn": True,
        "cloned": True, "gitfile": True, "gitfile-relative": True, "bare-inside": False,
        "no-refs": False, "bad-head": False, "head-link": True, "detached": True, "git-link": True,
        "gitfile-tail": True, "gitfile-empty": False, "gitfile-no-space": False, "fifo-git": False,
        "gitfile-large": False,
    }  # fmt: skip
    for kind in kinds:
        repo.write(f"{kind}/file", kind)
    repo.path("empty-git/.git").mkdir()
    repo.write("gitfile-nowhere/.git", "gitdir: ../nowhere\n")
    repo.write("no-gitfile/.git", "no git file\n")
    GitRepo.init(repo.path("unborn"))
    outer = GitRepo.init(outside)
    outer.commit("one", {"x": ""})
    for kind in ("cloned", "no-refs", "bad-head", "head-link", "detached"):
        GitRepo.init(repo.path(kind)).commit("one", {"x": ""})
    repo.write("gitfile/.git", f"gitdir: {outside}/.git\n")
    repo.write("gitfile-relative/.git", "gitdir: ../cloned/.git")
    repo.write("gitfile-tail/.git", "gitdir: ../cloned/.git\r\n\r\n")
    repo.write("gitfile-empty/.git", "gitdir: \n")
    repo.write("gitfile-no-space/.git", "gitdir:../cloned/.git\n")
    repo.write("gitfile-large/.git", "gitdir: ../cloned/.git\n".ljust((1 << 20) + 1, "\n"))
    repo.git("init", "-q", "--bare", "bare-inside/bare.git")
    repo.path("no-refs/.git/refs").rename(repo.path("no-refs/.git/other"))
    repo.write("bad-head/.git/HEAD", "ref: nonsense\n")
    repo.path("head-link/.git/HEAD").unlink()
    repo.path("head-link/.git/HEAD").symlink_to("refs/heads/gone")
    GitRepo(repo.path("detached")).checkout("--detach")
    repo.path("git-link/.git").symlink_to(outside / ".git")
    os.mkfifo(repo.path("fifo-git/.git"))
    return kinds


def test_nested_repositories_are_those_of_git(repo: GitRepo, tmp_path: Path) -> None:
    kinds = nested_kinds(repo, tmp_path / "outside")

    found = walk(repo)

    assert listed(found) == expected(repo)
    assert {path.decode() for path in found.nested} == {
        kind for kind, is_one in kinds.items() if is_one
    }
    assert found.marks == {
        kind.encode(): is_one for kind, is_one in kinds.items() if kind != "bare-inside"
    }
    assert not [path for path in found.files if b"/.git" in path]


def test_a_linked_worktree_inside_is_nested(repo: GitRepo) -> None:
    repo.commit("one", {"a": ""})
    linked = repo.worktree(repo.path("trees/linked"), branch="other")
    linked.write("b")

    assert found_as_git_lists(repo) == {b"a", b"trees/linked/"}
    assert found_as_git_lists(linked) == {b"a", b"b"}


def test_an_ignored_nested_repository_is_not_reported(repo: GitRepo) -> None:
    GitRepo.init(repo.path("vendor/lib")).commit("one", {"x": ""})
    repo.write(".gitignore", "/vendor/\n")
    assert found_as_git_lists(repo) == {b".gitignore"}


def test_a_folder_with_tracked_files_is_not_a_nested_repository(repo: GitRepo) -> None:
    repo.commit("one", {"sub/tracked": "", "other": ""})
    GitRepo.init(repo.path("sub")).write("untracked")

    found = walk(repo)

    assert listed(found) == expected(repo) == {b"other", b"sub/tracked", b"sub/untracked"}
    assert found.marks == {}


def test_with_ignore_case_tracked_files_and_submodules_are_known_in_any_case(
    repo: GitRepo,
) -> None:
    for name in ("sub", "module"):
        GitRepo.init(repo.path(name)).write("untracked")
    track(repo, {b"Sub/tracked": b"100644", b"Module": b"160000"})
    assert found_as_git_lists(repo) == {b"sub/", b"module/"}
    repo.config("core.ignoreCase", "true")

    found = walker(repo, IgnoreSettings("", ignore_case=True)).walk()

    assert listed(found) == expected(repo) == {b"sub/untracked"}
    assert found.gitlinks == {b"module"}


def test_a_submodule_is_reported_and_not_entered(repo: GitRepo) -> None:
    inner = GitRepo.init(repo.path("sub"))
    commit = inner.commit("one", {"x": ""})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},absent")
    repo.write("file")

    found = walk(repo)

    assert found.gitlinks == {b"sub"}
    assert listed(found) == expected(repo) == {b"file"}


def test_a_dot_git_below_never_belongs(repo: GitRepo) -> None:
    repo.write_all({"a/.git/config": "", "b/.git": "", "c/.GIT": ""})
    assert found_as_git_lists(repo) == {b"c/.GIT"}
    repo.config("core.ignoreCase", "true")
    found = walker(repo, IgnoreSettings("", ignore_case=True)).walk()
    assert listed(found) == expected(repo) == set()


def test_a_mark_shows_that_a_folder_became_a_repository_or_ceased_to_be_one(repo: GitRepo) -> None:
    repo.write("half/file")
    repo.path("half/.git").mkdir()
    before = walk(repo)
    assert marks_hold(repo.root, before.marks.items())
    GitRepo.init(repo.path("half"))
    assert not marks_hold(repo.root, before.marks.items())
    after = walk(repo)
    assert marks_hold(repo.root, after.marks.items())
    repo.remove("half/.git/HEAD")
    assert not marks_hold(repo.root, after.marks.items())
