"""Detects changes in a worktree through the kernel's inotify events (Linux only).

No thread reads events; each question does. The kernel queues an event before the system call that
caused it returns, so a question sees all earlier writes. inotify does not report writes through a
shared mapping or a hard link elsewhere, nor changes by other machines. Shared file systems are
therefore not watched, and users of a watch must still look at the disk now and then.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import struct
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import compress, count
from operator import is_not
from pathlib import Path
from typing import NamedTuple, Protocol

from codelens.scan.stat_check import Looked, look
from codelens.scope.location import mount_of, mounts

_LOCAL = frozenset(
    {b"ext2", b"ext3", b"ext4", b"xfs", b"btrfs", b"zfs", b"f2fs", b"tmpfs", b"overlay"}
)
"""File systems that no other machine writes to."""
_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
_SHARE = 2
"""One watch may use this fraction (one in so many) of the user's inotify watches, because other
programs need some too.
"""
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16
_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS = 0x0100_0000, 0x0200_0000
_WATCHED_EVENTS = (
    _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
    | _ONLY_FOLDERS | _NO_LINKS
)  # fmt: skip
_LOST = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED


class Events(NamedTuple):
    """The events since the last reading."""

    paths: set[bytes]
    """Entries of watched folders, relative to the root."""
    lost: bool
    """Whether a watched folder was removed or moved, or the kernel dropped events, so that other
    changes may have been missed.

    A new folder is reported as an entry of its parent, and is not watched yet.
    """


class WatchRefused(OSError):
    """The folder cannot be watched. The message says why, and what helps."""


class FolderWatch:
    """Watches folders below a root.

    Raises:
        WatchRefused: watching is impossible: another system, a shared file system, or no inotify
            instance left.
    """

    def __init__(self, root: bytes) -> None:
        if not _is_local(root):
            raise WatchRefused("this file system does not report changes")
        self._limit = _limit(_LIMIT)
        self._root = root.rstrip(b"/") + b"/"
        self._folder_of: dict[int, bytes] = {}
        self._fd = -1
        try:
            self._fd = _checked(_library().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError as error:
            raise WatchRefused(_no_instance(error)) from error

    def add(self, folders: Iterable[bytes]) -> None:
        """Watches folders, relative to the root.

        Raises:
            WatchRefused: no watches are left, or these folders would need too many.
            OSError: a folder cannot be watched.
        """
        add_watch = _library().inotify_add_watch
        for folder in folders:
            if len(self._folder_of) >= self._limit // _SHARE:
                raise WatchRefused(
                    f"it has more folders than half of the {self._limit:,} inotify watches that a "
                    f"user may have; {_raise(_LIMIT)}"
                )
            try:
                number = _checked(add_watch(self._fd, self._root + folder, _WATCHED_EVENTS))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                raise WatchRefused(
                    f"the user's {self._limit:,} inotify watches are used up; {_raise(_LIMIT)}"
                ) from error
            self._folder_of[number] = folder

    def read(self) -> Events:
        """Returns the events since the last call. Never waits."""
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
        """Ends all watches."""
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
        return "the process has reached its limit of open files; raise `ulimit -n`"
    most = f"{_limit(_INSTANCES):,} " if _INSTANCES.exists() else ""
    return f"the user's {most}inotify instances are used up; {_raise(_INSTANCES)}"


def _raise(limit: Path) -> str:
    """Returns the remedy for an administrator."""
    name = f"{limit.parent.parent.name}.{limit.parent.name}.{limit.name}"
    return f"raise it with `sysctl {name}=N`, and restart the server"


def _checked(number: int) -> int:
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return number


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


# Skips files and folders that a watch shows to be unchanged.
#
# A look at every file costs 370 ms of CPU for 79,000 files. In a server that watches the folders, a
# question looks only at files and folders that may have changed since the last one: those with an
# event, those that differed from the view or were not reached, and those whose row in the view has
# changed. So the next look continues where one was cut short.
#
# A watch alone is never trusted (see the module docstring for its gaps). Every five seconds of use,
# a sweep over all files and folders begins; each query does a part of it.

logger = logging.getLogger(__name__)

WORTH_WATCHING = 1_000
"""Trees with fewer files are not watched: a look at all of them costs a few milliseconds."""
SWEEP_EVERY_S = 5.0
_SWEPT_FILES, _SWEPT_FOLDERS = 8_192, 1_024
"""The part of a sweep that one question does, about 40 ms of CPU."""


class KnownFile(Protocol):
    """A file as recorded in its view."""

    @property
    def path(self) -> bytes:
        """The path relative to the root."""
        ...

    @property
    def signature(self) -> bytes:
        """See `codelens.scan.stat_check`."""
        ...


class WatchedTree:
    """One worktree. Not thread-safe."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._watch: FolderWatch | None = None
        self.why_not = ""
        """Why there is no watch; empty if there may be one."""
        self._forget()

    def look(
        self, folders: Mapping[bytes, bytes], files: Sequence[KnownFile], deadline: float | None
    ) -> Looked:
        """Compares a view with the disk, like `codelens.scan.stat_check.look`.

        Args:
            folders: the view's folders with their signatures.
            files: the view's files.
            deadline: a `time.monotonic` value.
        """
        if self.why_not or not self._watches(folders):
            pairs = ((file.path, file.signature) for file in files)
            return look(self._root, folders.items(), pairs, len(files), deadline)
        self._read_view(folders, files)
        open_files = [path for path in self._open_files if path in self._files]
        open_folders = [path for path in self._open_folders if path in self._folders]
        swept_folders, swept_files = self._sweep()
        looked = look(
            self._root,
            [(path, self._folders[path]) for path in (*open_folders, *swept_folders)],
            [(path, self._files[path]) for path in (*open_files, *swept_files)],
            len(open_files),
            # A sweep is short and must not make an answer partial.
            deadline if open_files or open_folders else None,
        )
        return self._record_results(looked, open_files)

    @staticmethod
    def is_worth(files: int) -> bool:
        """Whether to watch a tree with this number of files."""
        return files >= WORTH_WATCHING

    @property
    def state(self) -> str:
        """The state of the watch in a few words; empty if none was needed."""
        if self.why_not:
            return f"none, all files are checked: {self.why_not}"
        return f"{len(self._folders):,} folders" if self._watch is not None else ""

    def close(self) -> None:
        """Ends the watch. The next look checks everything."""
        if self._watch is not None:
            self._watch.close()
        self._watch = None

    def _forget(self) -> None:
        self.close()
        self._files: dict[bytes, bytes] = {}
        self._folders: dict[bytes, bytes] = {}
        self._seen_files: Sequence[KnownFile] | None = None
        self._seen_folders: Mapping[bytes, bytes] | None = None
        self._identity = (0, 0)
        self._open_files: dict[bytes, None] = {}
        self._open_folders: dict[bytes, None] = {}
        self._sweep_files: list[bytes] = []
        self._sweep_folders: list[bytes] = []
        self._swept_at = 0.0

    def _watches(self, folders: Mapping[bytes, bytes]) -> bool:
        """Whether all folders are watched, so that the look that follows misses nothing."""
        try:
            if self._watch is not None and not self._is_complete():
                self._forget()
            if self._watch is None:
                self._watch, self._identity = FolderWatch(self._root), self._root_identity()
            unwatched = [path for path in folders if path not in self._folders]
            self._watch.add(unwatched)
        except FileNotFoundError:
            # A folder was just removed. The next question starts from scratch.
            self._forget()
            return False
        except OSError as error:
            self.why_not = error.strerror or str(error)
            logger.info("%s is not watched: %s", os.fsdecode(self._root), self.why_not)
            self._forget()
            return False
        # Files in them may have changed after earlier looks, before the watch began.
        unseen = set(unwatched)
        if unseen:
            self._open_files |= {
                path: None for path in self._files if os.path.dirname(path) in unseen
            }
        return True

    def _is_complete(self) -> bool:
        """Records the pending events. Returns whether no event was missed."""
        assert self._watch is not None
        events = self._watch.read()
        for path in events.paths:
            self._open_files[path] = None
            self._open_folders[path] = self._open_folders[os.path.dirname(path)] = None
        return not events.lost and self._root_identity() == self._identity

    def _root_identity(self) -> tuple[int, int]:
        """Identifies the root, as another folder may take its path when a parent is moved."""
        status = os.stat(self._root)
        return status.st_dev, status.st_ino

    def _read_view(self, folders: Mapping[bytes, bytes], files: Sequence[KnownFile]) -> None:
        """Reads the view. Rows that are new or changed are left for the next look."""
        if self._seen_files is files and self._seen_folders is folders:
            return
        self._take_files(files)
        self._open_folders |= {
            path: None
            for path, signature in folders.items()
            if self._folders.get(path) != signature
        }
        self._folders = dict(folders)
        self._seen_files, self._seen_folders = files, folders

    def _take_files(self, files: Sequence[KnownFile]) -> None:
        before = self._seen_files or ()
        if len(files) < len(before):
            signatures, self._files = self._files, {}
            places = list(range(len(files)))
        else:
            # After an edit nearly all records are the same objects as before, and C code compares
            # those fast.
            differing = compress(count(), map(is_not, before, files))
            places = [*differing, *range(len(before), len(files))]
            paths = [before[at].path for at in places if at < len(before)]
            signatures = {path: self._files.pop(path) for path in paths}
        for at in places:
            path, signature = files[at].path, files[at].signature
            self._files[path] = signature
            if signatures.get(path) != signature:
                self._open_files[path] = None

    def _sweep(self) -> tuple[list[bytes], list[bytes]]:
        """Returns the next part of the sweep: folders and files believed to be unchanged."""
        now = time.monotonic()
        if not self._sweep_files and not self._sweep_folders:
            if now - self._swept_at < SWEEP_EVERY_S:
                return [], []
            self._swept_at = now
            if (
                self._open_files.keys() >= self._files.keys()
                and self._open_folders.keys() >= self._folders.keys()
            ):
                return [], []
            self._sweep_files, self._sweep_folders = list(self._files), list(self._folders)
        taken_folders, self._sweep_folders = _part(self._sweep_folders, _SWEPT_FOLDERS)
        taken_files, self._sweep_files = _part(self._sweep_files, _SWEPT_FILES)
        return (
            [path for path in taken_folders if path in self._folders
             and path not in self._open_folders],
            [path for path in taken_files if path in self._files and path not in self._open_files],
        )  # fmt: skip

    def _record_results(self, looked: Looked, open_files: list[bytes]) -> Looked:
        """Records the results of a look. Entries that differ or were not reached stay open."""
        differing = {suspect.path: None for suspect in looked.suspects} | dict.fromkeys(looked.gone)
        unreached = open_files[looked.checked :]
        self._open_files = differing | dict.fromkeys(unreached)
        if looked.checked or not looked.unchecked:
            self._open_folders = dict.fromkeys(looked.folders)
        unchecked = len(unreached) or int(looked.unchecked > 0)
        return looked._replace(checked=len(self._files) - len(unreached), unchecked=unchecked)


def _part(paths: list[bytes], count: int) -> tuple[list[bytes], list[bytes]]:
    return paths[:count], paths[count:]
