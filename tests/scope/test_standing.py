"""A folder is gone only if it surely is: not on an unmounted disk, not when locked or hidden."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.scope.repository import Repository
from codelens.scope.standing import (
    Whereabouts,
    listed_worktrees,
    repository_state,
    standing,
    whereabouts,
)


class Place:
    """A repository with a linked worktree."""

    def __init__(self, folder: Path) -> None:
        self.main = GitRepo.init(folder / "repo")
        self.main.commit("first", {"a.py": "x = 1\n"})
        self.linked = self.main.worktree(folder / "linked", branch="other")
        scope = Repository.at(self.main.root).scope()
        self.repo_id, self.common_dir = scope.repo_id, scope.common_dir

    def of(self, root: Path, seen: Whereabouts | None, *, printed: bool = False) -> str:
        return standing(str(root), self.repo_id, self.common_dir, seen, printed=printed).state


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(Path(os.path.realpath(tmp_path)))


def test_a_worktree_that_is_there_says_what_it_stands_on(place: Place) -> None:
    found = standing(str(place.linked.root), place.repo_id, place.common_dir, None, printed=False)
    assert found == ("there", Repository.at(place.linked.root).scope().key)


def test_a_removed_worktree_on_a_disk_that_is_there_is_gone(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, seen) == "gone"


def test_one_whose_disk_is_not_there_is_out_of_reach(place: Place) -> None:
    seen = Whereabouts(os.fsencode(place.linked.root.parent), "fsid 12345")
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, seen) == "unreachable"


def test_one_on_whose_mount_point_another_disk_lies_is_out_of_reach(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))._replace(filesystem="fsid 12345")
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, seen) == "unreachable"


def test_one_that_was_never_seen_is_gone_only_if_git_says_so(place: Place) -> None:
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, None) == "unreachable"
    place.main.git("worktree", "prune")
    assert place.of(place.linked.root, None) == "gone"


def test_a_locked_worktree_is_never_gone(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))
    place.main.git("worktree", "lock", place.linked.root)
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, seen) == "unreachable"


def test_a_worktree_moved_by_git_is_gone_where_it_was(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))
    place.main.git("worktree", "move", place.linked.root, place.linked.root.parent / "moved")
    assert place.of(place.linked.root, seen) == "gone"
    assert place.of(place.linked.root.parent / "moved", None) == "there"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_out_of_reach(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))
    parent = place.linked.root.parent
    parent.chmod(0)
    try:
        assert place.of(place.linked.root, seen) == "unreachable"
    finally:
        parent.chmod(0o700)


def test_a_worktree_that_cannot_be_opened_is_out_of_reach(place: Place) -> None:
    (place.linked.root / ".git").write_text("gitdir: /nowhere\n")
    assert place.of(place.linked.root, whereabouts(str(place.linked.root))) == "unreachable"


def test_a_folder_that_another_repository_took_is_gone(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))
    shutil.rmtree(place.linked.root)
    GitRepo.init(place.linked.root).commit("another")
    place.main.git("worktree", "prune")
    assert place.of(place.linked.root, seen) == "gone"


def test_a_missing_folder_whose_name_may_stand_for_another_proves_nothing(place: Place) -> None:
    root = place.main.root.parent / "caf\\xe9"
    seen = whereabouts(str(root))
    assert place.of(root, seen, printed=True) == "unreachable"


def test_worktrees_are_listed_with_their_locks(place: Place) -> None:
    assert listed_worktrees(place.common_dir) == {str(place.linked.root): False}
    place.main.git("worktree", "lock", place.linked.root)
    assert listed_worktrees(place.common_dir) == {str(place.linked.root): True}


def test_a_repository_is_gone_only_from_a_disk_that_is_there(place: Place) -> None:
    seen = whereabouts(place.common_dir)
    assert repository_state(place.common_dir, seen) == "there"
    shutil.rmtree(place.main.root)
    assert repository_state(place.common_dir, seen) == "gone"
    assert repository_state(place.common_dir, None) == "unreachable"
    assert repository_state(place.common_dir, seen._replace(mount=b"/mnt/disk")) == "unreachable"
