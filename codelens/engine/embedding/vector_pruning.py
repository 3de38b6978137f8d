"""Removal of the vectors of texts that no view has any more."""

from __future__ import annotations

from codelens.answers.meaning_answers import PrunedVectors
from codelens.engine.index_pool import IndexPool
from codelens.engine.view_request import ViewRequest
from codelens.paths import vectors_file
from codelens.store.facts.raw_hashes import hashes_in_views
from codelens.store.vectors import text_vectors_table
from codelens.store.vectors.vectors_file import alone_writing, giving_back, open_vectors


def prune(pool: IndexPool, request: ViewRequest) -> PrunedVectors:
    """See `Engine.meaning_prune`."""
    path = vectors_file(pool.settings.home, pool.open(request.path, request.ref).scope.repo_id)
    if not path.exists():
        return PrunedVectors(0, 0, 0)
    with alone_writing(path), open_vectors(path) as db:
        # The view of the request is made current first: what was just written keeps its vectors.
        with pool.view(request) as view, view.reading():
            in_views = hashes_in_views(view.snapshot.db)
        with giving_back(db) as freed, db.write(None):
            removed = text_vectors_table.keep_only(db, in_views)
        return PrunedVectors(removed, text_vectors_table.counted_all(db), freed())
