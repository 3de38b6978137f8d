"""Answers about the graph: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codelens.answers.reading_answers import LinkedNote
from codelens.types import Receipt

Fit = Literal["breaks", "uncertain", "fits"]
"""Whether a use of a redeclared or removed definition is still valid."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A definition or a file in an answer."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty for a file."""
    kind: str
    """Kind of the symbol, or `file`, `folder`, `lines`."""
    signature: str
    test: bool
    """Whether it is in a test file."""


@dataclass(frozen=True, slots=True)
class Relative:
    """A relative of the target."""

    relation: str
    node: GraphNode
    distance: int
    sites: tuple[str, ...]
    """`path:line` of every place of the relation."""
    count: int
    """Number of such places."""
    via: str
    """Handle of the intermediate relative; empty at distance 1."""
    why: str = ""
    """Why it counts as a test."""
    owner: str = ""
    """Handle of the definition that it is a relative of, if several have the name."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a path from A to B."""

    node: GraphNode
    """The target of the step; for the first step, the start of the path."""
    how: str
    """`call`, `ref`, `inherit`, `import`, `override`; empty for the first."""
    site: str
    """`path:line` of the use; empty for the first."""


Basis = Literal["choice", "family", "name", "text"]
"""The reason why a use is possible: it refers to one of several definitions; it refers to a method
that the target overrides, or that overrides the target; only its name matches; or a text names a
template or a setting."""


@dataclass(frozen=True, slots=True)
class PossibleUse:
    """A use of the target, or of another definition with that name."""

    node: GraphNode
    sites: tuple[str, ...]
    """`path:line` of each use."""
    count: int
    """Number of these uses."""
    choices: int
    """Number of definitions of which each use means one: overloads, or alternatives of a build; 0
    if all of them are targets."""
    why: str = ""
    """Evidence for the use: what the text says, or how the use fits the definition."""
    basis: Basis = "choice"


@dataclass(frozen=True, slots=True)
class Reference:
    """A line that uses, or may use, the target."""

    path: str
    line: int
    text: str
    """The stripped line."""
    kinds: tuple[str, ...]
    """`call`, `ref`, `inherit`, `import`, `override`, `satisfy`, `include`; empty for a possible
    use."""
    within: GraphNode
    """The definition around the line, or its file."""
    certain: bool = True
    basis: Basis | None = None
    """Why the use is only possible; `family` for a certain use of a method that overrides the
    target, or that it overrides; None for other certain uses."""
    choices: int = 0
    why: str = ""
    """Evidence for a possible use; for a certain use its alias (`through g`) or the method."""
    owners: tuple[str, ...] = ()
    """Handles of the definitions that it certainly uses, if several have the name."""


@dataclass(frozen=True, slots=True)
class ReferencesAnswer:
    """All lines that use a definition or file, in pages."""

    receipt: Receipt
    target: GraphNode
    places: tuple[GraphNode, ...]
    """Definitions and declarations of the target, including overloads and stubs; of a type also
    constructors, destructors and members outside of it, which spell its name."""
    references: tuple[Reference, ...]
    """Certain uses outside of tests, certain uses in tests, the same of the methods that override
    the target or that it overrides, then possible uses, the most likely first; within each by path
    and line. If several definitions have the name, the certain uses of each are together."""
    certain: int
    """Number of certain lines in all pages."""
    in_tests: int
    """Number of these in test files."""
    in_family: int
    """Number of certain lines with methods that override the target, or that it overrides."""
    possible: int
    """Number of possible lines in all pages."""
    files: int
    """Number of files with a certain or possible line."""
    left: int
    """Number of lines after this page."""
    cursor: str
    """Cursor of the next page; empty on the last."""
    notes: tuple[str, ...] = ()
    owners: tuple[GraphNode, ...] = ()
    """The definitions that have the name, if there are several; the lines are those of all."""
    owner_lines: tuple[int, ...] = ()
    """Number of certain lines of each owner."""


@dataclass(frozen=True, slots=True)
class RelatedAnswer:
    """The relatives of a definition or file, or paths from it to another."""

    receipt: Receipt
    target: GraphNode
    """The first of `owners`, if there are several."""
    results: tuple[Relative, ...]
    totals: tuple[tuple[str, int], ...]
    """Relation -> number of relatives, shown or not; of several owners the sum."""
    paths: tuple[tuple[PathStep, ...], ...] = ()
    goal: GraphNode | None = None
    """Target of the paths, if requested."""
    reversed: bool = False
    """Whether no path leads from A to B, and these lead from B to A."""
    may: tuple[PossibleUse, ...] = ()
    """Possible users, which are not in the results."""
    may_count: int = 0
    notes: tuple[str, ...] = ()
    owners: tuple[GraphNode, ...] = ()
    """The definitions that have the name, if there are several; `results` are in this order."""
    owner_totals: tuple[tuple[tuple[str, int], ...], ...] = ()
    """The totals of each owner."""
    places: tuple[GraphNode, ...] = ()
    """As in `ReferencesAnswer`."""


@dataclass(frozen=True, slots=True)
class AffectedNode:
    """A definition or file that a change can affect."""

    node: GraphNode
    distance: int
    how: str
    via: str
    """Handle of what it uses; at distance 1 a changed definition."""
    sites: tuple[str, ...]
    """`path:line` of these uses: at distance 1 every line, later the first."""
    fit: Fit | None = None
    """How a direct use fits a function that was redeclared or removed since the base."""
    owner: str = ""
    """Handle of the definition that affects it, if several have the name."""


@dataclass(frozen=True, slots=True)
class TestFile:
    """A test file to run."""

    path: str
    distance: int
    """0 if it changes itself, or its name matches a changed file."""
    why: str
    handles: tuple[str, ...]
    """Affected tests in it, nearest first."""
    count: int = 0
    """Number of affected definitions in it."""
    sites: tuple[str, ...] = ()
    """`path:line` of every direct use of a change in it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A definition or file that changes."""

    node: GraphNode
    how: str
    """`asked`; or, from a diff, `changed`, `added`, `removed`, `moved`."""
    lines: str = ""
    """Its changed lines, from a diff."""
    before: str = ""
    """Old path of a moved file."""


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """The definitions and files that a change can affect."""

    receipt: Receipt
    changed: tuple[Changed, ...]
    results: tuple[AffectedNode, ...]
    totals: tuple[tuple[int, int], ...]
    """Distance -> number of affected nodes, shown or not."""
    files: int
    """Number of affected files, without tests."""
    tests: tuple[TestFile, ...]
    test_count: int
    at_least: bool
    """Whether there may be more: see the notes."""
    base: str = ""
    """The base of the diff."""
    fits: tuple[tuple[Fit, int], ...] = ()
    """Number of direct users that break, are uncertain, and fit, listed or not."""
    top_levels: int = 0
    """Number of affected nodes that are files, affected outside of definitions."""
    only_import: int = 0
    """Number of files that only import a change; not listed, since definitions in them are."""
    may: tuple[PossibleUse, ...] = ()
    """Possible direct users of the change, which are not in the results."""
    may_count: int = 0
    notes: tuple[str, ...] = ()
    contexts: tuple[LinkedNote, ...] = ()
    """Saved notes on the changes and their direct users; the best first."""
    owners: tuple[GraphNode, ...] = ()
    """The definitions that have the name, if there are several; `results` are in this order, and
    `totals` count what several of them affect once."""
    owner_totals: tuple[tuple[tuple[int, int], ...], ...] = ()
    """The totals of each owner."""


@dataclass(frozen=True, slots=True)
class MapSymbol:
    """A definition on the map."""

    node: GraphNode
    depth: int
    users: int
    """Number of files that use it, without its own."""
    at_least: bool = False
    """Whether there may be more, since not all files with its name are resolved."""


@dataclass(frozen=True, slots=True)
class MapFile:
    """A file on the map."""

    path: str
    language: str
    lines: int
    score: float
    """Percentage of the total rank of all files."""
    imported_by: int
    """Number of files that import it, or contain names that it defines."""
    symbols: tuple[MapSymbol, ...]
    left: int
    """Number of definitions that are not shown."""


@dataclass(frozen=True, slots=True)
class MapFolder:
    """A folder on the map."""

    path: str
    files: int
    lines: int
    score: float


@dataclass(frozen=True, slots=True)
class MapEntry:
    """An entry point of a program or a library."""

    name: str
    handle: str
    why: str


@dataclass(frozen=True, slots=True)
class MapAnswer:
    """A repository within a number of tokens."""

    receipt: Receipt
    name: str
    languages: tuple[tuple[str, int, int], ...]
    """Language, files, lines; by lines in descending order, prose and data last."""
    folders: tuple[MapFolder, ...]
    entries: tuple[MapEntry, ...]
    hot: tuple[MapSymbol, ...]
    """Definitions used by the most files."""
    files: tuple[MapFile, ...]
    links: tuple[tuple[str, str, int], ...]
    """Links between the files shown: user, used, weight."""
    ranked: int
    """Number of ranked files."""
    focus: tuple[str, ...] = ()
    meant: tuple[GraphNode, ...] = ()
    """First results of a query: definitions and files."""
    notes: tuple[str, ...] = ()
    folder_count: int = 0
    entry_count: int = 0
    hot_count: int = 0
    meant_count: int = 0
    """Number of entries of each list, including those beyond the token limit."""
