"""Which definitions that are about to be edited another worktree has changed, by the index."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelens.focus.checkout import Checkout
from codelens.hooks.work_elsewhere import has_index

if TYPE_CHECKING:
    from codelens.engine.engine import Engine

_LONGEST_S = 3.0
"""A host waits 5 s for the hook; what takes longer is left out."""
_BUDGET_MS = 300.0


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
    answers: list[list[str] | None] = []
    thread = threading.Thread(
        target=lambda: answers.append(_changed(place, name, replaced)), daemon=True
    )
    thread.start()
    thread.join(_LONGEST_S)
    return answers[0] if answers else None


def _changed(place: Checkout, name: str, replaced: Sequence[str]) -> list[str] | None:
    from codelens.engine.engine import Engine

    with Engine() as engine:
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
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            whole = file.read()
    except OSError:
        return None
    at = whole.find(text)
    if at < 0 or not text:
        return None
    first = whole.count("\n", 0, at) + 1
    return first, first + text.rstrip("\n").count("\n")
