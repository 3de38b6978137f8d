"""A database as a file: which one it is, when it was checked, and how a damaged one goes aside.

A damaged index keeps its content under another name, `index-ID.db.damaged-NANOSECONDS`, and a new
one is built. Of each index the newest such file is kept, for seven days.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

from codelens import filelock
from codelens.errors import HomeNotWritable, IndexLocked
from codelens.small_files import NO_WAIT

KEPT_S = 7 * 86_400
"""How long a file set aside is kept."""
CHECKED_FOR_S = 7 * 86_400
"""After so long a whole index is checked again when it is opened."""
HOLDER = "a process that keeps the folder locked; if one is stopped, continue or end it"
PATIENCE_S = 3.0
"""How long a question waits for the lock where it can go on without: the holder may be stopped."""
_CLOCK_S = 86_400
_ASIDE = re.compile(r"(.+)\.damaged-(\d+)(-wal|-shm|)")
_LOGS = ("-wal", "-shm")


class Identity(NamedTuple):
    """A file of a file system, whatever its name."""

    device: int
    inode: int


class Aside(NamedTuple):
    """A file that was set aside, or a log that belongs to one."""

    path: Path
    of: str
    """Name of the database that it was."""
    age_s: float


def identity_of(path: Path) -> Identity | None:
    """Which file has the name now; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return Identity(status.st_dev, status.st_ino)


def set_aside(path: Path, identity: Identity | None) -> Path | None:
    """Give a damaged database another name, with its logs; the name, or None.

    Nothing is done where another process was first: `identity` tells the file that was found
    damaged, and only that one goes.

    Raises:
        HomeNotWritable: it cannot be renamed.
    """
    try:
        with alone_in(path.parent):
            if identity is None or identity_of(path) != identity:
                return None
            aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
            # Here, or a new file would be taken for an older copy of this one.
            forget_check(path)
            # The logs first: SQLite would play an older log into a new database of this name.
            for suffix in (*_LOGS, ""):
                file = path.with_name(path.name + suffix)
                if suffix == "" or file.exists():
                    file.rename(aside.with_name(aside.name + suffix))
    except TimeoutError as error:
        raise IndexLocked(path, HOLDER) from error
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error
    forget_old(path.parent)
    return aside


def asides(folder: Path) -> Iterator[Aside]:
    """Files that were set aside in a folder, newest first."""
    now = time.time_ns()
    matches = map(_ASIDE.fullmatch, _names(folder))
    numbered = [(int(match.group(2)), match) for match in matches if match]
    for when, match in sorted(numbered, key=lambda pair: (-pair[0], pair[1].group())):
        yield Aside(folder / match.group(), match.group(1), (now - when) / 1e9)


def forget_all(folder: Path, of: str = "") -> int:
    """Remove all that was set aside, or all of the database named `of`; bytes that it took."""
    size = 0
    for file in asides(folder):
        if of in {"", file.of}:
            with contextlib.suppress(FileNotFoundError):
                taken = file.path.stat().st_size
                file.path.unlink()
                size += taken
    return size


def forget_old(folder: Path) -> list[Path]:
    """Remove what was set aside over a week ago, and all but the newest of each; what went."""
    newest: dict[str, float] = {}
    gone: list[Path] = []
    for file in asides(folder):
        # A clock that was set back makes an age negative: then only the newest stays.
        if file.age_s == newest.setdefault(file.of, file.age_s) and file.age_s < KEPT_S:
            continue
        with contextlib.suppress(FileNotFoundError):
            file.path.unlink()
            gone.append(file.path)
    return gone


def is_check_due(path: Path, since_s: float) -> bool:
    """Whether the file is to be fully checked before it is used.

    Args:
        path: the database.
        since_s: when something happened to it that makes a check older than that worth nothing.
    """
    try:
        checked = stamp(path).stat().st_mtime
    except OSError:
        return True
    # Nor does a check from the future count: the clock was set back since.
    return not max(since_s, time.time() - CHECKED_FOR_S) < checked < time.time() + _CLOCK_S


def note_check(path: Path) -> None:
    """Remember that a database was found sound now; best effort, for it costs a check at worst."""
    with contextlib.suppress(OSError):
        noted = stamp(path)
        os.close(os.open(noted, os.O_CREAT | os.O_WRONLY | NO_WAIT, 0o600))
        os.utime(noted)


def forget_check(path: Path) -> None:
    """Forget what was noted of a database that is there no more; best effort, as `note_check`."""
    with contextlib.suppress(OSError):
        stamp(path).unlink()


def stamp(path: Path) -> Path:
    """The file whose time says when a database was checked.

    Its text is written by `codelens.store.database.restore_detection`.
    """
    return path.with_name(f"{path.name}.checked")


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


@contextlib.contextmanager
def alone_in(
    folder: Path, lock: str = ".recovery.lock", *, wait_s: float = 60.0
) -> Generator[None]:
    """One process at a time renames databases of a folder; or makes them, with another lock.

    Raises:
        TimeoutError: whoever has the lock, a process that is stopped perhaps, kept it so long.
        OSError: the lock cannot be made.
    """
    descriptor = filelock.opened(folder / lock)
    try:
        if not filelock.take(descriptor, wait_s=wait_s):
            raise TimeoutError(errno.ETIMEDOUT, f"another process holds the lock {lock}")
        yield
    finally:
        # Closing gives a lock back.
        os.close(descriptor)
