"""Parsing what a grammar leaves as a flat list of tokens: the bodies of macro calls.

`cfg_rt! { pub mod task; impl X {} }` holds items for a compiler and tokens for a parser. What is
inside is parsed again as the same language, and taken where that gives a tree without errors:
of tokio's macro bodies that brings 1,300 definitions, and none from those with syntax of their
own.
"""

from __future__ import annotations

from bisect import bisect_right

from tree_sitter import Node, Range

from codelens.extract.parse.captures import Captures, captures_of, parse
from codelens.extract.parse.grammars import Grammar
from codelens.extract.symbols.call_definitions import with_forms

REPARSED = "reparsed"
_DEEPEST = 4
_MOST = 2_000
"""Bodies in one text; beyond them the text is generated."""


def reparsed(
    roots: list[Node], captures: Captures, text: bytes, grammar: Grammar
) -> tuple[list[Node], Captures]:
    """The trees and captures with those of the `@reparsed` nodes in place of their tokens.

    Raises:
        ParseTimeout: see `codelens.extract.parse.captures.parse`.
    """
    waiting = captures.get(REPARSED, [])
    for _ in range(_DEEPEST):
        inner_roots = [root for node in waiting[:_MOST] for root in _inside(node, text, grammar)]
        if not inner_roots:
            break
        captures = _without(captures, inner_roots)
        waiting = list[Node]()
        for root in inner_roots:
            new = with_forms(captures_of(root, grammar), grammar.info, text)
            waiting += new.get(REPARSED, ())
            for capture, nodes in new.items():
                captures.setdefault(capture, []).extend(nodes)
        roots = [*roots, *inner_roots]
    return roots, captures


def _inside(node: Node, text: bytes, grammar: Grammar) -> list[Node]:
    """The tree of what is between the brackets of a node; none if it has errors or no parts."""
    if node.child_count < 3:
        return []
    first, last = node.children[0], node.children[-1]
    between = Range(first.end_point, last.start_point, first.end_byte, last.start_byte)
    root = parse(text, grammar, [between]).root_node
    return [root] if not root.has_error and root.named_child_count else []


def _without(captures: Captures, inner_roots: list[Node]) -> Captures:
    """The captures that stand in none of the nodes."""
    spans = sorted((node.start_byte, node.end_byte) for node in inner_roots)
    starts = [start for start, _ in spans]

    def is_outside(node: Node) -> bool:
        at = bisect_right(starts, node.start_byte) - 1
        return at < 0 or node.end_byte > spans[at][1]

    return {capture: list(filter(is_outside, nodes)) for capture, nodes in captures.items()}
