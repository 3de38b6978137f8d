"""Asks the engine about work in other worktrees, within the time that the host waits for a hook."""

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
from codelens.wording import some_of

if TYPE_CHECKING:
    from codelens.engine.engine import Engine

T = TypeVar("T")


def answer_within(seconds: float, ask: Callable[[], T], *, home: str, event: str, nothing: T) -> T:
    """The result of `ask`; `nothing` if it fails, which is logged, or takes longer.

    Args:
        seconds: how long the hook waits.
        ask: runs in a thread, which may continue until the process ends.
        home: the home folder, for the log.
        event: the hook, for the log.
        nothing: the result in that case.
    """
    answers: list[T] = []

    def asking() -> None:
        try:
            answers.append(ask())
        except Exception as error:
            # The agent must continue after any error.
            hook_input.log_note(home, event, f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=asking, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else nothing


# At a session's start, lists files and definitions that other worktrees also changed.

_RECENT_S = 3 * 86_400
_MOST_WORKTREES = 8
_LONGEST_S = 4.0
"""A host waits 10 s for the whole hook; a part that takes longer is omitted."""
_BUDGET_MS = 300.0
_SHOWN = 5
_EVENT = "session-start"


def also_edited(home: str, place: Checkout) -> str:
    """Files that another worktree also edited, from the trail of the last three days."""
    recent = [
        entry
        for entry in trail_log.latest(home, place.repository, since=int(time.time()) - _RECENT_S)
        if entry.tool == "edited"
    ]
    own = trail_log.worktree_key(place.root)
    edited_here = {name for entry in recent if entry.worktree == own for name in entry.handles}
    for root in sibling_roots(place):
        key = trail_log.worktree_key(root)
        names = [name for entry in recent if entry.worktree == key for name in entry.handles]
        edited_twice = [name for name in dict.fromkeys(names) if name in edited_here]
        if edited_twice:
            shown = some_of(edited_twice, _SHOWN)
            return f"also edited in the worktree {root} ({checkout_at(root).label}): {shown}"
    return ""


def collisions(home: str, place: Checkout) -> str:
    """Conflicts with the other worktrees in one line; empty if the repository is not indexed."""
    rivals = sibling_roots(place)[:_MOST_WORKTREES]
    if not rivals or not has_index(home, place):
        return ""
    return answer_within(
        _LONGEST_S, lambda: _collisions_in(home, place, rivals),
        home=home, event=_EVENT, nothing="",
    )  # fmt: skip


def _collisions_in(home: str, place: Checkout, siblings: list[str]) -> str:
    from codelens.engine.engine import Engine

    rivals = [root for root in siblings if _is_usable(home, root)]
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
    return f"conflicts with {'; '.join(reports[:2])}; `codelens conflicts` lists all"


def _is_usable(home: str, root: str) -> bool:
    """Whether a worktree can be opened, so that a broken one does not prevent the comparison."""
    from codelens.errors import CodelensError
    from codelens.scope.repository import Repository

    try:
        Repository.at(root).scope()
    except CodelensError as error:
        hook_input.log_note(home, _EVENT, str(error))
        return False
    return True


def has_index(home: str, place: Checkout) -> bool:
    """Whether the repository is indexed; a hook never builds an index."""
    from pathlib import Path

    from codelens.paths import index_file

    return os.path.exists(index_file(Path(home), place.repository))


# Before an edit: definitions in it that another worktree has changed.

_LONGEST_LOOK_S = 3.0
"""A host waits 5 s for the hook."""
_LARGEST = 16_000_000
"""Maximum size in bytes of a file that is searched for the text of an edit."""


def changed_definitions(
    home: str, place: Checkout, name: str, replaced: Sequence[str]
) -> list[str] | None:
    """A sentence for each definition that an edit touches and another worktree changed.

    None if this is unknown: the repository is not indexed, the file has no definitions that differ,
    or the comparison took too long.

    Args:
        home: the home folder with the indexes.
        place: the agent's worktree.
        name: the file, relative to the worktree's root.
        replaced: the texts that the edit replaces; empty: the whole file.
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
    """Handles of the definitions that contain these lines."""
    answer = engine.outline(name, path=place.root, detail="names", budget_ms=_BUDGET_MS)
    return {
        item.handle
        for file in answer.files
        for item in file.items
        if any(item.start_line <= last and first <= item.end_line for first, last in spans)
    }


def _lines_of(path: str, text: str) -> tuple[int, int] | None:
    """The first and last line of a text in a file; None if the file does not contain it."""
    try:
        whole = read_small(path, _LARGEST).decode("utf-8", "replace")
    except OSError:
        return None
    at = whole.find(text)
    if at < 0 or not text:
        return None
    first = whole.count("\n", 0, at) + 1
    return first, first + text.rstrip("\n").count("\n")
