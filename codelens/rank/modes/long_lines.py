"""Searches lines of thousands of characters (minified code, data) in overlapping pieces.

`re` can try a match from every place of a line to its end: with a million characters that can take
hours. In pieces the time is linear in the length of the line.

Imports nothing from codelens, since the child process that runs patterns imports only this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from time import monotonic

MAX_LINE = 2000
"""A longer line is searched in pieces of this many characters."""
STEP = 1000
"""A match of up to this many characters is inside one of the pieces."""
ODD_LETTERS = ("\u0130", "\u0131", "\u017f", "\u212a")
"""Letters that match an ASCII letter (i, s, k) if case is ignored."""
_TRIES = 4
"""Maximum number of retries per line that confirm an uncertain match against the whole line."""


class LineSearch:
    """Searches lines for a pattern.

    Args:
        pattern: the pattern.
        reach: maximum characters of a match, including those that it looks at around itself.
        is_free: a match does not depend on the text around it.
        looks_far: a match looks at more than `STEP` characters around itself.
        is_anchored: the pattern only matches at the start of a line.
        is_tame: one try at a place takes time linear in the line.
        needed: every match contains one alternative of each.
        fold: the alternatives are in lower case, and case is ignored.
        seconds: time limit for pieces after the first.
    """

    def __init__(
        self, pattern: re.Pattern[str], *, reach: int, is_free: bool, looks_far: bool,
        is_anchored: bool, is_tame: bool, needed: Sequence[Sequence[str]], fold: bool,
        seconds: float,
    ) -> None:  # fmt: skip
        self._pattern = pattern
        self._is_near = reach <= STEP
        self._is_free = is_free
        self._looks_far = looks_far
        self._is_anchored = is_anchored
        self._is_tame = is_tame
        self._needed = needed
        self._fold = fold
        self._seconds = seconds
        self.cut = False
        """A match may have been missed in a line; the caller resets it."""

    def among(self, numbered: Iterable[tuple[int, str]]) -> list[tuple[int, int]]:
        """Return the numbers of matching lines; for long lines also the 1-based column, else 0."""
        search, find = self._pattern.search, self._find
        matched = [
            (number, match)
            for number, line in numbered
            if (match := search(line.rstrip("\r")) if len(line) <= MAX_LINE else find(line))
        ]
        return [(number, match if isinstance(match, int) else 0) for number, match in matched]

    def _find(self, line: str) -> int:
        """Return the 1-based column of a match in a long line, or 0."""
        line = line.rstrip("\r")
        if self._lacks(line):
            return 0
        if self._is_anchored and self._is_tame:
            return 1 if self._pattern.match(line) else 0
        until = monotonic() + self._seconds
        at = self._in_pieces(line, until)
        self._seconds = until - monotonic()
        self.cut = self.cut or (not at and not self._is_near)
        return at

    def _in_pieces(self, line: str, until: float) -> int:
        tries = _TRIES if self._is_tame and monotonic() < until else 0
        if tries and not self._is_near and self._pattern.match(line):
            return 1
        for start in range(0, len(line), STEP):
            end = min(start + MAX_LINE, len(line))
            if start and monotonic() >= until:
                self.cut = True
                return 0
            if self._lacks(line[start:end]):
                continue
            match = self._pattern.search(line, start, end)
            # The next piece finds later matches, with more text after them.
            if match and (match.start() < start + STEP or end == len(line)):
                if end == len(line) or self._is_sure(match, end):
                    return match.start() + 1
                if tries and self._pattern.match(line, match.start()):
                    return match.start() + 1
                tries = max(0, tries - 1)
            if end == len(line) or self._is_anchored:
                break
        return 0

    def _is_sure(self, match: re.Match[str], end: int) -> bool:
        """Whether a match in a piece is also a match in the whole line."""
        if self._is_free or self._is_near:
            return True
        return not self._looks_far and match.end() < end

    def _lacks(self, text: str) -> bool:
        """Whether a text lacks a literal that every match contains."""
        if self._fold:
            if not text.isascii():
                for letter, plain in zip(ODD_LETTERS, "iisk", strict=True):
                    text = text.replace(letter, plain)
            text = text.lower()
        return not all(any(way in text for way in ways) for ways in self._needed)
