"""The lock that the system keeps on an open file: it ends with the process, however that ends."""

from __future__ import annotations

import errno
import sys

_TAKEN = frozenset({errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""What the systems say of a lock that another has."""


def take(descriptor: int, *, wait: bool) -> bool:
    """Lock a file for one open descriptor; closing that gives the lock back.

    Args:
        descriptor: of a file open for writing.
        wait: until whoever has it lets go; Windows gives up after ten seconds.

    Returns:
        Whether the lock is ours now; with `wait` it is.

    Raises:
        OSError: the file cannot be locked.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if not wait and error.errno in _TAKEN:
            return False
        raise
    return True
