"""What a search answers with; apart from `reading_answers`, for a search is what starts most often.

A frozen dataclass costs about a millisecond of CPU to make, and there are fifteen others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codelens.answers.tied_notes import TiedNote
from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that answers a search."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty when the place is no definition."""
    kind: str
    """Kind of the symbol, or `chunk`, `file`, `line`."""
    language: str
    score: float
    signature: str
    """The definition's, or the best line of the place."""
    why: str
    """A few words: which signals put it here."""
    stale: bool = False
    """The file is known to have changed since; its text here is the older one."""
    alike: tuple[str, ...] = ()
    """Handles of places with nearly the same text, that stand behind this one."""
    also: tuple[str, ...] = ()
    """Handles of further places of the same file that answer better than any other file."""
    explain: Mapping[str, float] | None = None
    """Each feature's share of the score, when asked for."""
    doc: str = ""
    """First line of the definition's doc."""
    repository: str = ""
    """Top of the worktree that it is in, where several repositories were asked."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Ranked places, best first."""

    receipt: Receipt
    results: tuple[Hit, ...]
    query: str
    mode: str
    notes: tuple[str, ...] = ()
    """What was understood or not, in sentences."""
    contexts: tuple[TiedNote, ...] = ()
    """Saved notes on the places; the best first."""
    context_count: int = 0
    """How many saved notes there are on the places."""
    more: int = 0
    """Results that were left out to keep to `max_tokens`."""
    unshown: int = 0
    """Results that a short text leaves out, since better ones stand before them."""
    left: int = 0
    """How many more definitions or files answer, at least, beyond the limit."""
