"""Which views have had their time: the rule alone, from facts that others find out.

Never goes: a pinned view, the active view of a worktree that is there, one that was used within
two hours, one whose folder cannot be reached (an unmounted disk, a locked worktree), and any view
while its index is being written. Ages are by the index's clock
(`codelens.store.views.index_metadata`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from codelens.store.database.store_clock import DAY_S
from codelens.store.views.index_metadata import TOUCH_S

LATELY_S = 2 * TOUCH_S
"""A view used since is never due, whatever the settings: the last use is known to an hour."""

Standing = Literal["active", "inactive", "detached", "ref", "gone", "unreachable"]
"""What a view is now: checked out in a worktree; another branch of it; an older detached HEAD;
a commit that was asked for; of a folder that was removed; of one that may be there or not."""


class Limits(NamedTuple):
    """How long a view is kept that nobody asks, in seconds."""

    branch_s: float = 14 * DAY_S
    detached_s: float = 3 * DAY_S
    gone_s: float = 2 * DAY_S
    ref_s: float = 3 * DAY_S


class Case(NamedTuple):
    """All that decides whether a view goes."""

    standing: Standing
    pinned: bool
    unused_s: float
    """Since it was last used."""
    gone_s: float = 0.0
    """Since its folder was first missed."""


class Verdict(NamedTuple):
    """Whether a view is due, and why in a few words."""

    goes: bool
    why: str


def verdict(case: Case, limits: Limits) -> Verdict:
    """Whether a view goes now."""
    if case.pinned:
        return Verdict(False, "pinned")
    if case.standing == "active":
        return Verdict(False, "checked out in a worktree")
    if case.standing == "unreachable":
        return Verdict(False, "its folder cannot be reached")
    description, limit_s, age_s = {
        "inactive": ("inactive branch", limits.branch_s, case.unused_s),
        "detached": ("inactive detached HEAD", limits.detached_s, case.unused_s),
        "ref": ("ref", limits.ref_s, case.unused_s),
        "gone": ("its folder was removed", limits.gone_s, case.gone_s),
    }[case.standing]
    since = "missing for" if case.standing == "gone" else "unused for"
    if case.unused_s < LATELY_S:
        return Verdict(False, f"{description}, but recently used")
    if age_s < limit_s:
        left = span(limit_s - age_s)
        return Verdict(False, f"{description}, {since} {span(age_s)}, to be pruned in {left}")
    return Verdict(True, f"{description}, {since} {span(age_s)}")


def span(seconds: float) -> str:
    """A length of time in one unit: `3 days`, `5 hours`, `10 minutes`."""
    for unit, length in (("day", DAY_S), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}s"
    return f"{max(int(seconds), 0)} s"
