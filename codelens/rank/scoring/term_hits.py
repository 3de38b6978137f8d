"""The postings of a query's terms, read once, and what the view's statistics make of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.rank.view_statistics import Corpus, Segment
from codelens.store.database.database import Database
from codelens.store.facts import postings
from codelens.store.facts.posting_layout import Posting

_LOOK_UP = 16
"""A look-up in a posting costs about as much as so many steps along it."""


class Hits(NamedTuple):
    """One term in the whole view."""

    rows: Mapping[int, Posting]
    """By segment, in no order that matters."""
    files: int
    """Files of the view that hold the term; a content at two paths counts twice."""


def read(db: Database, corpus: Corpus, terms: Sequence[str]) -> dict[str, Hits]:
    """The postings of each of `terms` that the view holds."""
    rows: dict[str, dict[int, Posting]] = {term: {} for term in terms}
    files = dict.fromkeys(terms, 0)
    segments = corpus.segments
    for number, term, data in postings.postings(db, terms):
        segment = segments.get(number)
        if segment is None:
            continue
        row = Posting(data)
        file_count = _files_with(segment, row)
        if file_count:
            rows[term][number] = row
            files[term] += file_count
    return {term: Hits(row, files[term]) for term, row in rows.items() if files[term]}


def _files_with(segment: Segment, row: Posting) -> int:
    """How many files of the view a posting stands for."""
    files = segment.files
    if files is None:
        return row.doc_count
    docs, odd = row.docs, segment.odd
    if len(odd) * _LOOK_UP >= len(docs):
        return sum(map(files.__getitem__, docs))
    return len(docs) + sum(files[doc] - 1 for doc in odd if row.total(doc))


def idf(total: int, having: int) -> float:
    """BM25's weight of a term that `having` of `total` hold; never negative."""
    return math.log(1.0 + (total - having + 0.5) / (having + 0.5))
