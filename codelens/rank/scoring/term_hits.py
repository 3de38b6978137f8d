"""The postings of a query's terms, read once, and what the view's statistics make of them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from codelens.rank.view_statistics import Corpus, Segment
from codelens.store.database.database import Database
from codelens.store.facts import postings

_LOOK_UP = 16
"""A look-up in a posting costs about as much as so many steps along it."""


class Row:
    """One term in one segment."""

    __slots__ = ("_counts", "_starts", "docs", "words")

    def __init__(self, data: bytes) -> None:
        self.docs, self._counts, self.words = postings.unpack(data)
        # docs: numbers of the contents in the segment, ascending; words: see `extract.terms`
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Where the words of each document begin; one more for the end."""
        if self._starts is None:
            self._starts = list(accumulate(self._counts, initial=0))
        return self._starts

    def total(self, doc: int) -> int:
        """The first word of a document; 0 where it has not the term."""
        at = bisect_left(self.docs, doc)
        if at == len(self.docs) or self.docs[at] != doc:
            return 0
        return self.words[self.starts[at]]

    def entries(self, doc: int) -> Sequence[int]:
        """All words of a document; empty where it has not the term."""
        at = bisect_left(self.docs, doc)
        if at == len(self.docs) or self.docs[at] != doc:
            return ()
        starts = self.starts
        return self.words[starts[at] : starts[at + 1]].tolist()


class Hits(NamedTuple):
    """One term in the whole view."""

    rows: Mapping[int, Row]
    """By segment, in no order that matters."""
    files: int
    """Files of the view that hold the term; a content at two paths counts twice."""


def read(db: Database, corpus: Corpus, terms: Sequence[str]) -> dict[str, Hits]:
    """The postings of each of `terms` that the view holds."""
    rows: dict[str, dict[int, Row]] = {term: {} for term in terms}
    files = dict.fromkeys(terms, 0)
    segments = corpus.segments
    for number, term, data in postings.postings(db, terms):
        segment = segments.get(number)
        if segment is None:
            continue
        row = Row(data)
        doc_bits = _files_with(segment, row.docs)
        if doc_bits:
            rows[term][number] = row
            files[term] += doc_bits
    return {term: Hits(row, files[term]) for term, row in rows.items() if files[term]}


def _files_with(segment: Segment, docs: Sequence[int]) -> int:
    """How many files of the view a posting stands for."""
    files = segment.files
    if files is None:
        return len(docs)
    if len(docs) == 1:
        return files[docs[0]]
    odd = segment.odd
    if len(odd) * _LOOK_UP >= len(docs):
        return sum(map(files.__getitem__, docs))
    doc_count = size = len(docs)
    for doc in odd:
        at = bisect_left(docs, doc)
        if at < size and docs[at] == doc:
            doc_count += files[doc] - 1
    return doc_count


def idf(total: int, having: int) -> float:
    """BM25's weight of a term that `having` of `total` hold; never negative."""
    return math.log(1.0 + (total - having + 0.5) / (having + 0.5))
