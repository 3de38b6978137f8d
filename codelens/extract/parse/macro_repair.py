"""Repairs the parse of texts with macros and conditional sections of the C preprocessor.

Such a section may hold one half of a pair of braces in each branch. The following is one block to a
compiler and two to a parser:

    #ifdef SSL
      if (a) {
    #else
      if (b) {
    #endif
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node, Range

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import (
    Captures,
    ParseTimeout,
    Span,
    blanked,
    captures_of,
    overlap,
    parse,
    ranges,
)
from codelens.extract.parse.grammars import Grammar
from codelens.extract.symbols.capture_events import with_forms

_TOKEN = re.compile(
    rb"""//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.){1,6}'"""
    rb"""|^[ \t]*\#[ \t]*(if|el|endif)(?:[^\\\n]|\\[^\n]|\\\n)*"""
    rb"""|^[ \t]*\#(?:[^\\\n]|\\[^\n]|\\\n)*|[{}()]""",
    re.MULTILINE,
)
_NEVER = re.compile(rb"[ \t]*#[ \t]*if[ \t]+0[ \t]*(?://|/\*|$)")
_STEPS = {b"{": (1, 0), b"}": (-1, 0), b"(": (0, 1), b")": (0, -1)}
_MOST = 50
_DEEPEST = 200


@dataclass(slots=True)
class _Section:
    """A conditional section that is open."""

    directives: list[Span]
    branches: list[Span] = field(default_factory=list[Span])
    depths: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    braces: int = 0
    rounds: int = 0

    def close_branch(self, end: int) -> None:
        self.branches.append((self.directives[-1][1], end))
        self.depths.append((self.braces, self.rounds))
        self.braces = self.rounds = 0

    def count(self, sign: bytes) -> None:
        braces, rounds = _STEPS.get(sign, (0, 0))
        self.braces += braces
        self.rounds += rounds


def unbalanced_branches(text: bytes) -> list[tuple[Span, ...]]:
    """Returns what to leave out per unbalanced section: its directives and all branches but one.

    The remaining branch is the first, or the second of `#if 0`. Inner sections come first.
    """
    spanses: list[tuple[Span, ...]] = []
    for section, outer in _sections(text):
        first = text[slice(*section.directives[0])]
        # Grammars parse `extern "C" {` themselves.
        if b"__cplusplus" in first or all(depth == (0, 0) for depth in section.depths):
            continue
        kept_branch = int(len(section.branches) > 1 and _NEVER.match(first) is not None)
        if outer is not None:
            outer.braces += section.depths[kept_branch][0]
            outer.rounds += section.depths[kept_branch][1]
        others = [span for at, span in enumerate(section.branches) if at != kept_branch]
        spanses.append(tuple(sorted([*section.directives, *others])))
        if len(spanses) >= _MOST:
            break
    return spanses


def _sections(text: bytes) -> Iterator[tuple[_Section, _Section | None]]:
    """Yields closed sections, each with its enclosing one."""
    opened: list[_Section] = []
    for match in _TOKEN.finditer(text):
        word = match[1]
        if word == b"if":
            if len(opened) >= _DEEPEST:
                return
            opened.append(_Section([match.span()]))
        elif word is None and opened:
            opened[-1].count(match[0])
        elif opened:
            opened[-1].close_branch(match.start())
            opened[-1].directives.append(match.span())
            if word == b"endif":
                section = opened.pop()
                yield section, opened[-1] if opened else None


# Macros outside of the grammar: attributes, qualifiers, whole headers.
#
# A compiler expands a macro; a parser sees `char* absl_nonnull name(int x)` and takes
# `absl_nonnull` for the name. A macro's name identifies nothing, but its place does, so a
# language's `suspected` regex describes places. A suspect is blanked out only if the parse failed
# around it, and remains so only if that improved the parse. The same is tried for conditional
# sections that split a pair of braces, of which a compiler reads one branch. All positions stay
# those of the whole text.

_BOUNDARY = re.compile(rb"[;{}]")
_BOUNDARIES_FROM = 4_000
"""Bytes to search for the end of a statement."""
_AHEAD = 1_000
"""Bytes after a statement that help to identify a name in it as a suspect."""
_MOST_LOOKS = 100
"""Each search for a node visits all nodes before it."""
_MOST_SUSPECTS = 5_000
_MOST_FAULTS = 20_000
_ARGUMENTS = (
    r"\((?:[^()\n]|\n(?![ \t]*\n)"
    r"|\((?:[^()]|\((?:[^()]|\([^()]{0,200}\)){0,200}\)){0,300}\)){0,400}\)"
)
"""Parentheses with up to three nested pairs, of bounded length."""


class Repaired(NamedTuple):
    """A text with non-syntax blanked out, and its tree."""

    text: bytes
    root: Node


class _Suspect(NamedTuple):
    spans: tuple[Span, ...]
    zone: Span
    """The statement that contains it."""


def repaired(text: bytes, root: Node, grammar: Grammar, spans: Sequence[Span]) -> Repaired:
    """Returns a text and tree with fewer errors, or the given ones if nothing helps.

    Args:
        text: the whole text.
        root: its tree, which has errors.
        grammar: the language's.
        spans: the parts of the text that are in the language; empty for all of it.
    """
    best = Repaired(text, root)
    faults = _faults(root)
    statements = _statements(text, root, faults)
    every = (
        suspect
        for span in spans or [(0, len(text))]
        for suspect in _suspects(text, grammar, span, overlap([span], statements))
        if _count(faults, suspect.zone)
    )
    suspects = list(islice(every, _MOST_SUSPECTS))
    if suspects:
        trial = _tried(text, suspects, grammar, spans)
        if trial is not None:
            then = _faults(trial.root)
            helpful = [
                suspect
                for suspect in suspects
                if _count(then, suspect.zone) < _count(faults, suspect.zone)
            ]
            if helpful and len(helpful) < len(suspects):
                trial = _tried(text, helpful, grammar, spans)
            best, faults = _better(best, faults, trial if helpful else None)
    if faults and grammar.info.conditionals:
        sections = list(unbalanced_branches(best.text))
        branching = [_Suspect(branches, (0, 0)) for branches in sections if _near(faults, branches)]
        all_at_once = _tried(best.text, branching, grammar, spans) if branching else None
        best, faults = _better(best, faults, all_at_once)
    return best


def _better(
    best: Repaired, faults: list[Span], trial: Repaired | None
) -> tuple[Repaired, list[Span]]:
    if trial is None:
        return best, faults
    then = _faults(trial.root)
    return (trial, then) if _weight(then) < _weight(faults) else (best, faults)


def _tried(
    text: bytes, suspects: Sequence[_Suspect], grammar: Grammar, spans: Sequence[Span]
) -> Repaired | None:
    trial = blanked(text, [span for suspect in suspects for span in suspect.spans])
    try:
        return Repaired(trial, parse(trial, grammar, ranges(trial, spans)).root_node)
    except ParseTimeout:
        return None


def _statements(text: bytes, root: Node, faults: Sequence[Span]) -> list[Span]:
    """Returns the spans of statements with faults in order, nearby ones joined.

    Other statements have no suspects. In a Linux driver these are 2 % of the text.
    """
    spans: list[Span] = []
    for start, end in faults:
        if spans and end <= spans[-1][1]:
            continue
        # Includes the character before it, which begins some of the places: `} MACRO;`.
        first = max(0, _zone(text, start, start)[0] - 1)
        after = _BOUNDARY.search(text, end, end + _BOUNDARIES_FROM)
        last = after.end() if after else end + _BOUNDARIES_FROM
        if spans and first <= spans[-1][1] + _AHEAD:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    looked_at = [(_outside_leaf(root, first), last) for first, last in spans[:_MOST_LOOKS]]
    return [*looked_at, *spans[_MOST_LOOKS:]]


def _outside_leaf(root: Node, byte: int) -> int:
    """Returns the start of the comment or string around a byte, where no statement can end."""
    node = root.descendant_for_byte_range(byte, byte)
    is_leaf = node is not None and not node.child_count and node.end_byte > byte
    return node.start_byte if node is not None and is_leaf else byte


def _suspects(
    text: bytes, grammar: Grammar, span: Span, places: Sequence[Span]
) -> Iterator[_Suspect]:
    """Yields the suspects that begin in some places of a span of the text."""
    pattern = _pattern(grammar.info)
    groups = range(1, pattern.groups + 1)
    done = 0
    for start, end in places:
        # The pattern may look beyond a place, but a match there belongs to the next place.
        for match in pattern.finditer(text, max(start, done), min(end + _AHEAD, span[1])):
            if match.start() >= end:
                break
            done = match.end()
            marked = tuple(match.span(at) for at in groups if match.start(at) < match.end(at))
            if marked:
                yield _Suspect(marked, _zone(text, marked[0][0], marked[-1][1]))


def _zone(text: bytes, start: int, end: int) -> Span:
    """Returns the span from the end of the previous statement to the end of this one."""
    lowest = max(0, start - _BOUNDARIES_FROM)
    before = max(text.rfind(sign, lowest, start) for sign in (b";", b"{", b"}"))
    after = _BOUNDARY.search(text, end, end + _BOUNDARIES_FROM)
    return max(before + 1, lowest), after.end() if after else end


def _faults(root: Node) -> list[Span]:
    """Returns the spans of a tree's errors by their starts. The span of a missing node is empty."""
    spans: list[Span] = []
    pending = [root]
    while pending and len(spans) < _MOST_FAULTS:
        node = pending.pop()
        if node.is_missing:
            spans.append((node.start_byte, node.start_byte))
        elif node.is_error:
            spans.append(node.byte_range)
        if node.has_error:
            pending += [child for child in node.children if child.has_error or child.is_missing]
    return sorted(spans)


def _count(faults: list[Span], zone: Span) -> int:
    """Counts errors that begin in a zone; if there are none, one that reaches into it counts."""
    first = bisect_left(faults, (zone[0], -1))
    inside = bisect_left(faults, (zone[1] + 1, -1)) - first
    if inside:
        return inside
    return int(first > 0 and faults[first - 1][1] > zone[0])


def _near(faults: list[Span], branches: Sequence[Span]) -> bool:
    """Whether an error begins in the section or shortly after it."""
    first = bisect_left(faults, (branches[0][0], -1))
    return first < len(faults) and faults[first][0] < branches[-1][1] + _BOUNDARIES_FROM


def _weight(faults: list[Span]) -> tuple[int, int]:
    return len(faults), sum(end - start for start, end in faults)


@cache
def _pattern(info: LanguageInfo) -> re.Pattern[bytes]:
    """Returns one regex of all the places, with `<name>` and the like expanded."""
    words = {
        "<name>": rf"\b(?!(?:{'|'.join(sorted(info.keywords))})\b)[A-Za-z_]\w*",
        "<macro>": r"\b[A-Z_][A-Z0-9_]{2,}\b",
        "<arguments>": _ARGUMENTS,
        "<type>": info.type_beginnings,
    }
    regex = "|".join(info.suspected)
    for word, meaning in words.items():
        regex = regex.replace(word, meaning)
    return re.compile(regex.encode(), re.MULTILINE)


# Flat token lists: the bodies of macro calls.
#
# `cfg_rt! { pub mod task; impl X {} }` holds items for a compiler and tokens for a parser. The body
# is parsed again in the same language and used if that gives a tree without errors. In tokio's
# macro bodies that finds 1,300 definitions, and none in bodies with a syntax of their own.

REPARSED = "reparsed"
_DEEPEST_MACRO = 4
_MOST_MACROS = 2_000
"""Bodies in one text. A text with more is generated."""


def reparsed(
    roots: list[Node], captures: Captures, text: bytes, grammar: Grammar
) -> tuple[list[Node], Captures]:
    """Returns the trees and captures, with the `@reparsed` nodes parsed instead of their tokens.

    Raises:
        ParseTimeout: see `codelens.extract.parse.captures.parse`.
    """
    waiting = captures.get(REPARSED, [])
    for _ in range(_DEEPEST_MACRO):
        inner_roots = [
            root for node in waiting[:_MOST_MACROS] for root in _inside(node, text, grammar)
        ]
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
    """Returns the tree between a node's brackets; None if it has errors or is empty."""
    if node.child_count < 3:
        return []
    first, last = node.children[0], node.children[-1]
    between = Range(first.end_point, last.start_point, first.end_byte, last.start_byte)
    root = parse(text, grammar, [between]).root_node
    return [root] if not root.has_error and root.named_child_count else []


def _without(captures: Captures, inner_roots: list[Node]) -> Captures:
    """Returns the captures outside of the nodes."""
    spans = sorted((node.start_byte, node.end_byte) for node in inner_roots)
    starts = [start for start, _ in spans]

    def is_outside(node: Node) -> bool:
        at = bisect_right(starts, node.start_byte) - 1
        return at < 0 or node.end_byte > spans[at][1]

    return {capture: list(filter(is_outside, nodes)) for capture, nodes in captures.items()}
