"""Stat signatures: whether a file or folder may have changed since it was last read.

Equal size and mtime prove nothing (a tool can put an mtime back), so ctime and inode count too.
And a file changed within the granularity of its time stamps can change again without any stamp
showing it; git calls this racy (git's Documentation/technical/racy-git.txt). Such a signature is
stored as `RACY`, which equals nothing, so the next look reads the file again.
"""

from __future__ import annotations

import os
import stat as stat_module
import struct
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import NamedTuple

from codelens.cancellation import check_cancelled

RACY = b""

_PACK = struct.Struct("<qqqQ").pack
# Linux stamps with the time of the last tick: 1 to 10 ms old. Five times that, to be safe.
_GRANULARITY_NS = 50_000_000
# A stamp of whole seconds on both sides is a file system that keeps seconds (FAT: two).
_COARSE_NS = 2_100_000_000
_SECOND_NS = 1_000_000_000


def signature(stat: os.stat_result) -> bytes:
    """The signature of an lstat result: 32 bytes; compare with a stored one."""
    return _PACK(stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)


def signature_to_store(stat: os.stat_result, look_ns: int) -> bytes:
    """The signature to remember after reading; `RACY` if a later change might not show.

    `look_ns` is the wall clock before the stat was taken.
    """
    newest = max(stat.st_mtime_ns, stat.st_ctime_ns)
    coarse = not stat.st_mtime_ns % _SECOND_NS and not stat.st_ctime_ns % _SECOND_NS
    margin = _COARSE_NS if coarse else _GRANULARITY_NS
    return RACY if newest >= look_ns - margin else signature(stat)


# The look: which of a view's files and folders are not as they were.
#
# One lstat a file and folder, in the manifest's order; no file is opened. A watcher may start a
# look early but never replaces it.

_CLOCK_EVERY = 256


class Suspect(NamedTuple):
    """A file whose signature is not the stored one; it must be read to know."""

    path: bytes
    stat: os.stat_result


class Looked(NamedTuple):
    """What a look saw."""

    started_ns: int
    """Wall clock before the first lstat."""
    checked: int
    suspects: list[Suspect]
    gone: list[bytes]
    """Files that are no regular files any more."""
    folders: list[bytes]
    """Folders that changed, or are gone: their entries must be listed again."""
    unchecked: int
    """Files not reached before the deadline."""


def look(
    root: bytes,
    folders: Iterable[tuple[bytes, bytes]],
    files: Iterable[tuple[bytes, bytes]],
    file_count: int,
    deadline: float | None,
) -> Looked:
    """Compare `(path, signature)` of folders and files with the disk.

    `deadline` is a `time.monotonic` value. Folders go first: they are few and tell what is new.
    """
    with _opened(root) as (prefix, root_fd):
        return _look(
            prefix, root_fd, folders=folders, files=files, file_count=file_count, deadline=deadline
        )


def _look(
    prefix: bytes,
    root_fd: int | None,
    *,
    folders: Iterable[tuple[bytes, bytes]],
    files: Iterable[tuple[bytes, bytes]],
    file_count: int,
    deadline: float | None,
) -> Looked:
    started = time.time_ns()
    changed: list[bytes] = []
    for at, (path, known) in enumerate(folders, 1):
        if not at % _CLOCK_EVERY and _is_over(deadline):
            return Looked(started, 0, [], [], [], max(file_count, 1))
        if _folder_signature(prefix + path or b".", root_fd) != known:
            changed.append(path)
    suspects: list[Suspect] = []
    gone: list[bytes] = []
    checked = 0
    lstat, is_regular = os.lstat, stat_module.S_ISREG
    for path, known in files:
        if not checked % _CLOCK_EVERY and _is_over(deadline):
            break
        checked += 1
        try:
            status = lstat(prefix + path, dir_fd=root_fd)
        except (FileNotFoundError, NotADirectoryError):
            gone.append(path)
            continue
        except OSError:
            # A folder that may not be entered: what was known of its files cannot be checked.
            gone.append(path)
            continue
        if signature(status) == known:
            continue
        if is_regular(status.st_mode):
            suspects.append(Suspect(path, status))
        else:
            gone.append(path)
    return Looked(started, checked, suspects, gone, changed, file_count - checked)


@contextmanager
def _opened(root: bytes) -> Generator[tuple[bytes, int | None]]:
    """What to put before each path, and the folder that paths start from, if it can be held open.

    A path that starts at an open folder is walked by the system from there, not from `/`.
    """
    root_fd = None
    if os.stat in os.supports_dir_fd:
        with suppress(OSError):
            root_fd = os.open(root, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
    if root_fd is None:
        yield root.rstrip(b"/") + b"/", None
        return
    try:
        yield b"", root_fd
    finally:
        os.close(root_fd)


def _is_over(deadline: float | None) -> bool:
    check_cancelled()
    return deadline is not None and time.monotonic() > deadline


def _folder_signature(path: bytes, root_fd: int | None) -> bytes | None:
    try:
        status = os.lstat(path, dir_fd=root_fd)
    except OSError:
        return None
    return signature(status) if stat_module.S_ISDIR(status.st_mode) else None
