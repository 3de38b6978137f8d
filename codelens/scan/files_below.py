"""Reads files below a root folder without following a link at any step of their paths.

A checkout, or an attacker who wants a file from outside to be shown, can replace a folder by a link
between the look at it and the read of its files. So each step is opened from the folder before it,
and the file that is read is the one that was checked.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
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
    """An open folder; it closes when its last user releases it.

    `number` is None where the system cannot open files from a folder; then their name is a path.
    """

    __slots__ = ("number",)

    def __init__(self, number: int | None) -> None:
        self.number = number

    def __del__(self) -> None:
        if self.number is not None:
            os.close(self.number)


class _Chain:
    """The folders above the last file that was read: the root, and one for each step."""

    __slots__ = ("folder", "opened", "parent", "steps")

    def __init__(self) -> None:
        self.parent: bytes | None = None
        self.folder: _Folder | None = None
        self.steps: list[bytes] = []
        self.opened: list[_Folder] = []


class _Kept(threading.local):
    chains: dict[FilesBelow, _Chain] | None = None


_kept = _Kept()


@contextmanager
def folders_kept_open() -> Generator[None]:
    """Until the end of the block, folders of this thread stay open for their next file.

    Outside of a block, each read opens the folders above its file. No folder stays open after the
    block, so an idle server does not keep anybody from unmounting a disk.
    """
    outer, _kept.chains = _kept.chains, {}
    try:
        yield
    finally:
        _kept.chains = outer


class FilesBelow:
    """The files below a root, which itself may be reached by links.

    Args:
        root: the top folder.
    """

    def __init__(self, root: bytes) -> None:
        self._root = root.rstrip(b"/") or b"/"
        self._prefix = root.rstrip(b"/") + b"/"

    def status(self, path: bytes) -> os.stat_result:
        """Returns the stat of a file or link.

        Raises:
            FileNotFoundError: it is gone, or a folder above it is now a link.
            OSError: a folder above it cannot be entered.
        """
        folder, name = self._at(path)
        try:
            return os.lstat(name, dir_fd=folder.number)
        except FileNotFoundError:
            folder, name = self._at_once_more(path)
            return os.lstat(name, dir_fd=folder.number)

    def read(self, path: bytes, limit: int) -> Read:
        """Reads a regular file of at most `limit` bytes.

        Raises:
            FileNotFoundError: it is gone, or a folder above it is now a link.
            ReadError: it cannot be read, is not a regular file, or is larger.
        """
        shown = self._prefix + path
        try:
            folder, name = self._at(path)
            try:
                return read_file(name, limit, folder.number, shown)
            except FileNotFoundError:
                folder, name = self._at_once_more(path)
                return read_file(name, limit, folder.number, shown)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ReadError(f"cannot read {os.fsdecode(shown)!r}: {error.strerror}") from error

    def bytes_of(self, path: bytes, limit: int) -> bytes | None:
        """Returns the bytes of a regular file; None if `read` would raise."""
        try:
            folder, name = self._at(path)
            data = bytes_of_file(name, limit, folder.number)
            if data is None:
                folder, name = self._at_once_more(path)
                data = bytes_of_file(name, limit, folder.number)
        except OSError:
            return None
        return data

    def glance(self, path: bytes, limit: int) -> bytes:
        """Returns the same for a quick inspection; empty if `read` would raise."""
        try:
            folder, name = self._at(path)
            data = glance(name, limit, folder.number)
            if not data:
                folder, name = self._at_once_more(path)
                data = glance(name, limit, folder.number)
        except OSError:
            return b""
        return data

    def _at(self, path: bytes) -> tuple[_Folder, bytes]:
        """Returns the open folder of a file, and its name there.

        Raises:
            FileNotFoundError: a step above the file is missing, or is not a plain folder.
            OSError: one cannot be opened.
        """
        parent, slash, name = path.rpartition(b"/")
        chains = _kept.chains
        chain = None if chains is None else chains.get(self)
        if chain is not None and chain.parent == parent and name not in _NOT_NAMES:
            folder = chain.folder
            if folder is not None:
                return folder, name
        steps = parent.split(b"/") if slash else []
        if not _NOT_NAMES.isdisjoint((*steps, name)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if not _STEPS:
            self._refuse_links(steps, path)
            return _Folder(None), self._prefix + path
        if chain is None:
            chain = _Chain()
            if chains is not None:
                chains[self] = chain
        self._open(chain, steps, path)
        chain.parent = parent
        assert chain.folder is not None
        return chain.folder, name

    def _at_once_more(self, path: bytes) -> tuple[_Folder, bytes]:
        """Returns the same with all folders opened again: a checkout may have replaced them."""
        if _kept.chains is not None:
            _kept.chains.pop(self, None)
        return self._at(path)

    def _open(self, chain: _Chain, steps: list[bytes], path: bytes) -> None:
        """Opens the folders that a chain lacks."""
        chain.parent = None
        both = zip(chain.steps, steps, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
        del chain.opened[shared + 1 :]
        chain.steps = steps
        if not chain.opened:
            chain.opened.append(_Folder(os.open(self._root, _FOLDER)))
        folder = chain.opened[-1]
        for step in steps[len(chain.opened) - 1 :]:
            assert folder.number is not None
            try:
                folder = _Folder(os.open(step, _STEP, dir_fd=folder.number))
            except OSError as error:
                chain.steps = steps[: len(chain.opened) - 1]
                if error.errno in _NOT_A_FOLDER:
                    raise FileNotFoundError(errno.ENOENT, error.strerror, path) from error
                raise
            if len(chain.opened) <= _MOST_OPEN:
                chain.opened.append(folder)
        chain.folder = folder

    def _refuse_links(self, steps: list[bytes], path: bytes) -> None:
        at = self._root
        for step in steps:
            at = os.path.join(at, step)
            if os.path.islink(at):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
