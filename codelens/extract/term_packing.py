"""Occurrences of terms in the chunks of one text, packed for the postings of the index.

For each term of a text, native unsigned 32-bit integers: first its count in the whole file
(`body << 16 | doc << 8 | name`), then one entry a chunk that holds it
(`chunk << 16 | body << 8 | doc << 4 | name`). Counts are capped at what their bits hold; BM25's
saturation makes a larger count worth next to nothing (k1 = 1.2: 255 occurrences score .995 of
infinitely many).
"""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from collections.abc import Sequence

from codelens.extract.tokenizer import WORD, count_terms, words_of
from codelens.types import Chunk, Symbol

# A posting counts its words, a total and one a chunk, in 16 bits.
MAX_CHUNKS = 65_534
_PAIR = struct.Struct("=II").pack
_MOST_PAIRS = 1 << 14
Lengths = tuple[tuple[int, int, int], ...]


class _Pairs(dict[int, bytes]):
    """The only entry of a term -> its count and that entry: most are alike, and are sent once."""

    def __missing__(self, entry: int) -> bytes:
        if len(self) >= _MOST_PAIRS:
            self.clear()
        count = (entry & 0xFF00) << 8 | (entry & 0xF0) << 4 | entry & 15
        words = self[entry] = _PAIR(count, entry)
        return words


_pairs = _Pairs()


def pack_terms(
    text: bytes, chunks: Sequence[Chunk], symbols: Sequence[Symbol]
) -> tuple[dict[str, bytes], Lengths]:
    """Packed occurrences by term, and per chunk the number of body, name and doc terms.

    Names and docs of a symbol count in the chunk where the symbol starts.
    """
    entries: defaultdict[str, list[int]] = defaultdict(list)
    lengths: list[tuple[int, int, int]] = []
    names, docs = _fields_by_chunk(chunks, symbols)
    pairs = _pairs
    for ordinal, chunk in enumerate(chunks[:MAX_CHUNKS]):
        body = count_terms(words_of(text[chunk.start_byte : chunk.end_byte]))
        base = ordinal << 16
        for term, times in body.items():
            entries[term].append(base | (times << 8 if times < 255 else 0xFF00))
        name = _add_field(entries, body, base, names.get(ordinal), 0)
        doc = _add_field(entries, body, base, docs.get(ordinal), 4)
        lengths.append((sum(body.values()), name, doc))
    # Most terms stand in one chunk of a file.
    return {
        term: pairs[numbers[0]] if len(numbers) == 1 else _packed(numbers)
        for term, numbers in entries.items()
    }, tuple(lengths)


def _add_field(
    entries: dict[str, list[int]],
    body: dict[str, int],
    base: int,
    words: list[str] | None,
    shift: int,
) -> int:
    """Count the words of a field into their terms' last entries; returns how many there were."""
    if not words:
        return 0
    counts = count_terms(words)
    for term, times in counts.items():
        if term not in body:
            body[term] = 0
            entries[term].append(base)
        entries[term][-1] |= (times if times < 15 else 15) << shift
    return sum(counts.values())


def _packed(numbers: list[int]) -> bytes:
    body = doc = name = 0
    for entry in numbers:
        body += entry >> 8 & 255
        if entry & 255:
            doc += entry >> 4 & 15
            name += entry & 15
    if body > 0xFFFF or doc > 255 or name > 255:
        body, doc, name = min(body, 0xFFFF), min(doc, 255), min(name, 255)
    return array("I", (body << 16 | doc << 8 | name, *numbers)).tobytes()


def _fields_by_chunk(
    chunks: Sequence[Chunk], symbols: Sequence[Symbol]
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    names: dict[int, list[str]] = {}
    docs: dict[int, list[str]] = {}
    ordinal = 0
    last = len(chunks) - 1
    for symbol in sorted(symbols, key=lambda symbol: symbol.start_byte):
        while ordinal < last and chunks[ordinal].end_byte <= symbol.start_byte:
            ordinal += 1
        names.setdefault(ordinal, []).extend(WORD.findall(symbol.name))
        if symbol.doc:
            docs.setdefault(ordinal, []).extend(WORD.findall(symbol.doc))
    return names, docs
