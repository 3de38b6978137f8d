"""What the kernel tells of changes in some folders (inotify, Linux only).

Read at a question and not by a thread: an event is in the queue before the call that caused it
returns, so whatever was written before the question is told. What it does not tell: writes through
a shared mapping or a hard link elsewhere, and changes by other machines. So there is no watch on a
file system that others write, and whoever uses one looks at the disk himself now and then.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from codelens.scope.mount_table import mount_of, mounts

_LOCAL = frozenset(
    {b"ext2", b"ext3", b"ext4", b"xfs", b"btrfs", b"zfs", b"f2fs", b"tmpfs", b"overlay"}
)
"""File systems that nobody else writes."""
_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
_SHARE = 2
"""A watch takes one in so many of the watches that a user may have; others need some, too."""
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16
_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS = 0x0100_0000, 0x0200_0000
_ASKED = (
    _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
    | _ONLY_FOLDERS | _NO_LINKS
)  # fmt: skip
_LOST = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED


class Events(NamedTuple):
    """What happened since the last reading."""

    paths: set[bytes]
    """Entries of watched folders, relative to the root."""
    lost: bool
    """A watched folder went or moved, or there was too much to be told: nothing is known any more.

    A folder that came is told as an entry of the one it lies in, and is not watched yet.
    """


class WatchRefused(OSError):
    """There can be no watch; the text says why, and what helps."""


class FolderWatch:
    """Watches of folders below a root.

    Raises:
        WatchRefused: there can be none: another system, a file system that others write, no
            instance left.
    """

    def __init__(self, root: bytes) -> None:
        if not _is_local(root):
            raise WatchRefused("changes of this file system are not told")
        self._limit = _limit(_LIMIT)
        self._root = root.rstrip(b"/") + b"/"
        self._folder_of: dict[int, bytes] = {}
        self._fd = -1
        try:
            self._fd = _checked(_library().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError as error:
            raise WatchRefused(_no_instance(error)) from error

    def add(self, folders: Iterable[bytes]) -> None:
        """Watch folders, relative to the root.

        Raises:
            WatchRefused: there are no watches left, or these would be too many.
            OSError: one cannot be watched.
        """
        add_watch = _library().inotify_add_watch
        for folder in folders:
            if len(self._folder_of) >= self._limit // _SHARE:
                raise WatchRefused(
                    f"it has more folders than half of the {self._limit:,} inotify watches that a "
                    f"user may have; {_raise(_LIMIT)}"
                )
            try:
                number = _checked(add_watch(self._fd, self._root + folder, _ASKED))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                raise WatchRefused(
                    f"the user's {self._limit:,} inotify watches are used up; {_raise(_LIMIT)}"
                ) from error
            self._folder_of[number] = folder

    def read(self) -> Events:
        """What was told since the last time; never waits."""
        paths: set[bytes] = set()
        lost = False
        while True:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except BlockingIOError:
                return Events(paths, lost)
            at = 0
            while at < len(data):
                number, mask, _, size = _EVENT.unpack_from(data, at)
                at += _EVENT.size + size
                folder = self._folder_of.get(number)
                if folder is None or mask & _LOST:
                    lost = True
                    continue
                name = data[at - size : at].rstrip(b"\0")
                paths.add(os.path.join(folder, name) if name else folder)

    def close(self) -> None:
        """End all watches."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def _is_local(root: bytes) -> bool:
    if sys.platform != "linux":
        return False
    table = mounts()
    mount = mount_of(os.fsdecode(root), table)
    if mount is None or mount.filesystem.split(b" ")[0] not in _LOCAL:
        return False
    below = root.rstrip(b"/") + b"/"
    return not any(other.point.startswith(below) for other in table)


def _limit(file: Path) -> int:
    try:
        return int(file.read_text())
    except (OSError, ValueError) as error:
        raise WatchRefused(f"the limit of inotify watches cannot be read ({file})") from error


def _no_instance(error: OSError) -> str:
    if error.errno != errno.EMFILE:
        return error.strerror or str(error)
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return "the process has as many files open as it may; raise `ulimit -n`"
    most = f"{_limit(_INSTANCES):,} " if _INSTANCES.exists() else ""
    return f"the user's {most}inotify instances are used up; {_raise(_INSTANCES)}"


def _raise(limit: Path) -> str:
    """What an administrator can do."""
    name = f"{limit.parent.parent.name}.{limit.parent.name}.{limit.name}"
    return f"raise it with `sysctl {name}=N`, and start the server again"


def _checked(number: int) -> int:
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return number


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
