"""The statistics of a view, which are sums over its files, when some of these change.

What a content counts never changes, so those of all other files are as they were: an edit in a
view of 50,000 files reads the rows of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add, sub

from codelens.store.database.database import Database
from codelens.store.facts.contents import batched

COUNTS = """
SELECT COUNT(*), COALESCE(SUM(c.chunk_count), 0), COALESCE(SUM(c.body_terms), 0),
    COALESCE(SUM(c.name_terms), 0), COALESCE(SUM(c.doc_terms), 0)
FROM view_files f LEFT JOIN contents c ON c.id = f.content WHERE f.view = ?
"""
COUNTS_OF = f"{COUNTS} AND f.path IN ({{marks}})"
# A change of text or paths: readers' caches are keyed by the generation.
_ADD = """
UPDATE views SET generation = generation + 1, changes = changes + 1, files = files + ?,
    chunk_count = chunk_count + ?, body_terms = body_terms + ?, name_terms = name_terms + ?,
    doc_terms = doc_terms + ?
WHERE id = ?
"""


def file_counts(db: Database, view: int, touched: Iterable[int]) -> list[int]:
    """The statistics of some files of a view alone, by their paths."""
    counts = [0] * 5
    for batch in batched(dict.fromkeys(touched)):
        row = db.row(COUNTS_OF.format(marks=",".join("?" * len(batch))), (view, *batch))
        counts = list(map(add, counts, row or ()))
    return counts


def recount(db: Database, view: int, touched: Iterable[int], before: Sequence[int]) -> None:
    """Bring the statistics of a view up to date, of which the files touched had `before`.

    In the caller's transaction, after these files have changed.
    """
    more = map(sub, file_counts(db, view, touched), before)
    db.execute(_ADD, (*more, view))
