"""Handles databases as files: identifies them, records checks, and sets damaged ones aside.

A damaged index is renamed to `index-ID.db.damaged-NANOSECONDS`, and a new one is built. The newest
such file of each index is kept for seven days.
"""

# apsw's stubs leave the types of bindings, pragmas and errors open.
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import contextlib
import errno
import logging
import math
import os
import re
import time
import urllib.parse
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import apsw

from codelens import home_files
from codelens.errors import HomeNotWritable, IndexCorrupt, IndexLocked
from codelens.home_files import NO_WAIT, is_special, open_regular
from codelens.paths import VECTORS_FOLDER

KEPT_S = 7 * 86_400
"""How long a file that was set aside is kept."""
CHECKED_FOR_S = 7 * 86_400
"""A whole index is checked again on opening when the last check is older."""
HOLDER = "a process that keeps the folder locked; if one is stopped, continue or end it"
PATIENCE_S = 3.0
"""How long a question waits for a lock that it can do without: a stopped process may hold it."""
_CLOCK_S = 86_400
_ASIDE = re.compile(r"(.+)\.damaged-(\d+)(-wal|-shm|)")
_LOGS = ("-wal", "-shm")


class Identity(NamedTuple):
    """A file of a file system, independent of its name."""

    device: int
    inode: int


class Aside(NamedTuple):
    """A database that was set aside, or a log that belongs to one."""

    path: Path
    of: str
    """Name of the database before it was set aside."""
    age_s: float


def identity_of(path: Path) -> Identity | None:
    """The identity of the file that has this name now, or None."""
    try:
        status = path.stat()
    except OSError:
        return None
    return Identity(status.st_dev, status.st_ino)


def has_content(path: Path) -> bool:
    """Whether there is a file that is not empty."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def set_aside(path: Path, identity: Identity | None) -> Path | None:
    """Rename a damaged database and its logs; return the new name, or None.

    Does nothing if another process was faster: only the file with this `identity`, which was
    found damaged, is renamed.

    Raises:
        HomeNotWritable: it cannot be renamed.
    """
    try:
        with alone_in(path.parent):
            if identity is None or identity_of(path) != identity:
                return None
            aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
            # Done under the lock; otherwise a new file could be mistaken for an older copy of this
            # one.
            forget_check(path)
            # Rename the logs first: SQLite would replay an old log into a new database of this
            # name.
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
    """Files in a folder that were set aside, newest first."""
    now = time.time_ns()
    matches = map(_ASIDE.fullmatch, _names(folder))
    numbered = [(int(match.group(2)), match) for match in matches if match]
    for when, match in sorted(numbered, key=lambda pair: (-pair[0], pair[1].group())):
        yield Aside(folder / match.group(), match.group(1), (now - when) / 1e9)


def all_asides(home: Path) -> Iterator[Aside]:
    """Files of a home folder that were set aside: indexes, vectors, counts of calls."""
    for folder in aside_folders(home):
        yield from asides(folder)


def aside_folders(home: Path) -> tuple[Path, ...]:
    """The folders of a home in which `set_aside` renames files."""
    return home / "indexes", home / VECTORS_FOLDER, home


def forget_all(folder: Path, of: str = "") -> int:
    """Remove all files set aside, or those of the database named `of`; return their bytes."""
    size = 0
    for file in asides(folder):
        if of in {"", file.of}:
            with contextlib.suppress(FileNotFoundError):
                taken = file.path.stat().st_size
                file.path.unlink()
                size += taken
    return size


def forget_old(folder: Path) -> list[Path]:
    """Remove files set aside over a week ago, and all but the newest of each database.

    Returns:
        The removed files.
    """
    newest: dict[str, float] = {}
    gone: list[Path] = []
    for file in asides(folder):
        # The age is negative if the clock was set back; such a file stays only if it is the newest.
        if file.age_s == newest.setdefault(file.of, file.age_s) and file.age_s < KEPT_S:
            continue
        with contextlib.suppress(FileNotFoundError):
            file.path.unlink()
            gone.append(file.path)
    return gone


def is_check_due(path: Path, since_s: float) -> bool:
    """Whether the file needs a full check before it is used.

    Args:
        path: the database.
        since_s: time of the last event that invalidates earlier checks.
    """
    try:
        checked = stamp(path).stat().st_mtime
    except OSError:
        return True
    # A check in the future does not count either: somebody has set the clock back since.
    return not max(since_s, time.time() - CHECKED_FOR_S) < checked < time.time() + _CLOCK_S


def note_check(path: Path) -> None:
    """Record that a database was just found sound; best effort: failing only costs a check."""
    with contextlib.suppress(OSError):
        noted = stamp(path)
        os.close(os.open(noted, os.O_CREAT | os.O_WRONLY | NO_WAIT, 0o600))
        os.utime(noted)


def forget_check(path: Path) -> None:
    """Remove the record of a database that no longer exists; best effort, as `note_check`."""
    with contextlib.suppress(OSError):
        stamp(path).unlink()


def stamp(path: Path) -> Path:
    """The file whose modification time says when a database was checked; see `note_state`."""
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
    """Take the lock under which databases of a folder are renamed (or created: another lock).

    Raises:
        TimeoutError: another process, perhaps a stopped one, held the lock for too long.
        OSError: the lock file cannot be created.
    """
    descriptor = home_files.open_locked(folder / lock)
    try:
        if not home_files.take_lock(descriptor, wait_s=wait_s):
            raise TimeoutError(errno.ETIMEDOUT, f"another process holds the lock {lock}")
        yield
    finally:
        # Closing the file releases the lock.
        os.close(descriptor)


# Detects that an index file is not the one codelens left, such as an older copy that somebody put
# back.
#
# A copy of the file alone, put next to the newer log of a server or of a killed process, mixes
# pages of two states. Each page has a valid checksum, so SQLite does not notice. Therefore
# `NAME.checked` records the file's state when codelens last wrote to it (in WAL mode that is only
# in a checkpoint) and the age of its content. Each checkpoint, made here or on closing, is recorded
# under the lock that renaming takes.

logger = logging.getLogger(__name__)

LOG_PAGES = 1000
"""A checkpoint is due after this many log pages; also SQLite's default."""
# The record is overwritten in place, so that it fits on a full disk.
_RECORD_BYTES = 128
_AGE = "SELECT fencing, owner, expires_up_s FROM index_locks WHERE name = 'writer'"


class FileState(NamedTuple):
    """Attributes of a file that change when it is written or another file takes its name."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class Age(NamedTuple):
    """How recent an index's content is; never decreases in a transaction that changes facts."""

    fencing: int
    up_s: float
    """When the lease with this number was last used; infinite once it was released."""


class Left(NamedTuple):
    """The recorded file without its device, whose number may change with a reboot."""

    file: tuple[int, int, int]
    age: Age


class FileChange(Enum):
    """How a file compares with the one that codelens left."""

    SAME = "as it was left"
    UNKNOWN = "nothing was recorded"
    CHANGED = "something else wrote to it, or a process ended in a checkpoint"
    OLDER = "an older copy, with no log next to it"


def state_of(path: Path) -> FileState | None:
    """The file's current state, or None."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def change_since_recorded(path: Path) -> FileChange:
    """Compare the file with the record before it is opened.

    Raises:
        IndexCorrupt: the file is an older copy next to the log of a newer one.
    """
    state = state_of(path)
    if state is None or not state.size:
        # No file, or an empty one: a new one will be created.
        forget_check(path)
        return FileChange.UNKNOWN
    left = left_of(path)
    if left is None:
        return FileChange.UNKNOWN
    if left.file == state[1:]:
        return FileChange.SAME
    # A process that writes to the file now records its state before it releases the lock.
    try:
        with alone_in(path.parent, wait_s=PATIENCE_S):
            state, left = state_of(path), left_of(path)
            if state is None or left is None:
                return FileChange.UNKNOWN
            if left.file == state[1:]:
                return FileChange.SAME
            age = _age_in(path)
    except TimeoutError:
        # A process may be stopped during a checkpoint; then the state is unknown.
        return FileChange.UNKNOWN
    if age is None or age >= left.age:
        return FileChange.CHANGED
    if has_content(path.with_name(f"{path.name}-wal")):
        raise IndexCorrupt(path, "an older copy was put next to the log of a newer one")
    return FileChange.OLDER


def is_as_left(path: Path, file_state: FileState) -> bool:
    """Whether codelens, in this process or another, left the file in the state `file_state`."""
    left = left_of(path)
    if left is None or left.file == file_state[1:]:
        return True
    try:
        with alone_in(path.parent, wait_s=PATIENCE_S):
            left, now = left_of(path), state_of(path)
            return left is None or (now is not None and left.file == now[1:])
    except OSError:
        # Without a lock nothing can be recorded either.
        return True


def left_of(path: Path) -> Left | None:
    """The last recorded state; None if it does not exist or cannot be read."""
    try:
        with open_regular(stamp(path)) as file:
            inode, size, mtime_ns, fencing, up_s = file.read(_RECORD_BYTES).decode("ascii").split()
        return Left((int(inode), int(size), int(mtime_ns)), Age(int(fencing), float(up_s)))
    except (OSError, ValueError):
        return None


def note_state(path: Path) -> None:
    """Record the file's current state; under the lock of `alone_in`.

    Best effort: without the record the next opening checks the whole file.
    """
    state, left = state_of(path), left_of(path)
    if state is None or (left is not None and left.file == state[1:]):
        return
    age = _age_in(path)
    if age is None:
        return
    text = f"{state.inode} {state.size} {state.mtime_ns} {age.fencing} {age.up_s!r}"
    try:
        descriptor = os.open(stamp(path), os.O_WRONLY | NO_WAIT)
    except OSError as error:
        logger.debug("nothing was recorded for %s: %s", path, error)
        return
    try:
        about = os.fstat(descriptor)
        os.write(descriptor, text.ljust(_RECORD_BYTES - 1).encode("ascii") + b"\n")
        # The record's modification time says when the file was checked.
        os.utime(stamp(path), ns=(about.st_atime_ns, about.st_mtime_ns))
    except OSError as error:
        logger.debug("nothing was recorded for %s: %s", path, error)
    finally:
        os.close(descriptor)


@contextmanager
def writing_to(path: Path) -> Generator[None]:
    """Record what the block writes to the file itself; under the lock of `alone_in`.

    Records nothing if the file already differed from the one codelens left.
    """
    state, left = state_of(path), left_of(path)
    is_as_left_here = state is not None and left is not None and left.file == state[1:]
    try:
        yield
    finally:
        if is_as_left_here:
            note_state(path)


def checkpoint(path: Path, connection: apsw.Connection, *, cut: bool = False) -> None:
    """Move the log's pages to the file without waiting for readers or writers, and record it.

    Args:
        path: the database file.
        connection: an open connection to it.
        cut: also empty the log, which needs it to be free of readers.

    Raises:
        apsw.BusyError: `cut` is set and somebody reads from the log.
        OSError: the lock file cannot be created.
        apsw.Error: the file cannot be written; the pages stay in the log.
    """
    with (
        alone_in(path.parent, wait_s=PATIENCE_S),
        writing_to(path),
    ):
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if cut else apsw.SQLITE_CHECKPOINT_PASSIVE
        connection.wal_checkpoint(mode=mode)


def keep_noted(path: Path, connection: apsw.Connection) -> None:
    """Make the connection's automatic checkpoints record themselves."""

    def committed(connection: apsw.Connection, _name: str, pages: int) -> int:
        if pages >= LOG_PAGES:
            try:
                checkpoint(path, connection)
            except (apsw.Error, OSError) as error:
                # As in SQLite: the transaction is safe in the log, and the next commit retries.
                logger.debug("cannot checkpoint %s: %s", path, error)
        return apsw.SQLITE_OK

    connection.set_wal_hook(committed)


def _age_in(path: Path) -> Age | None:
    """The age of the content in the file itself, without its log; None if it cannot be read."""
    if is_special(path):
        return None
    # Through SQLite: closing a file opened in another way would drop this process's locks on it.
    uri = f"file:{urllib.parse.quote(str(path))}?mode=ro&immutable=1"
    try:
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            row = connection.execute(_AGE).fetchone()
        finally:
            connection.close()
    except apsw.SQLError as error:
        # Before the first checkpoint, the file has no such table.
        return Age(0, 0.0) if str(error).startswith("no such table") else None
    except apsw.Error:
        return None
    if row is None:
        return Age(0, 0.0)
    fencing, owner, up_s = row
    return Age(int(fencing), float(up_s) if owner else math.inf)
