"""Patterns of one ignore file that are no plain texts: `Wild`, and `Scattered` for very many."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from codelens.scope.ignore.ignore_pattern import Matcher, Pattern, matcher, needs, reduced

NONE: Final = -1
"""No line."""
_GRAM: Final = 4


class Wild(NamedTuple):
    """Alternatives in one expression; group `n` is the line `lines[n]`."""

    regex: re.Pattern[bytes]
    lines: tuple[int, ...]

    def last(self, text: bytes) -> int:
        """The last line that matches; `NONE` if none does."""
        match = self.regex.match(text)
        return NONE if match is None else self.lines[match.lastindex or 0]

    def any(self, text: bytes) -> bool:
        """Whether any line matches."""
        return self.regex.match(text) is not None


class Scattered:
    """Very many patterns, in groups by a few bytes that each needs: an inverted index.

    A group is made ready when a text that has its bytes is asked about.
    """

    def __init__(self, lines: list[tuple[int, Pattern]], *, fold: bool) -> None:
        self._fold = fold
        self._groups: dict[bytes, list[tuple[int, Pattern]]] = {}
        self._ready: dict[bytes, Wild | None] = {}
        for line, pattern in lines:
            grams = _grams(needs(reduced(pattern), fold=fold))
            key = min(grams, key=lambda gram: len(self._groups.get(gram, ())))
            self._groups.setdefault(key, []).append((line, pattern))
        self._lengths = sorted({len(key) for key in self._groups})

    def last(self, text: bytes) -> int:
        """The last line that matches; `NONE` if none does."""
        best = NONE
        for key in self._keys_in(text):
            wild = self._ready[key] if key in self._ready else self._made_ready(key)
            if wild is not None:
                best = max(best, wild.last(text))
        return best

    def any(self, text: bytes) -> bool:
        """Whether any line matches."""
        return self.last(text) != NONE

    def _keys_in(self, text: bytes) -> list[bytes]:
        pieces = {text[at : at + n] for n in self._lengths for at in range(len(text) - n + 1)}
        return [key for key in pieces if key in self._groups]

    def _made_ready(self, key: bytes) -> Wild | None:
        known = [(line, matcher(pattern, fold=self._fold)) for line, pattern in self._groups[key]]
        wild = compiled(
            [
                (line, _regex_of(matcher_of_line[1]))
                for line, matcher_of_line in known
                if matcher_of_line
            ]
        )
        self._ready[key] = wild
        return wild


def _grams(runs: list[bytes]) -> list[bytes]:
    """What a pattern may be found by: bytes as long as can be, up to `_GRAM`; at least one."""
    longest = min(_GRAM, max(map(len, runs), default=0))
    return [run[at : at + longest] for run in runs for at in range(len(run) - longest + 1)] or [b""]


def _regex_of(how: Matcher) -> bytes:
    """What of a file with few patterns would be looked up has its expression too."""
    if how.regex is not None:
        return how.regex
    if how.literal is not None:
        return re.escape(how.literal)
    return b".*" + re.escape(how.suffix or b"")


def compiled(patterns: list[tuple[int, bytes | None]]) -> Wild | None:
    """The expressions of lines, in the file's order, as one; None if there is none."""
    by_line = [(line, regex) for line, regex in reversed(patterns) if regex is not None]
    if not by_line:
        return None
    body = b"|".join(b"(" + regex + b")" for _, regex in by_line)
    regex = re.compile(b"(?:" + body + b")\\Z", re.DOTALL)
    return Wild(regex, (NONE, *(line for line, _ in by_line)))
