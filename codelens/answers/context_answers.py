"""Answers about saved contexts: frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class SavedHandle:
    """A handle that was saved, and how it fares in the view that the answer stands on."""

    status: str
    """`current`; `moved`: the same text elsewhere; `changed`; `gone`; `unknown`: no view was had,
    or it is partial and does not have it yet."""
    handle: str
    """As it is to be written now; as it was saved where it is gone."""
    was: str
    """As it was saved."""
    start_line: int = 0
    end_line: int = 0
    near: tuple[str, ...] = ()
    """Handles of what resembles one that is gone."""
    ref: str = ""
    """The ref that it was saved from, where it named one."""


@dataclass(frozen=True, slots=True)
class SavedContext:
    """Something that was saved. Times are seconds since 1970."""

    name: str
    note: str
    category: str
    tags: tuple[str, ...]
    pinned: bool
    created_s: int
    saved_s: int
    expires_s: int | None
    expired: bool
    branch: str
    """Where one stood when saving; empty when detached and in a plain folder."""
    head: str
    items: tuple[SavedHandle, ...]


@dataclass(frozen=True, slots=True)
class FormerPlace:
    """Contexts that may be of this repository, saved before it was moved here."""

    place: str
    """The git folder, or the plain folder, that is gone."""
    contexts: int


@dataclass(frozen=True, slots=True)
class SaveAnswer:
    """What was saved."""

    receipt: Receipt
    saved: SavedContext
    replaced: bool
    notes: tuple[str, ...] = ()
    updated: bool = False
    """Fields of the one that was there were changed, and the others left as they were."""


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """What was found of what was saved."""

    receipt: Receipt
    query: str
    exact: bool
    """`query` is the name of the one context found."""
    results: tuple[SavedContext, ...]
    more: int = 0
    """Contexts that were left out."""
    former: tuple[FormerPlace, ...] = ()
    notes: tuple[str, ...] = ()
    hidden: int = 0
    """Contexts that answer and are not shown, as their time to live is over."""


@dataclass(frozen=True, slots=True)
class ForgetAnswer:
    """Names that were forgotten."""

    forgotten: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenOver:
    """What came of an import, or of taking over what was saved elsewhere; names."""

    source: str
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    same: tuple[str, ...]
    """They were here already, alike to the letter."""
    refused: tuple[str, ...]
    """Something else is here under these names; they were left out."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageLine:
    """Calls of a day, of a tool, or in a repository."""

    name: str
    """A day, a tool, or where the repository is."""
    calls: int
    failed: int
    served_bytes: int
    whole_bytes: int
    """Of the files that would have been opened instead, see
    `codelens.engine.usage.usage_counter`."""
    saved_bytes: int


@dataclass(frozen=True, slots=True)
class UsageAnswer:
    """How much codelens was used, on this machine alone."""

    counted: bool
    """Whether calls are counted now."""
    days: int
    total: UsageLine
    by_day: tuple[UsageLine, ...]
    """Oldest first; only days with calls."""
    by_tool: tuple[UsageLine, ...]
    """Most calls first."""
    by_repository: tuple[UsageLine, ...]
