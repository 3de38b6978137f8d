"""Quoted phrases in a query of words: the files that hold them to the letter come first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codelens.rank.score import Judged
from codelens.store.views import FileRow

CHECKED_FILES = 60


def holding(
    judged: Sequence[Judged], phrases: Sequence[str], read: Callable[[FileRow], bytes | None]
) -> tuple[list[Judged], list[tuple[FileRow, int]]]:
    """`judged` with the files first that hold every phrase; these with the first one's line.

    Only the best `CHECKED_FILES` are read; letter case is ignored.
    """
    wanted = [phrase.lower().encode("utf-8", "replace") for phrase in phrases]
    first: list[Judged] = []
    rest: list[Judged] = []
    held: list[tuple[FileRow, int]] = []
    for one in judged[:CHECKED_FILES]:
        text = (read(one.evidence.file) or b"").lower()
        at = [text.find(phrase) for phrase in wanted]
        if min(at) >= 0:
            first.append(one)
            held.append((one.evidence.file, text.count(b"\n", 0, at[0]) + 1))
        else:
            rest.append(one)
    return [*first, *rest, *judged[CHECKED_FILES:]], held
