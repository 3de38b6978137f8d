"""Names used, not defined: calls, types, and such other names as the text defines or imports.

Thousands of them stand in a large file, so they are worked on by column, not one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import cast

from tree_sitter import Node

from codelens.extract.captures import Captures
from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source
from codelens.extract.symbols import Symbols
from codelens.types import Import, Reference

_MODULE_PARTS = re.compile(r"[./\\:]+")
_LAST_NAME = re.compile(r"(?:^|[.:>\\\s])([^\s.:>\\()\[\]{}\"'`,;]+)\Z")
_LONGEST_NAME = 200

_new_reference = cast(
    "Callable[[tuple[str, str, int, int, int]], Reference]", partial(tuple.__new__, Reference)
)
"""`Reference._make` without its check of the length, which would cost twice the rest."""


def references_of(
    captures: Captures,
    found: Symbols,
    imports: Iterable[Import],
    info: LanguageInfo,
    source: Source,
) -> list[Reference]:
    """References of a text, in its order; of two kinds for one name a call beats a type.

    A `@reference.bound` counts only if the text defines or imports a thing of that name: so
    local variables, which only a scope analysis could tell from others, mostly stay away.
    """
    by_start: dict[int, tuple[str, str]] = {}
    bound = captures.get("reference.bound")
    if bound:
        known = _known_names(found, imports)
        for node, name in zip(bound, source.texts(bound), strict=True):
            if name in known:
                by_start[node.start_byte] = (name, "name")
    for kind in ("name", "type", "call"):
        nodes = captures.get(f"reference.{kind}")
        if nodes:
            ignored = info.ignored_types if kind == "type" else ()
            _add(by_start, kind, nodes, ignored, source)
    for start in found.name_starts:
        by_start.pop(start, None)
    starts = sorted(by_start)
    if not starts:
        return []
    line_starts = source.line_starts
    lines = list(map(bisect_right, repeat(line_starts), starts))
    columns = [start - line_starts[line - 1] for start, line in zip(starts, lines, strict=True)]
    named = [by_start[start] for start in starts]
    names = [name for name, _ in named]
    kinds = [kind for _, kind in named]
    rows = zip(names, kinds, lines, columns, _owners(starts, found), strict=True)
    return list(map(_new_reference, rows))


def _add(
    by_start: dict[int, tuple[str, str]],
    kind: str,
    nodes: list[Node],
    ignored: Iterable[str],
    source: Source,
) -> None:
    for node, name in zip(nodes, source.texts(nodes), strict=True):
        if name.isidentifier():
            if name not in ignored:
                by_start[node.start_byte] = (name, kind)
        else:
            # A qualified name stands for its last part.
            match = _LAST_NAME.search(name[-_LONGEST_NAME:])
            if match:
                by_start[node.end_byte - len(match[1].encode())] = (match[1], kind)


def _known_names(found: Symbols, imports: Iterable[Import]) -> set[str]:
    known = {symbol.name for symbol in found.symbols}
    for one in imports:
        known.add(one.alias or one.name or one.module)
        if not one.alias and not one.name:
            parts = _MODULE_PARTS.split(one.module)
            known.update((parts[0], parts[-1]))
    return known


def _owners(starts: list[int], found: Symbols) -> list[int]:
    """Innermost symbol at each position, by the spans of the symbols' own nodes."""
    bounds, symbols = [0], [-1]
    ends = [-1]
    inside = [-1]
    for at, frame in enumerate(found.frames):
        if frame.index != at:
            continue
        start = frame.tree_start
        while len(ends) > 1 and ends[-1] <= start:
            bounds.append(ends.pop())
            inside.pop()
            symbols.append(inside[-1])
        bounds.append(start)
        symbols.append(at)
        ends.append(frame.tree_end)
        inside.append(at)
    while len(ends) > 1:
        bounds.append(ends.pop())
        inside.pop()
        symbols.append(inside[-1])
    return [symbols[at - 1] for at in map(bisect_right, repeat(bounds), starts)]
