"""Vectors for the contents of a view that have none: of an older index, or by an older table.

A new table of words rolls forward like a new extractor, and needs no text for it: the counts of
terms are in the postings.
"""

from __future__ import annotations

import time

from codelens.cancellation import check_cancelled
from codelens.meaning.fact_vectors import table_if_whole
from codelens.meaning.text_vectors import chunk_vectors
from codelens.meaning.word_table import shipped_version
from codelens.store.database.database import Database
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import chunk_vectors as stored
from codelens.store.views.views import ViewRow


def has_vectors(view: ViewRow) -> bool:
    """Whether all contents of a view have vectors, as far as there is a table to make them by."""
    return view.vectors >= shipped_version()


def roll_forward(db: Database, lease: Lease, view: int, deadline: float | None) -> None:
    """Give the contents of a view vectors by the shipped table, as far as there is time.

    A segment of the postings at a time, each in a transaction of its own: what is done stays, and
    a later look goes on. The view is marked when all have some.
    """
    version = shipped_version()
    if not version or (table := table_if_whole()) is None:
        return
    missing = stored.contents_without(db, view, version)
    for docs in stored.terms_by_segment(db, missing) if missing else ():
        check_cancelled()
        if deadline is not None and time.monotonic() > deadline:
            return
        rows = [(doc.content, chunk_vectors(table, doc.terms, doc.chunks)) for doc in docs]
        with db.write(lease):
            stored.put(db, rows)
    with db.write(lease):
        stored.mark_view(db, view, version)
