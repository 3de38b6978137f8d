"""Counts the terms of a query in a text, once per definition instead of once per chunk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise

from codelens.extract.tokenizer import WORD, terms_of_word
from codelens.rank.scoring import chunk_scores
from codelens.store.facts.ranking_reads import Definition

Counts = Mapping[int, int]
"""Position of a term in the query -> its number of occurrences."""

_COMMENT = ("#", "//", "/*", "*", "--", ";", "%", "<!--", '"""', "'''", "@", "[", "=begin", "=end")
_BLOCKS = (
    ("*/", "/*"), ("-->", "<!--"), ("-}", "{-"), ("*)", "(*"), ("]]", "--[["), ("=end", "=begin"),
    ('"""', "@"),
)  # fmt: skip
"""How block comments end and begin."""
_CLOSINGS = tuple(closing for closing, _ in _BLOCKS)
_MOST_COMMENT = 40
_MANY_LINES = 8
"""With more lines with terms, the occurrences of each term are counted by binary search."""
_NOTHING: tuple[int, ...] = ()
_LINE_END = "\0"
_ENDED = (-1,)
_SPACED_LINE_END = f" {_LINE_END} ".encode()
_WORDS_AND_LINES = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or chr(byte) in "_\n" else ord(" ")
    for byte in range(256)
)
"""Translation table that keeps word characters and line ends; all else becomes a space."""


class TermNumbers(dict[str, tuple[int, ...]]):
    """Word as written -> the numbers of the query's terms in it, for words learned so far."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__({_LINE_END: _ENDED})
        self._numbers = {term: number for number, term in enumerate(terms)}
        self._beginnings = chunk_scores.beginnings(tuple(terms))

    def learn(self, words: Iterable[str]) -> None:
        """Add some words; nearly all have no term, which a fast test shows."""
        new = [word for word in words if word not in self]
        self.update(dict.fromkeys(new, _NOTHING))
        for at in chunk_scores.lines_holding(new, self._beginnings):
            self[new[at]] = self._numbers_of(new[at])

    def lines_holding(self, lines: Sequence[str]) -> Iterable[int]:
        """Return the positions of the lines that may have a term: of most texts, few."""
        return chunk_scores.lines_holding(lines, self._beginnings)

    def _numbers_of(self, word: str) -> tuple[int, ...]:
        number_of = self._numbers
        return tuple(
            number_of[term]
            for part in ((word,) if word.isascii() else WORD.findall(word))
            for term in terms_of_word(part)
            if term in number_of
        )


class BodyTerms:
    """Counts terms in spans of one text, whose borders are given in advance.

    Args:
        lines: the lines of the text.
        borders: first lines of spans, and the lines after their last; 1-based.
        hit: spans of lines that contain a term, in order; other lines are not read.
        numbers: the term numbers of words.
    """

    def __init__(
        self,
        lines: Sequence[str],
        borders: Iterable[int],
        hit: Sequence[tuple[int, int]],
        numbers: TermNumbers,
    ) -> None:
        last = len(lines) + 1
        starts = sorted({1, last, *borders})
        starts = starts[bisect_left(starts, 1) : bisect_right(starts, last)]
        spans = list(_touched(starts, hit))
        touched = [line for start, end in spans for line in lines[start - 1 : end]]
        touched_numbers = list(chain.from_iterable(range(start, end + 1) for start, end in spans))
        holding = numbers.lines_holding(touched)
        words = _words_and_line_ends([touched[at] for at in holding])
        numbers.learn(set(words))
        line_numbers = map(touched_numbers.__getitem__, holding)
        self._numbers: list[int] = []
        """The lines with a term, in order."""
        self._terms: list[list[int]] = []
        """The terms of each of these lines, with repetitions."""
        self._places: dict[int, list[int]] = {}
        """Term -> the line of each of its occurrences."""
        number, present, places = next(line_numbers, 0), list[int](), self._places
        # Nearly every word has no term: C code skips these.
        for terms in filter(None, map(numbers.__getitem__, words)):
            if terms is _ENDED:
                number = next(line_numbers, 0)
                present = []
                continue
            if not present:
                self._numbers.append(number)
                self._terms.append(present)
            present += terms
            for term in terms:
                lines_of_term = places.get(term)
                if lines_of_term is None:
                    lines_of_term = places[term] = []
                lines_of_term.append(number)
        self.by_line = dict(zip(self._numbers, map(set, self._terms), strict=True))
        """Line -> its terms, for lines with terms, in order."""

    def inside(self, start: int, end: int) -> dict[int, int]:
        """Return the counts for the lines `start` to `end`, which must be borders."""
        first, stop = bisect_left(self._numbers, start), bisect_right(self._numbers, end)
        if stop - first > _MANY_LINES:
            spread = {
                term: bisect_right(places, end) - bisect_left(places, start)
                for term, places in self._places.items()
            }
            return {term: count for term, count in spread.items() if count}
        counts: dict[int, int] = {}
        for present in self._terms[first:stop]:
            for term in present:
                counts[term] = counts.get(term, 0) + 1
        return counts


def _touched(starts: Sequence[int], hit: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans between borders that overlap one of `hit`."""
    at = 0
    for start, stop in pairwise(starts):
        while at < len(hit) and hit[at][1] < start:
            at += 1
        if at < len(hit) and hit[at][0] < stop:
            yield start, stop - 1


class LineWeights:
    """Finds the lines of a text in which the terms of a question concentrate.

    BM25 of a body ignores positions; several terms in one line show that the line is about them.

    Args:
        by_line: line -> its terms, by position in the query; lines in order.
        weights: weight of each term.
    """

    def __init__(self, by_line: Mapping[int, Set[int]], weights: Sequence[float]) -> None:
        self._numbers = list(by_line)
        # In the order of the terms, since a sum of floats depends on the order.
        self._weights = [sum(weights[at] for at in sorted(terms)) for terms in by_line.values()]

    def best(self, start: int, end: int) -> float:
        """Return the weight of the heaviest line from `start` to `end`; 0 if none has a term."""
        first, stop = bisect_left(self._numbers, start), bisect_right(self._numbers, end)
        return max(self._weights[first:stop], default=0.0)


def _words_and_line_ends(lines: Sequence[str]) -> list[str]:
    """Return the words of some lines, with `_LINE_END` between lines.

    Splits only at ASCII characters, in C, which is four times as fast as `WORD`; non-ASCII text may
    be several words in one.
    """
    text = "\n".join(lines).encode("utf-8", "replace").translate(_WORDS_AND_LINES)
    return text.replace(b"\n", _SPACED_LINE_END).decode().split()


def terms_by_word(text: str, numbers: TermNumbers) -> list[tuple[int, ...]]:
    """Return for each word of a line the numbers of the query's terms in it."""
    words = _words_and_line_ends([text])
    numbers.learn(words)
    return [numbers[word] for word in words]


def borders_of(
    every: Sequence[Definition], first: Sequence[int], gaps: Sequence[tuple[int, int]]
) -> list[int]:
    """Return the first lines of definitions, comments above them and gaps, and those after them."""
    borders = [
        line
        for at, symbol in enumerate(every)
        for line in (first[at], symbol.start_line, symbol.end_line + 1)
    ]
    return borders + [line for start, end in gaps for line in (start, end + 1)]


def gaps(every: Sequence[Definition], first: Sequence[int], last: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines outside of definitions."""
    at = 1
    for number, row in enumerate(every):
        if first[number] > at:
            yield at, first[number] - 1
        at = max(at, row.end_line + 1)
    if at <= last:
        yield at, last


def comment_start(lines: Sequence[str], start: int, cache: dict[int, int] | None = None) -> int:
    """Return the first line of the comment right above a line, or the line itself.

    `cache` keeps lines for further calls, since two definitions often share the lines above them.
    It maps the last line of a run of comment lines to the first line of the run, as far as it was
    read; the last line of a block comment to its negative first line; any other line to 0.
    """
    # Above most definitions is no comment.
    line_above = lines[start - 2].strip() if start > 1 else ""
    if not line_above.startswith(_COMMENT) and not line_above.endswith(_CLOSINGS):
        return start
    cache = {} if cache is None else cache
    first = start
    while first > 1 and start - first < _MOST_COMMENT:
        above = cache.get(first - 1)
        if above is None:
            above = cache[first - 1] = _comment_at(lines, first - 1, cache)
        if not above:
            break
        # A block counts whole, regardless of its length; in a run each line counts.
        first = -above if above < 0 else max(above, start - _MOST_COMMENT)
    # A single bracket or star may end the definition above.
    while first < start and lines[first - 1].strip() in {"[", "]", "*", "/"}:
        first += 1
    return first


def _comment_at(lines: Sequence[str], last: int, cache: Mapping[int, int]) -> int:
    """Return the entry of a line for the cache of `comment_start`."""
    opening = _block_start(lines, last)
    if opening:
        return -opening
    if not lines[last - 1].lstrip().startswith(_COMMENT):
        return 0
    before = cache.get(last - 1, 0)
    return before if before > 0 else last


def _block_start(lines: Sequence[str], last: int) -> int:
    """Return the first line of the block comment that ends at a line's end; 0 if none does.

    The inner lines need no marker, and Elixir's `@doc` is a quoted text.
    """
    end = lines[last - 1].rstrip()
    if not end.endswith(_CLOSINGS):
        return 0
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
