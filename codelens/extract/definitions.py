"""Captures to definitions: which name, body, owner and marks belong to which node.

Captures come as flat lists of nodes. They are sorted by position and swept once with a stack of
open intervals: what a definition's head holds is its own, what its body holds belongs to others.
Nothing recurses, so nesting cannot exhaust the stack.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.captures import Captures
from codelens.extract.grammars import Grammar
from codelens.extract.sections import sections

FUNCTIONS = frozenset({"function", "method", "property", "macro"})
"""Kinds whose inner variables are local."""
TYPES = frozenset({"class", "struct", "union", "interface", "trait", "enum"})
"""Kinds whose functions are methods and whose variables are fields."""
_ONE_NAME = frozenset({"function", "method", "macro", "heading", "module"})
_LOCAL = frozenset({"variable", "constant"})
_WITH_BODY = FUNCTIONS | TYPES | {"module"}

_EXTENT, _SCOPE, _DEFINITION = range(3)


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
    def is_scope(self) -> bool:
        """It qualifies what it holds without being a symbol."""
        return self.role == _SCOPE


class _Plan(NamedTuple):
    """How the sweep treats the captures of one grammar."""

    ranks: tuple[tuple[str, int], ...]
    """Capture -> rank among events at one place: outer things first."""
    kinds: dict[int, str]
    """Rank of a definition -> its kind."""
    renames: dict[int, str]
    """Rank of a `@name.<kind>` -> kind."""


_MARK_RANKS = {
    "decorator": 1001,
    "export": 1002,
    "private": 1003,
    "name": 1004,
    "owner": 1005,
    "body": 1006,
    "docstring": 1007,
    "hint": 1008,
    "export.name": 1009,
    "private.name": 1010,
    "access": 1011,
    "doc": 1012,
    "docstring.inside": 1013,
    "self": 1014,
}
_PRECEDENCE = (
    *("variable", "constant", "field", "member", "type", "key", "function", "method", "class"),
    *("struct", "union", "interface", "trait", "enum", "module", "property", "macro", "heading"),
)
"""Of two kinds captured for one node the later counts."""
_FIRST_RENAME = 1100
_FAR = 1000


@cache
def _plan(captures: tuple[str, ...]) -> _Plan:
    ranks: list[tuple[str, int]] = []
    kinds = dict(enumerate(_PRECEDENCE, _DEFINITION))
    renames: dict[int, str] = {}
    for at, capture in enumerate(captures):
        head, _, rest = capture.partition(".")
        if capture in _MARK_RANKS:
            ranks.append((capture, _MARK_RANKS[capture]))
        elif capture in {"extent", "scope"}:
            ranks.append((capture, _EXTENT if capture == "extent" else _SCOPE))
        elif head == "definition":
            ranks.append((capture, _DEFINITION + _PRECEDENCE.index(rest)))
        elif head == "name" and rest:
            renames[_FIRST_RENAME + at] = rest
            ranks.append((capture, _FIRST_RENAME + at))
    return _Plan(tuple(ranks), kinds, renames)


_Event = tuple[int, int, int, int]
"""Start, minus end, rank, number of the node."""


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


def definitions(captures: Captures, grammar: Grammar, text: bytes) -> Definitions:
    """Definitions of a text, and the names that it exports apart from them."""
    plan = _plan(grammar.captures)
    nodes: list[Node] = []
    events: list[_Event] = []
    for capture, rank in plan.ranks:
        found = captures.get(capture)
        if found:
            first = len(nodes)
            nodes += found
            events += [
                (node.start_byte, -node.end_byte, rank, at) for at, node in enumerate(found, first)
            ]
    heading = _DEFINITION + _PRECEDENCE.index(grammar.info.sections)
    for node, end in sections(captures, text):
        events.append((node.start_byte, -end, heading, len(nodes)))
        nodes.append(node)
    events.sort()
    closed = [node.byte_range for node in captures.get("export.closed", ())]
    is_open = "export.list" in grammar.captures and not captures.get("export.list")
    is_open = is_open or bool(captures.get("export.every"))
    return _Sweep(plan, grammar, text, closed, is_open).run(events, nodes)


class _Sweep:
    """One pass over the events with a stack of the intervals that are open."""

    def __init__(
        self, plan: _Plan, grammar: Grammar, text: bytes, closed: list[Span], is_open: bool
    ) -> None:
        self._plan = plan
        self._text = text
        info = grammar.info
        self._bodies = [path.split(".") for path in info.bodies]
        self._stack: list[Frame] = []
        self._found = Definitions([], [], [], closed, is_open)
        self._access = [(re.compile(rule), kind == "private") for kind, rule in info.access]
        self._private_first = info.private_first
        self._decorators = (-1, -1)
        """Span of the decorators just passed, whose definition is still to come."""
        self._doc_before = (-1, -1)
        """Span of the doc among them."""

    def run(self, events: list[_Event], nodes: list[Node]) -> Definitions:
        stack = self._stack
        kinds = self._plan.kinds
        # Not kept in `self`: a cycle would hold the whole tree until a garbage collection.
        marks = {
            _MARK_RANKS["decorator"]: self._decorator,
            _MARK_RANKS["export"]: self._export,
            _MARK_RANKS["private"]: self._private,
            _MARK_RANKS["name"]: self._name,
            _MARK_RANKS["owner"]: self._owner,
            _MARK_RANKS["body"]: self._body,
            _MARK_RANKS["docstring"]: self._docstring,
            _MARK_RANKS["hint"]: self._hint,
            _MARK_RANKS["export.name"]: self._export_name,
            _MARK_RANKS["private.name"]: self._private_name,
            _MARK_RANKS["access"]: self._access_mark,
            _MARK_RANKS["doc"]: self._doc,
            _MARK_RANKS["docstring.inside"]: self._docstring_inside,
            _MARK_RANKS["self"]: self._self,
        }
        renames = self._plan.renames
        for start, minus_end, rank, at in events:
            while stack and stack[-1].tree_end <= start:
                self._close(stack.pop())
            kind = kinds.get(rank)
            if kind is not None:
                if kind not in _LOCAL or not stack or not stack[-1].local:
                    self._definition(kind, start, -minus_end, nodes[at])
            elif rank < _DEFINITION:
                self._surround(rank, start, -minus_end, nodes[at])
            elif rank in renames:
                self._rename(renames[rank], start, -minus_end)
            else:
                marks[rank](start, -minus_end)
        while stack:
            self._close(stack.pop())
        return self._found

    def _definition(self, kind: str, start: int, end: int, node: Node) -> None:
        stack = self._stack
        top = stack[-1] if stack else None
        if top is not None and top.tree_start == start and top.tree_end == end and top.kind:
            frame = top
        else:
            frame = Frame(_DEFINITION, node, start, end, top)
            if top is not None and kind in _WITH_BODY and top.body_start < end:
                self._find_body(frame)
                if frame.body_start == top.body_start and top.kind:
                    # `x = function y() {}`: one function, and the outer name is the one used.
                    return
            stack.append(frame)
            self._found.frames.append(frame)
            self._take_decorators(frame)
            if self._access or self._private_first:
                self._take_access(frame)
            if top is not None and top.role == _EXTENT:
                top.count += 1
                top.only = frame
        frame.kind = kind
        if kind in _WITH_BODY:
            frame.local = kind in FUNCTIONS
            if frame.body_start == end:
                self._find_body(frame)

    def _take_decorators(self, frame: Frame) -> None:
        begin, end = self._decorators
        if begin >= 0 and self._touches(end, frame.tree_start):
            frame.start = begin
            if self._doc_before[0] >= begin:
                frame.docstring = self._doc_before

    def _take_access(self, frame: Frame) -> None:
        outer = frame.parent
        while outer is not None and outer.role == _EXTENT:
            outer = outer.parent
        if outer is not None:
            frame.private = (
                outer.kind in self._private_first if outer.hides is None else outer.hides
            )

    def _find_body(self, frame: Frame) -> None:
        for path in self._bodies:
            node: Node | None = frame.node
            for field in path:
                node = node and node.child_by_field_name(field)
            if node is not None:
                frame.body_start, frame.body_end = node.byte_range
                return

    def _surround(self, role: int, start: int, end: int, node: Node) -> None:
        stack = self._stack
        top = stack[-1] if stack else None
        if top is not None and top.role == role and (top.tree_start, top.tree_end) == (start, end):
            return
        frame = Frame(role, node, start, end, top)
        if role == _SCOPE:
            self._found.frames.append(frame)
        else:
            frame.dropped = True
        self._take_decorators(frame)
        stack.append(frame)

    def _close(self, frame: Frame) -> None:
        """A definition alone in its extent takes its span."""
        only, frame.only = frame.only, None
        if frame.role != _EXTENT or frame.count != 1 or only is None:
            if frame.role == _EXTENT and self._stack and self._stack[-1].role == _EXTENT:
                self._stack[-1].count += frame.count
            return
        only.start = min(only.start, frame.start)
        only.end = max(only.end, frame.end)
        only.head_start = min(only.head_start, frame.head_start)
        only.docstring = only.docstring or frame.docstring
        outer = self._stack[-1] if self._stack else None
        if outer is not None and outer.role == _EXTENT:
            outer.count += 1
            outer.only = only

    def _head(self, start: int) -> Frame | None:
        """The innermost definition or scope, if the position is not inside its body."""
        for frame in reversed(self._stack):
            if frame.role != _EXTENT:
                return None if frame.body_start <= start < frame.body_end else frame
        return None

    def _name(self, start: int, end: int) -> None:
        frame = self._head(start)
        if frame is None or start == end or (frame.names and frame.kind in _ONE_NAME):
            return
        if frame.names is None:
            frame.names = [(start, end)]
        elif frame.names[-1] != (start, end):
            frame.names.append((start, end))

    def _rename(self, kind: str, start: int, end: int) -> None:
        frame = self._head(start)
        if frame is not None and start < end:
            frame.renames = {(start, end): kind} | (frame.renames or {})

    def _owner(self, start: int, end: int) -> None:
        frame = self._head(start)
        if frame is not None and frame.owner is None:
            frame.owner = (start, end)

    def _self(self, start: int, end: int) -> None:
        frame = self._head(start)
        if frame is not None and frame.through is None:
            frame.through = (start, end)

    def _body(self, start: int, end: int) -> None:
        frame = self._head(start)
        if frame is not None and frame.body_start == frame.tree_end:
            frame.body_start, frame.body_end = start, end

    def _docstring(self, start: int, end: int) -> None:
        if self._doc_before[0] <= start < self._doc_before[1]:
            self._doc_before = (start, end)
            return
        frame = self._stack[-1] if self._stack else None
        if frame is not None and start <= frame.body_start and frame.docstring is None:
            frame.docstring = (start, end)

    def _docstring_inside(self, start: int, end: int) -> None:
        frame = self._inside(start)
        if frame is not None and frame.docstring is None:
            frame.docstring = (start, end)

    def _doc(self, start: int, end: int) -> None:
        self._decorator(start, end)
        self._doc_before = (start, end)

    def _inside(self, start: int) -> Frame | None:
        """The innermost definition or scope, if the position is inside its body."""
        for frame in reversed(self._stack):
            if frame.role != _EXTENT:
                return frame if frame.body_start <= start < frame.body_end else None
        return None

    def _private_name(self, start: int, end: int) -> None:
        self._found.hidden.append((start, end, self._inside(start)))

    def _access_mark(self, start: int, end: int) -> None:
        frame = self._inside(start)
        if frame is None:
            return
        word = self._text[start:end].decode("utf-8", "replace")
        for rule, hides in self._access:
            if rule.fullmatch(word):
                frame.hides = hides

    def _export(self, start: int, _end: int) -> None:
        top = self._stack[-1] if self._stack else None
        if top is not None and not top.body_start <= start < top.body_end:
            top.exported = True

    def _export_name(self, start: int, end: int) -> None:
        top = self._stack[-1] if self._stack else None
        self._found.exports.append((start, end, top if top is not None and top.is_scope else None))

    def _hint(self, start: int, end: int) -> None:
        top = self._stack[-1] if self._stack else None
        if top is not None and not top.body_start <= start < top.body_end:
            top.hints = [*(top.hints or ()), (start, end)]

    def _private(self, start: int, _end: int) -> None:
        frame = self._head(start)
        if frame is not None:
            frame.private = True

    def _decorator(self, start: int, end: int) -> None:
        top = self._stack[-1] if self._stack else None
        if top is not None and self._touches(top.head_start, start):
            top.head_start = self._next_word(end)
        if self._decorators[0] >= 0 and self._touches(self._decorators[1], start):
            self._decorators = (self._decorators[0], end)
        else:
            self._decorators = (start, end)

    def _next_word(self, at: int) -> int:
        while self._text[at : at + 1].isspace():
            at += 1
        return at

    def _touches(self, end: int, start: int) -> bool:
        """Nothing but blanks stands between two positions."""
        if end > start or start - end > _FAR:
            return False
        between = self._text[end:start]
        return between.isspace() if between else True
