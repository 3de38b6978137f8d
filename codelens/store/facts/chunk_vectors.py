"""What the chunks of contents mean: a vector a chunk, by one version of the table of words.

Facts by content, like all others. Those of a newer table stay, as an older codelens beside this one
can do without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codelens.store.database.database import Database
from codelens.store.facts import postings
from codelens.store.facts.contents import PUT_VECTORS, batched
from codelens.store.facts.postings import Doc
from codelens.types import ChunkVectors

SELECT_VECTORS = (
    "SELECT content, data FROM chunk_vectors WHERE content IN ({marks}) AND version = ?"
)
SELECT_WITHOUT = """
SELECT DISTINCT f.content FROM view_files f LEFT JOIN chunk_vectors v ON v.content = f.content
WHERE f.view = ? AND f.content IS NOT NULL AND (v.version IS NULL OR v.version < ?)
"""
_COUNT = """
SELECT COUNT(*), COALESCE(SUM(LENGTH(data)), 0) FROM chunk_vectors WHERE version = ?
"""
_SET_VIEW = "UPDATE views SET vectors = ? WHERE id = ? AND vectors < ?"


def put(db: Database, rows: Iterable[tuple[int, ChunkVectors]]) -> None:
    """Store the vectors of contents; in the caller's transaction."""
    db.execute_many(PUT_VECTORS, [(content, *vectors) for content, vectors in rows])


def vectors_of(db: Database, contents: Iterable[int], version: int) -> dict[int, bytes]:
    """The vectors of each content that has some of this version."""
    by_content: dict[int, bytes] = {}
    for batch in batched(contents):
        marks = ",".join("?" * len(batch))
        rows = db.rows(SELECT_VECTORS.format(marks=marks), (*batch, version))
        by_content.update({row[0]: row[1] for row in rows})
    return by_content


def contents_without(db: Database, view: int, version: int) -> set[int]:
    """Contents of a view that have no vectors of this version, or of a newer one."""
    return {row[0] for row in db.rows(SELECT_WITHOUT, (view, version))}


def terms_by_segment(db: Database, contents: set[int]) -> Iterable[Sequence[Doc]]:
    """The terms of contents, a segment of the postings at a time."""
    for segment, docs in postings.segment_docs(db).items():
        if not contents.isdisjoint(docs.contents.tolist()):
            yield [doc for doc in postings.docs_of(db, segment, docs) if doc.content in contents]


def mark_view(db: Database, view: int, version: int) -> None:
    """Note that all contents of a view have vectors; in the caller's transaction."""
    db.execute(_SET_VIEW, (version, view, version))


def counted(db: Database, version: int) -> tuple[int, int]:
    """How many contents have vectors of this version, and their bytes."""
    row = db.row(_COUNT, (version,))
    assert row is not None
    return row[0], row[1]
