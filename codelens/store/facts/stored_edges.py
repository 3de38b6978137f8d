"""Edges of files as they were resolved: kept for the next question, checked before they count.

A row is of a path with a content; what it stands on is in it (`codelens.resolve.facts.edge_rows`).
Rows of
older contents go when their content does. Rows of several versions of the resolver can lie side
by side, of different files: each counts for its own version alone, and the newest is kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.store.database.database import Database

SELECT_EDGES = """
SELECT e.data FROM file_edges e JOIN paths p ON p.id = e.path
WHERE p.path = ? AND e.content = ? AND e.version = ?
"""
_ANY = "SELECT 1 FROM file_edges LIMIT 1"
# A content that another process dropped meanwhile has no row: nobody is going to ask for it.
_SAVE = """
INSERT INTO file_edges (path, content, version, data)
SELECT p.id, c.id, ?, ? FROM paths p, contents c WHERE p.path = ? AND c.id = ?
ON CONFLICT (path, content) DO UPDATE SET version = excluded.version, data = excluded.data
WHERE excluded.version >= file_edges.version
"""


def load(db: Database, path: bytes, content: int, version: int) -> bytes | None:
    """The row of a file, if one was kept by this version of the resolver."""
    row = db.row(SELECT_EDGES, (path, content, version))
    return row[0] if row else None


def any_kept(db: Database) -> bool:
    """Whether there are rows at all."""
    return db.row(_ANY) is not None


def save(db: Database, version: int, rows: Iterable[tuple[bytes, int, bytes]]) -> None:
    """Keep rows: path, content, data; never in place of a newer version's.

    In the caller's transaction.
    """
    db.execute_many(_SAVE, [(version, data, path, content) for path, content, data in rows])
