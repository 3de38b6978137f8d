"""How the occurrences of one term in one segment are laid out: small, read no further than asked.

A word of `codelens.extract.term_packing` has four bytes, of which most are as nearly always: it
stands once in the body of the first chunk. So words are kept by columns, a byte of each word a
column, and a column in which all is as usual is left out. Native byte order (an index is local).

One document with one entry, as most terms have in a segment:

    uint8 `_SINGLE` | columns of the entry, uint16 document, those columns

All others, where each of the two parts may be compressed (zlib):

    uint8 flags | columns of the entries, uint16 number of documents,
    uint8 width of the counts << 4 | columns of the totals, uint32 length of the first part (only
    if it is compressed)
    first part: uint16 a document, the columns of its total, its number of entries (width 0: one)
    second part: the columns of all entries, document by document

Scoring whole files reads the first part, and of the second only what the best files need. On Django
this takes two fifths of four bytes a word.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

_SINGLE, _FIRST_COMPRESSED, _SECOND_COMPRESSED = 0x80, 0x10, 0x20
_COLUMNS = 15
"""Mask of a bit for each byte of a word."""
_WORTH_COMPRESSING = 128
"""Bytes; below it zlib's own take what it saves."""
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
    """The row of a term.

    Args:
        documents: those that have it, ascending.
        words: of each: the total, then an entry a chunk.
    """
    count = len(documents)
    joined = b"".join(words)
    if len(joined) == count * _LEAST:
        # One entry each, as four of five terms have.
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
    """Flag, mask and columns of a term that has one entry: so have most rows, and few are rare."""
    mask, columns = _columns(words[_WORD:], _USUAL_ENTRY)
    return _SINGLE | mask, columns


def _columns(words: bytes, usual: bytes, start: int = 0, step: int = _WORD) -> tuple[int, bytes]:
    """Mask of the columns in which not all is as usual, and these columns.

    Args:
        words: one word each `step` bytes.
        usual: the word that most are.
        start: where the first is.
        step: bytes from one to the next.
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
    """The words whose columns these are."""
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
    """One term in one segment; what is not asked for stays packed."""

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
        """How many documents hold the term."""

    @property
    def docs(self) -> Sequence[int]:
        """Their numbers in the segment, ascending."""
        return self._docs if self._docs is not None else self._opened()

    @property
    def totals(self) -> Sequence[int]:
        """The first word of each, in their order."""
        if self._docs is None:
            self._opened()
        return self._totals

    def total(self, doc: int) -> int:
        """The first word of a document; 0 where it has not the term."""
        at = self._position(doc)
        return self._totals[at] if at >= 0 else 0

    def entries(self, doc: int) -> list[int]:
        """The other words of a document, one a chunk; empty where it has not the term."""
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
        """Read the first part; the documents."""
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
        """The entry of a row with no more than that."""
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
