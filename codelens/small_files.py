"""Small files, read with a limit: what lies in their place may be a pipe, or far too large.

To open a pipe is to wait for whoever writes into it, for ever perhaps; a file of 3 GB fills the
memory. Hooks use this.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO, Final

NO_WAIT: Final[int] = getattr(os, "O_NONBLOCK", 0)
"""Flag to open what may be a pipe without waiting for its other end."""
_READ = os.O_RDONLY | NO_WAIT | getattr(os, "O_BINARY", 0)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, open for reading.

    Raises:
        OSError: it cannot be opened, or is something else.
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
    """Whether a pipe, a device or a socket lies there: to open it may be to wait for ever."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_small(path: str | os.PathLike[str], most: int) -> bytes:
    """All of a regular file of at most `most` bytes.

    Raises:
        OSError: it cannot be read, is something else, or has more bytes.
    """
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return data


def replace_file(path: str, data: bytes, *, beside: str = "") -> None:
    """Put a file in place of another, whole or not at all; it is for its owner alone.

    Args:
        path: the file, in a folder that is there.
        data: what it shall hold.
        beside: the file that is written first, `path` with `.new` if it is empty. Processes that
            may write at once without a lock need different ones.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    beside = beside or f"{path}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(beside, flags, 0o600)
    except FileExistsError:
        # Of a process that was killed; or a pipe, at which nobody may wait.
        os.unlink(beside)
        descriptor = os.open(beside, flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(beside, path)
