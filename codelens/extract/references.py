"""Names used, not defined: calls, types, and such other names as the text defines or imports.

Thousands of them stand in a large file, so they are worked on by column, not one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import NamedTuple, cast

from codelens.extract.captures import Captures
from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source
from codelens.extract.symbols import Symbols
from codelens.types import Import, Reference

_KINDS = ("call", "type", "name")
_CAPTURES = tuple(f"reference.{kind}" for kind in _KINDS)
_NAME = 2
_MODULE_PARTS = re.compile(r"[./\\:]+")
_LAST_NAME = re.compile(r"(?:^|[.:>\\\s])([^\s.:>\\()\[\]{}\"'`,;]+)\Z")
_LONGEST_NAME = 200

# A span and its kind in one integer sort faster than a tuple: start, then end, then two bits.
_START = 34
_END = 2
_END_MASK = (1 << (_START - _END)) - 1
_KIND_MASK = 3

_new_reference = cast(
    "Callable[[tuple[str, str, int, int, int]], Reference]", partial(tuple.__new__, Reference)
)
"""`Reference._make` without its check of the length: a third of its price."""


class Owners(NamedTuple):
    """Which symbol encloses a position: from `bounds[i]` on it is `symbols[i]`."""

    bounds: list[int]
    symbols: list[int]


def owners_of(found: Symbols) -> Owners:
    """Innermost symbol at each position, by the spans of the definitions' own nodes."""
    bounds, symbols = [0], [-1]
    open_symbols: list[tuple[int, int]] = []
    for at, frame in enumerate(found.frames):
        if frame.index != at:
            continue
        while open_symbols and open_symbols[-1][0] <= frame.tree_start:
            bounds.append(open_symbols.pop()[0])
            symbols.append(open_symbols[-1][1] if open_symbols else -1)
        bounds.append(frame.tree_start)
        symbols.append(at)
        open_symbols.append((frame.tree_end, at))
    while open_symbols:
        bounds.append(open_symbols.pop()[0])
        symbols.append(open_symbols[-1][1] if open_symbols else -1)
    return Owners(bounds, symbols)


def references_of(
    captures: Captures,
    found: Symbols,
    imports: Iterable[Import],
    info: LanguageInfo,
    source: Source,
) -> list[Reference]:
    """References of a text, in its order.

    A `@reference.bound` counts only if the text defines or imports a thing of that name: so
    local variables, which only a scope analysis could tell from others, mostly stay away.
    """
    packed: set[int] = set()
    for kind, capture in enumerate(_CAPTURES):
        packed.update(
            [
                node.start_byte << _START | node.end_byte << _END | kind
                for node in captures.get(capture, ())
            ]
        )
    packed |= _bound(captures, found, imports, source, {one >> _START for one in packed})
    spans = sorted(packed)
    starts = [one >> _START for one in spans]
    ends = [one >> _END & _END_MASK for one in spans]
    names = source.slices(starts, ends)
    for at, name in enumerate(names):
        if not name.isidentifier():
            names[at] = last = _last_name(name)
            starts[at] = ends[at] - len(last.encode())
    bounds, symbols = owners_of(found)
    lines = list(map(bisect_right, repeat(source.line_starts), starts))
    owners = [symbols[at - 1] for at in map(bisect_right, repeat(bounds), starts)]
    columns = [
        start - source.line_starts[line - 1] for start, line in zip(starts, lines, strict=True)
    ]
    kinds = [_KINDS[one & _KIND_MASK] for one in spans]
    rows = zip(names, kinds, lines, columns, owners, strict=True)
    unwanted = found.name_starts
    ignored = info.ignored_types
    return [
        _new_reference(row)
        for start, row in zip(starts, rows, strict=True)
        if start not in unwanted and row[0] not in ignored and row[0]
    ]


def _bound(
    captures: Captures,
    found: Symbols,
    imports: Iterable[Import],
    source: Source,
    seen: set[int],
) -> set[int]:
    nodes = captures.get("reference.bound")
    if not nodes:
        return set()
    known = {symbol.name for symbol in found.symbols}
    for one in imports:
        known.add(one.alias or one.name or one.module)
        if not one.alias and not one.name:
            parts = _MODULE_PARTS.split(one.module)
            known.update((parts[0], parts[-1]))
    starts = [node.start_byte for node in nodes]
    ends = [node.end_byte for node in nodes]
    names = source.slices(starts, ends)
    return {
        start << _START | end << _END | _NAME
        for start, end, name in zip(starts, ends, names, strict=True)
        if name in known and start not in seen
    }


def _last_name(text: str) -> str:
    """Last name of a qualified one: `a.b::c` -> `c`; empty if it ends in something else."""
    match = _LAST_NAME.search(text[-_LONGEST_NAME:])
    return match[1] if match else ""
