"""Computes the vectors of questions and of the chunks of contents, and their products.

A vector is the sum of its terms' vectors, each times the logarithm of its count and the term's
gate, scaled to the length `LENGTH`. All steps are in integers, so every platform gets the same
bytes. A sum of vectors is one addition of long integers with `LANE` bytes per number: a chunk of
100 terms takes 80 µs in plain Python, while importing numpy takes 115 ms.
"""

from __future__ import annotations

import logging
import struct
import sys
import time
from array import array
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import isqrt, log1p
from operator import mul
from pathlib import Path
from typing import NamedTuple

from codelens.cancellation import check_cancelled
from codelens.meaning import word_table
from codelens.meaning.word_table import LANE, WordTable, WordTableDamaged, shipped_version
from codelens.store.database.database import Database
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import ranking_reads as stored
from codelens.store.views.views import ViewRow
from codelens.types import ChunkVectors, Facts

LENGTH = 256
"""Length of an int8 vector: its numbers are mostly below 64, and those beyond 127 are clipped."""
ZERO = 128
"""Offset: a number is stored in a byte as its difference from -128."""
LOGARITHMS = tuple(round(16 * log1p(count)) for count in range(256))
"""Weight of a count. Logarithms differ between platforms in the last bit, these integers do not."""
_GATE_BITS = 6
_ONE_ENTRY = 8
"""Bytes of a term with one entry, after its count in the whole file."""
_LAST = struct.Struct("=4xI").unpack
_MOST_WEIGHT = (1 << 24) - 1
"""The largest weight times a byte that a lane can hold. A text with more has no vector."""
_POINT = 48
"""Fraction bits when numbers are scaled at once; two bytes are for the integer part."""
_MOST_LENGTH = 1 << _POINT // 2 - 1
"""Twice this, squared, fits before the fraction: up to it rounding is exact."""


def chunk_vectors(table: WordTable, terms: Mapping[str, bytes], chunks: int) -> ChunkVectors:
    """A vector for each chunk of a content; all zeros for a chunk without words of the table.

    Args:
        table: the word table.
        terms: the content's occurrences as `codelens.extract.tokenizer` packs them.
        chunks: the number of chunks.
    """
    sums, weights = [0] * chunks, [0] * chunks
    number, gates = table.number, table.code_gates
    for term, packed in terms.items():
        at = number.get(term)
        if at is None or not (gate := gates[at]):
            continue
        wide = table.wide(at)
        # Most terms occur in one chunk.
        few = len(packed) == _ONE_ENTRY
        for entry in _LAST(packed) if few else memoryview(packed).cast("I")[1:]:
            weight = LOGARITHMS[entry >> 8 & 255] * gate >> _GATE_BITS
            chunk = entry >> 16
            sums[chunk] += weight * wide
            weights[chunk] += weight
    width = table.head.dimension
    data = b"".join(
        _scaled(total, weight, width) or bytes([ZERO]) * width
        for total, weight in zip(sums, weights, strict=True)
    )
    return ChunkVectors(table.head.version, data)


def said_vector(table: WordTable, counts: Mapping[str, int]) -> list[int]:
    """The vector of a question, by the counts of its terms; empty if the table has none."""
    total = weights = 0
    for term, count in counts.items():
        at = table.number.get(term)
        if at is not None:
            weight = LOGARITHMS[min(count, 255)] * table.said_gates[at] >> _GATE_BITS
            total += weight * table.wide(at)
            weights += weight
    return [number - ZERO for number in _scaled(total, weights, table.head.dimension)]


def _scaled(total: int, weight: int, width: int) -> bytes:
    """Scale a sum of vectors to `LENGTH`, with 128 for zero; empty if its length is zero."""
    if not weight or weight > _MOST_WEIGHT:
        return b""
    lanes = memoryview(total.to_bytes(LANE * width, sys.byteorder)).cast("I").tolist()
    if sys.byteorder == "big":
        lanes.reverse()
    offset = ZERO * weight
    # The sum of the squares of the numbers without the offset.
    squares = sum(map(mul, lanes, lanes)) - 2 * offset * sum(lanes) + width * offset * offset
    length = isqrt(squares)
    if not length:
        return b""
    if length <= _MOST_LENGTH and not width % 2:
        scaled = _scaled_at_once(total, offset, length, width)
        if scaled is not None:
            return scaled
    # Rounded to the nearest, plus 128.
    doubled, factor, base = 2 * length, 2 * LENGTH, (2 * ZERO + 1) * length
    numbers = [(factor * (lane - offset) + base) // doubled for lane in lanes]
    return bytes([min(255, max(1, number)) for number in numbers])


def _scaled_at_once(total: int, offset: int, length: int, width: int) -> bytes | None:
    """Scale all numbers in one multiplication, in two interleaved groups; None if one is clipped.

    No number exceeds the length, so adding the length makes all positive. The factor is at most 1
    too large, and the resulting error is less than half a unit of the length (`_MOST_LENGTH`), so
    it changes no rounding.
    """
    one_a_lane, evens, added = _constants(width)
    positive = total + (length - offset) * one_a_lane
    factor = -(-(LENGTH << _POINT) // length)
    scaled = bytearray(width)
    for first in 0, 1:
        lanes = positive >> 8 * LANE * first & evens
        data = (lanes * factor + added).to_bytes(LANE * width, "little")
        numbers = data[_POINT // 8 :: 2 * LANE]
        # With 256 added, and a number that is 0 is clipped to 1.
        if data[_POINT // 8 + 1 :: 2 * LANE].count(1) < width // 2 or 0 in numbers:
            return None
        scaled[first::2] = numbers
    return bytes(scaled)


@cache
def _constants(width: int) -> tuple[int, int, int]:
    """A one in each lane; a mask of every other lane; the value added to each of these."""
    one_a_lane = sum(1 << 8 * LANE * at for at in range(width))
    evens = sum(1 << 8 * LANE * at for at in range(0, width, 2))
    # One half, and the difference to a byte with 256 added: `LENGTH` came with the length.
    half, above = 1 << _POINT - 1, (2 * ZERO + ZERO - LENGTH) << _POINT
    return one_a_lane, evens * ((1 << 8 * LANE) - 1), evens * (half + above)


# Computes the products of a question with many chunks at once, in integers.

_ABOVE = 1 << 31


def products(vector: Sequence[int], chunks: bytes) -> list[int]:
    """The product of `vector` with each vector in `chunks`: `LENGTH` squared if equal.

    Works by columns: one number of all chunks is a long integer with `LANE` bytes per chunk. 1,000
    chunks take 1 ms; one by one they take 4.

    Args:
        vector: the question's vector.
        chunks: vectors of the same width, a byte per number, concatenated.
    """
    width = len(vector)
    count = len(chunks) // width if width else 0
    if not count:
        return []
    lanes = bytearray(LANE * count)
    total = 0
    for at, number in enumerate(vector):
        if number:
            lanes[::LANE] = chunks[at::width]
            total += number * int.from_bytes(lanes, "little")
    # Every lane is above zero, so that none borrows from the next.
    total += int.from_bytes(_ABOVE.to_bytes(LANE, "little") * count, "little")
    columns = array("I", total.to_bytes(LANE * count, sys.byteorder))
    if sys.byteorder == "big":
        columns.reverse()
    above = _ABOVE + ZERO * sum(vector)
    return [column - above for column in columns]


# Adds vectors to the facts of a text, in the process that extracts the text.

logger = logging.getLogger(__name__)


def table_if_whole() -> WordTable | None:
    """The shipped table; None, with one log message, if it is damaged."""
    return _table_in(word_table.FILE)


@cache
def _table_in(file: Path) -> WordTable | None:
    try:
        return word_table.table_in(file)
    except WordTableDamaged as error:
        logger.warning("%s", error)
        return None


def with_vectors(facts: Facts) -> Facts:
    """Add the chunk vectors to the facts of a text."""
    table = table_if_whole()
    if table is None:
        return facts
    return facts._replace(vectors=chunk_vectors(table, facts.terms, len(facts.lengths)))


# The table's words nearest to a text: they show people how the table understands a question.


class NearWord(NamedTuple):
    """A term of the table, and its cosine with the text."""

    term: str
    cosine: float


def near_words(
    table: WordTable, counts: Mapping[str, int], count: int, without: Collection[str] = ()
) -> list[NearWord]:
    """The terms nearest to a text, best first; none if the table has none of its terms.

    Args:
        table: the word table.
        counts: the text's terms.
        count: the most terms to return.
        without: terms to leave out.
    """
    vector = said_vector(table, counts)
    if not vector:
        return []
    likeness = zip(table, products(vector, table.vectors()), strict=True)
    # Candidates by product alone come first: the lengths of vectors differ little.
    best = sorted(likeness, key=lambda row: (-row[1], row[0]))[: 20 * count]
    near = [
        NearWord(term, product / (LENGTH * length))
        for term, product in best
        if term not in without and (length := _length(table.vector(table.number[term])))
    ]
    return sorted(near, key=lambda word: (-word.cosine, word.term))[:count]


def _length(vector: Sequence[int]) -> int:
    numbers = [byte - ZERO for byte in vector]
    return isqrt(sum(map(mul, numbers, numbers)))


# Computes vectors for contents of a view that have none, or have those of an older table.
#
# A new word table rolls forward like a new extractor, but needs no texts: the postings have the
# counts of terms.


def has_vectors(view: ViewRow) -> bool:
    """Whether all contents of a view have vectors, or there is no table to compute them."""
    return view.vectors >= shipped_version()


def roll_forward(db: Database, lease: Lease, view: int, deadline: float | None) -> None:
    """Compute the missing vectors of a view by the shipped table, as far as there is time.

    It takes one segment of the postings at a time, each in a separate transaction: finished work
    stays, and a later look continues. The view is marked when all contents have vectors.
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
            stored.put_chunk_vectors(db, rows)
    with db.write(lease):
        stored.mark_view(db, view, version)
