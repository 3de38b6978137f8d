"""Quoted phrases in a query of words: the files that hold them to the letter come first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codelens.rank.score import Judged
from codelens.store.views import FileRow

CHECKED_FILES = 60


def holding(
    judged: Sequence[Judged], phrases: Sequence[str], read: Callable[[FileRow], bytes | None]
) -> tuple[list[Judged], int]:
    """`judged` with the files first that hold every phrase, by the best chunk with one.

    Only the best `CHECKED_FILES` are read. Second, how many of them hold all; letter case is
    ignored.
    """
    wanted = [phrase.lower().encode("utf-8", "replace") for phrase in phrases]
    first: list[Judged] = []
    rest: list[Judged] = []
    for one in judged[:CHECKED_FILES]:
        text = (read(one.evidence.file) or b"").lower()
        at = [text.find(phrase) for phrase in wanted]
        if min(at) >= 0:
            first.append(_shown_at(one, text.count(b"\n", 0, at[0]) + 1))
        else:
            rest.append(one)
    return [*first, *rest, *judged[CHECKED_FILES:]], len(first)


def _shown_at(one: Judged, line: int) -> Judged:
    """The chunk with a line put before the file's other chunks."""
    evidence = one.evidence
    number = evidence.chunks.at_line(line)
    if number < 0:
        return one
    scores = {at: score for score, at in evidence.scored.chunks}
    rest = [pair for pair in evidence.scored.chunks if pair[1] != number]
    chunks = [(scores.get(number, 0.0), number), *rest]
    return one._replace(evidence=evidence._replace(scored=evidence.scored._replace(chunks=chunks)))
