"""Definitions to symbols: names, kinds, signatures, docs, and what encloses what."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, cast

from tree_sitter import Node

from codelens.extract.comments import Comments, plain_docstring, shortened
from codelens.extract.definitions import FUNCTIONS, TYPES, Definitions, Frame
from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source
from codelens.types import Symbol

_SIGNATURE_LIMIT = 200
_SIGNATURE_RAW = 4 * _SIGNATURE_LIMIT
_NAME_LIMIT = 200
_DOCSTRING_RAW = 2400
_MANY_NAMES = frozenset({"variable", "constant", "field", "type", "property", *TYPES})
_PLAIN_VALUES = frozenset({"variable", "constant", "field", "type", "property"})
_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*")
_CONST_WORD = re.compile(r"\bconst\b")
_TAIL = " \t\r\n{:;,=\\"
_CLOSING_MARKS = re.compile(r"\s+#+$")
"""The closing marks of a Markdown heading."""
Span = tuple[int, int]
_Row = tuple[str, str, str, str, str, bool, int, int, int, int, int, int]

_new_symbol = cast("Callable[[_Row], Symbol]", partial(tuple.__new__, Symbol))
"""`Symbol` from its fields in order, at a third of the price of its constructor."""


_QUALIFIED_CHARS = 400

class Symbols(NamedTuple):
    """Symbols of a text, and what later steps need of them."""

    symbols: list[Symbol]
    frames: list[Frame]
    """The frame of each symbol."""
    name_starts: set[int]
    """Where the names of definitions stand: these are no references."""


def symbols_of(
    defined: Definitions,
    info: LanguageInfo,
    source: Source,
    comments: Comments,
    imports: set[Span],
) -> Symbols:
    """Symbols of the definitions found, in order of their starts.

    Args:
        defined: what the sweep left.
        info: the language's settings.
        source: the text.
        comments: its comments.
        imports: spans of its imports; a definition that is one binds a foreign name.
    """
    builder = _Builder(info, source, comments)
    builder.export(defined)
    for frame in defined.frames:
        if frame.is_scope:
            continue
        if (frame.tree_start, frame.tree_end) in imports:
            frame.dropped = True
        else:
            builder.add(frame)
    return builder.found


class _Builder:
    def __init__(self, info: LanguageInfo, source: Source, comments: Comments) -> None:
        self._info = info
        self._source = source
        self._comments = comments
        self._exported: set[str] = set()
        """Names at top level that are visible outside."""
        self._patterns = info.destructured
        self._placeholders = info.placeholder_names
        self._exporting = re.compile(info.exporting.encode()) if info.exporting else None
        self._paths = [path.split(".") for path in info.names]
        self._owner_paths = [path.split(".") for path in info.owners]
        self._scope_paths = [path.split(".") for path in info.scope_owners]
        self.found = Symbols([], [], set())

    def export(self, defined: Definitions) -> None:
        """Take note of the names that are exported apart from their definitions."""
        for start, end, scope in defined.exports:
            if scope is None or self._is_exporting(scope):
                self._exported.add(self._source.slice(start, end))

    def _is_exporting(self, frame: Frame) -> bool:
        if self._exporting is None:
            return False
        return self._exporting.match(self._source.text, frame.tree_start) is not None

    def _resolve(self, scope: Frame) -> None:
        scope.resolved = True
        scope.exported = self._is_exporting(scope)
        owner = self._owner(scope, self._scope_paths)
        parent = self._enclosing(scope)
        if parent is not None:
            scope.index = parent.index
        scope.qualified = _joined(parent.qualified if parent is not None else "", owner)

    def add(self, frame: Frame) -> None:
        """Add the symbols of a definition; it is dropped if it has no name."""
        spans = frame.names or self._names_by_field(frame)
        symbols = self.found.symbols
        parent = self._enclosing(frame) if frame.parent is not None else None
        owner = self._owner(frame, self._owner_paths)
        if owner or self._owner_paths:
            frame.exported = frame.exported or self._is_exporting(frame)
        inside = parent.qualified if parent is not None else ""
        inside = _joined(inside, owner) if owner else inside
        if len(spans) > 1 and frame.kind not in _MANY_NAMES:
            del spans[1:]
        index = len(symbols)
        for span in spans:
            name = self._name(frame.kind, span)
            if not name:
                continue
            symbol = self._symbol(frame, parent, owner, name, span, inside)
            if frame.index < 0:
                frame.index = index
                frame.qualified = symbol.qualified
                frame.exported = symbol.exported
            symbols.append(symbol)
            self.found.frames.append(frame)
            self.found.name_starts.add(span[0])
        if frame.index < 0:
            frame.dropped = True
        else:
            frame.kind = symbols[index].kind

    def _symbol(
        self, frame: Frame, parent: Frame | None, owner: str, name: str, span: Span, inside: str
    ) -> Symbol:
        starts = self._source.line_starts
        first = bisect_right(starts, frame.start)
        last = bisect_right(starts, frame.end - 1)
        return _new_symbol(
            (
                name,
                f"{inside}.{name}" if inside else name,
                self._kind(frame, parent, owner, name, span[0]),
                self._signature(frame, span),
                self._doc(frame, first, last),
                self._is_exported(frame, parent, owner, name),
                first,
                last,
                bisect_right(starts, span[0]),
                frame.start,
                frame.end,
                parent.index if parent is not None else -1,
            )
        )

    def _enclosing(self, frame: Frame) -> Frame | None:
        """The definition or scope that qualifies a definition."""
        outer = frame.parent
        floats = frame.kind in TYPES or frame.kind in {"member", "variable", "constant"}
        while outer is not None:
            in_head = frame.tree_start < outer.body_start
            if not (
                outer.dropped
                # What is declared in passing belongs to what is around, not to the variable.
                or (floats and outer.kind in _PLAIN_VALUES)
                or (in_head and outer.kind in FUNCTIONS)
            ):
                if outer.is_scope and not outer.resolved:
                    self._resolve(outer)
                return outer
            outer = outer.parent
        return None

    def _names_by_field(self, frame: Frame) -> list[Span]:
        placeholder: list[Span] = []
        for path in self._paths:
            nodes = _followed(frame.node, path)
            if nodes and self._patterns and nodes[0].named_child_count:
                nodes = self._destructured(nodes[0]) or nodes
            if nodes:
                spans = [(node.start_byte, node.end_byte) for node in nodes]
                if not self._placeholders or self._text(spans[0]) not in self._placeholders:
                    return spans
                placeholder = placeholder or spans
        return placeholder

    def _text(self, span: Span) -> str:
        return self._source.slice(span[0], span[1])

    def _destructured(self, pattern: Node) -> list[Node]:
        """Names in a pattern that takes several values apart, one level deep."""
        wanted = self._patterns
        found: list[Node] = []
        for child in pattern.named_children:
            inner = child.child_by_field_name("value") or child.child_by_field_name("left") or child
            if inner.type in wanted:
                found.append(inner)
        return found

    def _name(self, kind: str, span: Span) -> str:
        name = self._source.slice(span[0], span[1])
        if name.isidentifier():
            return name
        name = " ".join(name.split())
        if kind == "heading":
            return shortened(_CLOSING_MARKS.sub("", name), _NAME_LIMIT)
        if name[:1] in "\"'`":
            name = name.strip("\"'`")
        # A pattern that takes several values apart is no name.
        return "" if name[:1] in "{ " or "," in name or len(name) > _NAME_LIMIT else name

    def _owner(self, frame: Frame, paths: list[list[str]]) -> str:
        span = frame.owner
        if span is None:
            for path in paths:
                nodes = _followed(frame.node, path)
                if nodes:
                    span = nodes[0].byte_range
                    break
            else:
                return ""
        owner = "".join(self._source.slice(*span).split())
        if self._info.owner_noise:
            owner = _regex(self._info.owner_noise).sub("", owner)
        return owner if len(owner) <= _NAME_LIMIT else ""

    def _kind(
        self, frame: Frame, parent: Frame | None, owner: str, name: str, name_start: int
    ) -> str:
        kind = self._hinted(frame)
        inside = parent.kind if parent is not None else ""
        if kind == "function":
            scoped = parent is not None and parent.is_scope and parent.qualified
            return "method" if owner or scoped or inside in TYPES else kind
        if kind == "method" and not owner and inside in FUNCTIONS:
            return "function"
        if kind != "variable":
            return kind
        if inside in TYPES:
            return "member" if inside == "enum" else "field"
        rule = self._info.constants
        if rule == "uppercase":
            return "constant" if _CONSTANT.fullmatch(name) else kind
        if rule == "keyword":
            outer = frame.parent
            begin = outer.tree_start if outer is not None and outer.dropped else frame.tree_start
            head = self._source.slice(begin, min(name_start, begin + 60))
            return "constant" if _CONST_WORD.search(head) else kind
        return kind

    def _hinted(self, frame: Frame) -> str:
        """Kind of a definition, where a base or a decorator may tell a closer one."""
        outer = frame.parent
        hints = frame.hints or (outer.hints if outer is not None and outer.dropped else None)
        for start, end in hints or ():
            text = self._source.slice(start, end)
            for kind, pattern in self._info.hints:
                if (kind in TYPES) == (frame.kind in TYPES) and _regex(pattern).search(text):
                    return kind
        return frame.kind

    def _signature(self, frame: Frame, name: Span) -> str:
        start = frame.head_start
        end = frame.body_start if frame.body_start < frame.tree_end else frame.end
        tail = ""
        if name[0] >= end:
            # The name follows the body: `typedef struct {...} name`.
            end = frame.body_start
            rest = self._source.slice(frame.body_end, min(frame.end, frame.body_end + _SIGNATURE_RAW))
            tail = " {…} " + " ".join(rest.split()).rstrip("; ")
        raw = self._comments.left_out(start, min(end, start + _SIGNATURE_RAW))
        if self._info.signature == "line":
            raw = raw.split("\n", 1)[0]
        head = " ".join(raw.split()).rstrip(_TAIL)
        return shortened(head + tail, _SIGNATURE_LIMIT)

    def _doc(self, frame: Frame, first: int, last: int) -> str:
        for style in self._info.docs:
            if style == "docstring":
                doc = self._docstring(frame)
            elif style == "leading":
                doc = self._comments.leading_doc(frame.start, first)
            else:
                behind = frame.kind not in FUNCTIONS and frame.kind not in TYPES
                doc = self._comments.trailing_doc(frame.end, last) if behind else ""
            if doc:
                return doc
        return ""

    def _docstring(self, frame: Frame) -> str:
        if frame.docstring is None:
            return ""
        start, end = frame.docstring
        return plain_docstring(self._source.slice(start, min(end, start + _DOCSTRING_RAW)))

    def _is_exported(self, frame: Frame, parent: Frame | None, owner: str, name: str) -> bool:
        inner = parent is not None and not parent.is_scope
        if inner and (parent.kind in FUNCTIONS or not parent.exported):
            return False
        rule = self._info.exported
        if rule == "marked":
            if inner:
                return not frame.private and name[:1] != "#"
            return self._is_marked(frame, parent, owner, name)
        if rule == "unmarked":
            return not frame.private
        if rule == "uppercase":
            return name[:1].isupper() and (not owner or owner[:1].isupper())
        if rule == "no-underscore":
            return name[:1] != "_" or (name[:2] == "__" and name[-2:] == "__")
        return rule == "always"

    def _is_marked(self, frame: Frame, parent: Frame | None, owner: str, name: str) -> bool:
        marked = frame.exported or name in self._exported or owner in self._exported
        marked = marked or (parent is not None and parent.exported)
        outer = frame.parent
        while outer is not None and outer.dropped and not marked:
            marked = outer.exported
            outer = outer.parent
        if marked:
            self._exported.add(name)
        return marked


def _joined(outer: str, inner: str) -> str:
    if len(outer) > _QUALIFIED_CHARS:
        # Ten thousand functions inside each other must not make names of a hundred megabytes.
        outer = f"{outer[:_QUALIFIED_CHARS]}…"
    return f"{outer}.{inner}" if outer and inner else outer or inner


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _followed(node: Node, path: list[str]) -> list[Node]:
    """Nodes that a field path leads to; `a*` goes on by field a down to the leaves."""
    for field in path:
        if field[-1] == "*":
            return [_leaf(one, field[:-1]) for one in node.children_by_field_name(field[:-1])]
        child = node.child_by_field_name(field)
        if child is None:
            return []
        node = child
    return [node]


def _leaf(node: Node, field: str) -> Node:
    """The end of a chain of declarators; what has no such field wraps the next one."""
    while node.named_child_count:
        inner = node.child_by_field_name(field) or node.named_child(0)
        if inner is None:
            break
        node = inner
    return node
