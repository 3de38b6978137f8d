"""Where in a text the terms of a query stand: counted once a definition, not once a chunk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from codelens.extract.tokenizer import WORD, terms_of_word

Counts = Mapping[int, int]
"""Position of a term in the query -> how often it stands there."""

_COMMENT = ("#", "//", "/*", "*", "--", ";", "%", "<!--", '"""', "'''", "@", "[", "=begin", "=end")
_MOST_COMMENT = 40
_NOTHING: tuple[int, ...] = ()


class TermNumbers(dict[str, tuple[int, ...]]):
    """Word as written -> the numbers of the query's terms in it; grows as words are met."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self._numbers = {term: number for number, term in enumerate(terms)}

    def __missing__(self, word: str) -> tuple[int, ...]:
        known = self._numbers
        found = tuple(known[term] for term in terms_of_word(word) if term in known)
        self[word] = found or _NOTHING
        return found


class BodyTerms:
    """The counts of any lines of one text whose ends are known beforehand.

    Args:
        lines: of the text.
        borders: first lines of spans, and the lines after their last; 1-based.
        hit: spans of lines that hold a term at all, in order; the others are not read.
        numbers: which words tell.
    """

    def __init__(
        self,
        lines: Sequence[str],
        borders: Iterable[int],
        hit: Sequence[tuple[int, int]],
        numbers: TermNumbers,
    ) -> None:
        last = len(lines) + 1
        self._starts = sorted({1, last, *(min(max(one, 1), last) for one in borders)})
        self._counts: list[dict[int, int]] = []
        at = 0
        for start, stop in zip(self._starts, self._starts[1:], strict=False):
            while at < len(hit) and hit[at][1] < start:
                at += 1
            counts: dict[int, int] = {}
            if at < len(hit) and hit[at][0] < stop:
                for word in WORD.findall("\n".join(lines[start - 1 : stop - 1])):
                    for number in numbers[word]:
                        counts[number] = counts.get(number, 0) + 1
            self._counts.append(counts)

    def inside(self, start: int, end: int) -> dict[int, int]:
        """The counts of the lines `start` to `end`, both of which were given as borders."""
        found: dict[int, int] = {}
        for at in range(bisect_left(self._starts, start), bisect_left(self._starts, end + 1)):
            for number, count in self._counts[at].items():
                found[number] = found.get(number, 0) + count
        return found


def comment_start(lines: Sequence[str], start: int) -> int:
    """The first line of the comment that ends right above a line, or the line itself."""
    first = start
    while first > 1 and start - first < _MOST_COMMENT:
        above = lines[first - 2].lstrip()
        if not above.startswith(_COMMENT):
            break
        first -= 1
    # A lone bracket or star may end the definition above.
    while first < start and lines[first - 1].strip() in {"[", "]", "*", "/"}:
        first += 1
    return first
