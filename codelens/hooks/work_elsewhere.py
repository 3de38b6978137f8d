"""What a hook asks of the engine, for as long as the host waits for it and no longer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from codelens.focus.checkout import Checkout, checkout_at, sibling_roots
from codelens.home_files import read_small
from codelens.hooks import hook_input
from codelens.trail import trail_log

if TYPE_CHECKING:
    from codelens.engine.engine import Engine

T = TypeVar("T")


def answer_within(seconds: float, ask: Callable[[], T], *, home: str, event: str, nothing: T) -> T:
    """What `ask` gives; `nothing` where it fails, which is logged, or takes longer.

    Args:
        seconds: how long the hook waits.
        ask: done by a thread, which goes on until the process ends.
        home: of the log.
        event: the hook, for the log.
        nothing: what is answered then.
    """
    answers: list[T] = []

    def asking() -> None:
        try:
            answers.append(ask())
        except Exception as error:
            # Whatever it is, the agent goes on without it.
            hook_input.log_note(home, event, f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=asking, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else nothing


# What other worktrees of the repository are doing to the code that one stands in.

_RECENT_S = 3 * 86_400
_MOST_WORKTREES = 8
_LONGEST_S = 4.0
"""A host waits 10 s for the whole; what takes longer is left out."""
_BUDGET_MS = 300.0
_SHOWN = 5
_EVENT = "session-start"


def also_edited(home: str, place: Checkout) -> str:
    """Files that another worktree edited too, by the trail of the last three days."""
    recent = [
        entry
        for entry in trail_log.latest(home, place.repository, since=int(time.time()) - _RECENT_S)
        if entry.tool == "edited"
    ]
    own = trail_log.worktree_key(place.root)
    mine = {name for entry in recent if entry.worktree == own for name in entry.handles}
    for root in sibling_roots(place):
        key = trail_log.worktree_key(root)
        names = [name for entry in recent if entry.worktree == key for name in entry.handles]
        edited_twice = [name for name in dict.fromkeys(names) if name in mine]
        if edited_twice:
            more = f" and {len(edited_twice) - _SHOWN} more" if len(edited_twice) > _SHOWN else ""
            label = checkout_at(root).label
            shown = ", ".join(edited_twice[:_SHOWN])
            return f"also edited in the worktree {root} ({label}): {shown}{more}"
    return ""


def collisions(home: str, place: Checkout) -> str:
    """What would collide with the other worktrees, in one line; asked where there is an index."""
    rivals = sibling_roots(place)[:_MOST_WORKTREES]
    if not rivals or not has_index(home, place):
        return ""
    return answer_within(
        _LONGEST_S, lambda: _collisions_in(home, place, rivals),
        home=home, event=_EVENT, nothing="",
    )  # fmt: skip


def _collisions_in(home: str, place: Checkout, siblings: list[str]) -> str:
    from codelens.engine.engine import Engine

    rivals = [root for root in siblings if _opens(home, root)]
    if not rivals:
        return ""
    with Engine() as engine:
        answer = engine.conflicts(path=place.root, others=rivals, budget_ms=_BUDGET_MS)
    reports: list[str] = []
    for rival in answer.results:
        lines = [
            collision for collision in rival.collisions if collision.grade in {"certain", "likely"}
        ]
        paths = [conflict.path for conflict in rival.textual if not conflict.harmless]
        if lines or paths:
            first = lines[0].message if lines else f"{paths[0]} cannot be merged"
            count = len(lines) + len(paths)
            more = f" and {count - 1} more" if count > 1 else ""
            reports.append(f"{rival.name} ({rival.branch}): {first}{more}")
    if not reports:
        return ""
    return f"collides with {'; '.join(reports[:2])}; `codelens conflicts` lists all"


def _opens(home: str, root: str) -> bool:
    """Whether a worktree can be compared with; one that is broken hides nothing of the others."""
    from codelens.errors import CodelensError
    from codelens.scope.repository import Repository

    try:
        Repository.at(root).scope()
    except CodelensError as error:
        hook_input.log_note(home, _EVENT, str(error))
        return False
    return True


def has_index(home: str, place: Checkout) -> bool:
    """Whether the repository is indexed: a hook builds nothing."""
    from pathlib import Path

    from codelens.paths import index_file

    return os.path.exists(index_file(Path(home), place.repository))


# Which definitions that are about to be edited another worktree has changed, by the index.

_LONGEST_LOOK_S = 3.0
"""A host waits 5 s for the hook; what takes longer is left out."""
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
        _LONGEST_LOOK_S, lambda: _changed(place, name, replaced),
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
