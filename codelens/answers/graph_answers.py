"""Answers about the graph: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codelens.answers.reading_answers import TiedNote
from codelens.types import Receipt

Fit = Literal["breaks", "uncertain", "fits"]
"""Whether a use of what was declared otherwise, or is gone, can stand as it is."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A definition or a file, as it is named in an answer."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty for a file."""
    kind: str
    """Of the symbol, or `file`, `folder`, `lines`."""
    signature: str
    test: bool
    """It stands in a file of tests."""


@dataclass(frozen=True, slots=True)
class Relative:
    """One thing related to what was asked about."""

    relation: str
    node: GraphNode
    distance: int
    sites: tuple[str, ...]
    """`path:line` of every place where the relation stands."""
    count: int
    """How many such places there are."""
    via: str
    """Handle of what it is related through; empty at distance 1."""
    why: str = ""
    """For tests: what makes it one."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path from A to B."""

    node: GraphNode
    """What is stepped to; of the first step, where the path begins."""
    how: str
    """`call`, `ref`, `inherit`, `import`, `override`; empty for the first."""
    site: str
    """`path:line` where that stands; empty for the first."""


Basis = Literal["choice", "family", "name", "text"]
"""Why a use is possible: it means one of several definitions; it means a method that the target
overrides, or that overrides the target; only its name says so; or a text names a template or a
setting."""


@dataclass(frozen=True, slots=True)
class PossibleUse:
    """Something that uses what was asked about, or another definition of that name."""

    node: GraphNode
    sites: tuple[str, ...]
    """`path:line` of every such use."""
    count: int
    """How many there are."""
    choices: int
    """Of how many definitions each means one: overloads, or alternatives of a build; 0 if all
    of them were asked about."""
    why: str = ""
    """What makes it likely: what the text says, or how the use fits the definition."""
    basis: Basis = "choice"


@dataclass(frozen=True, slots=True)
class Reference:
    """One line that uses, or may use, what was asked about."""

    path: str
    line: int
    text: str
    """The line as it stands, without the blanks around it."""
    kinds: tuple[str, ...]
    """`call`, `ref`, `inherit`, `import`, `override`, `satisfy`; empty for a possible use."""
    within: GraphNode
    """The definition that the line is in, or its file."""
    basis: Basis | None = None
    """Why it is only possible; None if it is certain."""
    choices: int = 0
    why: str = ""
    """What speaks for a possible use; of a certain one the alias that it names: `through g`."""


@dataclass(frozen=True, slots=True)
class ReferencesAnswer:
    """Every line that uses a definition or file, in pages."""

    receipt: Receipt
    target: GraphNode
    places: tuple[GraphNode, ...]
    """Where the target is defined and declared: overloads and stubs as well."""
    references: tuple[Reference, ...]
    """Certain ones outside of tests, certain ones in tests, then possible ones, the likeliest
    first; within each by path and line."""
    certain: int
    """Certain lines in all pages."""
    in_tests: int
    """How many of these are in files of tests."""
    possible: int
    """Possible lines in all pages."""
    files: int
    """Files with a certain or possible line."""
    left: int
    """Lines after this page."""
    cursor: str
    """To be given to get the next page; empty on the last."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedAnswer:
    """What is related to a definition or file, or the paths from it to another."""

    receipt: Receipt
    target: GraphNode
    results: tuple[Relative, ...]
    totals: tuple[tuple[str, int], ...]
    """Relation -> how many there are, shown or not."""
    paths: tuple[tuple[PathStep, ...], ...] = ()
    goal: GraphNode | None = None
    """What the paths lead to, when they were asked for."""
    reversed: bool = False
    """There is no path from A to B; these lead from B to A."""
    may: tuple[PossibleUse, ...] = ()
    """Who may use it: no part of the results."""
    may_count: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AffectedNode:
    """One definition or file that a change can reach."""

    node: GraphNode
    distance: int
    how: str
    via: str
    """Handle of what it uses; at distance 1 of what changes."""
    sites: tuple[str, ...]
    """`path:line` where it uses that: at distance 1 every such line, later the first."""
    fit: Fit | None = None
    """Of a direct use of a function that is declared otherwise, or is gone, since the base."""


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file of tests to run."""

    path: str
    distance: int
    """0: it changes itself, or is named for a file that changes."""
    why: str
    handles: tuple[str, ...]
    """The tests in it that are reached, nearest first."""
    count: int = 0
    """How many definitions in it are reached."""
    sites: tuple[str, ...] = ()
    """`path:line` of every line in it that directly uses what changes."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Something that changes."""

    node: GraphNode
    how: str
    """`asked`, or from a diff `changed`, `added`, `removed`, `moved`."""
    lines: str = ""
    """Lines of it that changed, from a diff."""
    before: str = ""
    """Where a file that moved was."""


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """Who can be affected by a change."""

    receipt: Receipt
    changed: tuple[Changed, ...]
    results: tuple[AffectedNode, ...]
    totals: tuple[tuple[int, int], ...]
    """Distance -> how many there are, shown or not."""
    files: int
    """Files hit, tests not counted."""
    tests: tuple[TestFile, ...]
    test_count: int
    at_least: bool
    """There can be more: see the notes."""
    base: str = ""
    """What a diff is against."""
    fits: tuple[tuple[Fit, int], ...] = ()
    """How many of the direct users break, are uncertain, and fit, listed or not."""
    top_levels: int = 0
    """How many of those hit are files, by what stands in them outside of any definition."""
    only_import: int = 0
    """Files that only import what changes, and are not listed as something in them is hit."""
    may: tuple[PossibleUse, ...] = ()
    """Who may use what changes directly: no part of the results."""
    may_count: int = 0
    notes: tuple[str, ...] = ()
    contexts: tuple[TiedNote, ...] = ()
    """Saved notes on what changes and on its direct users; the best first."""


@dataclass(frozen=True, slots=True)
class MapSymbol:
    """A definition on the map."""

    node: GraphNode
    depth: int
    users: int
    """Files that use it, its own not counted."""
    at_least: bool = False
    """Not all files that hold its name are resolved: there may be more."""


@dataclass(frozen=True, slots=True)
class MapFile:
    """A file on the map."""

    path: str
    language: str
    lines: int
    score: float
    """Its share of the rank of all files, in percent."""
    imported_by: int
    """Files that import it, or hold names that it defines."""
    symbols: tuple[MapSymbol, ...]
    left: int
    """Definitions that are not shown."""


@dataclass(frozen=True, slots=True)
class MapFolder:
    """A folder on the map."""

    path: str
    files: int
    lines: int
    score: float


@dataclass(frozen=True, slots=True)
class MapEntry:
    """Where a program, or the use of a library, begins."""

    name: str
    handle: str
    why: str


@dataclass(frozen=True, slots=True)
class MapAnswer:
    """A repository in so many tokens."""

    receipt: Receipt
    name: str
    languages: tuple[tuple[str, int, int], ...]
    """Language, files, lines; most lines first, prose and data last."""
    folders: tuple[MapFolder, ...]
    entries: tuple[MapEntry, ...]
    hot: tuple[MapSymbol, ...]
    """Definitions that most files use."""
    files: tuple[MapFile, ...]
    links: tuple[tuple[str, str, int], ...]
    """Between the files shown: user, used, weight."""
    ranked: int
    """How many files there were to choose from."""
    focus: tuple[str, ...] = ()
    meant: tuple[GraphNode, ...] = ()
    """What a query finds first: definitions, and files."""
    notes: tuple[str, ...] = ()
    folder_count: int = 0
    entry_count: int = 0
    hot_count: int = 0
    meant_count: int = 0
    """How many there are of each, those that the tokens have no room for included."""
