"""Facts of a text as their row holds them: what a worker process sends, and the index stores.

Packed where they are extracted: as objects, references and bindings cost more to send than to
extract again from their blob.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence
from typing import NamedTuple

from codelens.store.facts import resolution_facts
from codelens.store.facts.symbol_keys import key_of
from codelens.types import ChunkVectors, Facts, Import, Outcome, Reference, Symbol

REFERENCE_KINDS = ("call", "type", "name")
_NO_REFERENCES = bytes(4)

SymbolRow = tuple[int, str, str, str, str, str, str, bool, int, int, int, int, int, int]
"""Ordinal, name, key of the name, then the other fields of a symbol in their order."""


class PackedFacts(NamedTuple):
    """All that is stored of one text in one language."""

    outcome: Outcome
    lines: int
    generated: bool
    symbol_rows: Sequence[SymbolRow]
    chunk_count: int
    chunks: bytes
    """Native uint32, eight a chunk: start line, end line, start byte, end byte, symbol + 1, and
    the terms in body, names and docs."""
    references: bytes
    """See `pack_references`; empty if there are none."""
    imports: bytes
    """Four texts an import, NUL between."""
    flow: bytes
    """See `codelens.store.facts.resolution_facts`."""
    surface: int
    """Digest of what other files can see of it."""
    body_terms: int
    name_terms: int
    doc_terms: int
    terms: dict[str, bytes]
    """Term -> its occurrences (see `codelens.extract.term_packing`)."""
    vectors: ChunkVectors | None

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols, in their order in the text."""
        return tuple(Symbol(row[1], *row[3:]) for row in self.symbol_rows)


def pack(facts: Facts) -> PackedFacts:
    """The facts of one text, ready to be stored."""
    structure = facts.structure
    body, name, doc = (sum(column) for column in zip((0, 0, 0), *facts.lengths, strict=True))
    chunks = array("I")
    for chunk, lengths in zip(structure.chunks, facts.lengths, strict=False):
        chunks.extend((*chunk[:4], chunk.symbol + 1, *lengths))
    return PackedFacts(
        facts.outcome,
        facts.lines,
        facts.generated,
        symbol_rows(structure.symbols),
        len(facts.lengths),
        chunks.tobytes(),
        pack_references(structure.references),
        _pack_imports(structure.imports),
        resolution_facts.packed(structure),
        resolution_facts.surface(structure),
        body,
        name,
        doc,
        facts.terms,
        facts.vectors,
    )


def symbol_rows(symbols: Sequence[Symbol]) -> list[SymbolRow]:
    """Symbols of a text, in their order, as rows."""
    return [
        (ordinal, symbol.name, key_of(symbol.name), *symbol[1:])
        for ordinal, symbol in enumerate(symbols)
    ]


def pack_references(references: Sequence[Reference]) -> bytes:
    """References by columns, compressed: what a place has in common with the next stands together.

    Inside: uint32 length of a table, the table (distinct names, NUL between), then for all places
    in order uint32 name << 2 | kind, then their lines, their columns, and their symbols + 1.
    """
    if not references:
        return b""
    names = sorted({reference.name for reference in references})
    number = {name: at for at, name in enumerate(names)}
    table = "\0".join(names).encode("utf-8", "surrogatepass")
    kind = REFERENCE_KINDS.index
    words = array("I", [number[place.name] << 2 | kind(place.kind) for place in references])
    words.extend([place.line for place in references])
    words.extend([place.column for place in references])
    words.extend([place.symbol + 1 for place in references])
    return zlib.compress(array("I", [len(table)]).tobytes() + table + words.tobytes(), 1)


class ReferenceColumns(NamedTuple):
    """Packed references, taken apart; a sequence a column, in the order of the places."""

    table: bytes
    """Distinct names, NUL between."""
    heads: memoryview[int]
    """Number of the name in the table << 2 | kind."""
    lines: memoryview[int]
    columns: memoryview[int]
    symbols: memoryview[int]
    """Position of the symbol + 1."""


def reference_columns(data: bytes) -> ReferenceColumns:
    """What `pack_references` packed."""
    return plain_columns(zlib.decompress(data) if data else _NO_REFERENCES)


def plain_columns(data: bytes) -> ReferenceColumns:
    """The same of data that is not compressed."""
    size: int = array("I", data[:4])[0]
    words = memoryview(data)[4 + size :].cast("I")
    count = len(words) // 4
    return ReferenceColumns(
        data[4 : 4 + size], *(words[at * count : (at + 1) * count] for at in range(4))
    )


def _pack_imports(imports: Sequence[Import]) -> bytes:
    return "\0".join(str(part) for imported in imports for part in imported).encode(
        "utf-8", "surrogatepass"
    )
