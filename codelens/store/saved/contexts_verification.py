"""Reading a contexts database, proven: all of it, of one moment, each context as it was written."""

# apsw's stubs leave the types of bindings and pragmas open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from codelens.errors import HomeNotWritable, IndexCorrupt, StoreError
from codelens.paths import barred, repository_id
from codelens.small_files import is_special
from codelens.store.database import page_checksums
from codelens.store.database.database import Database
from codelens.store.database.sqlite_errors import translated
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import Context

SHORTEST = 100
"""Bytes of a database's head; SQLite begins a new one in a file that is shorter still."""
_BUSY_MS = 10_000
_NAMED = re.compile(r"contexts-([0-9a-f]{16})\.db")


class Owner(NamedTuple):
    """The repository that a contexts database must belong to."""

    repository: str
    """Its id, see `codelens.paths.repository_id`; empty where it is not known."""
    knows_commit: Callable[[str], bool] = lambda _: True
    """Whether the repository has a commit; True where that cannot be told."""


def owner_by_name(path: Path) -> Owner:
    """The owner that a database's file name states, or that of a copy beside it."""
    match = _NAMED.match(path.name)
    return Owner(match.group(1) if match else "")


def foreign(db: Database, owner: Owner) -> str:
    """Why a database belongs to another repository than `owner`; empty if it does not.

    A file that states no id is of an earlier version: then its place is compared.
    """
    place = context_rows.about(db, context_rows.COMMON_DIR)
    stated = context_rows.about(db, context_rows.REPOSITORY)
    if not stated and place and "\\x" not in place:
        stated = repository_id(place)
    if owner.repository and stated and stated != owner.repository:
        return f"it holds the notes of another repository, {place!r}"
    roots = context_rows.about(db, context_rows.ROOTS).split()
    if roots and not any(map(owner.knows_commit, roots)):
        return f"it holds the notes of a project whose history began with {roots[0][:12]}"
    return ""


def size_of(path: Path) -> int:
    """Bytes of a file, 0 where there is none.

    It is never opened but by SQLite: closing a file gives back all locks that the process has on
    it, those of a writer in another thread too (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise barred(path) or HomeNotWritable(path, error.strerror or str(error)) from error


def proved(db: Database, owner: Owner) -> Database:
    """The database, if it is sound and belongs to `owner`; else it is closed.

    Raises:
        IndexCorrupt: it is damaged; `foreign` if it belongs to another repository.
    """
    try:
        prove(db, owner)
    except BaseException:
        db.close()
        raise
    return db


def prove(db: Database, owner: Owner | None = None) -> list[Context]:
    """All contexts, of one moment: of two moments none would be as it was written.

    Args:
        db: the database.
        owner: the repository that it must belong to; None: any.

    Raises:
        IndexCorrupt: it is damaged; `foreign` if it belongs to another repository.
    """
    try:
        with db.read():
            fault = db.fault()
            rows = context_rows.every(db)
            stranger = foreign(db, owner) if owner else ""
    except apsw.SQLError as error:
        # So FTS5 tells of a table of its own that was lost.
        raise IndexCorrupt(db.path, str(error)) from error
    if fault:
        raise IndexCorrupt(db.path, fault)
    if stranger:
        raise IndexCorrupt(db.path, stranger, foreign=True)
    return rows


def legible(path: Path, owner: Owner) -> list[Context]:
    """What can still be read of a damaged file; nothing of one of another repository."""
    contexts: list[Context] = []
    with suppress(StoreError), closing(as_it_is(path)) as db:
        if not foreign(db, owner):
            contexts.extend(context_rows.readable(db))
    return contexts


def as_it_is(path: Path) -> Database:
    """A file of which nothing is changed, not even to bring it up to date.

    But what a process that was killed left half written is undone, as by any other opening.

    Raises:
        StoreError: it cannot be opened; `HomeNotReadable` where its folder may not be entered.
    """
    with translated(path):
        half_written = path.with_name(f"{path.name}-journal").exists()
    if half_written:
        with suppress(StoreError), closing(connected(path, "rw")) as db:
            context_rows.count(db)
    return connected(path, "ro")


def connected(path: Path, mode: str) -> Database:
    """A file as it is, `ro` or `rw`: not made, not migrated, no pragma set.

    Raises:
        StoreError: it cannot be opened.
        IndexCorrupt: a pipe lies there, at which SQLite would wait.
    """
    if is_special(path):
        raise IndexCorrupt(path, "it is not a regular file")
    page_checksums.available()
    flags = apsw.SQLITE_OPEN_READONLY if mode == "ro" else apsw.SQLITE_OPEN_READWRITE
    with translated(path):
        name = urllib.parse.quote(str(path))
        uri = f"file:{name}?mode={mode}"
        connection = apsw.Connection(uri, flags=flags | apsw.SQLITE_OPEN_URI)
        connection.set_busy_timeout(_BUSY_MS)
        return Database(path, connection)
