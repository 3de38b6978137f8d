"""Stores the resolved edges of files for later queries, which validate them before use.

A row belongs to a path with a content, and states what its edges depend on
(`codelens.resolve.graph_state`). Two branches may share a text but not its edges, so the last few
rows of each text stay for whoever switches or compares branches.

Removing a content removes its rows. Different files can have rows of different resolver versions:
each version reads only its own rows, and never replaces those of a newer one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from codelens.store.database.database import Database

_STATES = 3
"""Rows kept per text: for the current branch, the one it is compared with, and one more."""
SELECT_EDGES = """
SELECT e.state, e.data FROM file_edges e JOIN paths p ON p.id = e.path
WHERE p.path = ? AND e.content = ? AND e.version = ? ORDER BY e.number DESC
"""
_ANY = "SELECT 1 FROM file_edges UNION ALL SELECT 1 FROM edge_parts LIMIT 1"
# A content that another process has removed meanwhile gets no row, since no view has it.
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
    """Digest of what was visible of the view's files when the edges were resolved."""
    data: bytes


class Part(NamedTuple):
    """The edges of one file to the definitions that it uses under some names."""

    path: bytes
    content: int
    names: frozenset[str]
    data: bytes


def load(db: Database, path: bytes, content: int, version: int) -> list[tuple[int, bytes]]:
    """State and data of a file's rows by this resolver version, newest first."""
    return db.rows(SELECT_EDGES, (path, content, version))


def load_parts(
    db: Database, path: bytes, content: int, version: int
) -> list[tuple[frozenset[str], bytes]]:
    """The parts of a file, each with its names; newest first."""
    rows = db.rows(SELECT_PARTS, (path, content, version))
    return [(_names_of(text), data) for text, data in rows]


@lru_cache(maxsize=64)
def _names_of(text: str) -> frozenset[str]:
    """The names of a part; cached, since a question asks hundreds of files for the same names."""
    return frozenset(text.split("\n"))


def any_kept(db: Database) -> bool:
    """Whether any rows or parts are stored."""
    return db.row(_ANY) is not None


def save(db: Database, version: int, rows: Sequence[Whole]) -> None:
    """Store rows, but never over those of a newer version; in the caller's transaction."""
    db.execute_many(_SAVE, [(row.path, row.content, version, row.state, row.data) for row in rows])
    db.execute_many(_DELETE_EDGES, [(row.path, row.content, version, _STATES) for row in rows])
    db.execute_many(_DELETE_PARTS, [(row.content, row.path) for row in rows])


def save_parts(db: Database, version: int, parts: Sequence[Part]) -> None:
    """Store parts and remove those of older versions; in the caller's transaction."""
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
    """What this resolver version stored for contents, for indexes over all files."""
    rows = db.rows(SELECT_SURVEYS, (version, json.dumps(sorted(contents))))
    return {content: json.loads(text) for content, text in rows}


def save_surveys(db: Database, version: int, taken: Mapping[int, object]) -> None:
    """Store what was derived from contents; in the caller's transaction."""
    rows = [(content, version, json.dumps(data)) for content, data in taken.items()]
    db.execute_many(_SAVE_SURVEY, rows)
