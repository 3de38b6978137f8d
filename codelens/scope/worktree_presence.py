"""Whether a folder that was indexed is still there: worktrees move, and disks are unmounted."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from codelens.errors import ScopeError
from codelens.scope.location import mount_of, mounts
from codelens.scope.repository import Repository, listed_worktrees

State = Literal["there", "gone", "unreachable"]


_NO_FSID = "fsid 0"
"""Some file systems, as of FUSE, have no id of their own."""


class Whereabouts(NamedTuple):
    """The file system a folder lies on."""

    mount: bytes
    """Its mount point."""
    filesystem: str
    """Tells it, and the folder of it that is mounted, from others mounted there."""


class Standing(NamedTuple):
    """How it is with a worktree or folder now."""

    state: State
    key: str = ""
    """`Scope.key` of what it stands on, where it is there."""


def whereabouts(folder: str) -> Whereabouts:
    """Where a folder lies, or would lie: by its nearest parent that exists.

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


def standing(
    folder: str, repo_id: str, common_dir: str, seen: Whereabouts | None, *, printed: bool
) -> Standing:
    """How it is with a folder of a repository.

    Args:
        folder: its root, as a view keeps it.
        repo_id: of the repository.
        common_dir: the repository's own folder; empty where it is not known.
        seen: where the folder was when it was last there.
        printed: `folder` is text that may stand for other bytes: then a missing one proves nothing.
    """
    try:
        if os.path.isdir(folder):
            repository = Repository.at(folder)
            if repository.place.root == folder:
                scope = repository.scope()
                if scope.repo_id == repo_id:
                    return Standing("there", scope.key)
        elif _is_hidden(folder):
            return Standing("unreachable")
    except (ScopeError, OSError):
        return Standing("unreachable")
    if printed or not _is_removed(folder, common_dir, seen):
        return Standing("unreachable")
    return Standing("gone")


def repository_state(common_dir: str, seen: Whereabouts | None) -> State:
    """How it is with a repository's own folder."""
    if os.path.isdir(common_dir):
        return "there"
    if _is_hidden(common_dir) or not _on_the_same_disk(common_dir, seen):
        return "unreachable"
    return "gone"


def _is_hidden(folder: str) -> bool:
    """Whether it may be there without being seen."""
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
