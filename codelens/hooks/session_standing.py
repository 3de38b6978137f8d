"""Where a worktree stands, as marks of sessions have it; read without pygit2."""

from __future__ import annotations

from codelens.focus.checkout import Checkout, head_commit
from codelens.trail import trail_log
from codelens.trail.session_marks import Standing


def standing_at(place: Checkout) -> Standing:
    """The commit and branch of a worktree."""
    worktree = trail_log.worktree_key(place.root)
    return Standing(place.repository, worktree, head_commit(place), place.branch)
