"""The lock that the system keeps on an open file: it ends with the process, however that ends."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time

_TAKEN = frozenset({errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""What the systems say of a lock that another has."""
_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.05
_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def opened(path: str | os.PathLike[str]) -> int:
    """A descriptor of a lock file, which is made if there is none.

    Nothing is ever read of it: a folder or a pipe in its place is kept under another name.

    Raises:
        OSError: it cannot be made.
    """
    descriptor = _regular(path)
    if descriptor is None:
        # Late: nearly no process needs it.
        from codelens import file_owner

        file_owner.set_aside(os.fspath(path), "is no lock file")
        descriptor = _regular(path)
    if descriptor is None:
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return descriptor


def _regular(path: str | os.PathLike[str]) -> int | None:
    """A descriptor of a regular file; None if something else lies there."""
    try:
        descriptor = os.open(path, _LOCK, 0o600)
    except IsADirectoryError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def take(descriptor: int, *, wait_s: float = 0.0) -> bool:
    """Lock a file for one open descriptor; closing that gives the lock back.

    Args:
        descriptor: of a file open for writing.
        wait_s: how long to try. Never without end: who has it may be stopped.

    Returns:
        Whether the lock is ours now.

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
