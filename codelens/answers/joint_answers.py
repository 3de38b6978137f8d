"""What a search of several repositories answers with."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.answers.search_answers import Hit
from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class RepositoryAnswer:
    """What one of the repositories came to."""

    root: str
    """Top of its worktree; as it was asked for where that is not known."""
    receipt: Receipt | None
    """None where it could not be asked."""
    mode: str = ""
    found: int = 0
    """Results it has among those of the answer."""
    notes: tuple[str, ...] = ()
    error: str = ""
    """Why it has no results; empty if it was asked."""
    error_in_call: str = ""
    """The same for one who calls a tool."""


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """Ranked places of several repositories in one order, best first.

    The handle of a place has its absolute path, so that it says which repository it is in; its
    `path` is relative to the top of that.
    """

    query: str
    results: tuple[Hit, ...]
    repositories: tuple[RepositoryAnswer, ...]
    """In the order asked."""
    notes: tuple[str, ...] = ()
    """What is said of the whole."""
    more: int = 0
    """Results that were left out to keep to `max_tokens`."""
    left: int = 0
    """How many more definitions or files answer, at least, beyond the limit."""
