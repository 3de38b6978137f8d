"""Edges of files as they were resolved: kept for the next question, checked before they count.

A row is of a path with a content; what it stands on is in it (`codelens.resolve.rows`). Rows of
older contents go when their content does.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.store.database import Database

_LOAD = """
SELECT e.data FROM file_edges e JOIN paths p ON p.id = e.path
WHERE p.path = ? AND e.content = ? AND e.version = ?
"""
_SAVE = """
INSERT OR REPLACE INTO file_edges (path, content, version, data)
SELECT id, ?, ?, ? FROM paths WHERE path = ?
"""


def load(db: Database, path: bytes, content: int, version: int) -> bytes | None:
    """The row of a file, if one was kept by this version of the resolver."""
    row = db.row(_LOAD, (path, content, version))
    return row[0] if row else None


def save(db: Database, version: int, rows: Iterable[tuple[bytes, int, bytes]]) -> None:
    """Keep rows: path, content, data; in the caller's transaction."""
    db.execute_many(_SAVE, [(content, version, data, path) for path, content, data in rows])
