"""Which of a file's many names can have a term at all, told without taking them apart.

A header may define ten thousand names, and a query touches a few: looking for how a term begins
in all names at once, as one text, leaves few to be split and stemmed (about 5 us each).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress, islice, repeat
from operator import add, contains

MOST = 500
"""Names of one file that are compared: a header of registers may have thousands with one word."""
_DENSE = 8
"""Where a beginning stands in one line of so many, each line is looked at: a jump from one to the
next costs as much as some such looks."""


@lru_cache(maxsize=64)
def beginnings(terms: tuple[str, ...]) -> tuple[str, ...]:
    """What every name with one of `terms` holds one of, in lower case and without underscores.

    Empty where nothing can be said. Porter's stem is how the word begins but for its end: `y`
    becomes `i`, an `e` may be added, and `bil(ity)` becomes `bl(e)`.
    """
    starts: set[str] = set()
    for term in terms:
        if not term.isascii():
            continue  # stands only in names that are not ASCII, which are all looked at
        start = term.replace("_", "")
        if start.endswith("ble"):
            start = start[:-2]
        elif start.endswith(("i", "e", "bl")):
            start = start[:-1]
        if not start:
            return ()
        starts.add(start)
    # Whoever holds the longer one holds the shorter: a compound begins with its first part.
    return tuple(
        sorted(start for start in starts if not any(o in start for o in starts if o != start))
    )


def holding(names: Sequence[str], starts: Sequence[str]) -> Iterable[int]:
    """Positions of the names that hold one of `starts`, ascending; some may have no term.

    Of more than `MOST` those that hold the most of `starts`, then the first.
    """
    text = "\n".join(names)
    if not starts or not text.isascii() or text.count("\n") != len(names) - 1:
        return range(len(names))  # names that can hold a term in other letters, or of two lines
    counts = _counts(text, starts)
    positions = list(compress(range(len(names)), counts))
    return _with_most(counts) if len(positions) > MOST else positions


def _counts(text: str, starts: Sequence[str]) -> list[int]:
    """Of each line how many of `starts` it holds."""
    text = text.lower().replace("_", "")
    line_count = text.count("\n") + 1
    counts = [0] * line_count
    lines: list[str] = []
    for start in starts:
        times = text.count(start)
        if times * _DENSE > line_count:
            lines = lines or text.split("\n")
            counts = list(map(add, counts, map(contains, lines, repeat(start))))
        elif times:
            for at in _sparse(text, start):
                counts[at] += 1
    return counts


def _with_most(counts: Sequence[int]) -> list[int]:
    """Positions of the `MOST` greatest counts, of equals the first; ascending."""
    left = MOST
    for least, times in sorted(Counter(counts).items(), reverse=True):
        if times >= left:
            equals = islice((at for at, count in enumerate(counts) if count == least), left)
            return sorted([*(at for at, count in enumerate(counts) if count > least), *equals])
        left -= times
    return list(range(len(counts)))


def lines_holding(lines: Sequence[str], starts: Sequence[str]) -> Iterable[int]:
    """Positions of the lines that hold one of `starts`, ascending; some may have no term."""
    if not starts:
        return range(len(lines))
    text = "\n".join(lines)
    positions = [at for at, count in enumerate(_counts(text, starts)) if count]
    if text.isascii():
        return positions
    # An accent may stand inside of a beginning.
    return sorted({*positions, *(at for at, line in enumerate(lines) if not line.isascii())})


def _sparse(text: str, start: str) -> list[int]:
    """The lines that hold `start`, where most do not."""
    numbers: list[int] = []
    find, count = text.find, text.count
    number = counted = 0
    at = find(start)
    while at >= 0:
        number += count("\n", counted, at)
        numbers.append(number)
        counted = find("\n", at)
        if counted < 0:
            break
        at = find(start, counted)
    return numbers
