"""What other worktrees of the repository are doing to the code that one stands in."""

from __future__ import annotations

import os
import threading
import time

from codelens.focus.checkout import Checkout, checkout_at, sibling_roots
from codelens.trail import trail_log

_RECENT_S = 3 * 86_400
_MOST_WORKTREES = 8
_LONGEST_S = 4.0
"""A host waits 10 s for the whole; what takes longer is left out."""
_BUDGET_MS = 300.0
_SHOWN = 5


def also_edited(home: str, place: Checkout) -> str:
    """Files that another worktree edited too, by the trail of the last three days."""
    recent = [
        one
        for one in trail_log.latest(home, place.repository, since=int(time.time()) - _RECENT_S)
        if one.tool == "edited"
    ]
    own = trail_log.worktree_key(place.root)
    mine = {name for one in recent if one.worktree == own for name in one.handles}
    for root in sibling_roots(place):
        key = trail_log.worktree_key(root)
        names = [name for one in recent if one.worktree == key for name in one.handles]
        both = [name for name in dict.fromkeys(names) if name in mine]
        if both:
            more = f" and {len(both) - _SHOWN} more" if len(both) > _SHOWN else ""
            label = checkout_at(root).label
            return f"also edited in the worktree {root} ({label}): {', '.join(both[:_SHOWN])}{more}"
    return ""


def collisions(home: str, place: Checkout) -> str:
    """What would collide with the other worktrees, in one line; asked where there is an index."""
    rivals = sibling_roots(place)[:_MOST_WORKTREES]
    if not rivals or not os.path.exists(_index(home, place)):
        return ""
    found: list[str] = []
    asked = threading.Thread(target=lambda: found.append(_asked(place, rivals)), daemon=True)
    asked.start()
    asked.join(_LONGEST_S)
    return found[0] if found else ""


def _asked(place: Checkout, rivals: list[str]) -> str:
    from codelens.engine.engine import Engine

    with Engine() as engine:
        answer = engine.conflicts(path=place.root, others=rivals, budget_ms=_BUDGET_MS)
    told: list[str] = []
    for rival in answer.results:
        lines = [one for one in rival.collisions if one.grade in {"certain", "likely"}]
        paths = [one.path for one in rival.textual if not one.harmless]
        if lines or paths:
            first = lines[0].said if lines else f"{paths[0]} cannot be merged"
            count = len(lines) + len(paths)
            more = f" and {count - 1} more" if count > 1 else ""
            told.append(f"{rival.name} ({rival.branch}): {first}{more}")
    if not told:
        return ""
    return f"collides with {'; '.join(told[:2])}; `codelens conflicts` lists all"


def _index(home: str, place: Checkout) -> str:
    from pathlib import Path

    from codelens.paths import index_file

    return os.fspath(index_file(Path(home), place.repository))
