"""What other worktrees of the repository are doing to the code that one stands in."""

from __future__ import annotations

import os
import time

from codelens.focus.checkout import Checkout, checkout_at, sibling_roots
from codelens.hooks import hook_log
from codelens.hooks.timed_question import answer_within
from codelens.trail import trail_log

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
        hook_log.note(home, _EVENT, str(error))
        return False
    return True


def has_index(home: str, place: Checkout) -> bool:
    """Whether the repository is indexed: a hook builds nothing."""
    from pathlib import Path

    from codelens.paths import index_file

    return os.path.exists(index_file(Path(home), place.repository))
