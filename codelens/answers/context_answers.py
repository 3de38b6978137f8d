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
    `codelens.engine.upkeep.usage_counter`."""
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


# Answers about sessions of agents: frozen values. Times are seconds since 1970.


@dataclass(frozen=True, slots=True)
class TrailCall:
    """One line of the session trail."""

    at_s: int
    session: str
    """The end of the session's id; empty where it is not known."""
    branch: str
    tool: str
    """What was done: `explored`, `expanded`, `impact`, `edited`."""
    summary: str
    handles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session of the trail in this worktree."""

    session: str
    calls: int
    first_s: int
    last_s: int
    branch: str
    """Where its last call was made."""


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """The trail of one session, or a list of all sessions here."""

    receipt: Receipt
    """Of the scope alone: no file is looked at."""
    session: str
    """The end of its id; empty where a list was wanted, or nothing is here."""
    calls: tuple[TrailCall, ...]
    """Oldest first; the latest ones."""
    more: int
    """Earlier calls that were left out."""
    sessions: tuple[SessionSummary, ...]
    """Latest first."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolTrail:
    """What a session did with one tool."""

    tool: str
    calls: int
    latest: tuple[str, ...]
    """Of its last calls, the last one first; each text once."""


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file that a session read of or edited."""

    path: str
    edited: bool


@dataclass(frozen=True, slots=True)
class EditedDefinition:
    """A definition that is not as it was when the session began."""

    how: tuple[str, ...]
    """As in a diff: `added`, `removed`, `signature`, `body`."""
    handle: str


@dataclass(frozen=True, slots=True)
class BranchChanges:
    """What is different in this worktree since a session began."""

    began: str
    """The commit that it began on."""
    commits: int
    is_all: bool
    """False: there are more commits than were counted."""
    subjects: tuple[str, ...]
    """Of the latest commits."""
    files: int
    """Files with changes, committed or not."""
    definitions: tuple[EditedDefinition, ...]
    more: int
    """Definitions that were left out."""
    left: str = ""
    """The branch that the session stood on before; empty if it is the same."""


@dataclass(frozen=True, slots=True)
class WorktreeWork:
    """What was done in another worktree since a session began."""

    worktree: str
    branch: str
    edited: tuple[str, ...]
    """Paths, the latest first, by the trail."""
    commits: int
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecoverAnswer:
    """What a session that lost its memory needs to go on."""

    receipt: Receipt
    session: str
    """The end of its id; empty where there is no trail."""
    first_s: int
    last_s: int
    calls: int
    saved: tuple[SavedContext, ...]
    """By category."""
    trail: tuple[ToolTrail, ...]
    """The tool that was used last first."""
    files: tuple[TouchedFile, ...]
    more_files: int
    definitions: tuple[str, ...]
    """Handles, the latest first."""
    more_definitions: int
    changes: BranchChanges | None
    """None where it is not known what the session began on."""
    elsewhere: tuple[WorktreeWork, ...]
    forgot: bool
    """What was sent is sent again from now on."""
    notes: tuple[str, ...] = ()
