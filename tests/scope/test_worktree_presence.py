"""A folder counts as gone only if that is certain: not if unmounted, locked or hidden."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hang_alarm import end_after, guarded

from codelens.scope.location import mount_of, mounts
from codelens.scope.repository import Repository, listed_worktrees
from codelens.scope.worktree_presence import Whereabouts, presence, repository_state, whereabouts


class Place:
    """A repository with a linked worktree."""

    def __init__(self, folder: Path) -> None:
        self.main = GitRepo.init(folder / "repo")
        self.main.commit("first", {"a.py": "x = 1\n"})
        self.linked = self.main.worktree(folder / "linked", branch="other")
        scope = Repository.at(self.main.root).scope()
        self.repo_id, self.common_dir = scope.repo_id, scope.common_dir

    def of(self, root: Path, seen: Whereabouts | None, *, printed: bool = False) -> str:
        return presence(str(root), self.repo_id, self.common_dir, seen, printed=printed).state


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(Path(os.path.realpath(tmp_path)))


def test_an_existing_worktree_is_there_with_its_scope(place: Place) -> None:
    found = presence(str(place.linked.root), place.repo_id, place.common_dir, None, printed=False)
    assert found == ("there", Repository.at(place.linked.root).scope().key)


def test_a_removed_worktree_on_a_disk_that_is_there_is_gone(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, seen) == "gone"


def test_one_on_a_missing_disk_is_out_of_reach(place: Place) -> None:
    seen = Whereabouts(os.fsencode(place.linked.root.parent), "fsid 12345")
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, seen) == "unreachable"


def test_one_whose_mount_point_has_another_disk_is_out_of_reach(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))._replace(filesystem="fsid 12345")
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, seen) == "unreachable"


def test_one_that_was_never_seen_is_out_of_reach_even_if_git_lists_it(place: Place) -> None:
    shutil.rmtree(place.linked.root)
    assert place.of(place.linked.root, None) == "unreachable"
    # As `git gc` does to a worktree whose disk was not mounted for three months.
    place.main.git("worktree", "prune")
    assert place.of(place.linked.root, None) == "unreachable"


def test_one_that_git_struck_off_while_its_disk_is_away_is_out_of_reach(place: Place) -> None:
    seen = whereabouts(str(place.linked.root))._replace(filesystem="fsid 12345")
    place.main.git("worktree", "remove", "--force", place.linked.root)
    assert place.of(place.linked.root, seen) == "unreachable"


def test_a_main_worktree_far_from_its_git_folder_is_gone_only_from_its_disk(tmp_path: Path) -> None:
    scratch = Path(os.path.realpath(tmp_path))
    source = GitRepo.init(scratch / "source")
    source.commit("first", {"a.py": "x = 1\n"})
    root = scratch / "far" / "x"
    source.git("clone", "-q", f"--separate-git-dir={scratch / 'git'}", source.root, root)
    scope = Repository.at(root).scope()
    seen = whereabouts(str(root))
    shutil.rmtree(root)

    def state(where: Whereabouts | None) -> str:
        return presence(str(root), scope.repo_id, scope.common_dir, where, printed=False).state

    assert state(seen._replace(mount=os.fsencode(root.parent))) == "unreachable"
    assert state(seen._replace(filesystem="fsid 12345")) == "unreachable"
    assert state(None) == "unreachable"
    assert state(seen) == "gone"


def mounted(source: Path, at: Path, *options: str) -> None:
    """Mounts, or skips the test if that is impossible."""
    if not os.path.exists("/proc/self/mountinfo"):
        pytest.skip("no table of mounts here")
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount")
    done = subprocess.run(["mount", *options, source, at], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.decode()}")


@pytest.mark.parametrize("options", [["--bind"], ["-t", "tmpfs"]], ids=["bind", "tmpfs"])
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_a_repository_on_a_mount_that_is_gone_is_out_of_reach(
    tmp_path: Path, options: list[str], far: bool
) -> None:
    scratch = Path(os.path.realpath(tmp_path))
    real, at, git = scratch / "real", scratch / "at", scratch / "git"
    real.mkdir()
    at.mkdir()
    origin = GitRepo.init(scratch / "origin")
    origin.commit("first", {"a.py": "x = 1\n"})
    mounted(real, at, *options)
    try:
        origin.git("clone", "-q", *([f"--separate-git-dir={git}"] if far else []),
                   origin.root, at / "x")  # fmt: skip
        scope = Repository.at(at / "x").scope()
        seen, own = whereabouts(scope.root), whereabouts(scope.common_dir)

        def state() -> str:
            return presence(scope.root, scope.repo_id, scope.common_dir, seen, printed=False).state

        assert state() == "there"
        subprocess.run(["umount", at], check=True)
        assert state() == "unreachable"
        assert repository_state(scope.common_dir, own) == ("there" if far else "unreachable")
        mounted(scratch / "origin", at, "--bind")
        assert state() == "unreachable", "another folder is mounted at the same place"
        assert repository_state(scope.common_dir, own) == ("there" if far else "unreachable")
        subprocess.run(["umount", at], check=True)
        mounted(real, at, *options)
        if "--bind" in options:
            assert state() == "there"
            shutil.rmtree(at / "x")
            assert state() == "gone"
        else:
            assert state() == "unreachable", "another disk is mounted at the same place"
    finally:
        while os.path.exists("/proc/self/mountinfo") and mount_of(str(at), mounts()) != mount_of(
            str(scratch), mounts()
        ):
            subprocess.run(["umount", at], check=True)


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_in_the_notes_on_a_worktree_is_not_waited_for(place: Place) -> None:
    admin = Path(place.common_dir, "worktrees")
    shutil.copytree(admin / "linked", admin / "other")
    (admin / "other/gitdir").unlink()
    os.mkfifo(admin / "other/gitdir")
    with guarded():
        end_after(60)
        assert listed_worktrees(place.common_dir) == {str(place.linked.root): False}
        assert Repository.at(place.main.root).worktrees() == [str(place.linked.root)]


def test_a_repository_is_gone_only_from_a_disk_that_is_there(place: Place) -> None:
    seen = whereabouts(place.common_dir)
    assert repository_state(place.common_dir, seen) == "there"
    shutil.rmtree(place.main.root)
    assert repository_state(place.common_dir, seen) == "gone"
    assert repository_state(place.common_dir, None) == "unreachable"
    assert repository_state(place.common_dir, seen._replace(mount=b"/mnt/disk")) == "unreachable"
