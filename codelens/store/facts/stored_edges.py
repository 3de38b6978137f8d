"""Edges of files as they were resolved: kept for the next question, checked before they count.

A row is of a path with a content; what it stands on is in it (`codelens.resolve.facts.edge_rows`).
Rows of
older contents go when their content does. Rows of several versions of the resolver can lie side
by side, of different files: each counts for its own version alone, and the newest is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from codelens.light_library import NamedTuple
from codelens.store.database.database import Database

SELECT_EDGES = """
SELECT e.data FROM file_edges e JOIN paths p ON p.id = e.path
WHERE p.path = ? AND e.content = ? AND e.version = ?
"""
_ANY = "SELECT 1 FROM file_edges UNION ALL SELECT 1 FROM edge_parts LIMIT 1"
# A content that another process dropped meanwhile has no row: nobody is going to ask for it.
_SAVE = """
INSERT INTO file_edges (path, content, version, data)
SELECT p.id, c.id, ?, ? FROM paths p, contents c WHERE p.path = ? AND c.id = ?
ON CONFLICT (path, content) DO UPDATE SET version = excluded.version, data = excluded.data
WHERE excluded.version >= file_edges.version
"""
_INTERN = "INSERT INTO name_sets (names) VALUES (?) ON CONFLICT DO NOTHING"
_SAVE_PART = """
INSERT INTO edge_parts (path, content, names, version, data)
SELECT p.id, c.id, n.id, ?, ? FROM paths p, contents c, name_sets n
WHERE p.path = ? AND c.id = ? AND n.names = ?
ON CONFLICT (path, content, names) DO UPDATE SET version = excluded.version, data = excluded.data
WHERE excluded.version >= edge_parts.version
"""
SELECT_PARTS = """
SELECT n.names, e.data FROM edge_parts e JOIN paths p ON p.id = e.path
JOIN name_sets n ON n.id = e.names
WHERE p.path = ? AND e.content = ? AND e.version = ?
"""
_DELETE_PARTS = """
DELETE FROM edge_parts WHERE content = ? AND path = (SELECT p.id FROM paths p WHERE p.path = ?)
"""
_DELETE_OLD_PARTS = "DELETE FROM edge_parts WHERE version < ?"
_DELETE_UNUSED_NAMES = """
DELETE FROM name_sets WHERE NOT EXISTS (SELECT 1 FROM edge_parts e WHERE e.names = name_sets.id)
"""


class Part(NamedTuple):
    """The edges of one file to what it uses under some names."""

    path: bytes
    content: int
    names: frozenset[str]
    data: bytes


def load(db: Database, path: bytes, content: int, version: int) -> bytes | None:
    """The row of a file, if one was kept by this version of the resolver."""
    row = db.row(SELECT_EDGES, (path, content, version))
    return row[0] if row else None


def load_parts(
    db: Database, path: bytes, content: int, version: int
) -> list[tuple[frozenset[str], bytes]]:
    """The parts of a file, with the names that each is of."""
    rows = db.rows(SELECT_PARTS, (path, content, version))
    return [(_names_of(text), data) for text, data in rows]


@lru_cache(maxsize=64)
def _names_of(text: str) -> frozenset[str]:
    """The names of a part. A question asks the same of all files: hundreds share one set."""
    return frozenset(text.split("\n"))


def any_kept(db: Database) -> bool:
    """Whether there are rows or parts at all."""
    return db.row(_ANY) is not None


def save(db: Database, version: int, rows: Iterable[tuple[bytes, int, bytes]]) -> None:
    """Keep rows: path, content, data; never in place of a newer version's.

    In the caller's transaction.
    """
    rows = list(rows)
    db.execute_many(_SAVE, [(version, data, path, content) for path, content, data in rows])
    db.execute_many(_DELETE_PARTS, [(content, path) for path, content, _ in rows])


def save_parts(db: Database, version: int, parts: Sequence[Part]) -> None:
    """Keep parts of rows; those of older versions go. In the caller's transaction."""
    db.execute(_DELETE_OLD_PARTS, (version,))
    texts = {part.names: "\n".join(sorted(part.names)) for part in parts}
    db.execute_many(_INTERN, [(text,) for text in texts.values()])
    db.execute_many(
        _SAVE_PART,
        [(version, part.data, part.path, part.content, texts[part.names]) for part in parts],
    )
    db.execute(_DELETE_UNUSED_NAMES)
