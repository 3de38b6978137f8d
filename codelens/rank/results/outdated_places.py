"""Definitions that the index still has, and their file no longer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codelens.rank.results.shown_texts import Read
from codelens.rank.search_request import Ranked
from codelens.store.facts import ranking_reads
from codelens.store.views.snapshot import Snapshot

_LAST_WORD = re.compile(r"\w+\Z", re.ASCII)


def still_there(view: Snapshot, results: Sequence[Ranked], read: Read) -> list[Ranked]:
    """The results without definitions whose name their file does not hold any more.

    Only files whose text is newer than the index has it are read: those that there was no time to
    index. A name that need not stand in the text (an operator, one taken from the path) is kept, as
    is a definition that may only have moved; both are marked as stale.

    Args:
        view: says which files are stale.
        results: in their order.
        read: gives a file's bytes as they are now, None where they cannot be had.
    """
    return [
        ranked
        for ranked in results
        if ranked.symbol < 0 or ranked.file.path not in view.stale or _named(view, ranked, read)
    ]


def _named(view: Snapshot, ranked: Ranked, read: Read) -> bool:
    content = ranked.file.content
    assert content is not None  # it has symbols
    match = _LAST_WORD.search(ranking_reads.qualified(view.db, content, ranked.symbol))
    text = read(ranked.file) if match else None
    if match is None or text is None:
        return True
    word = match[0].lower().encode()
    return word in text.lower() or word in ranked.file.path.lower()
