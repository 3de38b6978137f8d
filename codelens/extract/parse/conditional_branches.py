"""Conditional sections of the C preprocessor whose branches each hold one half of a pair of braces.

    #ifdef SSL
      if (a) {
    #else
      if (b) {
    #endif

is one block to a compiler and two to a parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from codelens.extract.parse.parse_ranges import Span

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
    """For each unbalanced section, what is to be left out: its directives and all branches but one.

    The branch that stays is the first, or the second of `#if 0`. Inner sections come first.
    """
    spanses: list[tuple[Span, ...]] = []
    for section, outer in _sections(text):
        first = text[slice(*section.directives[0])]
        # `extern "C" {`: grammars know it.
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
    """Sections that are closed, each with the one around it."""
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
