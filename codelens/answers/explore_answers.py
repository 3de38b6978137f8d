"""What `Engine.explore` answers with: the code a task needs, in a number of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.answers.tied_notes import TiedNote
from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a definition."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty for lines that stand in no definition."""
    kind: str
    part: str
    """Of `codelens.capsule.packing.Part`: what it is to the task."""
    about: str
    """Why it is there, in a few words."""
    lines: tuple[tuple[int, str], ...]
    """Number and text of each line that is shown here; none is shown twice in an answer."""
    left_out: tuple[str, ...] = ()
    """Handles of the lines of it that are shown nowhere in the answer."""
    stale: bool = False
    sent: str = ""
    """`unchanged`: it was sent in this session, and `lines` is its signature alone; `changed`: it
    was sent, and is another text now."""
    sent_lines: tuple[tuple[int, int], ...] = ()
    """Of one that is unchanged the spans that were sent, by the numbers that they have now."""


@dataclass(frozen=True, slots=True)
class NamedDefinition:
    """A definition that is named and not shown."""

    name: str
    """Qualified."""
    line: int


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file with definitions that answer as well, or with tests."""

    path: str
    definitions: tuple[NamedDefinition, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a capsule had no room for."""

    definitions: int
    """Definitions that rank below those shown, and callers that were not looked at."""
    cut: bool
    """Lines of a definition that was looked for were left out."""
    handles: tuple[str, ...]
    """What to read next, best first: lines left out, then definitions."""


@dataclass(frozen=True, slots=True)
class ExploreAnswer:
    """A capsule."""

    receipt: Receipt
    task: str
    intent: str
    intent_words: tuple[str, ...]
    """The words of the task that told the intent; empty if it was given, or none did."""
    pieces: tuple[Piece, ...]
    """By file, in the order of what answers best; in a file by line."""
    named: tuple[NamedFile, ...] = ()
    tests: tuple[NamedFile, ...] = ()
    contexts: tuple[TiedNote, ...] = ()
    """Saved notes on what is shown; those whose code has changed come last."""
    gone_contexts: int = 0
    """Saved notes on code of the shown files that is there no more."""
    notes: tuple[str, ...] = ()
    more: LeftOut | None = None
    """What was left out; None if nothing was."""
    test_count: int = 0
    context_count: int = 0
    note_count: int = 0
    """How many of each there are, where not all have room."""
