"""Answers about sessions of agents: frozen values. Times are seconds since 1970."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.answers.context_answers import SavedContext
from codelens.types import Receipt


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
