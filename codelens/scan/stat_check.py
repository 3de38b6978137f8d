"""Detects by stat signatures which files and folders may have changed since they were last read.

Equal size and mtime prove nothing (a tool can restore an mtime), so ctime and inode count too. A
file changed within the granularity of its timestamps can change again without a new timestamp. git
calls this racy (git's Documentation/technical/racy-git.txt). Such a signature is stored as `RACY`,
which equals nothing, so the next look reads the file again.
"""

from __future__ import annotations

import os
import stat as stat_module
import struct
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import NamedTuple

import xxhash

from codelens.cancellation import check_cancelled

RACY = b""

_PACK = struct.Struct("<qqqQ").pack
_digest = xxhash.xxh3_64_digest
# Linux uses the time of the last tick, 1 to 10 ms old. This is five times that, to be safe.
_GRANULARITY_NS = 50_000_000
# If mtime and ctime are whole seconds, the file system stores only seconds (FAT: two).
_COARSE_NS = 2_100_000_000
_SECOND_NS = 1_000_000_000


def signature(stat: os.stat_result) -> bytes:
    """Returns the 8-byte signature of an lstat result, to compare with a stored one."""
    return _digest(_PACK(stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino))


def signature_to_store(stat: os.stat_result, look_ns: int) -> bytes:
    """Returns the signature to store after reading; `RACY` if it might not show a later change.

    `look_ns` is the wall clock before the stat was taken.
    """
    return RACY if is_racy(stat, look_ns) else signature(stat)


def is_racy(stat: os.stat_result, look_ns: int) -> bool:
    """Whether a file that had this stat at `look_ns` may change later without a new stat."""
    modified_ns, changed_ns = stat.st_mtime_ns, stat.st_ctime_ns
    newest = modified_ns if modified_ns > changed_ns else changed_ns
    if newest < look_ns - _COARSE_NS:
        return False
    coarse = not modified_ns % _SECOND_NS and not changed_ns % _SECOND_NS
    return newest >= look_ns - (_COARSE_NS if coarse else _GRANULARITY_NS)


# A look finds the files and folders of a view that may have changed.
#
# It calls lstat once per file and folder, in the order of the view, and opens no file. A watcher
# may start a look early but never replaces it.

_CLOCK_EVERY = 256


class Suspect(NamedTuple):
    """A file with a new signature. Only reading it shows whether it changed."""

    path: bytes
    stat: os.stat_result


class Looked(NamedTuple):
    """The result of a look."""

    started_ns: int
    """Wall clock before the first lstat."""
    checked: int
    suspects: list[Suspect]
    gone: list[bytes]
    """Files that are no longer regular files."""
    folders: list[bytes]
    """Folders that changed or are gone. Their entries must be listed again."""
    unchecked: int
    """The number of files not reached before the deadline."""


def look(
    root: bytes,
    folders: Iterable[tuple[bytes, bytes]],
    files: Iterable[tuple[bytes, bytes]],
    file_count: int,
    deadline: float | None,
) -> Looked:
    """Compares `(path, signature)` of folders and files with the disk.

    `deadline` is a `time.monotonic` value. Folders go first: they are few and reveal new files.
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
    for at, (path, stored) in enumerate(folders, 1):
        if not at % _CLOCK_EVERY and _is_over(deadline):
            return Looked(started, 0, [], [], [], max(file_count, 1))
        if _folder_signature(prefix + path or b".", root_fd) != stored:
            changed.append(path)
    suspects: list[Suspect] = []
    gone: list[bytes] = []
    checked = 0
    lstat, is_regular = os.lstat, stat_module.S_ISREG
    for path, stored in files:
        if not checked % _CLOCK_EVERY and _is_over(deadline):
            break
        checked += 1
        try:
            status = lstat(prefix + path, dir_fd=root_fd)
        except (FileNotFoundError, NotADirectoryError):
            gone.append(path)
            continue
        except OSError:
            # The folder may not be entered, so the file cannot be checked.
            gone.append(path)
            continue
        if signature(status) == stored:
            continue
        if is_regular(status.st_mode):
            suspects.append(Suspect(path, status))
        else:
            gone.append(path)
    return Looked(started, checked, suspects, gone, changed, file_count - checked)


@contextmanager
def _opened(root: bytes) -> Generator[tuple[bytes, int | None]]:
    """Yields the prefix of each path, and a descriptor of the root folder if it can be opened.

    The system resolves a path relative to an open folder from there rather than from `/`.
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
