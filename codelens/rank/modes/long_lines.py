"""Searches lines of thousands of characters (minified code, data) in overlapping pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from time import monotonic

MAX_LINE = 2000
"""A longer line is searched in pieces of so many characters."""


STEP = 1000
"""A match of up to so many characters lies in one of the pieces, wherever it begins."""


ODD_LETTERS = ("\u0130", "\u0131", "\u017f", "\u212a")
"""Letters that match an ASCII letter (i, s, k) where case does not count."""


_TRIES = 4
"""So often in a line a match that is not sure is tried again without an end of the piece."""


class LineSearch:
    """Looks for a pattern in lines.

    Args:
        pattern: what is looked for.
        reach: how many characters a match takes, with what it looks at around itself.
        is_free: what stands around a match does not matter to it.
        looks_far: it looks at more than `STEP` characters around itself.
        is_anchored: it matches at the beginning of a line alone.
        is_tame: to try it at one place of a line takes time that grows as the line.
        needed: every match holds one of each of these.
        fold: they are in lower case, and letter case does not count.
        seconds: how long pieces behind the first may be searched.
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
        """A line may hold a match that was not seen; to be set back by whoever asks."""

    def among(self, numbered: Iterable[tuple[int, str]]) -> list[tuple[int, int]]:
        """Numbers of the lines that match; of a long one also where, counted from 1, else 0."""
        search, find = self._pattern.search, self._find
        matched = [
            (number, match)
            for number, line in numbered
            if (match := search(line.rstrip("\r")) if len(line) <= MAX_LINE else find(line))
        ]
        return [(number, match if isinstance(match, int) else 0) for number, match in matched]

    def _find(self, line: str) -> int:
        """Where a match begins in a long line, counted from 1; 0 if there is none."""
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
            # What begins later is found in the next piece, with more room behind it.
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
        """Whether it is one in the line, too, which goes on behind the piece."""
        if self._is_free or self._is_near:
            return True
        return not self._looks_far and match.end() < end

    def _lacks(self, text: str) -> bool:
        """Whether a text holds nothing of what every match must hold."""
        if self._fold:
            if not text.isascii():
                for letter, plain in zip(ODD_LETTERS, "iisk", strict=True):
                    text = text.replace(letter, plain)
            text = text.lower()
        return not all(any(way in text for way in ways) for ways in self._needed)
