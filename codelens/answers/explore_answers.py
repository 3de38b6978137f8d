"""What `Engine.explore` answers with: the code a task needs, in a number of tokens."""

from __future__ import annotations

from dataclasses import dataclass

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
    contexts: tuple[str, ...] = ()
    """Saved notes on what is shown, a line each."""
    notes: tuple[str, ...] = ()
    more: str = ""
    """What was left out and the next call; empty if nothing was."""
