"""Which of a file's many names can have a term at all, told without taking them apart.

A header may define ten thousand names, and a query touches a few: looking for how a term begins
in all names at once, as one text, leaves few to be split and stemmed (about 5 us each).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

MOST = 500
"""Names of one file that are compared: a header of registers may have thousands with one word."""


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
    masks = _counts_by_line(text, starts)
    if len(masks) > MOST:
        return sorted(sorted(masks, key=lambda at: (-masks[at], at))[:MOST])
    return sorted(masks)


def lines_holding(lines: Sequence[str], starts: Sequence[str]) -> Iterable[int]:
    """Positions of the lines that hold one of `starts`, ascending; some may have no term."""
    if not starts:
        return range(len(lines))
    text = "\n".join(lines)
    line_numbers = _counts_by_line(text, starts).keys()
    if not text.isascii():
        # An accent may stand inside of a beginning.
        line_numbers = line_numbers | {at for at, line in enumerate(lines) if not line.isascii()}
    return sorted(line_numbers)


def _counts_by_line(text: str, starts: Sequence[str]) -> dict[int, int]:
    """Line -> how many of `starts` it holds."""
    text = text.lower().replace("_", "")
    masks: dict[int, int] = {}
    find, count = text.find, text.count
    for start in starts:
        number = counted = 0
        at = find(start)
        while at >= 0:
            number += count("\n", counted, at)
            masks[number] = masks.get(number, 0) + 1
            counted = find("\n", at)
            if counted < 0:
                break
            at = find(start, counted)
    return masks
