"""Which definitions that are about to be edited another worktree has changed, by the index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelens.focus.checkout import Checkout
from codelens.hooks.timed_question import answer_within
from codelens.hooks.work_elsewhere import has_index
from codelens.small_files import read_small

if TYPE_CHECKING:
    from codelens.engine.engine import Engine

_LONGEST_S = 3.0
"""A host waits 5 s for the hook; what takes longer is left out."""
_BUDGET_MS = 300.0
_LARGEST = 16_000_000
"""Bytes of a file in which the text of an edit is looked for."""


def changed_definitions(
    home: str, place: Checkout, name: str, replaced: Sequence[str]
) -> list[str] | None:
    """A sentence for each definition that an edit touches and another worktree changed.

    None where that is not known: there is no index, the file has no definitions that differ, or it
    took too long.

    Args:
        home: where the indexes are.
        place: where the agent stands.
        name: the file, relative to the worktree's top.
        replaced: the texts that the edit replaces; none: all of the file.
    """
    if not has_index(home, place):
        return None
    return answer_within(
        _LONGEST_S, lambda: _changed(place, name, replaced),
        home=home, event="before-edit", nothing=None,
    )  # fmt: skip


def _changed(place: Checkout, name: str, replaced: Sequence[str]) -> list[str] | None:
    from codelens.engine.engine import Engine
    from codelens.engine.engine_core import unnoticed

    with Engine(unnoticed()) as engine:
        changed = engine.changed_elsewhere([name], path=place.root)
        if not changed:
            return None
        spans = [_lines_of(os.path.join(place.root, name), text) for text in replaced]
        if replaced and None not in spans:
            lines = [span for span in spans if span is not None]
            touched = _touched(engine, place, name, lines)
            changed = tuple(row for row in changed if row.handle in touched)
    return [
        f"{row.handle} was changed ({', '.join(row.how)}) in the worktree {row.worktree} "
        f"({row.branch or 'detached HEAD'})"
        for row in changed
    ]


def _touched(
    engine: Engine, place: Checkout, name: str, spans: Sequence[tuple[int, int]]
) -> set[str]:
    """Handles of the definitions that some lines are in."""
    answer = engine.outline(name, path=place.root, detail="names", budget_ms=_BUDGET_MS)
    return {
        item.handle
        for file in answer.files
        for item in file.items
        if any(item.start_line <= last and first <= item.end_line for first, last in spans)
    }


def _lines_of(path: str, text: str) -> tuple[int, int] | None:
    """First and last line of a text in a file; None if it is not there."""
    try:
        whole = read_small(path, _LARGEST).decode("utf-8", "replace")
    except OSError:
        return None
    at = whole.find(text)
    if at < 0 or not text:
        return None
    first = whole.count("\n", 0, at) + 1
    return first, first + text.rstrip("\n").count("\n")
