"""Places a document's occurrences in the text that was indexed: lines, UTF-8 columns, names.

Whether a text is the one that was indexed can be checked: at each definition's range, it must have
the last name of the symbol, and at all ranges whole words.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, NamedTuple

from codelens.scip.symbol_grammar import LOCAL, META, NAMESPACE, last_descriptor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelens.scip import scip_pb2

DEFINITION, IMPORT, FORWARD = 1, 2, 0x40
"""Bits of `Occurrence.roles`, as in the schema's `SymbolRole`."""
IMPLEMENTS, REFERS, TYPED, DEFINES = 1, 2, 4, 8
"""Bits of `Relation.kinds`."""
UNSTATED, UTF8, UTF16, UTF32 = 0, 1, 2, 3
"""Units of columns, as in the schema's `PositionEncoding`."""
_OF_TOOLS = {
    "scip-go": UTF8, "scip-clang": UTF8, "rust-analyzer": UTF8, "scip-ruby": UTF8,
    "codelens": UTF8,
}  # fmt: skip
"""Units of tools whose documents do not state them; the others are written in languages whose
strings are UTF-16: TypeScript (scip-python, too), Java, C#."""
_FITTING = 0.8
"""Share of definitions whose name must be where the index says. The other names are made up by the
tool: constructors, accessors, default exports."""
_WHOLE = 0.95
"""Share of ranges that must be whole words. In the 961 documents that scip-python 0.6.6 and
scip-typescript 0.4.0 write of requests, httpx, zod, redux and hono, it is .984 or more."""
_FEW_NAMES = 3
_RENAMED = re.compile(r"[\w.]+\s+as\s")
_QUOTES = "\"'`"


class Occurrence(NamedTuple):
    """A name in a text, and the symbol that it means."""

    line: int
    column: int
    name: str
    """The text there, without quotes; empty for a definition that is the file as a whole."""
    symbol: int
    """Position in `PlacedDocument.symbols`."""
    roles: int


class Relation(NamedTuple):
    """Relates two symbols, by their positions in `PlacedDocument.symbols`."""

    symbol: int
    other: int
    kinds: int


class PlacedDocument(NamedTuple):
    """A compiler's facts about one text."""

    symbols: tuple[str, ...]
    occurrences: tuple[Occurrence, ...]
    relations: tuple[Relation, ...]
    whole: float
    """Share of the ranges that are whole words: 1 or nearly so in the text that was indexed."""


def unit_of(document: scip_pb2.Document, tool: str) -> int:
    """The unit of a document's columns; for a document that does not state it, that of its tool."""
    stated = document.position_encoding
    return stated if stated in {UTF8, UTF16, UTF32} else _OF_TOOLS.get(tool, UTF16)


def placed_in(document: scip_pb2.Document, text: bytes, unit: int) -> PlacedDocument | None:
    """Place a document in a text; None if the index was made from another text.

    Args:
        document: what the indexer wrote.
        text: UTF-8; invalid bytes count as one character each.
        unit: the unit of its columns.
    """
    rows = _Rows(text, unit)
    numbers: dict[str, int] = {}
    occurrences: list[Occurrence] = []
    named = whole = fitting = misplaced = 0
    for occurrence in document.occurrences:
        symbol, roles = occurrence.symbol, occurrence.symbol_roles
        if not symbol:
            continue
        place = rows.place(occurrence.range)
        if place is None:
            named += 1
            continue
        line, column, name, is_whole = place
        named += bool(name)
        whole += bool(name) and is_whole
        is_file = False
        if roles & DEFINITION:
            is_file, fits = _judged(symbol, name, first=line == 1 and column == 0)
            if is_file:
                line, column, name = 1, 0, ""
            elif fits is not None:
                fitting += fits
                misplaced += not fits
        # A definition without a name is nowhere, so codelens answers for its uses.
        if name or is_file:
            number = numbers.setdefault(symbol, len(numbers))
            occurrences.append(Occurrence(line, column, name, number, roles))
    judged = fitting + misplaced
    if whole < _WHOLE * named or (misplaced > _FEW_NAMES and fitting < _FITTING * judged):
        return None
    if misplaced == judged > 0:
        return None
    relations = _relations(document, numbers)
    ordered = sorted(set(occurrences))
    return PlacedDocument(tuple(numbers), tuple(ordered), relations, whole / max(1, named))


class _Rows:
    """The lines of a text, with columns in a unit."""

    def __init__(self, text: bytes, unit: int) -> None:
        self._rows = text.split(b"\n")
        self._unit = unit
        self._columns: dict[int, Sequence[int]] = {}

    def place(self, range_: Sequence[int]) -> tuple[int, int, str, bool] | None:
        """Line from 1, column in bytes, text, and whether this is whole words; None if outside.

        A range over several lines has its start and no text.
        """
        if len(range_) not in {3, 4}:
            return None
        line, start = range_[0], range_[1]
        end = range_[-1] if len(range_) == 3 or range_[2] == line else start
        if not 0 <= line < len(self._rows):
            return None
        first, last = self._byte_column(line, start), self._byte_column(line, end)
        if first is None or last is None or last < first:
            return None
        row = self._rows[line]
        text = row[first:last].decode("utf-8", "replace")
        # scip-python's range of an import is all of `name as alias`.
        name = text.partition(" ")[0] if _RENAMED.match(text) else text
        return line + 1, first, name.strip(_QUOTES), _is_whole(row, first, last)

    def _byte_column(self, line: int, column: int) -> int | None:
        columns = self._columns.get(line)
        if columns is None:
            columns = self._columns[line] = byte_columns(self._rows[line], self._unit)
        return columns[column] if 0 <= column < len(columns) and columns[column] >= 0 else None


def byte_columns(row: bytes, unit: int) -> Sequence[int]:
    """The byte of each column of a line, -1 for a column within a character."""
    if unit == UTF8 or row.isascii():
        return range(len(row) + 1)
    columns, at = array("i"), 0
    for character in row.decode("utf-8", "surrogateescape"):
        columns.append(at)
        if unit == UTF16 and ord(character) > 0xFFFF:
            columns.append(-1)
        at += len(character.encode("utf-8", "surrogateescape"))
    columns.append(at)
    return columns


def _is_whole(row: bytes, first: int, last: int) -> bool:
    """Whether a range neither begins nor ends within a word, or with a space."""
    word, before, after = (
        row[first:last],
        row[first - 1 : first] if first else b"",
        row[last : last + 1],
    )
    cut = (_is_of_word(before) and _is_of_word(word[:1])) or (
        _is_of_word(after) and _is_of_word(word[-1:])
    )
    return not cut and word == word.strip()


def _is_of_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"


def _judged(symbol: str, name: str, *, first: bool) -> tuple[bool, bool | None]:
    """Whether a definition is the whole file's, and whether its name fits; None if unknown."""
    if symbol.startswith(LOCAL):
        return False, None
    descriptor = last_descriptor(symbol)
    if descriptor is None:
        return False, None
    if first and descriptor.suffix in {NAMESPACE, META}:
        return True, None
    # scip-typescript numbers the properties of literals, with this suffix.
    if descriptor.suffix == META or not name or not descriptor.name.isidentifier():
        return False, None
    return False, name == descriptor.name


def _relations(document: scip_pb2.Document, numbers: dict[str, int]) -> tuple[Relation, ...]:
    rows: set[Relation] = set()
    for information in document.symbols:
        for relation in information.relationships:
            kinds = (
                IMPLEMENTS * relation.is_implementation
                | REFERS * relation.is_reference
                | TYPED * relation.is_type_definition
                | DEFINES * relation.is_definition
            )
            if kinds and relation.symbol and information.symbol in numbers:
                other = numbers.setdefault(relation.symbol, len(numbers))
                rows.add(Relation(numbers[information.symbol], other, kinds))
    return tuple(sorted(rows))


def inside(relative: str, prefix: str) -> str | None:
    """The path of a document in the repository; None if it leads out or is not canonical.

    Args:
        relative: as the document states it.
        prefix: folder of the index's root in the repository, with a slash at its end, or empty.
    """
    parts = relative.split("/")
    if not relative or "\0" in relative or "\\" in relative:
        return None
    if any(part in {"", ".", ".."} for part in parts) or ":" in parts[0]:
        return None
    return prefix + relative
