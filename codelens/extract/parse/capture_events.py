"""Captures as events in order of the text: what the sweep of `definitions` goes over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.parse.captures import Captures, masked
from codelens.extract.parse.grammars import Grammar
from codelens.extract.symbols.definition_frames import DEFINITION, EXTENT, SCOPE, Span
from codelens.extract.symbols.prose_sections import sections

Event = tuple[int, int, int, int]
"""Start, minus end, rank, number of the node."""


class Plan(NamedTuple):
    """How the sweep treats the captures of one grammar."""

    ranks: tuple[tuple[str, int], ...]
    """Capture -> rank among events at one place: outer things first."""
    kinds: dict[int, str]
    """Rank of a definition -> its kind."""
    renames: dict[int, str]
    """Rank of a `@name.<kind>` -> kind."""


MARK_RANKS = {
    "decorator": 1001,
    "export": 1002,
    "private": 1003,
    "name": 1004,
    "owner": 1005,
    "body": 1006,
    "docstring": 1007,
    "hint": 1008,
    "export.name": 1009,
    "private.name": 1010,
    "access": 1011,
    "doc": 1012,
    "docstring.inside": 1013,
    "self": 1014,
    "private.names": 1015,
    "head": 1016,
    "outside": 1017,
    "lead": 1018,
}
PRECEDENCE = (
    *("variable", "constant", "field", "member", "type", "key", "function", "method", "class"),
    *("struct", "union", "interface", "trait", "enum", "module", "property", "macro", "heading"),
)
"""Of two kinds captured for one node the later counts."""
_BLANKS = re.compile(rb"\s*")
_FIRST_RENAME = 1100
FAR = 1000
"""Bytes of blanks between what belongs together, at most."""


@cache
def _plan(captures: tuple[str, ...]) -> Plan:
    ranks: list[tuple[str, int]] = []
    kinds = dict(enumerate(PRECEDENCE, DEFINITION))
    renames: dict[int, str] = {}
    for at, capture in enumerate(captures):
        head, _, rest = capture.partition(".")
        if capture in MARK_RANKS:
            ranks.append((capture, MARK_RANKS[capture]))
        elif capture in {"extent", "scope"}:
            ranks.append((capture, EXTENT if capture == "extent" else SCOPE))
        elif head == "definition":
            ranks.append((capture, DEFINITION + PRECEDENCE.index(rest)))
        elif head == "name" and rest:
            renames[_FIRST_RENAME + at] = rest
            ranks.append((capture, _FIRST_RENAME + at))
    return Plan(tuple(ranks), kinds, renames)


class Events(NamedTuple):
    """The events of one text."""

    plan: Plan
    events: list[Event]
    """Outer ones first where several begin at one place."""
    nodes: list[Node]
    bodies: dict[tuple[int, int], tuple[int, int]]
    """Spans of definitions whose bodies follow them in the tree -> the spans of those."""


def events_of(captures: Captures, grammar: Grammar, text: bytes, spans: Sequence[Span]) -> Events:
    """All events of the spans of a text, or of all of it if there are none, sorted."""
    plan = _plan(grammar.captures)
    nodes: list[Node] = []
    events: list[Event] = []
    tails = _tails(captures)
    for capture, rank in plan.ranks:
        captured = captures.get(capture)
        if captured and tails and rank in plan.kinds:
            for node in captured:
                tail = tails.get(node.byte_range, node)
                events.append((node.start_byte, -tail.end_byte, rank, len(nodes)))
                nodes.append(node)
        elif captured:
            first = len(nodes)
            nodes += captured
            events += [
                (node.start_byte, -node.end_byte, rank, at)
                for at, node in enumerate(captured, first)
            ]
    heading = DEFINITION + PRECEDENCE.index(grammar.info.sections)
    for node, end in sections(captures, text):
        events.append((node.start_byte, -end, heading, len(nodes)))
        nodes.append(node)
    if grammar.info.masked:
        events += _masks(grammar.info.masked, text, spans)
    events.sort()
    bodies = {(span[0], tail.end_byte): tail.byte_range for span, tail in tails.items()}
    return Events(plan, events, nodes, bodies)


def _tails(captures: Captures) -> dict[tuple[int, int], Node]:
    """Bodies that stand behind their definitions, by the spans of these."""
    tails: dict[tuple[int, int], Node] = {}
    for node in captures.get("body.after", ()):
        before = node.prev_named_sibling
        while before is not None and "comment" in before.type:
            before = before.prev_named_sibling
        if before is not None:
            tails[before.byte_range] = node
    return tails


def _masks(regex: str, text: bytes, spans: Sequence[Span]) -> Iterator[Event]:
    """What was blanked out right before something belongs to it as decorators do."""
    rank = MARK_RANKS["decorator"]
    for start, end, word in masked(regex, text, tuple(spans)):
        rest = text[end : end + FAR]
        near = _BLANKS.match(rest)
        marks = word is None and text[start : start + 1] != b"#"
        if marks and near is not None and near[0].count(b"\n") < 2:
            yield start, -end, rank, -1
