"""Postings: which contents hold a term, and how often, chunk by chunk.

Why our own and not FTS5: whatever ranks must come from the view alone (the same answer whatever
else is in the store), and FTS5's bm25() counts every row of the table. Here a query sums over the
contents of its view, with a length of its own per field (BM25F).

Contents are written a batch at a time, a *segment*: sorted appends, and one content has one small
number in it. Layouts, native byte order (the index is local and can be rebuilt):

- `segments.docs`: five uint32 arrays of `doc_count`: content id, body, name and doc terms, chunks.
- `postings.data`: neighbouring terms: `codelens.store.facts.posting_blocks`. Rows go by an id, so
  that they are appended, which fills pages, and up to a whole page lies in one: by segment and term
  a quarter of the pages was empty. The index of first terms is a fortieth of the table.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from codelens.store.database.database import Database
from codelens.store.facts.posting_blocks import PostingBlock, blocks, mark, needle
from codelens.store.facts.posting_layout import Posting, packed

SEGMENT_DOCS = 4096
_SMALL_DOCS = 64
_MANY_SMALL = 48
_ASKED_AT_ONCE = 10_000
"""Terms; SQLite takes 32,766 bindings."""


class Doc(NamedTuple):
    """One content as the postings see it."""

    content: int
    body_terms: int
    name_terms: int
    doc_terms: int
    chunks: int
    terms: dict[str, bytes]


class SegmentDocs(NamedTuple):
    """The contents of a segment, by their number in it."""

    contents: memoryview[int]
    body_terms: memoryview[int]
    name_terms: memoryview[int]
    doc_terms: memoryview[int]
    chunks: memoryview[int]


_INSERT_SEGMENT = "INSERT INTO segments (doc_count, docs) VALUES (?, ?)"
_INSERT_BLOCK = "INSERT INTO postings (segment, first_term, marks, data) VALUES (?, ?, ?, ?)"
_SEGMENTS = "SELECT id, doc_count, docs FROM segments ORDER BY id"
# CROSS JOIN keeps SQLite at one seek a segment and term. The data of a block, which may be large,
# are read only where it may have the term.
SELECT_BLOCKS = """
WITH asked (term, mark) AS (VALUES {marks})
SELECT p.segment, a.term, p.id, p.marks, p.data
FROM segments s CROSS JOIN asked a CROSS JOIN postings p
WHERE p.id = (
    SELECT id FROM postings WHERE segment = s.id AND first_term <= a.term
    ORDER BY first_term DESC LIMIT 1
) AND CASE WHEN p.marks IS NULL THEN p.first_term = a.term ELSE instr(p.marks, a.mark) END
"""
_SMALL = "SELECT id FROM segments WHERE doc_count <= ? ORDER BY id"
_SEGMENT_ROWS = "SELECT first_term, marks, data FROM postings WHERE segment = ? ORDER BY first_term"
_DELETE_POSTINGS = "DELETE FROM postings WHERE segment = ?"
_DELETE_SEGMENT = "DELETE FROM segments WHERE id = ?"
_LIVE = "SELECT id FROM contents WHERE id IN ({marks})"
_COUNT_LIVE = "SELECT COUNT(*) FROM contents WHERE id IN ({marks})"


def write_segment(db: Database, docs: Sequence[Doc]) -> None:
    """Add one segment of at most `SEGMENT_DOCS` contents; in the caller's transaction."""
    if not docs:
        return
    columns = zip(*(doc[:5] for doc in docs), strict=True)
    db.execute(_INSERT_SEGMENT, (len(docs), b"".join(array("I", c).tobytes() for c in columns)))
    segment = db.last_id()
    # By term its documents and their words in turns: a pair of each would be an object more.
    by_term: dict[str, list[Any]] = {}
    known = by_term.get
    for number, doc in enumerate(docs):
        for term, words in doc.terms.items():
            row = known(term)
            if row is None:
                by_term[term] = [number, words]
            else:
                row += (number, words)
    rows = ((term, packed((row := by_term[term])[::2], row[1::2])) for term in sorted(by_term))
    db.execute_many(_INSERT_BLOCK, ((segment, *block) for block in blocks(rows)))


def segment_docs(db: Database) -> dict[int, SegmentDocs]:
    """All segments by id, with what their numbers stand for."""
    return {segment: _unpack_docs(count, docs) for segment, count, docs in db.rows(_SEGMENTS)}


def _unpack_docs(count: int, docs: bytes) -> SegmentDocs:
    whole = memoryview(docs).cast("I")
    return SegmentDocs(*(whole[start * count : (start + 1) * count] for start in range(5)))


def postings(db: Database, terms: Iterable[str]) -> list[tuple[int, str, bytes]]:
    """For each segment and each of `terms` it holds: segment, term, packed posting; by segment."""
    # In order, so that terms of one block follow on each other.
    sorted_terms = sorted(set(terms))
    rows: list[tuple[int, str, bytes]] = []
    for start in range(0, len(sorted_terms), _ASKED_AT_ONCE):
        rows += _postings(db, sorted_terms[start : start + _ASKED_AT_ONCE])
    if len(sorted_terms) > _ASKED_AT_ONCE:
        rows.sort(key=lambda row: row[:2])
    return rows


def _postings(db: Database, sorted_terms: Sequence[str]) -> Iterator[tuple[int, str, bytes]]:
    sql = SELECT_BLOCKS.format(marks=",".join(["(?, ?)"] * len(sorted_terms)))
    needles = {term: needle(term) for term in sorted_terms}
    open_row, block = 0, None
    bindings = [value for term in sorted_terms for value in (term, mark(term))]
    for segment, term, row, marks, data in db.rows(sql, bindings):
        if marks is None:
            yield segment, term, data
            continue
        if block is None or row != open_row:
            open_row, block = row, PostingBlock(marks, data)
        posting = block.posting(needles[term])
        if posting is not None:
            yield segment, term, posting


def _rows_of(db: Database, segment: int) -> Iterator[tuple[str, bytes]]:
    """All terms of a segment, ascending, with their postings."""
    for first_term, marks, data in db.rows(_SEGMENT_ROWS, (segment,)):
        if marks is None:
            yield first_term, data
        else:
            yield from PostingBlock(marks, data).rows()


def contents_with(db: Database, terms: Collection[str]) -> dict[str, set[int]]:
    """For each of `terms` the contents of the store, of any view, that hold it."""
    holding: dict[str, set[int]] = {term: set() for term in terms}
    if not holding:
        return holding
    segments = segment_docs(db)
    for segment, term, data in postings(db, holding):
        contents = segments[segment].contents
        holding[term].update(contents[number] for number in Posting(data).docs)
    return holding


def merge_small(db: Database) -> int:
    """Make one segment of many small ones, dropping removed contents; returns how many.

    An edit writes a segment of a few contents, and a query seeks once a segment and term. In the
    caller's transaction.
    """
    small = [row[0] for row in db.rows(_SMALL, (_SMALL_DOCS,))]
    if len(small) < _MANY_SMALL:
        return 0
    every = segment_docs(db)
    docs: list[Doc] = []
    for segment in small:
        docs.extend(docs_of(db, segment, every[segment]))
        db.execute(_DELETE_POSTINGS, (segment,))
        db.execute(_DELETE_SEGMENT, (segment,))
    for start in range(0, len(docs), SEGMENT_DOCS):
        write_segment(db, docs[start : start + SEGMENT_DOCS])
    return len(small)


def rewrite_one(db: Database, dead_share: float) -> int:
    """Write a segment anew of which more than so much is removed contents; returns how many (0, 1).

    In the caller's transaction.
    """
    for segment, docs in segment_docs(db).items():
        every = list(docs.contents)
        marks = ",".join("?" * len(every))
        (live,) = db.rows(_COUNT_LIVE.format(marks=marks), every)[0]
        if live == len(every) or len(every) - live <= dead_share * len(every):
            continue
        kept_docs = docs_of(db, segment, docs) if live else []
        db.execute(_DELETE_POSTINGS, (segment,))
        db.execute(_DELETE_SEGMENT, (segment,))
        write_segment(db, kept_docs)
        return 1
    return 0


def docs_of(db: Database, segment: int, docs: SegmentDocs) -> list[Doc]:
    """The contents of a segment that are not removed, with their terms."""
    contents = list(docs.contents)
    live = {row[0] for row in db.rows(_LIVE.format(marks=",".join("?" * len(contents))), contents)}
    terms: list[dict[str, bytes]] = [{} for _ in contents]
    for term, data in _rows_of(db, segment):
        posting = Posting(data)
        for number in posting.docs:
            terms[number][term] = posting.words(number)
    return [
        Doc(*columns, terms=terms[number])
        for number, columns in enumerate(zip(*docs, strict=True))
        if columns[0] in live
    ]
