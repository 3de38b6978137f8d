"""Turns the captures of a text into sorted events and the frames that a sweep over them opens."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.language_settings import LanguageInfo, form_capture
from codelens.extract.parse.captures import Captures, masked
from codelens.extract.parse.grammars import Grammar
from codelens.extract.source_text import before_blanks
from codelens.types import Symbol

FUNCTIONS = frozenset({"function", "method", "property", "macro"})
"""Kinds whose inner variables are local."""
TYPES = frozenset({"class", "struct", "union", "interface", "trait", "enum"})
"""Kinds whose functions are methods and whose variables are fields."""

EXTENT, SCOPE, DEFINITION = range(3)


Span = tuple[int, int]


class Frame:
    """An open interval of the sweep: a definition, or a node around definitions."""

    # Defaults are class attributes, because there are many frames and most change few of them.
    kind = ""
    names: list[Span] | None = None
    renames: dict[Span, str] | None = None
    """Names that determine the kind themselves."""
    owner: Span | None = None
    docstring: Span | None = None
    hints: list[Span] | None = None
    exported = False
    private = False
    secluded = False
    """Whether an earlier `@access` makes it private."""
    hides: bool | None = None
    """Whether the rest of its body is private; None if nothing says so."""
    dropped = False
    """Whether it is not a symbol and qualifies nothing."""
    count = 0
    """The number of definitions directly inside an extent, and the only one."""
    only: Frame | None = None
    index = -1
    """The index of its symbol; for a scope, of the symbol around it."""
    qualified = ""
    owns = False
    """For a scope: whether it has an owner."""
    headed = False
    """Whether the query marked the end of its head."""
    outside = False
    """Whether it does not belong to the type that encloses it."""
    through: Span | None = None
    """The instance that it is assigned to: `self` in `self.x = 1`."""
    passing = False
    """Whether it is assigned in a function, which then owns the references in it."""
    resolved = False
    """For a scope: whether `index`, `qualified` and `exported` are set."""

    def __init__(self, role: int, node: Node, start: int, end: int, parent: Frame | None) -> None:
        self.role = role
        self.node = node
        self.parent = parent
        self.tree_start = self.start = self.head_start = start
        """The span of the node itself. `start` and `end` grow by decorators and extents; the
        signature begins at `head_start`, after the decorators.
        """
        self.tree_end = self.end = self.body_start = self.body_end = end
        self.local = parent is not None and parent.local
        """Whether variables directly inside are local to a function."""

    @property
    def above(self) -> Frame | None:
        """Returns the definition or scope directly around it, or around its extents."""
        outer = self.parent
        while outer is not None and outer.role == EXTENT:
            outer = outer.parent
        return outer

    @property
    def is_scope(self) -> bool:
        """Whether it qualifies its content without being a symbol."""
        return self.role == SCOPE


class Definitions(NamedTuple):
    """The definitions that a sweep found."""

    frames: list[Frame]
    """Definitions and scopes in order of their starts. Names may still be only in fields."""
    exports: list[tuple[int, int, Frame | None]]
    """Spans of the `@export.name`s, each with its enclosing scope."""
    hidden: list[tuple[int, int, Frame | None]]
    """Spans of the `@private.name`s, each with its enclosing definition."""
    closed: list[Span]
    """Spans of the `@export.closed`s."""
    open: bool
    """Whether the text has no export list, so that it exports everything."""
    listed: bool
    """Whether the text has an export list."""


# Headings of prose. A section ends at the next heading of the same or a higher level.

_LEVELS = tuple((f"section.{level}", level) for level in range(1, 10))


def sections(captures: Captures, text: bytes) -> Iterator[tuple[Node, int]]:
    """Yields the heading nodes with the ends of their sections, without trailing blanks."""
    headings = [(node.start_byte, level, node) for node, level in _headings(captures, text)]
    headings.sort(key=lambda heading: heading[0])
    opaque = deque(sorted((node.start_byte, node.end_byte) for node in captures.get("opaque", ())))
    reached = 0
    open_sections: list[tuple[int, Node]] = []
    for start, level, node in headings:
        while opaque and opaque[0][0] <= start:
            reached = max(reached, opaque.popleft()[1])
        if start < reached:
            continue
        while open_sections and open_sections[-1][0] >= level:
            yield open_sections.pop()[1], before_blanks(text, start)
        open_sections.append((level, node))
    for _, node in open_sections:
        yield node, before_blanks(text, len(text))


def _headings(captures: Captures, text: bytes) -> Iterator[tuple[Node, int]]:
    for capture, level in _LEVELS:
        for node in captures.get(capture, ()):
            yield node, level
    yield from _by_marks(captures, text)


def _by_marks(captures: Captures, text: bytes) -> Iterator[tuple[Node, int]]:
    """Yields headings whose level is the rank of their mark, in order of first appearance.

    This is the rule of reStructuredText: a mark above and below the title differs from the same
    mark below it alone (Docutils, "reStructuredText Markup Specification", Sections).
    """
    marks = sorted((node.start_byte, node.end_byte) for node in captures.get("section.mark", ()))
    starts = [start for start, _ in marks]
    levels: dict[tuple[bytes, int], int] = {}
    for node in sorted(captures.get("section.auto", ()), key=lambda heading: heading.start_byte):
        first = bisect_left(starts, node.start_byte)
        count = bisect_left(starts, node.end_byte) - first
        if count:
            mark = text[starts[first] : starts[first] + 1], count
            yield node, levels.setdefault(mark, len(levels) + 1)


# Forms: definitions written as calls or lists, distinguished by their first word.
#
# In Elixir, Clojure, R or Ruby's class bodies a definition is a call like any other: `def f(x)`,
# `(defn f [x])`, `attr_accessor :a`. The query captures all such nodes as `@form` and their words
# as `@form.keyword`; the settings map the words to roles.


def with_forms(captures: Captures, info: LanguageInfo, text: bytes) -> Captures:
    """Returns the captures, with each form also under the capture of its keyword's role.

    The keyword of a form is the first one that begins in it.
    """
    forms = captures.get("form")
    keywords = captures.get("form.keyword")
    if not forms or not keywords:
        return captures
    words = sorted((node.start_byte, node.end_byte) for node in keywords)
    form_captures: Captures = {}
    at = 0
    for form in sorted(forms, key=_start):
        while at < len(words) and words[at][0] < form.start_byte:
            at += 1
        if at < len(words) and words[at][0] < form.end_byte:
            for capture in _meanings(info.forms, text[words[at][0] : words[at][1]]):
                form_captures.setdefault(capture, []).append(form)
    for capture, part in _parts(forms, words, captures.get("form.part", []), info, text):
        form_captures.setdefault(capture, []).append(part)
    return captures | {
        name: [*captures.get(name, ()), *nodes] for name, nodes in form_captures.items()
    }


def _parts(
    forms: list[Node],
    words: list[tuple[int, int]],
    parts: list[Node],
    info: LanguageInfo,
    text: bytes,
) -> Iterator[tuple[str, Node]]:
    """Adds parts of forms by the keyword of the innermost enclosing form: methods of a protocol."""
    if not parts:
        return
    starts = [start for start, _ in words]
    spans = sorted((node.start_byte, -node.end_byte) for node in forms)
    around: list[tuple[int, int]] = []
    at = 0
    for part in sorted(parts, key=_start):
        start, end = part.byte_range
        while at < len(spans) and spans[at][0] < start:
            around.append(spans[at])
            at += 1
        while around and -around[-1][1] < end:
            around.pop()
        if around:
            word = words[bisect_left(starts, around[-1][0])]
            for capture in _meanings(info.parts, text[word[0] : word[1]]):
                yield capture, part


def _start(node: Node) -> int:
    return node.start_byte


@lru_cache(maxsize=10_000)
def _meanings(forms: tuple[tuple[str, str], ...], word: bytes) -> tuple[str, ...]:
    text = word.decode("utf-8", "replace")
    return tuple(form_capture(role) for role, regex in forms if re.fullmatch(regex, text))


# Repairs of symbols in broken text, so that each is inside its parent and all are sorted.
#
# Spans grow over decorators and comments, and sections reach to the next heading. Around an error
# they may therefore overlap. The symbols of a valid text are unchanged.


def tidy(symbols: list[Symbol], frames: list[Frame]) -> None:
    """Clips symbols to their parents, and sorts them if they are out of order.

    Args:
        symbols: changed in place.
        frames: the frame of each symbol; sorted along, with their `index`.
    """
    ordered = True
    last = 0
    for at, symbol in enumerate(symbols):
        start = symbol.start_byte
        if symbol.parent >= 0:
            outer = symbols[symbol.parent]
            if start < outer.start_byte or symbol.end_byte > outer.end_byte:
                symbols[at] = _inside(symbols, symbol)
                start = symbols[at].start_byte
        ordered = ordered and start >= last
        last = start
    if not ordered:
        _sort(symbols, frames)


def _inside(symbols: list[Symbol], symbol: Symbol) -> Symbol:
    """Clips the symbol to the closest enclosing one that it overlaps."""
    parent = symbol.parent
    while parent >= 0:
        outer = symbols[parent]
        if symbol.start_byte < outer.end_byte and symbol.end_byte > outer.start_byte:
            return _clipped(symbol._replace(parent=parent), outer)
        parent = outer.parent
    return symbol._replace(parent=-1)


def _clipped(symbol: Symbol, outer: Symbol) -> Symbol:
    start = min(max(symbol.start_byte, outer.start_byte), outer.end_byte)
    end = max(start, min(symbol.end_byte, outer.end_byte))
    first = min(max(symbol.start_line, outer.start_line), outer.end_line)
    last = max(first, min(symbol.end_line, outer.end_line))
    return symbol._replace(
        start_byte=start,
        end_byte=end,
        start_line=first,
        end_line=last,
        name_line=min(max(symbol.name_line, first), last),
    )


def _sort(symbols: list[Symbol], frames: list[Frame]) -> None:
    order = sorted(
        range(len(symbols)), key=lambda at: (symbols[at].start_byte, -symbols[at].end_byte, at)
    )
    places = {old: new for new, old in enumerate(order)}
    sorted_frames = [frames[at] for at in order]
    symbols[:] = [symbols[at]._replace(parent=places.get(symbols[at].parent, -1)) for at in order]
    for frame in set(frames):
        frame.index = places.get(frame.index, frame.index)
    frames[:] = sorted_frames


# Events: the captures in text order, which the sweep in `definitions` reads.

Event = tuple[int, int, int, int]
"""Start, minus end, rank, index of the node."""


class Plan(NamedTuple):
    """How the sweep treats the captures of one grammar."""

    ranks: tuple[tuple[str, int], ...]
    """Capture -> rank among events at one position: outer ones first."""
    kinds: dict[int, str]
    """Rank of a definition -> its kind."""
    renames: dict[int, str]
    """Rank of a `@name.<kind>` -> kind."""


MARK_RANKS = {
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
    "private.names": 1015,
    "head": 1016,
    "outside": 1017,
    "lead": 1018,
}
PRECEDENCE = (
    *("variable", "constant", "field", "member", "type", "key", "function", "method", "class"),
    *("struct", "union", "interface", "trait", "enum", "module", "property", "macro", "heading"),
)
"""If one node is captured as two kinds, the later one here wins."""
_BLANKS = re.compile(rb"\s*")
_FIRST_RENAME = 1100
FAR = 1000
"""Longest run of blanks, in bytes, between parts that belong together."""


@cache
def _plan(captures: tuple[str, ...]) -> Plan:
    ranks: list[tuple[str, int]] = []
    kinds = dict(enumerate(PRECEDENCE, DEFINITION))
    renames: dict[int, str] = {}
    for at, capture in enumerate(captures):
        head, _, rest = capture.partition(".")
        if capture in MARK_RANKS:
            ranks.append((capture, MARK_RANKS[capture]))
        elif capture in {"extent", "scope"}:
            ranks.append((capture, EXTENT if capture == "extent" else SCOPE))
        elif head == "definition":
            ranks.append((capture, DEFINITION + PRECEDENCE.index(rest)))
        elif head == "name" and rest:
            renames[_FIRST_RENAME + at] = rest
            ranks.append((capture, _FIRST_RENAME + at))
    return Plan(tuple(ranks), kinds, renames)


class Events(NamedTuple):
    """The events of one text."""

    plan: Plan
    events: list[Event]
    """In text order; of events with the same start, the outer ones come first."""
    nodes: list[Node]
    bodies: dict[tuple[int, int], tuple[int, int]]
    """Spans of definitions whose bodies follow them in the tree -> spans of these bodies."""


def events_of(captures: Captures, grammar: Grammar, text: bytes, spans: Sequence[Span]) -> Events:
    """Returns the sorted events of the spans of a text, or of all of it if there are none."""
    plan = _plan(grammar.captures)
    nodes: list[Node] = []
    events: list[Event] = []
    tails = _bodies_after(captures)
    for capture, rank in plan.ranks:
        captured = captures.get(capture)
        if captured and tails and rank in plan.kinds:
            for node in captured:
                tail = tails.get(node.byte_range, node)
                events.append((node.start_byte, -tail.end_byte, rank, len(nodes)))
                nodes.append(node)
        elif captured:
            first = len(nodes)
            nodes += captured
            events += [
                (node.start_byte, -node.end_byte, rank, at)
                for at, node in enumerate(captured, first)
            ]
    heading = DEFINITION + PRECEDENCE.index(grammar.info.sections)
    for node, end in sections(captures, text):
        events.append((node.start_byte, -end, heading, len(nodes)))
        nodes.append(node)
    if grammar.info.masked:
        events += _masks(grammar.info.masked, text, spans)
    events.sort()
    bodies = {(span[0], tail.end_byte): tail.byte_range for span, tail in tails.items()}
    return Events(plan, events, nodes, bodies)


def _bodies_after(captures: Captures) -> dict[tuple[int, int], Node]:
    """Returns the bodies that follow their definitions, by the spans of these."""
    tails: dict[tuple[int, int], Node] = {}
    for node in captures.get("body.after", ()):
        before = node.prev_named_sibling
        while before is not None and "comment" in before.type:
            before = before.prev_named_sibling
        if before is not None:
            tails[before.byte_range] = node
    return tails


def _masks(regex: str, text: bytes, spans: Sequence[Span]) -> Iterator[Event]:
    """Yields text blanked out right before a definition, which belongs to it like a decorator."""
    rank = MARK_RANKS["decorator"]
    for start, end, word in masked(regex, text, tuple(spans)):
        rest = text[end : end + FAR]
        near = _BLANKS.match(rest)
        marks = word is None and text[start : start + 1] != b"#"
        if marks and near is not None and near[0].count(b"\n") < 2:
            yield start, -end, rank, -1
