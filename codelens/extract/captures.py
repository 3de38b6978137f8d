"""One parse and one run of a language's query, within limits.

The limits count work, not time: the same text must give the same facts on a slow machine.
"""

from __future__ import annotations

from tree_sitter import Node, Parser, Point, QueryCursor, Tree

from codelens.extract.grammars import Grammar

Captures = dict[str, list[Node]]
"""Capture -> its nodes, in the order of the text."""

_PARSE_WINDOW = 65_536
_NAME_WINDOW = 64
_STEPS_BASE = 20_000
_STEPS_PER_BYTE = 1 / 16
_MATCH_LIMIT = 65_536


class ParseTimeout(Exception):  # noqa: N818 - an outcome to be recorded, not an error to show
    """A text took more work than any text of its size should."""


def parse(text: bytes, grammar: Grammar) -> Tree:
    """Parse a text.

    Raises:
        ParseTimeout: the parser went over its limit.
    """
    parser = Parser(grammar.language)
    limit = _STEPS_BASE + int(len(text) * _STEPS_PER_BYTE)
    steps = 0

    window = _PARSE_WINDOW

    def read(offset: int, _point: Point) -> bytes:
        return text[offset : offset + window]

    def too_much(_offset: int, _has_error: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > limit

    try:
        # Only the reading form takes a progress callback; it costs no more than the plain one.
        tree = parser.parse(read, progress_callback=too_much)
    except ValueError as error:
        raise ParseTimeout(f"over {limit} steps") from error
    # The query's predicates read names through `read` again: a name needs no large slice.
    window = _NAME_WINDOW
    return tree


def captures_of(root: Node, grammar: Grammar) -> Captures:
    """Nodes of each capture of the grammar's query.

    The work is bound by the nodes, of which the parser's limit allows only so many, times the
    matches that may be open at once. The cursor's own progress callback is no way to stop it:
    in tree-sitter 0.26.1 it crashes the process.
    """
    return QueryCursor(grammar.query, match_limit=_MATCH_LIMIT).captures(root)
