"""Reads files below a root folder without following a link at any step of their paths.

A folder can become a link between the look at it and the read of its files: by a checkout of
another branch, or by whoever wants a file from outside to be shown. Each step is opened from the
folder before it, so that what was checked is what is read.
"""

from __future__ import annotations

import errno
import os
from itertools import takewhile

from codelens.errors import ReadError
from codelens.scan.content_hash import Read, bytes_of_file, glance, read_file

_STEPS = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
"""Whether the system opens a path from an open folder."""
_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
)
_STEP = _FOLDER | getattr(os, "O_NOFOLLOW", 0)
_NOT_A_FOLDER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_NOT_NAMES = frozenset({b"", b".", b".."})
_MOST_OPEN = 16
"""Folders that stay open; those below them are opened for each folder."""


class _Folder:
    """An open folder; it closes when its last user has let go of it, in whatever thread."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.close(self.number)


class FilesBelow:
    """The files below a root, which itself may be reached by links.

    The folders above the last file stay open, so consecutive reads in one folder open it once.

    Args:
        root: the top folder.
    """

    def __init__(self, root: bytes) -> None:
        self._root = root.rstrip(b"/") or b"/"
        self._prefix = root.rstrip(b"/") + b"/"
        self._last: tuple[bytes, _Folder] | None = None
        self._open: tuple[list[bytes], list[_Folder]] = [], []
        """The steps to the last folder, and the root with the first of them."""

    def status(self, path: bytes) -> os.stat_result:
        """Returns the stat of a file or link.

        Raises:
            FileNotFoundError: it is gone, or a folder above it is now a link.
            OSError: a folder above it cannot be entered.
        """
        name, folder = self._at(path)
        try:
            return os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            name, folder = self._at_once_more(path)
            return os.lstat(name, dir_fd=folder)

    def read(self, path: bytes, limit: int) -> Read:
        """Reads a regular file of at most `limit` bytes.

        Raises:
            FileNotFoundError: it is gone, or a folder above it is now a link.
            ReadError: it cannot be read, is not a regular file, or is larger.
        """
        shown = self._prefix + path
        try:
            name, folder = self._at(path)
            try:
                return read_file(name, limit, folder, shown)
            except FileNotFoundError:
                name, folder = self._at_once_more(path)
                return read_file(name, limit, folder, shown)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ReadError(f"cannot read {os.fsdecode(shown)!r}: {error.strerror}") from error

    def bytes_of(self, path: bytes, limit: int) -> bytes | None:
        """Returns the bytes of a regular file; None if `read` would raise."""
        try:
            name, folder = self._at(path)
            data = bytes_of_file(name, limit, folder)
            if data is None:
                name, folder = self._at_once_more(path)
                data = bytes_of_file(name, limit, folder)
        except OSError:
            return None
        return data

    def glance(self, path: bytes, limit: int) -> bytes:
        """Returns the same for a quick inspection; empty if `read` would raise."""
        try:
            name, folder = self._at(path)
            data = glance(name, limit, folder)
            if not data:
                name, folder = self._at_once_more(path)
                data = glance(name, limit, folder)
        except OSError:
            return b""
        return data

    def _at(self, path: bytes) -> tuple[bytes, int | None]:
        """Returns the name of a file in its open folder; the whole path where there is no such.

        Raises:
            FileNotFoundError: a step above the file is missing, or is not a plain folder.
            OSError: one cannot be opened.
        """
        parent, slash, name = path.rpartition(b"/")
        last = self._last
        if last is not None and last[0] == parent and name not in _NOT_NAMES:
            return name, last[1].number
        steps = parent.split(b"/") if slash else []
        if not _NOT_NAMES.isdisjoint((*steps, name)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if not _STEPS:
            self._refuse_links(steps, path)
            return self._prefix + path, None
        folder = self._folder(steps, path)
        self._last = parent, folder
        return name, folder.number

    def _at_once_more(self, path: bytes) -> tuple[bytes, int | None]:
        """Returns the same with all folders opened again: a checkout may have replaced them."""
        self._last = None
        self._open = [], []
        return self._at(path)

    def _folder(self, steps: list[bytes], path: bytes) -> _Folder:
        before, opened = self._open
        both = zip(before, steps, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
        opened = opened[: shared + 1] or [_Folder(os.open(self._root, _FOLDER))]
        folder = opened[-1]
        for step in steps[len(opened) - 1 :]:
            try:
                folder = _Folder(os.open(step, _STEP, dir_fd=folder.number))
            except OSError as error:
                if error.errno in _NOT_A_FOLDER:
                    raise FileNotFoundError(errno.ENOENT, error.strerror, path) from error
                raise
            if len(opened) <= _MOST_OPEN:
                opened.append(folder)
        self._open = steps, opened
        return folder

    def _refuse_links(self, steps: list[bytes], path: bytes) -> None:
        at = self._root
        for step in steps:
            at = os.path.join(at, step)
            if os.path.islink(at):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
