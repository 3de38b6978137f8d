"""Frames: definitions, and what surrounds them, while one text is read."""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

FUNCTIONS = frozenset({"function", "method", "property", "macro"})
"""Kinds whose inner variables are local."""
TYPES = frozenset({"class", "struct", "union", "interface", "trait", "enum"})
"""Kinds whose functions are methods and whose variables are fields."""

EXTENT, SCOPE, DEFINITION = range(3)


Span = tuple[int, int]


class Frame:
    """An open interval of the sweep: a definition, or what surrounds definitions."""

    # Defaults live in the class: most frames change few of them, and there are many frames.
    kind = ""
    names: list[Span] | None = None
    renames: dict[Span, str] | None = None
    """Names that say themselves of what kind the thing is."""
    owner: Span | None = None
    docstring: Span | None = None
    hints: list[Span] | None = None
    exported = False
    private = False
    secluded = False
    """Private as an `@access` before it says."""
    hides: bool | None = None
    """What follows in its body is private, is not, or nothing says so."""
    dropped = False
    """No symbol, and nothing is qualified by it."""
    count = 0
    """Definitions right inside an extent, and the only one."""
    only: Frame | None = None
    index = -1
    """Of its symbol, and for a scope of the symbol around it."""
    qualified = ""
    owns = False
    """For a scope: it has an owner."""
    headed = False
    """The query said where its head ends."""
    outside = False
    """It does not belong to the type that it stands in."""
    through: Span | None = None
    """The instance that it is assigned to: `self` in `self.x = 1`."""
    passing = False
    """Assigned in passing: the references in it belong to the function around it."""
    resolved = False
    """For a scope: `index`, `qualified` and `exported` are known."""

    def __init__(self, role: int, node: Node, start: int, end: int, parent: Frame | None) -> None:
        self.role = role
        self.node = node
        self.parent = parent
        self.tree_start = self.start = self.head_start = start
        """Of the node itself; `start` and `end` grow by decorators and extents, and the
        signature begins at `head_start`, behind the decorators."""
        self.tree_end = self.end = self.body_start = self.body_end = end
        self.local = parent is not None and parent.local
        """Variables right inside are local to a function."""

    @property
    def above(self) -> Frame | None:
        """The definition or scope right around it, or around its extents."""
        outer = self.parent
        while outer is not None and outer.role == EXTENT:
            outer = outer.parent
        return outer

    @property
    def is_scope(self) -> bool:
        """It qualifies what it holds without being a symbol."""
        return self.role == SCOPE


class Definitions(NamedTuple):
    """What the sweep found."""

    frames: list[Frame]
    """Definitions and scopes, in order of their starts; names may still be only in fields."""
    exports: list[tuple[int, int, Frame | None]]
    """Spans of the `@export.name`s, each with the scope that it stands in."""
    hidden: list[tuple[int, int, Frame | None]]
    """Spans of the `@private.name`s, each with the definition that it stands in."""
    closed: list[Span]
    """Spans of the `@export.closed`s."""
    open: bool
    """The text has no list of what it exports, so it exports everything."""
    listed: bool
    """It has such a list."""
