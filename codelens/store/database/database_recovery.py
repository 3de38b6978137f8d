"""A database as a file: which one it is, when it was checked, and how a damaged one goes aside.

A damaged index keeps its content under another name, `index-ID.db.damaged-NANOSECONDS`, and a new
one is built. Of each index the newest such file is kept, for seven days.
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

    Its text is written by `codelens.store.database.database_recovery`.
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
    descriptor = home_files.open_locked(folder / lock)
    try:
        if not home_files.take_lock(descriptor, wait_s=wait_s):
            raise TimeoutError(errno.ETIMEDOUT, f"another process holds the lock {lock}")
        yield
    finally:
        # Closing gives a lock back.
        os.close(descriptor)


# Whether an index is the file that codelens left: an older copy put back is no longer that.
#
# A copy of the file alone, put back beside the newer log of a server or of a process that was
# killed, mixes pages of two states, each with a right checksum, and SQLite sees nothing wrong. So
# `NAME.checked` says what the file was like when codelens last wrote to it, which in WAL mode is
# only in a checkpoint, and how far its content was: each checkpoint, made here or at closing, is
# noted under the lock that renaming takes.

logger = logging.getLogger(__name__)

LOG_PAGES = 1000
"""So many pages of log make a checkpoint due, as SQLite has it by itself."""
# Written over in place, so that a full disk can still take it.
_RECORD_BYTES = 128
_AGE = "SELECT fencing, owner, expires_up_s FROM index_locks WHERE name = 'writer'"


class FileState(NamedTuple):
    """What changes of a file whenever something is written to it, or another takes its name."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class Age(NamedTuple):
    """How far an index's content is; never less after a transaction that changes facts."""

    fencing: int
    up_s: float
    """When the lease of that number was last used; infinite once it was given back."""


class Left(NamedTuple):
    """What codelens left: the file without its device, whose number another boot may change."""

    file: tuple[int, int, int]
    age: Age


class Standing(Enum):
    """What a file is to the one that codelens left."""

    SAME = "as it was left"
    UNKNOWN = "nothing was recorded"
    CHANGED = "something else wrote to it, or a process ended in a checkpoint"
    OLDER = "an older copy, with no log beside it"


def state_of(path: Path) -> FileState | None:
    """The file's state now; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def judge_standing(path: Path) -> Standing:
    """What the file is, before it is opened.

    Raises:
        IndexCorrupt: an older copy was put beside the log of a newer one.
    """
    state = state_of(path)
    if state is None or not state.size:
        # It is made anew.
        forget_check(path)
        return Standing.UNKNOWN
    left = left_of(path)
    if left is None:
        return Standing.UNKNOWN
    if left.file == state[1:]:
        return Standing.SAME
    # Whoever writes to it now notes that before giving the lock back.
    try:
        with alone_in(path.parent, wait_s=PATIENCE_S):
            state, left = state_of(path), left_of(path)
            if state is None or left is None:
                return Standing.UNKNOWN
            if left.file == state[1:]:
                return Standing.SAME
            age = _age_in(path)
    except TimeoutError:
        # Its writer is stopped in the midst of a checkpoint, perhaps; nothing is known of it then.
        return Standing.UNKNOWN
    if age is None or age >= left.age:
        return Standing.CHANGED
    if _has_log(path):
        raise IndexCorrupt(path, "an older copy was put beside the log of a newer one")
    return Standing.OLDER


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
        # Where no lock can be made nothing can be noted either.
        return True


def left_of(path: Path) -> Left | None:
    """What was noted last; None if nothing was, or it cannot be read."""
    try:
        with open_regular(stamp(path)) as file:
            inode, size, mtime_ns, fencing, up_s = file.read(_RECORD_BYTES).decode("ascii").split()
        return Left((int(inode), int(size), int(mtime_ns)), Age(int(fencing), float(up_s)))
    except (OSError, ValueError):
        return None


def note_state(path: Path) -> None:
    """Note what the file is now; under the lock of `recovery.alone_in`.

    Best effort: without it the next opening checks the whole file.
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
        # The note's own time says when the file was checked.
        os.utime(stamp(path), ns=(about.st_atime_ns, about.st_mtime_ns))
    except OSError as error:
        logger.debug("nothing was recorded for %s: %s", path, error)
    finally:
        os.close(descriptor)


@contextmanager
def writing_to(path: Path) -> Generator[None]:
    """What the block writes to the file itself is noted; under the lock of `recovery.alone_in`.

    Nothing is noted where the file was no longer what codelens had left.
    """
    state, left = state_of(path), left_of(path)
    ours = state is not None and left is not None and left.file == state[1:]
    try:
        yield
    finally:
        if ours:
            note_state(path)


def checkpoint(path: Path, connection: apsw.Connection, *, cut: bool = False) -> None:
    """Bring the log's pages to the file, waiting for no reader or writer, and note that.

    Args:
        path: of the file.
        connection: to it.
        cut: empty the log too; only where nobody reads from it.

    Raises:
        apsw.BusyError: somebody reads from a log that was to be cut.
        OSError: the lock cannot be made.
        apsw.Error: it cannot be written; what is in the log stays there.
    """
    with (
        alone_in(path.parent, wait_s=PATIENCE_S),
        writing_to(path),
    ):
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if cut else apsw.SQLITE_CHECKPOINT_PASSIVE
        connection.wal_checkpoint(mode=mode)


def keep_noted(path: Path, connection: apsw.Connection) -> None:
    """Have the connection's commits make the checkpoints that SQLite would make without a note."""

    def committed(connection: apsw.Connection, _name: str, pages: int) -> int:
        if pages >= LOG_PAGES:
            try:
                checkpoint(path, connection)
            except (apsw.Error, OSError) as error:
                # As SQLite does: the transaction is in the log, and the next one tries again.
                logger.debug("cannot checkpoint %s: %s", path, error)
        return apsw.SQLITE_OK

    connection.set_wal_hook(committed)


def _age_in(path: Path) -> Age | None:
    """The age of what is in the file itself, whatever its log says; None if it cannot be read."""
    if is_special(path):
        return None
    # By SQLite, for closing a file that is opened otherwise ends this process's locks on it.
    uri = f"file:{urllib.parse.quote(str(path))}?mode=ro&immutable=1"
    try:
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            row = connection.execute(_AGE).fetchone()
        finally:
            connection.close()
    except apsw.SQLError as error:
        # The table is not there before the first checkpoint.
        return Age(0, 0.0) if str(error).startswith("no such table") else None
    except apsw.Error:
        return None
    if row is None:
        return Age(0, 0.0)
    fencing, owner, up_s = row
    return Age(int(fencing), float(up_s) if owner else math.inf)


def _has_log(path: Path) -> bool:
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except OSError:
        return False
