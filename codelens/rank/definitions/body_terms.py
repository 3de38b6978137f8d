"""Where in a text the terms of a query stand: counted once a definition, not once a chunk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise

from codelens.extract.tokenizer import WORD, terms_of_word
from codelens.rank.scoring import term_prefilter

Counts = Mapping[int, int]
"""Position of a term in the query -> how often it stands there."""

_COMMENT = ("#", "//", "/*", "*", "--", ";", "%", "<!--", '"""', "'''", "@", "[", "=begin", "=end")
_BLOCKS = (
    ("*/", "/*"), ("-->", "<!--"), ("-}", "{-"), ("*)", "(*"), ("]]", "--[["), ("=end", "=begin"),
    ('"""', "@"),
)  # fmt: skip
"""How block comments end and begin."""
_MOST_COMMENT = 40
_NOTHING: tuple[int, ...] = ()


class TermNumbers(dict[str, tuple[int, ...]]):
    """Word as written -> the numbers of the query's terms in it; grows as words are met."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self._numbers = {term: number for number, term in enumerate(terms)}
        self.beginnings = term_prefilter.beginnings(tuple(terms))
        """What each word with one of the terms holds; see there."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        known = self._numbers
        term_ids = tuple(known[term] for term in terms_of_word(word) if term in known)
        self[word] = term_ids or _NOTHING
        return term_ids


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
        self._starts = sorted({1, last, *(min(max(border, 1), last) for border in borders)})
        self._counts: list[dict[int, int]] = [{} for _ in self._starts]
        self.by_line: dict[int, set[int]] = {}
        """Line -> the terms that stand there, of lines that have one; lines in order."""
        for number in _worth_reading(lines, self._touched(hit), numbers.beginnings):
            counts = self._counts[bisect_right(self._starts, number) - 1]
            present: set[int] = set()
            for word in WORD.findall(lines[number - 1]):
                for term in numbers[word]:
                    counts[term] = counts.get(term, 0) + 1
                    present.add(term)
            if present:
                self.by_line[number] = present

    def _touched(self, hit: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The spans between borders that share a line with one of `hit`."""
        at = 0
        for start, stop in pairwise(self._starts):
            while at < len(hit) and hit[at][1] < start:
                at += 1
            if at < len(hit) and hit[at][0] < stop:
                yield start, stop - 1

    def inside(self, start: int, end: int) -> dict[int, int]:
        """The counts of the lines `start` to `end`, both of which were given as borders."""
        terms_by_line: dict[int, int] = {}
        for at in range(bisect_left(self._starts, start), bisect_left(self._starts, end + 1)):
            for number, count in self._counts[at].items():
                terms_by_line[number] = terms_by_line.get(number, 0) + count
        return terms_by_line


class LineWeights:
    """Where the terms of a question come together: the lines of one text that have most of them.

    BM25 of a body counts a term wherever it stands; that several stand in one line tells that they
    are about one thing.

    Args:
        by_line: line -> the terms that stand there, by their positions; lines in order.
        weights: of each term.
    """

    def __init__(self, by_line: Mapping[int, Set[int]], weights: Sequence[float]) -> None:
        self._numbers = list(by_line)
        # In the order of the terms, as a sum of floats depends on it.
        self._weights = [sum(weights[at] for at in sorted(terms)) for terms in by_line.values()]

    def best(self, start: int, end: int) -> float:
        """The weight of the heaviest of the lines `start` to `end`; 0 where none has a term."""
        first, stop = bisect_left(self._numbers, start), bisect_right(self._numbers, end)
        return max(self._weights[first:stop], default=0.0)


def _worth_reading(
    lines: Sequence[str], spans: Iterable[tuple[int, int]], beginnings: Sequence[str]
) -> Iterator[int]:
    """Numbers of the lines that may hold a term: to read them all costs ten times as much."""
    for start, end in _joined(spans):
        part = lines[start - 1 : end]
        for at in term_prefilter.lines_holding(part, beginnings):
            yield start + at


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of lines, given in order, with those made one that touch or overlap."""
    start, end = 1, 0
    for first, last in spans:
        if first > end + 1:
            if end >= start:
                yield start, end
            start = first
        end = max(end, last)
    if end >= start:
        yield start, end


def comment_start(lines: Sequence[str], start: int) -> int:
    """The first line of the comment that ends right above a line, or the line itself."""
    first = start
    while first > 1 and start - first < _MOST_COMMENT:
        opening = _block_start(lines, first - 1)
        if opening:
            first = opening
        elif lines[first - 2].lstrip().startswith(_COMMENT):
            first -= 1
        else:
            break
    # A lone bracket or star may end the definition above.
    while first < start and lines[first - 1].strip() in {"[", "]", "*", "/"}:
        first += 1
    return first


def _block_start(lines: Sequence[str], last: int) -> int:
    """The first line of the block comment whose end ends a line; 0 where none does.

    The lines inside need no sign of their own, and Elixir's `@doc` is a text in quotes.
    """
    end = lines[last - 1].rstrip()
    for closing, opening in _BLOCKS:
        if not end.endswith(closing):
            continue
        for number in range(last, max(last - _MOST_COMMENT, 0), -1):
            text = lines[number - 1].lstrip()
            if number == last:
                text = text[: -len(closing)] if text.endswith(closing) else text
            if text.startswith(opening):
                return number
    return 0
