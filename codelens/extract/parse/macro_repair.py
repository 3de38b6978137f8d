"""Parsing around macros that stand where no syntax does: attributes, qualifiers, whole headers.

A compiler sees what a macro stands for; a parser sees `char* absl_nonnull name(int x)` and takes
`absl_nonnull` for the name. The name of a macro tells nothing by itself, but its place does, so a
language's `suspected` regex names places. A suspect is blanked out only where the parse went wrong
around it, and stays so only where that made the parse better. The same is tried for conditional
sections that hold one half of a pair of braces: a compiler reads one branch of them.
All positions stay those of the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import blanked, parse
from codelens.extract.parse.conditional_branches import unbalanced_branches
from codelens.extract.parse.grammars import Grammar
from codelens.extract.parse.parse_ranges import Span, overlap, ranges
from codelens.extract.parse.work_limit import ParseTimeout

_BOUNDARY = re.compile(rb"[;{}]")
_BOUNDARIES_FROM = 4_000
"""Bytes that are looked through for the end of a statement."""
_AHEAD = 1_000
"""Bytes behind a statement that tell whether a name in it is a suspect."""
_MOST_LOOKS = 100
"""Each look for a node passes all that stand before it."""
_MOST_SUSPECTS = 5_000
_MOST_FAULTS = 20_000
_ARGUMENTS = (
    r"\((?:[^()\n]|\n(?![ \t]*\n)"
    r"|\((?:[^()]|\((?:[^()]|\([^()]{0,200}\)){0,200}\)){0,300}\)){0,400}\)"
)
"""A pair of brackets with three pairs in it, of bounded length."""


class Repaired(NamedTuple):
    """A text with what is no syntax blanked out, and its tree."""

    text: bytes
    root: Node


class _Suspect(NamedTuple):
    spans: tuple[Span, ...]
    zone: Span
    """The statement it stands in."""


def repaired(text: bytes, root: Node, grammar: Grammar, spans: Sequence[Span]) -> Repaired:
    """The text and tree with fewer errors, or those given where nothing helps.

    Args:
        text: the whole text.
        root: its tree, which has errors.
        grammar: the language's.
        spans: the parts of the text that are in the language; none: all of it.
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
    """Spans of the statements that faults begin in or reach into, near ones joined, in order.

    Other statements have no suspects: in a driver of Linux these are 2 % of the text.
    """
    spans: list[Span] = []
    for start, end in faults:
        if spans and end <= spans[-1][1]:
            continue
        # With the sign before it, which begins some of the places: `} MACRO;`.
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
    """Where the comment or string that a byte is inside of begins; no sign in it ends anything."""
    node = root.descendant_for_byte_range(byte, byte)
    is_leaf = node is not None and not node.child_count and node.end_byte > byte
    return node.start_byte if node is not None and is_leaf else byte


def _suspects(
    text: bytes, grammar: Grammar, span: Span, places: Sequence[Span]
) -> Iterator[_Suspect]:
    """The suspects that begin in places of a span of the text."""
    pattern = _pattern(grammar.info)
    groups = range(1, pattern.groups + 1)
    done = 0
    for start, end in places:
        # What stands behind a place is seen, but belongs to the next.
        for match in pattern.finditer(text, max(start, done), min(end + _AHEAD, span[1])):
            if match.start() >= end:
                break
            done = match.end()
            marked = tuple(match.span(at) for at in groups if match.start(at) < match.end(at))
            if marked:
                yield _Suspect(marked, _zone(text, marked[0][0], marked[-1][1]))


def _zone(text: bytes, start: int, end: int) -> Span:
    """From the end of the statement before to the end of this one."""
    lowest = max(0, start - _BOUNDARIES_FROM)
    before = max(text.rfind(sign, lowest, start) for sign in (b";", b"{", b"}"))
    after = _BOUNDARY.search(text, end, end + _BOUNDARIES_FROM)
    return max(before + 1, lowest), after.end() if after else end


def _faults(root: Node) -> list[Span]:
    """Spans of the errors of a tree, by their starts; where something is missing it is empty."""
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
    """Errors that begin in a zone, or reach from before it into it as the innermost ones."""
    first = bisect_left(faults, (zone[0], -1))
    inside = bisect_left(faults, (zone[1] + 1, -1)) - first
    if inside:
        return inside
    return int(first > 0 and faults[first - 1][1] > zone[0])


def _near(faults: list[Span], branches: Sequence[Span]) -> bool:
    """An error begins in the section or not far behind it."""
    first = bisect_left(faults, (branches[0][0], -1))
    return first < len(faults) and faults[first][0] < branches[-1][1] + _BOUNDARIES_FROM


def _weight(faults: list[Span]) -> tuple[int, int]:
    return len(faults), sum(end - start for start, end in faults)


@cache
def _pattern(info: LanguageInfo) -> re.Pattern[bytes]:
    """All the places in one regex; `<name>` and its like are written out."""
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
