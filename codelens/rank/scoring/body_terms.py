"""Where in a text the terms of a query stand: counted once a definition, not once a chunk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise

from codelens.extract.tokenizer import WORD, terms_of_word
from codelens.rank.scoring import chunk_scores
from codelens.store.facts.ranking_reads import Definition

Counts = Mapping[int, int]
"""Position of a term in the query -> how often it stands there."""

_COMMENT = ("#", "//", "/*", "*", "--", ";", "%", "<!--", '"""', "'''", "@", "[", "=begin", "=end")
_BLOCKS = (
    ("*/", "/*"), ("-->", "<!--"), ("-}", "{-"), ("*)", "(*"), ("]]", "--[["), ("=end", "=begin"),
    ('"""', "@"),
)  # fmt: skip
"""How block comments end and begin."""
_CLOSINGS = tuple(closing for closing, _ in _BLOCKS)
_MOST_COMMENT = 40
_MANY_LINES = 8
"""Of more lines that hold terms the occurrences of each term are counted by their order."""
_NOTHING: tuple[int, ...] = ()
_LINE_END = "\0"
_ENDED = (-1,)
_SPACED_LINE_END = f" {_LINE_END} ".encode()
_WORDS_AND_LINES = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or chr(byte) in "_\n" else ord(" ")
    for byte in range(256)
)
"""What stands in a word stays, and line ends; all else becomes a space."""


class TermNumbers(dict[str, tuple[int, ...]]):
    """Word as written -> the numbers of the query's terms in it; those that were learnt."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__({_LINE_END: _ENDED})
        self._numbers = {term: number for number, term in enumerate(terms)}
        self._beginnings = chunk_scores.beginnings(tuple(terms))

    def learn(self, words: Iterable[str]) -> None:
        """Have all of some words: nearly none has one of the terms, which is told at once."""
        new = [word for word in words if word not in self]
        self.update(dict.fromkeys(new, _NOTHING))
        for at in chunk_scores.lines_holding(new, self._beginnings):
            self[new[at]] = self._numbers_of(new[at])

    def _numbers_of(self, word: str) -> tuple[int, ...]:
        known = self._numbers
        return tuple(
            known[term]
            for part in ((word,) if word.isascii() else WORD.findall(word))
            for term in terms_of_word(part)
            if term in known
        )


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
        starts = sorted({1, last, *(min(max(border, 1), last) for border in borders)})
        spans = list(_touched(starts, hit))
        words = _words_and_line_ends(
            [line for start, end in spans for line in lines[start - 1 : end]]
        )
        numbers.learn(set(words))
        line_numbers = chain.from_iterable(range(start, end + 1) for start, end in spans)
        self._numbers: list[int] = []
        """The lines that have a term, in order."""
        self._terms: list[list[int]] = []
        """The terms of each of these lines, as often as they stand there."""
        self._places: dict[int, list[int]] = {}
        """Term -> the line of each of its occurrences."""
        number, present, places = next(line_numbers, 0), list[int](), self._places
        # Nearly every word has none of the terms: these are passed over in C.
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
                known = places.get(term)
                if known is None:
                    known = places[term] = []
                known.append(number)
        self.by_line = dict(zip(self._numbers, map(set, self._terms), strict=True))
        """Line -> the terms that stand there, of lines that have one; lines in order."""

    def inside(self, start: int, end: int) -> dict[int, int]:
        """The counts of the lines `start` to `end`, both of which were given as borders."""
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
    """The spans between borders that share a line with one of `hit`."""
    at = 0
    for start, stop in pairwise(starts):
        while at < len(hit) and hit[at][1] < start:
            at += 1
        if at < len(hit) and hit[at][0] < stop:
            yield start, stop - 1


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


def _words_and_line_ends(lines: Sequence[str]) -> list[str]:
    """The words of some lines, with `_LINE_END` between any two lines.

    Cut at characters of ASCII alone, in C, four times as quick as `WORD`: what is not ASCII may be
    several words in one.
    """
    text = "\n".join(lines).encode("utf-8", "replace").translate(_WORDS_AND_LINES)
    return text.replace(b"\n", _SPACED_LINE_END).decode().split()


def borders_of(
    every: Sequence[Definition], first: Sequence[int], gaps: Sequence[tuple[int, int]]
) -> list[int]:
    """The lines at which a definition, the comment above one or a gap begins, or has ended."""
    borders = [
        line
        for at, symbol in enumerate(every)
        for line in (first[at], symbol.start_line, symbol.end_line + 1)
    ]
    return borders + [line for start, end in gaps for line in (start, end + 1)]


def gaps(every: Sequence[Definition], first: Sequence[int], last: int) -> Iterator[tuple[int, int]]:
    """The runs of lines that stand in no definition."""
    at = 1
    for number, row in enumerate(every):
        if first[number] > at:
            yield at, first[number] - 1
        at = max(at, row.end_line + 1)
    if at <= last:
        yield at, last


def comment_start(lines: Sequence[str], start: int, known: dict[int, int] | None = None) -> int:
    """The first line of the comment that ends right above a line, or the line itself.

    `known` keeps what was seen of the lines: those above two definitions are often the same. A
    line -> the first of the run of comment lines that it ends, as far as that is known; of a block
    of several lines the first, negative; 0 where it is no comment.
    """
    known = {} if known is None else known
    first = start
    while first > 1 and start - first < _MOST_COMMENT:
        above = known.get(first - 1)
        if above is None:
            above = known[first - 1] = _comment_at(lines, first - 1, known)
        if not above:
            break
        # A block counts whole, however long; of a run each line counts.
        first = -above if above < 0 else max(above, start - _MOST_COMMENT)
    # A lone bracket or star may end the definition above.
    while first < start and lines[first - 1].strip() in {"[", "]", "*", "/"}:
        first += 1
    return first


def _comment_at(lines: Sequence[str], last: int, known: Mapping[int, int]) -> int:
    """What `known` of `comment_start` says of a line."""
    opening = _block_start(lines, last)
    if opening:
        return -opening
    if not lines[last - 1].lstrip().startswith(_COMMENT):
        return 0
    before = known.get(last - 1, 0)
    return before if before > 0 else last


def _block_start(lines: Sequence[str], last: int) -> int:
    """The first line of the block comment whose end ends a line; 0 where none does.

    The lines inside need no sign of their own, and Elixir's `@doc` is a text in quotes.
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
