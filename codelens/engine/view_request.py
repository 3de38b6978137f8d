"""Which view a question is about, and how its freshness check is to be done."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from codelens.engine.asked_files import by_handles
from codelens.extract.text_scan import wanted
from codelens.handles.handle_grammar import parse_handle
from codelens.index.progress import Progress, silent
from codelens.index.refresh_budget import Budget


class ViewRequest(NamedTuple):
    """What every question says before it says what it asks."""

    path: str | Path = "."
    """Any path inside the worktree."""
    ref: str | None = None
    """A branch, tag or commit instead of the worktree's files."""
    budget_ms: float | None = None
    """How long the freshness check may take; None: until the view is fresh."""
    progress: Progress = silent
    """Told of long work."""
    words: str = ""
    """The query, if there is one: pending files that hold its words are read first."""

    targets: tuple[str, ...] = ()
    """Handles, paths or names that are asked about, likewise."""

    def budget(self, *, leaves_rest: bool = False) -> Budget:
        """The budget of a refresh that begins now."""
        request = by_handles(self.targets) if self.targets else wanted(self.words)
        return Budget.starting_now(self.budget_ms, request, leaves_rest=leaves_rest)


def at_own_ref(view_request: ViewRequest, target: str) -> ViewRequest:
    """The request, at the ref that the target names by itself if no other is asked for.

    Raises:
        BadHandle: the target cannot be read.
    """
    if view_request.ref is not None or ":" not in target:
        return view_request
    return view_request._replace(ref=parse_handle(target, "/").ref or None)
