"""Parsing around text that is broken, as it is while somebody types.

A bracket left open makes a parser take what follows for part of it, and lose it. But some lines
say by themselves that a definition begins there (`restarts` in a language's settings). Where the
tree has no definition on such a line, the lines from the definition before it are taken out, and
the rest is parsed again as if they were not there; then the lines taken out are parsed alone.
All positions stay those of the whole text, so what follows need not know.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from typing import NamedTuple

from tree_sitter import Node, Point, Range

from codelens.extract.captures import Captures, captures_of, parse
from codelens.extract.forms import with_forms
from codelens.extract.grammars import Grammar

_MOST_PARSES = 8
_MOST_FAILURES = 4
_INERT = re.compile("string|comment|template|text")
"""Types of nodes whose text is no code."""

Hole = tuple[int, int]


class Parsed(NamedTuple):
    """One or more trees over one text."""

    roots: list[Node]
    captures: Captures


def parsed(text: bytes, grammar: Grammar) -> Parsed:
    """Parse a text and run the language's query, around what is broken where that helps.

    Raises:
        ParseTimeout: see `codelens.extract.captures.parse`.
    """
    root = parse(text, grammar).root_node
    captures = _captures(root, grammar, text)
    if root.has_error and grammar.info.restarts:
        return _Repair(text, grammar).run(Parsed([root], captures))
    return Parsed([root], captures)


def _captures(root: Node, grammar: Grammar, text: bytes) -> Captures:
    return with_forms(captures_of(root, grammar), grammar.info, text)


class _Repair:
    def __init__(self, text: bytes, grammar: Grammar) -> None:
        self._text = text
        self._grammar = grammar
        self._parses = 0
        self._failures = 0
        starts = _restarts(grammar.info.restarts).finditer(text)
        self._restarts = [match.start(1) for match in starts]

    def run(self, first: Parsed) -> Parsed:
        best, holes = first, list[Hole]()
        lost = self._lost(best, holes)
        passed = 0
        while passed < len(lost) and self._goes_on():
            better = self._around(lost[passed], lost, holes)
            if better is None:
                passed += 1
            else:
                best, holes, lost = better
        roots, captures = list(best.roots), dict(best.captures)
        for hole in holes:
            root = parse(self._text, self._grammar, [self._range(*hole)]).root_node
            roots.append(root)
            for capture, nodes in _captures(root, self._grammar, self._text).items():
                captures[capture] = captures.get(capture, []) + nodes
        return Parsed(roots, captures)

    def _around(
        self, first: int, lost: list[int], holes: list[Hole]
    ) -> tuple[Parsed, list[Hole], list[int]] | None:
        """Parse without one of the definitions near a lost line; None if none helps."""
        at = bisect_left(self._restarts, first)
        for suspect in (at - 1, at, at - 2, at - 3):
            if not 0 <= suspect < len(self._restarts) - 1 or not self._goes_on():
                continue
            hole = self._line(self._restarts[suspect]), self._line(self._restarts[suspect + 1])
            if hole in holes or hole[0] >= hole[1]:
                continue
            tried = sorted([*holes, hole])
            self._parses += 1
            root = parse(self._text, self._grammar, self._outside(tried)).root_node
            found = Parsed([root], _captures(root, self._grammar, self._text))
            left = self._lost(found, tried)
            if len(left) < len([start for start in lost if not hole[0] <= start < hole[1]]):
                self._failures = 0
                return found, tried, left
            self._failures += 1
        return None

    def _goes_on(self) -> bool:
        return self._parses < _MOST_PARSES and self._failures < _MOST_FAILURES

    def _lost(self, found: Parsed, holes: list[Hole]) -> list[int]:
        """Lines that should begin a definition and do not."""
        starts = {
            node.start_byte
            for capture, nodes in found.captures.items()
            if capture.startswith(("definition.", "extent", "decorator"))
            for node in nodes
        }
        return [
            start
            for start in self._restarts
            if start not in starts
            and not any(begin <= start < end for begin, end in holes)
            and not self._inert(found.roots[0], start)
        ]

    def _inert(self, root: Node, start: int) -> bool:
        node = root.descendant_for_byte_range(start, start + 1)
        return node is not None and _INERT.search(node.type) is not None

    def _line(self, byte: int) -> int:
        return self._text.rfind(b"\n", 0, byte) + 1

    def _outside(self, holes: list[Hole]) -> list[Range]:
        edges = [0, *(edge for hole in holes for edge in hole), len(self._text)]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return [self._range(start, end) for start, end in pairs if start < end]

    def _range(self, start: int, end: int) -> Range:
        return Range(self._point(start), self._point(end), start, end)

    def _point(self, byte: int) -> Point:
        return Point(self._text.count(b"\n", 0, byte), byte - self._line(byte))


@cache
def _restarts(regex: str) -> re.Pattern[bytes]:
    return re.compile(rb"^[ \t]*(" + regex.encode() + rb")", re.MULTILINE)
