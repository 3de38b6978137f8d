"""Determines whether an indexed folder still exists: worktrees are moved and disks unmounted.

A folder counts as removed only if it is missing while the disk that it was on is still mounted. In
all other cases its state is unknown. git's list of worktrees is no evidence: git also drops
worktrees on unmounted disks, and never lists a main worktree, which may be far from its `.git`.
"""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from codelens.errors import ScopeError
from codelens.scope.location import mount_of, mounts
from codelens.scope.repository import Repository, listed_worktrees

State = Literal["there", "gone", "unreachable"]


_NO_FSID = "fsid 0"
"""Some file systems, such as FUSE, have no id."""


class Whereabouts(NamedTuple):
    """The file system of a folder."""

    mount: bytes
    """The mount point."""
    filesystem: str
    """Identifies the file system, and which of its folders is mounted there."""


class Presence(NamedTuple):
    """The current state of a worktree or folder."""

    state: State
    key: str = ""
    """The `Scope.key` of the folder's current view, if the folder is there."""


def whereabouts(folder: str) -> Whereabouts:
    """Returns the file system of a folder, by its nearest existing parent.

    Raises:
        OSError: a parent cannot be read.
    """
    here = os.path.abspath(folder)
    while not os.path.lexists(here):
        here = os.path.dirname(here)
    here = os.path.realpath(here)
    mount = mount_of(here, mounts())
    if mount is None:
        while not os.path.ismount(here):
            here = os.path.dirname(here)
        return Whereabouts(os.fsencode(here), _filesystem(here))
    filesystem = _filesystem(os.fsdecode(mount.point))
    if filesystem == _NO_FSID:
        filesystem += f" {_text(mount.filesystem)}"
    if mount.within != b"/":
        filesystem += f" within {_text(mount.within)}"
    return Whereabouts(mount.point, filesystem)


def _filesystem(mount: str) -> str:
    if hasattr(os, "statvfs"):
        return f"fsid {os.statvfs(mount).f_fsid}"
    return f"dev {os.stat(mount).st_dev}"


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def presence(
    folder: str, repo_id: str, common_dir: str, seen: Whereabouts | None, *, printed: bool
) -> Presence:
    """Returns the state of a folder of a repository.

    Args:
        folder: its root, as recorded in a view.
        repo_id: of the repository.
        common_dir: the repository's own folder; empty if unknown.
        seen: where the folder was when it was last there.
        printed: `folder` is the printed form of a path that is not UTF-8, so the real folder may
            exist.
    """
    try:
        if os.path.isdir(folder):
            repository = Repository.at(folder)
            if repository.place.root == folder:
                scope = repository.scope()
                if scope.repo_id == repo_id:
                    return Presence("there", scope.key)
        elif _is_hidden(folder):
            return Presence("unreachable")
    except (ScopeError, OSError):
        return Presence("unreachable")
    if printed or not _is_removed(folder, common_dir, seen):
        return Presence("unreachable")
    return Presence("gone")


def repository_state(common_dir: str, seen: Whereabouts | None) -> State:
    """Returns the state of a repository's own folder."""
    if os.path.isdir(common_dir):
        return "there"
    if _is_hidden(common_dir) or not _on_the_same_disk(common_dir, seen):
        return "unreachable"
    return "gone"


def _is_hidden(folder: str) -> bool:
    """Whether an error prevents a check of the folder's existence."""
    try:
        os.stat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return False


def _is_removed(folder: str, common_dir: str, seen: Whereabouts | None) -> bool:
    try:
        locked = bool(common_dir) and listed_worktrees(common_dir).get(folder, False)
    except OSError:
        locked = False
    return not locked and _on_the_same_disk(folder, seen)


def _on_the_same_disk(folder: str, seen: Whereabouts | None) -> bool:
    try:
        return seen is not None and whereabouts(folder) == seen
    except OSError:
        return False
