"""The rows of a contexts database: saved contexts by name or words, and their verification.

`codelens.store.saved.contexts_file` opens the database. A context is written whole with a digest,
so that corrupted bytes are detected and never served. Times are seconds since 1970.
"""

# apsw's stubs leave the types of bindings, pragmas and errors open.
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import json
import re
import urllib.parse
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import apsw

from codelens.errors import HomeNotWritable, IndexCorrupt, StoreError
from codelens.home_files import is_special
from codelens.paths import barred, repository_id
from codelens.store.database import database_file
from codelens.store.database.database import Database, Row, translated

COMMON_DIR, ROOTS, WAITING, ADOPTED = "common_dir", "roots", "waiting", "adopted"
REPOSITORY = "repository"
"""Keys of `about`: the repository's place; its root commits; contexts files from places where it
may have been before it moved; which of these files were taken over, and when (`FILE@SECONDS`); and
its id. Spaces separate the items of a list.
"""

_COLUMNS = (
    "id, name, note, category, tags, pinned, created_s, saved_s, expires_s, branch, head, digest"
)
_SELECT_ALL = f"SELECT {_COLUMNS} FROM contexts ORDER BY id"  # noqa: S608 - our own columns
_SELECT_NAMED = f"SELECT {_COLUMNS} FROM contexts WHERE name = ?"  # noqa: S608
_SELECT_ONE = f"SELECT {_COLUMNS} FROM contexts WHERE id = ?"  # noqa: S608
# The first reads only the index of names, the second the table.
_SELECT_IDS_BY_NAME = "SELECT id FROM contexts ORDER BY name"
_SELECT_IDS = "SELECT id FROM contexts NOT INDEXED"
_ITEM = "kind, path, symbol, number, start_line, end_line, below, body, shape, content, ref, head"
_SELECT_ITEMS = f"SELECT {_ITEM} FROM items WHERE context = ? ORDER BY ordinal"  # noqa: S608
_SELECT_ALL_ITEMS = f"SELECT context, {_ITEM} FROM items ORDER BY context, ordinal"  # noqa: S608
_SELECT_FOUND = (
    "SELECT contexts.name FROM contexts_terms JOIN contexts ON contexts.id = contexts_terms.rowid "
    "WHERE contexts_terms MATCH ? ORDER BY bm25(contexts_terms, 8, 4, 1, 2), contexts.name"
)
_INSERT = (
    "INSERT INTO contexts (name, note, category, tags, pinned, created_s, saved_s, expires_s, "
    "branch, head, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_ITEM = "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_TERMS = (
    "INSERT INTO contexts_terms (rowid, name, tags, note, places) VALUES (?, ?, ?, ?, ?)"
)
_SELECT_ID = "SELECT id FROM contexts WHERE name = ?"
_DELETE = "DELETE FROM contexts WHERE id = ?"
_DELETE_TERMS = "DELETE FROM contexts_terms WHERE rowid = ?"
_SELECT_ABOUT = "SELECT value FROM about WHERE key = ?"
_PUT_ABOUT = (
    "INSERT INTO about VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)


class Item(NamedTuple):
    """What a context refers to; see `migrations/0001_contexts.sql` for the fields."""

    kind: str
    path: bytes
    symbol: str = ""
    number: int = 1
    start_line: int = 0
    end_line: int = 0
    below: int = 0
    body: bytes = b""
    shape: bytes = b""
    content: bytes = b""
    ref: str = ""
    head: str = ""


class Context(NamedTuple):
    """A saved context."""

    name: str
    note: str
    category: str
    tags: tuple[str, ...]
    pinned: bool
    created_s: int
    saved_s: int
    expires_s: int | None
    branch: str
    head: str
    items: tuple[Item, ...]

    def expired(self, now_s: float) -> bool:
        """Whether its time to live is over; a pinned context never expires."""
        return not self.pinned and self.expires_s is not None and self.expires_s <= now_s


class Terms(NamedTuple):
    """The search terms of a context, separated by spaces."""

    name: str
    tags: str
    note: str
    places: str


def digest(context: Context) -> bytes:
    """16 bytes that change with any part of a context."""
    parts = json.dumps(context, default=bytes.hex, ensure_ascii=True)
    return blake2b(parts.encode(), digest_size=16).digest()


def every(db: Database) -> list[Context]:
    """All contexts, oldest first.

    Raises:
        IndexCorrupt: a context does not match its digest.
    """
    items: defaultdict[int, list[Row]] = defaultdict(list)
    for at, *item in db.rows(_SELECT_ALL_ITEMS):
        items[at].append(tuple(item))
    return [_context(db, row, items[row[0]]) for row in db.rows(_SELECT_ALL)]


def readable(db: Database) -> Iterator[Context]:
    """The contexts of a damaged database that match their digests."""
    for select in (_SELECT_IDS_BY_NAME, _SELECT_IDS):
        try:
            ids = db.rows(select)
            break
        except IndexCorrupt:
            continue
    else:
        return
    for (at,) in ids:
        try:
            row = db.row(_SELECT_ONE, (at,))
            if row is not None:
                yield _context(db, row, db.rows(_SELECT_ITEMS, (at,)))
        except IndexCorrupt:
            continue


def named(db: Database, name: str) -> Context | None:
    """The context with a name, if any.

    Raises:
        IndexCorrupt: it does not match its digest.
    """
    row = db.row(_SELECT_NAMED, (name,))
    return None if row is None else _context(db, row, db.rows(_SELECT_ITEMS, (row[0],)))


def matching(db: Database, terms: Sequence[str], *, every_term: bool) -> list[str]:
    """Names of the contexts that contain the terms, best first.

    Args:
        db: a contexts database.
        terms: as the tokenizer returns them.
        every_term: require all terms, not just one.
    """
    quoted = (term.replace('"', '""') for term in terms)
    query = (" AND " if every_term else " OR ").join(f'"{term}"' for term in quoted)
    return [name for (name,) in db.rows(_SELECT_FOUND, (query,))]


def put(db: Database, context: Context, terms: Terms) -> None:
    """Write a context over any of the same name; runs in the caller's transaction."""
    remove(db, context.name)
    values = (
        context.name, context.note, context.category, json.dumps(context.tags),
        int(context.pinned), context.created_s, context.saved_s, context.expires_s,
        context.branch, context.head, digest(context),
    )  # fmt: skip
    db.execute(_INSERT, values)
    at = db.last_id()
    db.execute_many(
        _INSERT_ITEM, ((at, number, *item) for number, item in enumerate(context.items))
    )
    db.execute(_INSERT_TERMS, (at, *terms))


def remove(db: Database, name: str) -> bool:
    """Delete the context with a name, if any; runs in the caller's transaction."""
    row = db.row(_SELECT_ID, (name,))
    if row is None:
        return False
    db.execute(_DELETE_TERMS, row)
    db.execute(_DELETE, row)
    return True


def count(db: Database) -> int:
    """The number of contexts."""
    return db.value("SELECT count(*) FROM contexts")


def newest_s(db: Database) -> int:
    """When the last context was saved, or 0."""
    return db.value("SELECT max(saved_s) FROM contexts") or 0


def about(db: Database, key: str) -> str:
    """A stored fact about the repository; empty if missing."""
    return str(db.value(_SELECT_ABOUT, (key,), ""))


def put_about(db: Database, values: Iterable[tuple[str, str]]) -> None:
    """Store facts about the repository; runs in the caller's transaction."""
    db.execute_many(_PUT_ABOUT, values)


def _context(db: Database, row: Row, items: Iterable[Row]) -> Context:
    name, note, category, tags, pinned, created_s, saved_s, expires_s, branch, head, written = row[
        1:
    ]
    try:
        context = Context(
            name, note, category, tuple(json.loads(tags)), bool(pinned), created_s, saved_s,
            expires_s, branch, head, tuple(Item(*item) for item in items),
        )  # fmt: skip
    except (ValueError, TypeError) as error:
        raise IndexCorrupt(db.path, f"a saved context cannot be read: {error}") from error
    if digest(context) != written:
        raise IndexCorrupt(db.path, "a saved context does not match its digest")
    return context


# Verified reading of a contexts database: all of it, in one transaction, digests included.

SHORTEST = 100
"""Bytes of a database's header; SQLite starts a new database in a shorter file."""
_BUSY_MS = 10_000
_NAMED = re.compile(r"contexts-([0-9a-f]{16})\.db")


class Owner(NamedTuple):
    """The repository that a contexts database must belong to."""

    repository: str
    """Its id, see `codelens.paths.repository_id`; empty if unknown."""
    knows_commit: Callable[[str], bool] = lambda _: True
    """Whether the repository has a commit; True if unknown."""


def owner_by_name(path: Path) -> Owner:
    """The owner according to the file name of a database or of its copy."""
    match = _NAMED.match(path.name)
    return Owner(match.group(1) if match else "")


def foreign(db: Database, owner: Owner) -> str:
    """Why a database belongs to another repository than `owner`; empty if it does not.

    An earlier version stored no id; then the places are compared.
    """
    place = about(db, COMMON_DIR)
    stated = about(db, REPOSITORY)
    if not stated and place and "\\x" not in place:
        stated = repository_id(place)
    if owner.repository and stated and stated != owner.repository:
        return f"it holds the notes of another repository, {place!r}"
    roots = about(db, ROOTS).split()
    if roots and not any(map(owner.knows_commit, roots)):
        return f"it holds the notes of a project whose history began with {roots[0][:12]}"
    return ""


def size_of(path: Path) -> int:
    """Bytes of a file, 0 if it does not exist.

    Only SQLite may open the file: closing it drops all locks that the process has on it, including
    those of a writer in another thread (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise barred(path) or HomeNotWritable(path, error.strerror or str(error)) from error


def proved(db: Database, owner: Owner) -> Database:
    """Return the database if it is sound and belongs to `owner`; else close it.

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
    """Verify the database and return all contexts.

    They are read in one transaction: a mix of two states would not match the digests.

    Args:
        db: the database.
        owner: the repository that it must belong to; None: any.

    Raises:
        IndexCorrupt: it is damaged; `foreign` if it belongs to another repository.
    """
    try:
        with db.read():
            fault = db.fault()
            rows = every(db)
            stranger = foreign(db, owner) if owner else ""
    except apsw.SQLError as error:
        # FTS5 reports a lost table of its own like this.
        raise IndexCorrupt(db.path, str(error)) from error
    if fault:
        raise IndexCorrupt(db.path, fault)
    if stranger:
        raise IndexCorrupt(db.path, stranger, foreign=True)
    return rows


def legible(path: Path, owner: Owner) -> list[Context]:
    """The readable contexts of a damaged file; none if it is another repository's."""
    contexts: list[Context] = []
    with suppress(StoreError), closing(as_it_is(path)) as db:
        if not foreign(db, owner):
            contexts.extend(readable(db))
    return contexts


def as_it_is(path: Path) -> Database:
    """Open a file without changing it, not even to migrate it.

    SQLite still rolls back what a killed process left half written.

    Raises:
        StoreError: it cannot be opened; `HomeNotReadable` if its folder may not be entered.
    """
    with translated(path):
        half_written = path.with_name(f"{path.name}-journal").exists()
    if half_written:
        with suppress(StoreError), closing(connected(path, "rw")) as db:
            count(db)
    return connected(path, "ro")


def connected(path: Path, mode: str) -> Database:
    """Open a file in mode `ro` or `rw` without creating it, migrating it or setting pragmas.

    Raises:
        StoreError: it cannot be opened.
        IndexCorrupt: it is not a regular file, such as a pipe, at which SQLite would block.
    """
    if is_special(path):
        raise IndexCorrupt(path, "it is not a regular file")
    database_file.checksums_available()
    flags = apsw.SQLITE_OPEN_READONLY if mode == "ro" else apsw.SQLITE_OPEN_READWRITE
    with translated(path):
        name = urllib.parse.quote(str(path))
        uri = f"file:{name}?mode={mode}"
        connection = apsw.Connection(uri, flags=flags | apsw.SQLITE_OPEN_URI)
        connection.set_busy_timeout(_BUSY_MS)
        return Database(path, connection)
