"""Reads, replaces and locks small files of the home folder; hooks use this.

Reads have a size limit and refuse special files: a 3 GB file would fill the memory, and opening a
pipe can block forever.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from typing import TYPE_CHECKING, BinaryIO, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

NO_WAIT: Final[int] = getattr(os, "O_NONBLOCK", 0)
"""Flag to open a possible pipe without waiting for its other end."""
_READ = os.O_RDONLY | NO_WAIT | getattr(os, "O_BINARY", 0)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        OSError: the file cannot be opened or is not a regular file.
    """
    descriptor = os.open(path, _READ)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a pipe, a device or a socket, which can block forever when opened."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_small(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a regular file of at most `most` bytes.

    Raises:
        OSError: the file cannot be read, is not a regular file, or has more bytes.
    """
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return data


def replace_file(
    path: str, data: bytes, *, temporary: str = "", before: Callable[[str], None] | None = None
) -> None:
    """Replace a file atomically; only its owner can read it.

    Args:
        path: the file, in an existing folder.
        data: the new content.
        temporary: the file that is written first, `path` with `.new` if it is empty. Processes that
            may write at once without a lock need different ones: `unique_draft`.
        before: gets `path` when the new file is complete, and may rename the old one.

    Raises:
        OSError: the file cannot be written; the old one is unchanged.
    """
    temporary = temporary or f"{path}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, flags, 0o600)
    except FileExistsError:
        # A killed process left it behind; or it is a pipe, which would block.
        os.unlink(temporary)
        descriptor = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if before is not None:
            before(path)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


_DRAFT = ".new-"
_DRAFT_S = 3600
"""An older draft was left by a killed process."""


def unique_draft(path: str) -> str:
    """Return the name of a new file next to `path`, to write before it is renamed or linked.

    Removes drafts of the same file that killed processes left.
    """
    folder, own = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        names = []
    for name in names:
        if name.startswith(own + _DRAFT) and is_old_draft(os.path.join(folder, name)):
            _remove(os.path.join(folder, name))
    return f"{path}{_DRAFT}{os.getpid()}-{time.time_ns()}"


def is_old_draft(path: str) -> bool:
    """Whether a file is a draft that a killed process left."""
    name = os.path.basename(path)
    if _DRAFT not in name and not name.endswith(".new"):
        return False
    try:
        return time.time() - os.lstat(path).st_mtime > _DRAFT_S
    except OSError:
        return False


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


# Checks at each opening which repository or session a small file of the home was written for.
#
# The name of a log or list contains its repository (and worktree, or session), and the head of the
# file repeats the name. So a copied or swapped file cannot supply data about another repository or
# session. Files of older versions have no such head and are accepted. Hooks use this.

OWNER_KEY = "of"
"""The field of a head, or of a JSON object, that holds the name."""
OWNER_HEAD_BYTES = 300
"""Maximum length of the first line of a file."""
_ASIDE = ".foreign-"


def owner_head(path: str) -> bytes:
    """Return the first line of a log at `path`."""
    fields = {OWNER_KEY: os.path.basename(path)}
    return json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n"


def other_owner_name(path: str, stated: object) -> str:
    """Return the name in the head of a file if it differs from the file's own; else empty."""
    name = stated if isinstance(stated, str) else ""
    return "" if name == os.path.basename(path) else name


def other_owner_head(path: str, data: bytes) -> str:
    """Return the same for a log that begins with `data`."""
    line = data[:OWNER_HEAD_BYTES].partition(b"\n")[0]
    if not line.startswith(b'{"of":'):
        return ""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    stated = cast("dict[str, object]", fields).get(OWNER_KEY) if isinstance(fields, dict) else None
    return other_owner_name(path, stated)


def written_for(stated: str) -> str:
    """Describe what is wrong with a file whose head has another name."""
    return f"was written for {stated!r} (copied or swapped?)"


def set_aside(path: str, why: str) -> str:
    """Rename a file that belongs elsewhere and log the reason; return the new name, or empty.

    Does not raise: the caller ignores a file that cannot be renamed.
    """
    aside = f"{path}{_ASIDE}{time.time_ns()}"
    try:
        os.rename(path, aside)
    except OSError:
        aside = ""
    # Late import: hooks rarely need it.
    import logging

    outcome = f"kept as {aside!r}" if aside else "ignored, as it cannot be renamed"
    logging.getLogger(__name__).warning("%r %s: %s", path, why, outcome)
    return aside


def starts_over(path: str) -> bool:
    """Whether a log must be written from its beginning: it is missing or was another file's.

    Raises:
        OSError: the log cannot be read, or belongs elsewhere and cannot be renamed.
    """
    try:
        with open_regular(path) as file:
            stated = other_owner_head(path, file.read(OWNER_HEAD_BYTES))
    except FileNotFoundError:
        return True
    if not stated:
        return False
    if not set_aside(path, written_for(stated)):
        raise PermissionError(f"{path!r} {written_for(stated)} and cannot be renamed")
    return True


def is_aside(name: str) -> bool:
    """Whether a file of this name was set aside."""
    return name.rpartition(_ASIDE)[1] == _ASIDE and name.rpartition(_ASIDE)[2].isdecimal()


# File locks of the operating system, which end with the process.

_TAKEN = frozenset({errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""Error numbers for a lock that another process holds."""
_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.05
_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def open_locked(path: str | os.PathLike[str]) -> int:
    """Return a descriptor of a lock file; create it if it is missing.

    A lock file is never read; a folder or a pipe in its place is renamed.

    Raises:
        OSError: the file cannot be created.
    """
    descriptor = _regular(path)
    if descriptor is None:
        set_aside(os.fspath(path), "is not a lock file")
        descriptor = _regular(path)
    if descriptor is None:
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return descriptor


def _regular(path: str | os.PathLike[str]) -> int | None:
    """Open a regular file; None if the path is something else."""
    try:
        descriptor = os.open(path, _LOCK, 0o600)
    except IsADirectoryError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def take_lock(descriptor: int, *, wait_s: float = 0.0) -> bool:
    """Lock a file for one open descriptor; closing the descriptor releases the lock.

    Args:
        descriptor: descriptor of a file open for writing.
        wait_s: seconds to wait; limited, since the holder may be suspended.

    Returns:
        Whether this process has the lock now.

    Raises:
        OSError: the file cannot be locked.
    """
    until = time.monotonic() + wait_s
    pause_s = _PAUSE_S
    while not _taken(descriptor):
        left_s = until - time.monotonic()
        if left_s <= 0:
            return False
        time.sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    return True


def _taken(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True
