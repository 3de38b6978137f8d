"""Answers about saved contexts, usage and sessions: frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class SavedHandle:
    """A saved handle and its status in the view of the answer."""

    status: str
    """`current`; `moved`: the same text elsewhere; `changed`; `gone`; `unknown`: there was no view,
    or it is partial and does not contain the handle yet."""
    handle: str
    """Current handle; the saved one if it is gone."""
    was: str
    """The saved handle."""
    start_line: int = 0
    end_line: int = 0
    near: tuple[str, ...] = ()
    """Handles of definitions similar to one that is gone."""
    ref: str = ""
    """The ref in the saved handle, if any."""


@dataclass(frozen=True, slots=True)
class SavedContext:
    """A saved context. Times are seconds since 1970."""

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
    """Branch at the time of saving; empty if detached or in a plain folder."""
    head: str
    items: tuple[SavedHandle, ...]


@dataclass(frozen=True, slots=True)
class FormerPlace:
    """Contexts that may belong to this repository, saved before it was moved here."""

    place: str
    """The git folder, or plain folder, that no longer exists."""
    contexts: int


@dataclass(frozen=True, slots=True)
class SaveAnswer:
    """The saved context."""

    receipt: Receipt
    saved: SavedContext
    replaced: bool
    notes: tuple[str, ...] = ()
    updated: bool = False
    """Whether an existing context was updated; its other fields stay."""


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """The saved contexts that were found."""

    receipt: Receipt
    query: str
    exact: bool
    """Whether `query` is the name of the only context found."""
    results: tuple[SavedContext, ...]
    more: int = 0
    """Number of contexts that were left out."""
    former: tuple[FormerPlace, ...] = ()
    notes: tuple[str, ...] = ()
    hidden: int = 0
    """Number of matching contexts that are hidden because they expired."""


@dataclass(frozen=True, slots=True)
class ForgetAnswer:
    """The names of forgotten contexts."""

    forgotten: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenOver:
    """The result of an import, or of taking over contexts saved elsewhere; fields are names."""

    source: str
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    same: tuple[str, ...]
    """Names that exist already with identical content."""
    refused: tuple[str, ...]
    """Names that exist with other content; these contexts were left out."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageLine:
    """Calls of a day, of a tool, or in a repository."""

    name: str
    """A day, a tool, or a repository's path."""
    calls: int
    failed: int
    served_bytes: int
    whole_bytes: int
    """Bytes of the files that would have been opened instead, see
    `codelens.engine.upkeep.usage_counter`."""
    saved_bytes: int


@dataclass(frozen=True, slots=True)
class UsageAnswer:
    """Usage counts of codelens on this machine."""

    counted: bool
    """Whether calls are counted now."""
    days: int
    total: UsageLine
    by_day: tuple[UsageLine, ...]
    """Only days with calls, oldest first."""
    by_tool: tuple[UsageLine, ...]
    """Most calls first."""
    by_repository: tuple[UsageLine, ...]


# Answers about agent sessions: frozen values. Times are seconds since 1970.


@dataclass(frozen=True, slots=True)
class TrailCall:
    """One line of the session trail."""

    at_s: int
    session: str
    """The end of the session's id; empty if unknown."""
    branch: str
    tool: str
    """The action: `explored`, `expanded`, `impact`, `edited`."""
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
    """Branch at its last call."""


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """The trail of one session, or a list of all sessions here."""

    receipt: Receipt
    """Describes only the scope: no file is checked."""
    session: str
    """The end of its id; empty for a list, or without sessions."""
    calls: tuple[TrailCall, ...]
    """The latest calls, oldest first."""
    more: int
    """Number of earlier calls that were left out."""
    sessions: tuple[SessionSummary, ...]
    """Latest first."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolTrail:
    """The calls of a session to one tool."""

    tool: str
    calls: int
    latest: tuple[str, ...]
    """Texts of its last calls, the last one first; each text once."""


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file that a session read or edited."""

    path: str
    edited: bool


@dataclass(frozen=True, slots=True)
class EditedDefinition:
    """A definition that changed since the session began."""

    how: tuple[str, ...]
    """As in a diff: `added`, `removed`, `signature`, `body`."""
    handle: str


@dataclass(frozen=True, slots=True)
class BranchChanges:
    """The changes in this worktree since a session began."""

    began: str
    """The commit at its beginning."""
    commits: int
    is_all: bool
    """False if there are more commits than were counted."""
    subjects: tuple[str, ...]
    """Subjects of the latest commits."""
    files: int
    """Number of changed files, committed or not."""
    definitions: tuple[EditedDefinition, ...]
    more: int
    """Number of definitions that were left out."""
    left: str = ""
    """The session's earlier branch; empty if it is the same."""


@dataclass(frozen=True, slots=True)
class WorktreeWork:
    """The work in another worktree since a session began."""

    worktree: str
    branch: str
    edited: tuple[str, ...]
    """Paths by the trail, the latest first."""
    commits: int
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecoverAnswer:
    """The data that a session needs to continue after losing its context."""

    receipt: Receipt
    session: str
    """The end of its id; empty without a trail."""
    first_s: int
    last_s: int
    calls: int
    saved: tuple[SavedContext, ...]
    """Saved contexts, by category."""
    trail: tuple[ToolTrail, ...]
    """Tools, the last used first."""
    files: tuple[TouchedFile, ...]
    more_files: int
    definitions: tuple[str, ...]
    """Handles, the latest first."""
    more_definitions: int
    changes: BranchChanges | None
    """None if the commit at the session's beginning is unknown."""
    elsewhere: tuple[WorktreeWork, ...]
    forgot: bool
    """Whether code sent before will be sent again."""
    notes: tuple[str, ...] = ()
