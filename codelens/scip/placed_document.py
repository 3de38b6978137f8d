"""Places a document's occurrences in the text that was indexed: lines, UTF-8 columns, names.

Whether a text is the one that was indexed can be checked: at each definition's range, it must have
the last name of the symbol.
"""

from __future__ import annotations

import re
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
    lines = text.split(b"\n")
    numbers: dict[str, int] = {}
    occurrences: list[Occurrence] = []
    fitting = misplaced = 0
    for occurrence in document.occurrences:
        symbol, roles = occurrence.symbol, occurrence.symbol_roles
        if not symbol:
            continue
        place = _place(occurrence.range, lines, unit)
        if place is None:
            misplaced += 1
            continue
        line, column, name = place
        if roles & DEFINITION:
            whole, fits = _judged(symbol, name, first=line == 1 and column == 0)
            if whole:
                line, column, name = 1, 0, ""
            elif fits is not None:
                fitting += fits
                misplaced += not fits
        if name or roles & DEFINITION:
            number = numbers.setdefault(symbol, len(numbers))
            occurrences.append(Occurrence(line, column, name, number, roles))
    judged = fitting + misplaced
    if (misplaced > _FEW_NAMES and fitting < _FITTING * judged) or misplaced == judged > 0:
        return None
    relations = _relations(document, numbers)
    ordered = sorted(set(occurrences))
    return PlacedDocument(tuple(numbers), tuple(ordered), relations)


def _place(range_: Sequence[int], lines: Sequence[bytes], unit: int) -> tuple[int, int, str] | None:
    """Line from 1, column in bytes and text of a range; None if it is not in the text.

    A range over several lines has its start and no text.
    """
    if len(range_) not in {3, 4}:
        return None
    line, start = range_[0], range_[1]
    end = range_[-1] if len(range_) == 3 or range_[2] == line else start
    if not 0 <= line < len(lines):
        return None
    row = lines[line]
    first, last = byte_column(row, start, unit), byte_column(row, end, unit)
    if first is None or last is None or last < first:
        return None
    text = row[first:last].decode("utf-8", "replace")
    # scip-python's range of an import is all of `name as alias`.
    name = text.partition(" ")[0] if _RENAMED.match(text) else text
    return line + 1, first, name.strip(_QUOTES)


def byte_column(row: bytes, column: int, unit: int) -> int | None:
    """Convert a column of a line to bytes; None beyond its end or within a character."""
    if column < 0:
        return None
    if unit == UTF8 or row.isascii():
        return column if column <= len(row) else None
    text = row.decode("utf-8", "surrogateescape")
    if unit == UTF32:
        return (
            len(text[:column].encode("utf-8", "surrogateescape")) if column <= len(text) else None
        )
    units = 0
    for at, character in enumerate(text):
        if units >= column:
            return len(text[:at].encode("utf-8", "surrogateescape")) if units == column else None
        units += 2 if ord(character) > 0xFFFF else 1
    return len(row) if units == column else None


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
