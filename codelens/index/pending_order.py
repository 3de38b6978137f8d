"""Which pending file goes first when there may not be time for all."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from codelens.index.text_sources import Source, Unavailable, Work

if TYPE_CHECKING:
    from codelens.index.view_refresh import Budget

# Reading costs a hundredth of parsing, so a look at every text pays; but not the whole budget.
_SHARE = 0.4
_ENOUGH = 8


def hits_first(works: list[Work], budget: Budget, source: Source) -> list[Work]:
    """Works whose path or bytes hold the query's words come first, most words before fewer.

    Without a deadline, without words, or with few works the order stays.
    """
    if budget.deadline is None or not budget.words or len(works) <= _ENOUGH:
        return works
    now = time.monotonic()
    until = now + (budget.deadline - now) * _SHARE
    words = [word.encode("utf-8", "surrogatepass") for word in budget.words]
    scored: list[tuple[int, int, Work]] = []
    for at, work in enumerate(works):
        # Names cost nothing; texts are read while there is time.
        score = 4 * _count(words, os.path.basename(work.path).lower())
        if time.monotonic() < until:
            score += _in_text(words, work, source)
        scored.append((-score, at, work))
    scored.sort(key=lambda one: one[:2])
    return [work for _, _, work in scored]


def _in_text(words: list[bytes], work: Work, source: Source) -> int:
    try:
        return _count(words, source.fetch(work).data.lower())
    except (FileNotFoundError, Unavailable):
        return 0


def _count(words: list[bytes], text: bytes) -> int:
    return sum(word in text for word in words)
