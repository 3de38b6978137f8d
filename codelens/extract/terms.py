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
from collections.abc import Sequence

from codelens.extract.tokens import WORD, count_terms
from codelens.types import Chunk, Symbol

MAX_CHUNKS = 65_535
_PAIR = struct.Struct("=II").pack
Lengths = tuple[tuple[int, int, int], ...]


def pack_terms(
    text: bytes, chunks: Sequence[Chunk], symbols: Sequence[Symbol]
) -> tuple[dict[str, bytes], Lengths]:
    """Packed occurrences by term, and per chunk the number of body, name and doc terms.

    Names and docs of a symbol count in the chunk where the symbol starts.
    """
    entries: dict[str, list[int]] = {}
    lengths: list[tuple[int, int, int]] = []
    names, docs = _fields_by_chunk(chunks, symbols)
    for ordinal, chunk in enumerate(chunks[:MAX_CHUNKS]):
        body_text = text[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace")
        body = count_terms(WORD.findall(body_text))
        name = count_terms(names.get(ordinal, ()))
        doc = count_terms(docs.get(ordinal, ()))
        lengths.append((sum(body.values()), sum(name.values()), sum(doc.values())))
        _append_entries(entries, ordinal, body, name, doc)
    return {term: _packed(found) for term, found in entries.items()}, tuple(lengths)


def _append_entries(
    entries: dict[str, list[int]],
    ordinal: int,
    body: dict[str, int],
    name: dict[str, int],
    doc: dict[str, int],
) -> None:
    base = ordinal << 16
    if name or doc:
        for term in name.keys() | doc.keys():
            body.setdefault(term, 0)
        for term, times in body.items():
            rest = min(doc.get(term, 0), 15) << 4 | min(name.get(term, 0), 15)
            entry = base | (times if times < 255 else 255) << 8 | rest
            known = entries.get(term)
            if known is None:
                entries[term] = [entry]
            else:
                known.append(entry)
        return
    for term, times in body.items():
        entry = base | (times if times < 255 else 255) << 8
        known = entries.get(term)
        if known is None:
            entries[term] = [entry]
        else:
            known.append(entry)


def _packed(found: list[int]) -> bytes:
    if len(found) == 1:
        # Most terms stand in one chunk of a file.
        (entry,) = found
        return _PAIR((entry & 0xFF00) << 8 | (entry & 0xF0) << 4 | (entry & 15), entry)
    body = doc = name = 0
    for entry in found:
        body += entry >> 8 & 255
        doc += entry >> 4 & 15
        name += entry & 15
    total = min(body, 65_535) << 16 | min(doc, 255) << 8 | min(name, 255)
    return array("I", [total, *found]).tobytes()


def _fields_by_chunk(
    chunks: Sequence[Chunk], symbols: Sequence[Symbol]
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    names: dict[int, list[str]] = {}
    docs: dict[int, list[str]] = {}
    ordinal = 0
    last = len(chunks) - 1
    for symbol in sorted(symbols, key=lambda one: one.start_byte):
        while ordinal < last and chunks[ordinal].end_byte <= symbol.start_byte:
            ordinal += 1
        names.setdefault(ordinal, []).extend(WORD.findall(symbol.name))
        if symbol.doc:
            docs.setdefault(ordinal, []).extend(WORD.findall(symbol.doc))
    return names, docs
