"""Counts how much codelens was used, on this machine only: nothing is sent, no question is stored.

A call appends one line to `usage.log`, without a lock or a wait, in some 20 us. The lines are
summed by day into `usage.db` on request, or when the log has grown. Both may be lost without harm:
a damaged `usage.db` is set aside and replaced.
"""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from codelens.errors import HomeNotWritable, IndexCorrupt
from codelens.home_files import open_regular
from codelens.paths import barred, usage_file
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_database
from codelens.store.database.database_recovery import identity_of, set_aside

logger = logging.getLogger(__name__)

_LOG = "usage.log"
_FIELDS = 8
_GROWN_BYTES = 1_000_000
_MOST_BYTES = 16 * _GROWN_BYTES
"""How many bytes of a log to read at most; normally it is summed long before it grows so large."""
_MOST_DIGITS = 15
_KEPT_DAYS = 400

_ADD = """
INSERT INTO calls VALUES (?, ?, ?, 1, ?, ?, ?, ?)
ON CONFLICT (day, tool, repository) DO UPDATE SET calls = calls + 1,
    failed = failed + excluded.failed, served_bytes = served_bytes + excluded.served_bytes,
    whole_bytes = whole_bytes + excluded.whole_bytes,
    saved_bytes = saved_bytes + excluded.saved_bytes
"""
_PLACE = (
    "INSERT INTO repositories VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET place = excluded.place"
)
# Counted from the last day with calls before today: if the clock jumps ahead, all days seem old.
_FORGET = "DELETE FROM calls WHERE day < date((SELECT MAX(day) FROM calls WHERE day < ?), ?)"
_IS_FOLDED = "SELECT 1 FROM folded WHERE name = ?"
_FOLDED = "INSERT INTO folded VALUES (?)"
_NOT_LEFT = "DELETE FROM folded WHERE name = ?"
_SELECT = (
    "SELECT day, tool, repository, ifnull(place, ''), calls, failed, served_bytes, whole_bytes, "
    "saved_bytes FROM calls LEFT JOIN repositories ON id = repository WHERE day >= ? "
    "ORDER BY day, tool, repository"
)


class Call(NamedTuple):
    """One call, as counted."""

    day: str
    tool: str
    repository: str
    """Its id; empty if none was opened."""
    place: str
    failed: bool
    served_bytes: int
    whole_bytes: int
    """Sizes of the files that would have been read without codelens."""
    saved_bytes: int


class Tally(NamedTuple):
    """The sum of a tool's calls in a repository on a day."""

    day: str
    tool: str
    repository: str
    place: str
    calls: int
    failed: int
    served_bytes: int
    whole_bytes: int
    saved_bytes: int


def note(home: Path, call: Call) -> None:
    """Count a call; best effort: a call that cannot be written is not counted."""
    fields = (*call[:4], int(call.failed), *call[5:])
    line = "\t".join(_plain(field) for field in fields) + "\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    # A link would lead elsewhere; opening a pipe would wait for a reader.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        log = os.open(home / _LOG, flags, 0o600)
        try:
            about = os.fstat(log)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
                logger.debug("a call was not counted: %s is not a regular file", _LOG)
                return
            os.write(log, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(log)
    except OSError as error:
        logger.debug("a call was not counted: %s", error)


def usage_log(home: Path) -> Path:
    """The log of calls that are not summed yet."""
    return home / _LOG


def has_grown(home: Path) -> bool:
    """Whether the log is large enough to be summed without a request."""
    try:
        return (home / _LOG).stat().st_size > _GROWN_BYTES
    except OSError:
        return False


def tallies(home: Path, since: str) -> list[Tally]:
    """All counts since a day, by day, tool and repository.

    Raises:
        StoreError: they cannot be read.
    """
    if not home.is_dir():
        return []
    with closing(_opened(home)) as db:
        _fold(home, db)
        return [Tally(*row) for row in db.rows(_SELECT, (since,))]


def fold(home: Path) -> None:
    """Add the log's calls to the sums.

    Raises:
        StoreError: they cannot be written; the log stays.
    """
    with closing(_opened(home)) as db:
        _fold(home, db)


def _opened(home: Path) -> Database:
    path = usage_file(home)
    identity = identity_of(path)
    try:
        return open_database(path, "usage")
    except IndexCorrupt as error:
        logger.warning("%s", error)
        set_aside(path, identity)
        return open_database(path, "usage")


def _fold(home: Path, db: Database) -> None:
    try:
        with suppress(FileNotFoundError):
            (home / _LOG).rename(home / f"{_LOG}.{os.getpid()}-{time.time_ns()}")
        for taken in sorted(home.glob(f"{_LOG}.*")):
            if taken.is_symlink() or not taken.is_file():
                continue
            lines = list(_lines(taken))
            with db.write(None):
                # Another process may have summed this log and died before removing it.
                if db.row(_IS_FOLDED, (taken.name,)) is None:
                    _add(db, lines)
                    db.execute(_FOLDED, (taken.name,))
            taken.unlink(missing_ok=True)
            with db.write(None):
                db.execute(_NOT_LEFT, (taken.name,))
    except OSError as error:
        at = Path(os.fsdecode(error.filename or home))
        raise barred(at) or HomeNotWritable(at, error.strerror or str(error)) from error


def _add(db: Database, lines: list[Call]) -> None:
    for call in lines:
        db.execute(_ADD, (*call[:3], int(call.failed), *call[5:]))
    db.execute_many(
        _PLACE, {call.repository: (call.repository, call.place) for call in lines}.values()
    )
    db.execute(_FORGET, (time.strftime("%Y-%m-%d"), f"-{_KEPT_DAYS} days"))


def _lines(log: Path) -> Iterator[Call]:
    """The calls of a log; a line cut short by a full disk is skipped."""
    try:
        with open_regular(log) as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return
    for line in text.split("\n"):
        fields = line.split("\t")
        if len(fields) == _FIELDS and all(map(_is_count, fields[4:])):
            failed, served, whole, saved = map(int, fields[4:])
            yield Call(
                fields[0], fields[1], fields[2], fields[3], bool(failed), served, whole, saved
            )


def _is_count(field: str) -> bool:
    return field.isdecimal() and len(field) <= _MOST_DIGITS


def _plain(field: object) -> str:
    return str(field).replace("\t", " ").replace("\n", " ")
