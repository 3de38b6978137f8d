"""The lock that the system keeps on an open file: it ends with the process, however that ends."""

from __future__ import annotations

import errno
import sys
import time

_TAKEN = frozenset({errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""What the systems say of a lock that another has."""
_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.05


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
