"""Quoted phrases in a query of words: the files that hold them to the letter come first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from codelens.rank.scoring.weighted_score import Judged
from codelens.store.views.views import FileRow

CHECKED_FILES = 60


def holding(
    judged: Sequence[Judged], phrases: Sequence[str], read: Callable[[FileRow], bytes | None]
) -> tuple[list[Judged], list[tuple[FileRow, int]]]:
    """`judged` with the files first that hold every phrase; these with the first one's line.

    Only the best `CHECKED_FILES` are read. Whole words; letter case counts where a phrase has a
    capital, as in a search for text.
    """
    patterns = [_form(phrase) for phrase in phrases]
    first: list[Judged] = []
    rest: list[Judged] = []
    files_with_chunks: list[tuple[FileRow, int]] = []
    for scored in judged[:CHECKED_FILES]:
        text = read(scored.evidence.file) or b""
        matches = [form.search(text) for form in patterns]
        if matches[0] and all(matches):
            first.append(scored)
            files_with_chunks.append(
                (scored.evidence.file, text.count(b"\n", 0, matches[0].start()) + 1)
            )
        else:
            rest.append(scored)
    return [*first, *rest, *judged[CHECKED_FILES:]], files_with_chunks


def _form(phrase: str) -> re.Pattern[bytes]:
    literal = re.escape(phrase.encode("utf-8", "replace"))
    before = rb"(?<![\w\x80-\xff])" if phrase[:1].isalnum() else b""
    after = rb"(?![\w\x80-\xff])" if phrase[-1:].isalnum() else b""
    return re.compile(before + literal + after, re.IGNORECASE if phrase == phrase.lower() else 0)
