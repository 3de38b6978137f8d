"""The rows of a contexts database: what was saved, found by name or by words.

`codelens.store.saved.contexts_file` opens one. A context is written whole and carries a digest, so
that
a byte that rotted is seen and never answered with. Times are seconds since 1970.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from codelens.errors import IndexCorrupt
from codelens.store.database.database import Database, Row

COMMON_DIR, ROOTS, WAITING, ADOPTED = "common_dir", "roots", "waiting", "adopted"
REPOSITORY = "repository"
"""Keys of `about`: where the repository was, its root commits (spaces between), the files of
repositories that this one may have been before it moved (spaces between), and those of them that
were taken over (`FILE@SECONDS`, when; spaces between); and the repository's id."""

_COLUMNS = (
    "id, name, note, category, tags, pinned, created_s, saved_s, expires_s, branch, head, digest"
)
_SELECT_ALL = f"SELECT {_COLUMNS} FROM contexts ORDER BY id"  # noqa: S608 - our own columns
_SELECT_NAMED = f"SELECT {_COLUMNS} FROM contexts WHERE name = ?"  # noqa: S608
_SELECT_ONE = f"SELECT {_COLUMNS} FROM contexts WHERE id = ?"  # noqa: S608
# The first reads the index of names alone, the second the table.
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
    """What a context points at; see `migrations/0001_contexts.sql` for the fields."""

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
    """Something that was saved."""

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
        """Whether its time to live is over; a pinned one's never is."""
        return not self.pinned and self.expires_s is not None and self.expires_s <= now_s


class Terms(NamedTuple):
    """What a context is found by: terms, a space between."""

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
        IndexCorrupt: one is not as it was written.
    """
    items: defaultdict[int, list[Row]] = defaultdict(list)
    for at, *item in db.rows(_SELECT_ALL_ITEMS):
        items[at].append(tuple(item))
    return [_context(db, row, items[row[0]]) for row in db.rows(_SELECT_ALL)]


def readable(db: Database) -> Iterator[Context]:
    """Of a damaged database: the contexts that are as they were written."""
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
    """The context of a name.

    Raises:
        IndexCorrupt: it is not as it was written.
    """
    row = db.row(_SELECT_NAMED, (name,))
    return None if row is None else _context(db, row, db.rows(_SELECT_ITEMS, (row[0],)))


def matching(db: Database, terms: Sequence[str], *, every_term: bool) -> list[str]:
    """Names of the contexts that have the terms, best first.

    Args:
        db: a contexts database.
        terms: as the tokenizer gives them.
        every_term: all must be there, not one alone.
    """
    quoted = (term.replace('"', '""') for term in terms)
    query = (" AND " if every_term else " OR ").join(f'"{term}"' for term in quoted)
    return [name for (name,) in db.rows(_SELECT_FOUND, (query,))]


def put(db: Database, context: Context, terms: Terms) -> None:
    """Write a context, in place of one of its name; runs in the caller's transaction."""
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
    """Delete a context, if there is one of the name; runs in the caller's transaction."""
    row = db.row(_SELECT_ID, (name,))
    if row is None:
        return False
    db.execute(_DELETE_TERMS, row)
    db.execute(_DELETE, row)
    return True


def count(db: Database) -> int:
    """How many contexts there are."""
    row = db.row("SELECT count(*) FROM contexts")
    return 0 if row is None else int(row[0])


def newest_s(db: Database) -> int:
    """When the last context was saved; 0 where there is none."""
    row = db.row("SELECT max(saved_s) FROM contexts")
    return 0 if row is None or row[0] is None else int(row[0])


def about(db: Database, key: str) -> str:
    """What is known of the repository; empty if nothing is."""
    row = db.row(_SELECT_ABOUT, (key,))
    return "" if row is None else str(row[0])


def put_about(db: Database, values: Iterable[tuple[str, str]]) -> None:
    """Keep what is known of the repository; runs in the caller's transaction."""
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
        raise IndexCorrupt(db.path, "a saved context is not as it was written")
    return context
