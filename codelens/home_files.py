"""Small files, read with a limit: what lies in their place may be a pipe, or far too large.

To open a pipe is to wait for whoever writes into it, for ever perhaps; a file of 3 GB fills the
memory. Hooks use this.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from typing import BinaryIO, Final, cast

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


# Which place a small file of the home was written for: it says so itself, checked at each opening.
#
# A log or list that was copied over another one, or two that were swapped, would tell one
# repository or session about another. The name of such a file names its repository (and worktree,
# or session); the same name stands in the file's head. Files of versions before this have none, and
# are taken. Hooks use this.

OWNER_KEY = "of"
"""The field of a head, or of a JSON object, that holds the name."""
OWNER_HEAD_BYTES = 300
"""As much of a file as its first line takes."""
_ASIDE = ".foreign-"


def owner_head(path: str) -> bytes:
    """The first line of a log that is written for `path`."""
    fields = {OWNER_KEY: os.path.basename(path)}
    return json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n"


def other_owner_name(path: str, stated: object) -> str:
    """The name that a file states if it is not its own; empty where it states none, or its own."""
    name = stated if isinstance(stated, str) else ""
    return "" if name == os.path.basename(path) else name


def other_owner_head(path: str, data: bytes) -> str:
    """The same, of a log that begins with `data`."""
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
    """What is wrong with a file that states another name than its own."""
    return f"was written for {stated!r} (copied or swapped?)"


def set_aside(path: str, why: str) -> str:
    """Keep a file of another place under another name, and say why; the name, or empty.

    Nothing is raised: what cannot be renamed is not read, all the same.
    """
    aside = f"{path}{_ASIDE}{time.time_ns()}"
    try:
        os.rename(path, aside)
    except OSError:
        aside = ""
    # Late: of the hooks few come here.
    import logging

    outcome = f"kept as {aside!r}" if aside else "ignored, as it cannot be renamed"
    logging.getLogger(__name__).warning("%r %s: %s", path, why, outcome)
    return aside


def starts_over(path: str) -> bool:
    """Whether a log is to be written from its beginning: there is none, or it was another's.

    Raises:
        OSError: it cannot be read, or belongs elsewhere and cannot be renamed.
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


# The lock that the system keeps on an open file: it ends with the process, however that ends.

_TAKEN = frozenset({errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""What the systems say of a lock that another has."""
_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.05
_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def open_locked(path: str | os.PathLike[str]) -> int:
    """A descriptor of a lock file, which is made if there is none.

    Nothing is ever read of it: a folder or a pipe in its place is kept under another name.

    Raises:
        OSError: it cannot be made.
    """
    descriptor = _regular(path)
    if descriptor is None:
        # Late: nearly no process needs it.

        set_aside(os.fspath(path), "is no lock file")
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


def take_lock(descriptor: int, *, wait_s: float = 0.0) -> bool:
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
