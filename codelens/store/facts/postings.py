"""Postings record which contents contain a term and how often, in a compact layout on disk.

A packed word of `codelens.extract.tokenizer` has four bytes. Most words are equal, because most
terms occur once, in the body of the first chunk. So words are stored in four columns, one for each
byte of a word, and a column in which all bytes have the usual value is left out. Native byte order
(an index is local).

One document with one entry, as most terms have in a segment:

    uint8 `_SINGLE` | columns of the entry, uint16 document, those columns

All other terms, where each of the two parts may be compressed (zlib):

    uint8 flags | columns of the entries, uint16 number of documents,
    uint8 width of the counts << 4 | columns of the totals, uint32 length of the first part (only
    if it is compressed)
    first part: uint16 per document, the columns of its total, its number of entries (width 0: one)
    second part: the columns of all entries, document by document

Scoring whole files reads the first part, and for the best files some of the second. On Django this
takes two fifths of four bytes per word.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from codelens.store.database.database import Database

_SINGLE, _FIRST_COMPRESSED, _SECOND_COMPRESSED = 0x80, 0x10, 0x20
_COLUMNS = 15
"""Mask with a bit for each byte of a word."""
_WORTH_COMPRESSING = 128
"""Bytes; in a shorter part zlib's overhead exceeds its savings."""
_FAST = 1
_SINGLE_HEAD = struct.Struct("=BH")
_HEAD = struct.Struct("=BHB")
_LENGTH = struct.Struct("=I")
_USUAL_ENTRY = array("I", [1 << 8]).tobytes()
_USUAL_TOTAL = array("I", [1 << 16]).tobytes()
_WORD = 4
_LEAST = 2 * _WORD
"""Bytes of a document with one entry."""
_ONE = (1,)


def packed(documents: Sequence[int], words: Sequence[bytes]) -> bytes:
    """Pack the posting of a term.

    Args:
        documents: the numbers of the documents with the term, ascending.
        words: for each document its total, then an entry per chunk.
    """
    count = len(documents)
    joined = b"".join(words)
    if len(joined) == count * _LEAST:
        # Each document has one entry, as for four of five terms.
        if count == 1:
            mask, columns = _columns_of_one(joined)
            return _SINGLE_HEAD.pack(mask, documents[0]) + columns
        width, counts = 0, b""
        total_mask, totals = _columns(joined, _USUAL_TOTAL, 0, _LEAST)
        mask, second = _columns(joined, _USUAL_ENTRY, _WORD, _LEAST)
    else:
        numbers = [len(word) // _WORD - 1 for word in words]
        width = 1 if max(numbers) < 256 else 2
        counts = array("B" if width == 1 else "H", numbers).tobytes()
        total_mask, totals = _columns(b"".join([word[:_WORD] for word in words]), _USUAL_TOTAL)
        mask, second = _columns(b"".join([word[_WORD:] for word in words]), _USUAL_ENTRY)
    first = array("H", documents).tobytes() + totals + counts
    length = b""
    if len(small := _compressed(first)) < len(first):
        mask, first, length = mask | _FIRST_COMPRESSED, small, _LENGTH.pack(len(small))
    if len(small := _compressed(second)) < len(second):
        mask, second = mask | _SECOND_COMPRESSED, small
    return _HEAD.pack(mask, count, width << 4 | total_mask) + length + first + second


@lru_cache(maxsize=1 << 14)
def _columns_of_one(words: bytes) -> tuple[int, bytes]:
    """Flag, mask and columns of a term with one entry, cached: most rows have equal ones."""
    mask, columns = _columns(words[_WORD:], _USUAL_ENTRY)
    return _SINGLE | mask, columns


def _columns(words: bytes, usual: bytes, start: int = 0, step: int = _WORD) -> tuple[int, bytes]:
    """Mask of the columns with unusual values, and these columns.

    Args:
        words: one word every `step` bytes.
        usual: the most common word.
        start: position of the first word.
        step: bytes from one word to the next.
    """
    mask = 0
    columns: list[bytes] = []
    for at in range(_WORD):
        column = words[start + at :: step]
        if column.count(usual[at]) != len(column):
            mask |= 1 << at
            columns.append(column)
    return mask, b"".join(columns)


def _words(mask: int, columns: bytes, usual: bytes, count: int) -> memoryview[int]:
    """Rebuild the words from their columns."""
    words = bytearray(usual * count)
    start = 0
    for at in range(_WORD):
        if mask >> at & 1:
            words[at::_WORD] = columns[start : start + count]
            start += count
    return memoryview(words).cast("I")


def _compressed(part: bytes) -> bytes:
    return zlib.compress(part, _FAST) if len(part) >= _WORTH_COMPRESSING else part


class Posting:
    """One term in one segment; parts stay packed until they are needed."""

    __slots__ = (
        "_counts", "_data", "_docs", "_entries", "_second", "_starts", "_totals", "doc_count",
    )  # fmt: skip

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._docs: Sequence[int] | None = None
        self._totals: Sequence[int] = ()
        self._counts: Sequence[int] = (1,)
        self._starts: Sequence[int] = ()
        self._second = 0
        self._entries: memoryview[int] | None = None
        self.doc_count = 1 if data[0] & _SINGLE else _HEAD.unpack_from(data)[1]
        """How many documents contain the term."""

    @property
    def docs(self) -> Sequence[int]:
        """The documents' numbers in the segment, ascending."""
        return self._docs if self._docs is not None else self._opened()

    @property
    def totals(self) -> Sequence[int]:
        """The first word of each document, in the order of `docs`."""
        if self._docs is None:
            self._opened()
        return self._totals

    def total(self, doc: int) -> int:
        """The first word of a document; 0 if it lacks the term."""
        # Like `_position`, whose call would cost as much as the search.
        docs = self._docs
        if docs is None:
            docs = self._opened()
        at = bisect_left(docs, doc)
        return self._totals[at] if at < len(docs) and docs[at] == doc else 0

    def entries(self, doc: int) -> list[int]:
        """The other words of a document, one per chunk; empty if it lacks the term."""
        at = self._position(doc)
        if at < 0:
            return []
        if self._entries is None:
            self._entries = self._read_entries()
            self._starts = list(accumulate(self._counts, initial=0))
        return self._entries[self._starts[at] : self._starts[at + 1]].tolist()

    def words(self, doc: int) -> bytes:
        """All words of a document, as `packed` takes them."""
        return array("I", [self.total(doc), *self.entries(doc)]).tobytes()

    def _position(self, doc: int) -> int:
        docs = self.docs
        at = bisect_left(docs, doc)
        return at if at < len(docs) and docs[at] == doc else -1

    def _opened(self) -> Sequence[int]:
        """Read the first part and return the documents."""
        data = self._data
        if data[0] & _SINGLE:
            entry = self._single_entry()[0]
            self._totals = ((entry & 0xFF00) << 8 | (entry & 0xF0) << 4 | entry & 0xF,)
            self._docs = _SINGLE_HEAD.unpack_from(data)[1:]
            return self._docs
        flags, count, shape = _HEAD.unpack_from(data)
        width, mask = shape >> 4, shape & _COLUMNS
        start = _HEAD.size
        if flags & _FIRST_COMPRESSED:
            (size,) = _LENGTH.unpack_from(data, start)
            start += _LENGTH.size
            first = zlib.decompress(data[start : start + size])
        else:
            size = count * (2 + mask.bit_count() + width)
            first = data[start : start + size]
        self._second = start + size
        counts_at = len(first) - count * width
        self._totals = _words(mask, first[2 * count : counts_at], _USUAL_TOTAL, count)
        if width:
            self._counts = memoryview(first)[counts_at:].cast("B" if width == 1 else "H")
        else:
            self._counts = _ONE * count
        self._docs = memoryview(first)[: 2 * count].cast("H")
        return self._docs

    def _single_entry(self) -> memoryview[int]:
        """The entry of a row that has only one."""
        columns = self._data[_SINGLE_HEAD.size :]
        return _words(self._data[0] & _COLUMNS, columns, _USUAL_ENTRY, 1)

    def _read_entries(self) -> memoryview[int]:
        flags = self._data[0]
        if flags & _SINGLE:
            return self._single_entry()
        second = self._data[self._second :]
        if flags & _SECOND_COMPRESSED:
            second = zlib.decompress(second)
        return _words(flags & _COLUMNS, second, _USUAL_ENTRY, sum(self._counts))


# Neighboring terms of a segment share a block, which is a row: most terms take a few bytes, while
# each row costs 13.
#
# A block of several terms has two compressed parts (deflate). A question whose term is not in the
# block reads only the first:
#
#     uint16 length of the first part
#     first part: the sizes of the postings, a byte each, then the terms in their order, in UTF-8,
#     with a NUL before each and one at the end
#     second part: the postings, one after another
#
# A block of one term is its bare posting. Postings of 256 bytes and more, and terms with a NUL,
# have their own blocks. The row has a column for the first term, and one for the marks of a block
# of several terms: a byte of each term's digest. Three of four blocks that a query reaches lack its
# term, and by the marks SQLite skips five of six of these.

BLOCK_BYTES = 2000
"""Bytes of terms and postings before compression. With half of it postings take 6 % more on Linux,
with twice as much 3 % less, and a whole block is read for one term."""
_ALONE_BYTES = 256
_NUL = b"\0"
_LENGTH_BYTES = 2
_RAW = -zlib.MAX_WBITS
"""Deflate without zlib's header and checksum: the file's pages have checksums."""
_NEAR, _MEMORY = -12, 6
"""A window of a block's size is enough; clearing zlib's usual 256 kB takes twice as long as
compressing a block."""


class Row(NamedTuple):
    """A stored block."""

    first_term: str
    marks: bytes | None
    """None: a block of one term."""
    data: bytes


def blocks(rows: Iterable[tuple[str, bytes]]) -> Iterator[Row]:
    """Build the blocks of a segment.

    Args:
        rows: terms, ascending, with their postings.
    """
    run: list[tuple[bytes, bytes]] = []
    size = 0
    for term, posting in rows:
        encoded = term.encode()
        added = len(encoded) + len(posting)
        alone = len(posting) >= _ALONE_BYTES or added > BLOCK_BYTES or _NUL in encoded
        if run and (alone or size + added > BLOCK_BYTES):
            yield _block(run)
            run, size = [], 0
        if alone:
            yield Row(term, None, posting)
        else:
            run.append((encoded, posting))
            size += added
    if run:
        yield _block(run)


def _block(run: Sequence[tuple[bytes, bytes]]) -> Row:
    first_term = run[0][0].decode()
    if len(run) == 1:
        return Row(first_term, None, run[0][1])
    terms, postings = zip(*run, strict=True)
    first = _compressed_block(bytes(map(len, postings)) + _NUL + _NUL.join(terms) + _NUL)
    length = len(first).to_bytes(_LENGTH_BYTES, sys.byteorder)
    marks = bytes([zlib.crc32(term) & 255 for term in terms])
    return Row(first_term, marks, length + first + _compressed_block(b"".join(postings)))


def _compressed_block(part: bytes) -> bytes:
    stream = zlib.compressobj(wbits=_NEAR, memLevel=_MEMORY)
    return stream.compress(part) + stream.flush()


def _decompressed(part: bytes) -> bytes:
    try:
        return zlib.decompress(part, _RAW, BLOCK_BYTES)
    except zlib.error as error:
        # The same error as for other unreadable data: the caller checks if the file is damaged.
        raise ValueError(f"a block of terms is damaged: {error}") from error


def needle(term: str) -> bytes:
    """A term in the form that `PostingBlock.posting` searches for."""
    return _NUL + term.encode() + _NUL


def mark(term: str) -> bytes:
    """A byte that the marks of every block with the term contain."""
    return bytes([zlib.crc32(term.encode()) & 255])


class PostingBlock:
    """A stored block of several terms; its postings stay packed until one is requested."""

    __slots__ = ("_count", "_data", "_first", "_postings", "_second")

    def __init__(self, marks: bytes, data: bytes) -> None:
        count = len(marks)
        self._second = second = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], sys.byteorder)
        self._first = _decompressed(data[_LENGTH_BYTES:second])
        if self._first.count(_NUL, count) != count + 1:
            raise ValueError(f"a block of {count} terms has the wrong number of terms")
        self._data = data
        self._count = count
        self._postings: bytes | None = None

    @property
    def terms(self) -> list[bytes]:
        """The terms in UTF-8, ascending."""
        return self._first[self._count + 1 : -1].split(_NUL)

    def posting(self, searched: bytes) -> bytes | None:
        """The posting of a term (`needle`); None if the block lacks the term."""
        first, count = self._first, self._count
        place = first.find(searched, count)
        if place < 0:
            return None
        at = first.count(_NUL, count, place)
        start = sum(first[:at])
        return self._unpacked()[start : start + first[at]]

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """All terms with their postings."""
        postings, start = self._unpacked(), 0
        for term, size in zip(self.terms, self._first, strict=False):
            yield term.decode(), postings[start : start + size]
            start += size

    def _unpacked(self) -> bytes:
        if self._postings is None:
            self._postings = _decompressed(self._data[self._second :])
            if len(self._postings) != sum(self._first[: self._count]):
                raise ValueError("the postings of a block have the wrong length")
        return self._postings


# Stores which contents contain a term and how often, chunk by chunk.
#
# FTS5 is not used because its bm25() counts every row of the table, while ranking must depend only
# on the view: other data in the store must not change an answer. Here a query sums over the
# contents of its view, with a separate length per field (BM25F).
#
# Contents are written in batches, each a *segment*: sorted appends, in which small numbers identify
# the contents. Layouts, native byte order (the index is local and can be rebuilt):
#
# - `segments.docs`: five uint32 arrays of `doc_count`: content id, body, name and doc terms,
#   chunks.
# - `postings.data`: blocks of neighboring terms, see above. Rows are ordered by an id, so they are
#   appended and fill their pages, up to a whole page each; ordered by segment and term, a quarter
#   of the pages was empty. The index of first terms is a fortieth of the table.

SEGMENT_DOCS = 4096
_MERGED = ((64, 48), (1_024, 16))
"""Segments of at most this many contents are merged once there are so many of them. Without the
second row, each 60 edits would leave one more segment for all queries to seek in.
"""
_ASKED_AT_ONCE = 10_000
"""Terms; SQLite allows 32,766 bindings."""


class Doc(NamedTuple):
    """One content as the postings see it."""

    content: int
    body_terms: int
    name_terms: int
    doc_terms: int
    chunks: int
    terms: dict[str, bytes]


class SegmentDocs(NamedTuple):
    """The contents of a segment, in the order of their numbers."""

    contents: memoryview[int]
    body_terms: memoryview[int]
    name_terms: memoryview[int]
    doc_terms: memoryview[int]
    chunks: memoryview[int]


_INSERT_SEGMENT = "INSERT INTO segments (doc_count, docs) VALUES (?, ?)"
_INSERT_BLOCK = "INSERT INTO postings (segment, first_term, marks, data) VALUES (?, ?, ?, ?)"
_SEGMENTS = "SELECT id, doc_count, docs FROM segments ORDER BY id"
# CROSS JOIN limits SQLite to one seek per segment and term. It reads the data of a block, which may
# be large, only if the block may contain the term.
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
    # Per term, documents and words alternate in one list: a pair of each would be another object.
    by_term: dict[str, list[Any]] = {}
    row_of = by_term.get
    for number, doc in enumerate(docs):
        for term, words in doc.terms.items():
            row = row_of(term)
            if row is None:
                by_term[term] = [number, words]
            else:
                row += (number, words)
    rows = ((term, packed((row := by_term[term])[::2], row[1::2])) for term in sorted(by_term))
    db.execute_many(_INSERT_BLOCK, ((segment, *block) for block in blocks(rows)))


def segment_docs(db: Database) -> dict[int, SegmentDocs]:
    """All segments by id, with the contents that their numbers stand for."""
    return {segment: _unpack_docs(count, docs) for segment, count, docs in db.rows(_SEGMENTS)}


def _unpack_docs(count: int, docs: bytes) -> SegmentDocs:
    whole = memoryview(docs).cast("I")
    return SegmentDocs(*(whole[start * count : (start + 1) * count] for start in range(5)))


def postings(db: Database, terms: Iterable[str]) -> list[tuple[int, str, bytes]]:
    """Yield segment, term and packed posting for each of `terms` in each segment; by segment."""
    # Sorted, so that terms of one block follow each other.
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
    """For each of `terms`, the contents of any view that contain it."""
    holding: dict[str, set[int]] = {term: set() for term in terms}
    if not holding:
        return holding
    segments = segment_docs(db)
    for segment, term, data in postings(db, holding):
        contents = segments[segment].contents
        holding[term].update(contents[number] for number in Posting(data).docs)
    return holding


def merge_small(db: Database) -> None:
    """Merge small segments, without removed contents, where there are many of a size.

    An edit writes a segment of a few contents, and a query seeks once per segment and term. In the
    caller's transaction.
    """
    for size, many in _MERGED:
        small = [row[0] for row in db.rows(_SMALL, (size,))]
        if len(small) < many:
            continue
        every = segment_docs(db)
        docs: list[Doc] = []
        for segment in small:
            docs.extend(docs_of(db, segment, every[segment]))
            db.execute(_DELETE_POSTINGS, (segment,))
            db.execute(_DELETE_SEGMENT, (segment,))
        for start in range(0, len(docs), SEGMENT_DOCS):
            write_segment(db, docs[start : start + SEGMENT_DOCS])


def rewrite_one(db: Database, dead_share: float) -> int:
    """Rewrite one segment whose share of removed contents exceeds `dead_share`.

    In the caller's transaction.

    Returns:
        How many segments were rewritten (0 or 1).
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
    """The contents of a segment that still exist, with their terms."""
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
