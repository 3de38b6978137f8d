"""The postings of a query's terms, read once, and what the view's statistics make of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from codelens.rank.corpus import Corpus, Segment
from codelens.store import postings
from codelens.store.database import Database


class Row(NamedTuple):
    """One term in one segment."""

    docs: list[int]
    """Numbers of the contents in the segment, ascending."""
    starts: list[int]
    """Where the words of each begin; one more for the end."""
    words: Sequence[int]
    """See `codelens.extract.terms`."""


class Hits(NamedTuple):
    """One term in the whole view."""

    rows: Mapping[int, Row]
    """By segment, in no order that matters."""
    files: int
    """Files of the view that hold the term."""
    chunks: int


def read(db: Database, corpus: Corpus, terms: Sequence[str]) -> dict[str, Hits]:
    """The postings of each of `terms` that the view holds."""
    rows: dict[str, dict[int, Row]] = {term: {} for term in terms}
    files = dict.fromkeys(terms, 0)
    chunks = dict.fromkeys(terms, 0)
    segments = corpus.segments
    for number, term, found in postings.postings(db, terms):
        segment = segments.get(number)
        if segment is None:
            continue
        counts = found.counts.tolist()  # type: ignore[attr-defined]
        row = Row(
            found.docs.tolist(),  # type: ignore[attr-defined]
            list(accumulate(counts, initial=0)),
            found.words,
        )
        held, places = _held(segment, row.docs, counts)
        if held:
            rows[term][number] = row
            files[term] += held
            chunks[term] += places
    return {
        term: Hits(found, files[term], chunks[term]) for term, found in rows.items() if files[term]
    }


def _held(segment: Segment, docs: list[int], counts: list[int]) -> tuple[int, int]:
    """Files and chunks of the view in a row; a content at two paths counts twice."""
    if segment.files is None:
        return len(docs), sum(counts) - len(docs)
    files = places = 0
    for number, count in zip(docs, counts, strict=True):
        share = segment.files[number]
        if share:
            files += share
            places += share * (count - 1)
    return files, places


def idf(total: int, having: int) -> float:
    """BM25's weight of a term that `having` of `total` hold; never negative."""
    return math.log(1.0 + (total - having + 0.5) / (having + 0.5))
