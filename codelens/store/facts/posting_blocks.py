"""Neighbouring terms of a segment in one row: most have a few bytes, and a row of its own cost 13.

A block of several terms, both parts compressed (deflate), for a question that does not find its
term reads the first alone:

    uint16 length of the first part
    first part: the sizes of the postings, a byte each, then the terms in their order, in UTF-8,
    with a NUL before each and one at the end
    second part: the postings (`codelens.store.facts.posting_layout`), one behind another

A block of one term is its posting, as it is: so stand those of 256 bytes and more, which no other
term is read with, and a term that has a NUL. The first term is a column of the row, and so are the
marks of a block of several: a byte of the digest of each, by which SQLite passes over five of six
blocks that have not the term. Three of four that a question comes to have not.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

BLOCK_BYTES = 2000
"""Of terms and postings, before they are compressed: with half of it postings take 6 % more on
Linux, with twice as much 3 % less, and all of a block is read for one term."""
_ALONE_BYTES = 256
_NUL = b"\0"
_LENGTH_BYTES = 2
_RAW = -zlib.MAX_WBITS
"""Deflate without zlib's own head and checksum: the file's pages have one."""
_NEAR, _MEMORY = -12, 6
"""A block looks back over no more than itself; to clear zlib's usual 256 kB takes twice as long as
to compress it."""


class Row(NamedTuple):
    """A block as it is stored."""

    first_term: str
    marks: bytes | None
    """None: a block of one term."""
    data: bytes


def blocks(rows: Iterable[tuple[str, bytes]]) -> Iterator[Row]:
    """The blocks of a segment.

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
    first = _compressed(bytes(map(len, postings)) + _NUL + _NUL.join(terms) + _NUL)
    length = len(first).to_bytes(_LENGTH_BYTES, sys.byteorder)
    marks = bytes([zlib.crc32(term) & 255 for term in terms])
    return Row(first_term, marks, length + first + _compressed(b"".join(postings)))


def _compressed(part: bytes) -> bytes:
    stream = zlib.compressobj(wbits=_NEAR, memLevel=_MEMORY)
    return stream.compress(part) + stream.flush()


def _decompressed(part: bytes) -> bytes:
    try:
        return zlib.decompress(part, _RAW, BLOCK_BYTES)
    except zlib.error as error:
        # As other data that cannot be: the caller looks whether the file is damaged.
        raise ValueError(f"a block of terms is not as it was written: {error}") from error


def needle(term: str) -> bytes:
    """A term as `PostingBlock.posting` looks for it."""
    return _NUL + term.encode() + _NUL


def mark(term: str) -> bytes:
    """A byte that is among the marks of a block that has the term."""
    return bytes([zlib.crc32(term.encode()) & 255])


class PostingBlock:
    """A stored block of several terms; its postings stay packed until one is asked for."""

    __slots__ = ("_count", "_data", "_first", "_postings", "_second")

    def __init__(self, marks: bytes, data: bytes) -> None:
        count = len(marks)
        self._second = second = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], sys.byteorder)
        self._first = _decompressed(data[_LENGTH_BYTES:second])
        if self._first.count(_NUL, count) != count + 1:
            raise ValueError(f"a block of {count} terms has another number of them")
        self._data = data
        self._count = count
        self._postings: bytes | None = None

    @property
    def terms(self) -> list[bytes]:
        """In UTF-8, ascending."""
        return self._first[self._count + 1 : -1].split(_NUL)

    def posting(self, searched: bytes) -> bytes | None:
        """The posting of a term (`needle`); None where the block has not the term."""
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
                raise ValueError("the postings of a block are not as long as it says")
        return self._postings
