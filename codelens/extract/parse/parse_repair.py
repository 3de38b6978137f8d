"""Parses around broken text, such as somebody leaves while typing.

An open bracket makes a parser swallow the definitions that follow. Some lines show by themselves
that a definition begins there (`restarts` in a language's settings). If the tree has no definition
at such a line, the lines from the previous definition up to it are removed and the rest is parsed
without them; then the removed lines are parsed alone. All positions stay those of the whole text,
so later steps see no difference.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple

from tree_sitter import Node, Range

from codelens.extract.parse.captures import Captures, Span, captures_of, overlap, parse, ranges
from codelens.extract.parse.grammars import Grammar
from codelens.extract.parse.macro_repair import REPARSED, repaired, reparsed
from codelens.extract.symbols.capture_events import with_forms

_BEGINNINGS = ("definition.", "extent", "decorator", "scope", "doc", "import")
"""Captures that a restart may be the start of."""
_MOST_PARSES = 8
_MOST_FAILURES = 4
_MOST_LOOKS = 500
_MOST_SUSPECTS = 3
"""If more pieces are unbalanced, brackets prove nothing: strings and comments contain them."""
_ROUND = ((b"(", b")"), (b"[", b"]"))
_INERT = re.compile("string|comment|template|text|token_tree|heredoc|pod|data_section")
"""Types of nodes whose text is not code."""


class Parsed(NamedTuple):
    """One or more trees over one text."""

    roots: list[Node]
    captures: Captures


def parsed(text: bytes, grammar: Grammar, spans: Sequence[Span] = ()) -> Parsed:
    """Parses a text and runs the language's query, around broken text if that helps.

    Args:
        text: the whole text.
        grammar: the language's.
        spans: the parts of the text that are in the language, in order; empty for all of it.

    Raises:
        ParseTimeout: see `codelens.extract.parse.captures.parse`.
    """
    root = parse(text, grammar, ranges(text, spans)).root_node
    if root.has_error and grammar.info.suspected:
        text, root = repaired(text, root, grammar, spans)
    captures = _captures(root, grammar, text)
    result = Parsed([root], captures)
    if root.has_error and grammar.info.restarts:
        result = _Repair(text, grammar, spans or [(0, len(text))]).run(result)
    if result.captures.get(REPARSED):
        result = Parsed(*reparsed(result.roots, result.captures, text, grammar))
    return result


def _captures(root: Node, grammar: Grammar, text: bytes) -> Captures:
    return with_forms(captures_of(root, grammar), grammar.info, text)


class _Repair:
    def __init__(self, text: bytes, grammar: Grammar, spans: Sequence[Span]) -> None:
        self._text = text
        self._grammar = grammar
        self._spans = spans
        self._parses = 0
        self._failures = 0
        pattern = _restarts(grammar.info.restarts)
        self._restarts = [
            match.start(1) for span in spans for match in pattern.finditer(text, *span)
        ]

    def run(self, first: Parsed) -> Parsed:
        best, holes = first, list[Span]()
        lost = self._lost_definitions(best, holes)
        passed = 0
        while passed < len(lost) and self._may_continue():
            better = self._around(lost[passed], lost, holes)
            if better is None:
                passed += 1
            else:
                best, holes, lost = better
        roots, captures = list(best.roots), dict(best.captures)
        for hole in holes:
            root = parse(self._text, self._grammar, self._ranges([hole])).root_node
            roots.append(root)
            for capture, nodes in _captures(root, self._grammar, self._text).items():
                captures[capture] = captures.get(capture, []) + nodes
        return Parsed(roots, captures)

    def _around(
        self, first: int, lost: list[int], holes: list[Span]
    ) -> tuple[Parsed, list[Span], list[int]] | None:
        """Parses without one of the definitions near a lost line; None if none helps."""
        at = bisect_left(self._restarts, first)
        for suspect in dict.fromkeys((*self._unbalanced_pieces, at - 1, at, at - 2, at - 3)):
            if not 0 <= suspect < len(self._restarts) - 1 or not self._may_continue():
                continue
            hole = self._line(self._restarts[suspect]), self._line(self._restarts[suspect + 1])
            if hole in holes or hole[0] >= hole[1]:
                continue
            tried = sorted([*holes, hole])
            self._parses += 1
            root = parse(self._text, self._grammar, self._outside(tried)).root_node
            parsed = Parsed([root], _captures(root, self._grammar, self._text))
            left = self._lost_definitions(parsed, tried)
            if len(left) < len([start for start in lost if not hole[0] <= start < hole[1]]):
                self._failures = 0
                return parsed, tried, left
            self._failures += 1
        return None

    @cached_property
    def _unbalanced_pieces(self) -> list[int]:
        """Returns the pieces between restarts with unbalanced brackets, if there are only a few."""
        curly: list[int] = []
        odd: list[int] = []
        for at, (start, end) in enumerate(pairwise(self._restarts)):
            piece = self._text[start:end]
            deeper = self._indentation(end) - self._indentation(start)
            open_braces = piece.count(b"{") - piece.count(b"}")
            if any(piece.count(opening) != piece.count(other) for opening, other in _ROUND):
                odd.append(at)
            elif (open_braces > 0) - (open_braces < 0) != (deeper > 0) - (deeper < 0):
                curly.append(at)
        # In languages with keywords for blocks, braces are no evidence.
        return next(
            (count for count in (odd + curly, odd) if len(count) <= _MOST_SUSPECTS), list[int]()
        )

    def _indentation(self, byte: int) -> int:
        return byte - self._line(byte)

    def _may_continue(self) -> bool:
        return self._parses < _MOST_PARSES and self._failures < _MOST_FAILURES

    def _lost_definitions(self, parsed: Parsed, holes: list[Span]) -> list[int]:
        """Returns the lines that should begin a definition but do not."""
        starts = {
            node.start_byte
            for capture, nodes in parsed.captures.items()
            if capture.startswith(_BEGINNINGS)
            for node in nodes
        }
        lost: list[int] = []
        # Each search for a node visits all nodes before it.
        attempts_left = _MOST_LOOKS
        for start in self._restarts:
            if start in starts or any(begin <= start < end for begin, end in holes):
                continue
            attempts_left -= 1
            if not attempts_left:
                break
            if not self._inert(parsed.roots[0], start):
                lost.append(start)
        return lost

    def _inert(self, root: Node, start: int) -> bool:
        node = root.descendant_for_byte_range(start, start + 1)
        return node is not None and _INERT.search(node.type) is not None

    def _line(self, byte: int) -> int:
        return self._text.rfind(b"\n", 0, byte) + 1

    def _outside(self, holes: list[Span]) -> list[Range]:
        edges = [0, *(edge for hole in holes for edge in hole), len(self._text)]
        return self._ranges(list(zip(edges[::2], edges[1::2], strict=True)))

    def _ranges(self, spans: list[Span]) -> list[Range]:
        return ranges(self._text, overlap(self._spans, spans))


@cache
def _restarts(regex: str) -> re.Pattern[bytes]:
    return re.compile(rb"^[ \t]*(" + regex.encode() + rb")", re.MULTILINE)
