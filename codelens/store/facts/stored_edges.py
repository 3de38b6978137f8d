"""Edges of files as they were resolved: kept for the next question, checked before they count.

A row is of a path with a content; what it stands on is in it (`codelens.resolve.graph_state`).
So two branches can have a text in common and not its edges: the last few rows of it are kept, for
who goes from one branch to the other, or compares them, to find both.

Rows of older contents go when their content does. Rows of several versions of the resolver can lie
side by side, of different files: each counts for its own version alone, and the newest is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from codelens.store.database.database import Database

_STATES = 3
"""Rows of one text: of what is worked on, of what it is compared with, and of one branch more."""
SELECT_EDGES = """
SELECT e.state, e.data FROM file_edges e JOIN paths p ON p.id = e.path
WHERE p.path = ? AND e.content = ? AND e.version = ? ORDER BY e.number DESC
"""
_ANY = "SELECT 1 FROM file_edges UNION ALL SELECT 1 FROM edge_parts LIMIT 1"
# A content that another process dropped meanwhile has no row: nobody is going to ask for it.
_SAVE = """
INSERT INTO file_edges (path, content, number, version, state, data)
SELECT p.id, c.id, ifnull(max(e.number), 0) + 1, ?3, ?4, ?5
FROM paths p JOIN contents c LEFT JOIN file_edges e ON e.path = p.id AND e.content = c.id
WHERE p.path = ?1 AND c.id = ?2 GROUP BY p.id, c.id
HAVING ifnull(max(e.version), 0) <= ?3
AND NOT ifnull(max(e.data = ?5 AND e.state = ?4 AND e.version = ?3), 0)
"""
_DELETE_EDGES = """
DELETE FROM file_edges WHERE path = (SELECT p.id FROM paths p WHERE p.path = ?1) AND content = ?2
AND (version < ?3 OR number <= (
    SELECT max(e.number) FROM file_edges e WHERE e.path = file_edges.path AND e.content = ?2
) - ?4)
"""
_INTERN = "INSERT INTO name_sets (names) VALUES (?) ON CONFLICT DO NOTHING"
_SAVE_PART = """
INSERT INTO edge_parts (path, content, names, number, version, data)
SELECT p.id, c.id, n.id, ifnull(max(e.number), 0) + 1, ?4, ?5
FROM paths p JOIN contents c JOIN name_sets n
LEFT JOIN edge_parts e ON e.path = p.id AND e.content = c.id AND e.names = n.id
WHERE p.path = ?1 AND c.id = ?2 AND n.names = ?3
GROUP BY p.id, c.id, n.id
HAVING ifnull(max(e.version), 0) <= ?4 AND NOT ifnull(max(e.data = ?5 AND e.version = ?4), 0)
"""
SELECT_PARTS = """
SELECT n.names, e.data FROM edge_parts e JOIN paths p ON p.id = e.path
JOIN name_sets n ON n.id = e.names
WHERE p.path = ? AND e.content = ? AND e.version = ? ORDER BY e.number DESC
"""
_DELETE_SPARE_PARTS = """
DELETE FROM edge_parts WHERE path = (SELECT p.id FROM paths p WHERE p.path = ?1) AND content = ?2
AND number <= (
    SELECT max(e.number) FROM edge_parts e
    WHERE e.path = edge_parts.path AND e.content = ?2 AND e.names = edge_parts.names
) - ?3
"""
_DELETE_PARTS = """
DELETE FROM edge_parts WHERE content = ? AND path = (SELECT p.id FROM paths p WHERE p.path = ?)
"""
_DELETE_OLD_PARTS = "DELETE FROM edge_parts WHERE version < ?"
SELECT_SURVEYS = """
SELECT content, data FROM surveys WHERE version = ? AND content IN (SELECT value FROM json_each(?))
"""
_SAVE_SURVEY = """
INSERT INTO surveys (content, version, data) SELECT c.id, ?2, ?3 FROM contents c WHERE c.id = ?1
ON CONFLICT (content) DO UPDATE SET version = excluded.version, data = excluded.data
WHERE excluded.version >= surveys.version
"""
_DELETE_UNUSED_NAMES = """
DELETE FROM name_sets WHERE NOT EXISTS (SELECT 1 FROM edge_parts e WHERE e.names = name_sets.id)
"""


class Whole(NamedTuple):
    """The edges of one file."""

    path: bytes
    content: int
    state: int
    """Digest of what the view's files showed when they were resolved."""
    data: bytes


class Part(NamedTuple):
    """The edges of one file to what it uses under some names."""

    path: bytes
    content: int
    names: frozenset[str]
    data: bytes


def load(db: Database, path: bytes, content: int, version: int) -> list[tuple[int, bytes]]:
    """State and row of a file as this version of the resolver kept them, the newest first."""
    return db.rows(SELECT_EDGES, (path, content, version))


def load_parts(
    db: Database, path: bytes, content: int, version: int
) -> list[tuple[frozenset[str], bytes]]:
    """The parts of a file, with the names that each is of; the newest first."""
    rows = db.rows(SELECT_PARTS, (path, content, version))
    return [(_names_of(text), data) for text, data in rows]


@lru_cache(maxsize=64)
def _names_of(text: str) -> frozenset[str]:
    """The names of a part. A question asks the same of all files: hundreds share one set."""
    return frozenset(text.split("\n"))


def any_kept(db: Database) -> bool:
    """Whether there are rows or parts at all."""
    return db.row(_ANY) is not None


def save(db: Database, version: int, rows: Sequence[Whole]) -> None:
    """Keep rows; never in place of a newer version's.

    In the caller's transaction.
    """
    db.execute_many(_SAVE, [(row.path, row.content, version, row.state, row.data) for row in rows])
    db.execute_many(_DELETE_EDGES, [(row.path, row.content, version, _STATES) for row in rows])
    db.execute_many(_DELETE_PARTS, [(row.content, row.path) for row in rows])


def save_parts(db: Database, version: int, parts: Sequence[Part]) -> None:
    """Keep parts of rows; those of older versions go. In the caller's transaction."""
    db.execute(_DELETE_OLD_PARTS, (version,))
    texts = {part.names: "\n".join(sorted(part.names)) for part in parts}
    db.execute_many(_INTERN, [(text,) for text in texts.values()])
    db.execute_many(
        _SAVE_PART,
        [(part.path, part.content, texts[part.names], version, part.data) for part in parts],
    )
    touched = {(part.path, part.content) for part in parts}
    db.execute_many(_DELETE_SPARE_PARTS, [(*file, _STATES) for file in sorted(touched)])
    db.execute(_DELETE_UNUSED_NAMES)


def load_surveys(db: Database, contents: Set[int], version: int) -> dict[int, object]:
    """What this version of the resolver took from contents for indexes over all files."""
    rows = db.rows(SELECT_SURVEYS, (version, json.dumps(sorted(contents))))
    return {content: json.loads(text) for content, text in rows}


def save_surveys(db: Database, version: int, taken: Mapping[int, object]) -> None:
    """Keep what was taken from contents. In the caller's transaction."""
    rows = [(content, version, json.dumps(data)) for content, data in taken.items()]
    db.execute_many(_SAVE_SURVEY, rows)
