"""Sweeps over the captures of a text and assigns names, bodies, owners and marks to definitions.

It also recognizes macro calls in place of definitions: `TEST_BEGIN(name) {...}`, `MOCK_METHOD(int,
f, ())`. A parser takes them for functions without a type, named after the macro. If their form
shows what they define, an argument names it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codelens.extract.parse.captures import Captures
from codelens.extract.parse.grammars import Grammar
from codelens.extract.source_text import Source, before_blanks, regex
from codelens.extract.symbols.capture_events import (
    DEFINITION,
    EXTENT,
    FAR,
    FUNCTIONS,
    MARK_RANKS,
    SCOPE,
    TYPES,
    Definitions,
    Events,
    Frame,
    Span,
    events_of,
)

_VALUES = frozenset({"variable", "field"})
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_MOST_ARGUMENTS = 50


def is_definition(frame: Frame, parent: Frame | None, source: Source, rule: str) -> bool:
    """Whether a definition is valid, rather than a macro call that shows no definition.

    A macro call that defines something gets its name from an argument.

    Args:
        frame: a definition; its names may be set.
        parent: the definition around it.
        source: the text.
        rule: regex of macro names.
    """
    if frame.names is not None or (frame.kind not in FUNCTIONS and frame.kind not in _VALUES):
        return True
    head = _head(frame.node)
    if head is None or _has_type(frame.node, source):
        return True
    called, arguments = head
    name = source.slice(*called.byte_range)
    in_type = parent is not None and parent.kind in TYPES
    if not regex(rule).fullmatch(name):
        return True
    if in_type and parent is not None and parent.qualified.rpartition(".")[2] == name:
        return True
    body = frame.node.child_by_field_name("body") is not None
    span = _name_span(arguments, source, in_type, body)
    if span is None:
        return False
    frame.names = [span]
    frame.renames = {span: "function"}
    return True


def _head(node: Node) -> tuple[Node, Node] | None:
    """Returns the name and the argument list, if there is nothing else."""
    head = (
        node if node.child_by_field_name("parameters") else node.child_by_field_name("declarator")
    )
    if head is None:
        return None
    name, arguments = head.child_by_field_name("declarator"), head.child_by_field_name("parameters")
    if name is None or arguments is None or name.named_child_count:
        return None
    return name, arguments


def _has_type(node: Node, source: Source) -> bool:
    if node.child_by_field_name("type") is not None:
        return True
    # In broken code the type may be a sibling.
    before = before_blanks(source.text, node.start_byte)
    return (
        before > 0
        and b"\n" not in source.text[before : node.start_byte]
        and node.parent is not None
        and node.parent.is_error
    )


def _name_span(arguments: Node, source: Source, in_type: bool, body: bool) -> Span | None:
    """Returns the span of the argument that names the definition.

    With a body it is the first argument. In a type, `(int, name, (...))` and `(name, int(...))`
    declare a method, as in gmock.
    """
    nodes = arguments.named_children[:_MOST_ARGUMENTS]
    texts = [source.slice(*argument.byte_range).strip() for argument in nodes]
    at = -1
    if body and texts and _PLAIN.fullmatch(texts[0]):
        at = 0
    elif in_type and len(texts) > 2 and _PLAIN.fullmatch(texts[1]) and texts[2][:1] == "(":
        at = 1
    elif in_type and len(texts) == 2 and _PLAIN.fullmatch(texts[0]) and texts[1][-1:] == ")":
        at = 0
    return nodes[at].byte_range if at >= 0 else None


# The sweep assigns names, bodies, owners and marks to definitions.
#
# Captures are flat lists of nodes. They are sorted by position and swept once with a stack of open
# intervals. Captures in a definition's head belong to it; captures in its body belong to inner
# definitions. Nothing recurses, so nesting cannot exhaust the stack.

_ONE_NAME = frozenset({"function", "method", "macro", "heading", "module"})
_LOCAL = frozenset({"variable", "constant"})
_COMMENTS = re.compile(rb"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/|#(?![\[!])[^\n]*\n)*")
_WITH_BODY = FUNCTIONS | TYPES | {"module"}


def definitions(
    captures: Captures, grammar: Grammar, text: bytes, spans: Sequence[Span] = ()
) -> Definitions:
    """Returns the definitions in the spans of a text, by default all, and its exported names."""
    closed = [node.byte_range for node in captures.get("export.closed", ())]
    listed = bool(captures.get("export.list"))
    is_open = "export.list" in grammar.captures and not listed
    is_open = is_open or bool(captures.get("export.every"))
    collected = Definitions([], [], [], closed, is_open, listed)
    return _Sweep(grammar, text, collected).run(events_of(captures, grammar, text, spans))


class _Sweep:
    """One pass over the events with a stack of open intervals."""

    def __init__(self, grammar: Grammar, text: bytes, collected: Definitions) -> None:
        self._text = text
        info = grammar.info
        self._bodies = [path.split(".") for path in info.bodies]
        self._stack: list[Frame] = []
        self._definitions = collected
        self._access = [(re.compile(rule), kind == "private") for kind, rule in info.access]
        self._private_first = info.private_first
        self._open_bodies = info.open_bodies
        self._decorators = (-1, -1)
        """The span of the last decorators, whose definition follows."""
        self._tails: dict[Span, Span] = {}
        self._lead_start = -1
        """The start of the text before a definition that belongs to its signature."""
        self._doc_before = (-1, -1)
        """The span of the doc among the decorators."""
        self._marked: list[tuple[str, Span]] = []
        """The marks among the decorators."""
        self._doc_inside: tuple[Span, Frame] | None = None
        """The last doc inside a definition."""
        self._hidden = self._hiding_names = (-1, -1)
        """Spans in which all definitions, or all names, are private."""

    def run(self, event_plan: Events) -> Definitions:
        """Runs the sweep."""
        plan, events, nodes, self._tails = event_plan
        stack = self._stack
        kinds = plan.kinds
        # A reference in `self` would be a cycle and hold the whole tree until garbage collection.
        marks = {
            MARK_RANKS["decorator"]: self._decorator,
            MARK_RANKS["export"]: self._export,
            MARK_RANKS["private"]: self._private,
            MARK_RANKS["name"]: self._name,
            MARK_RANKS["owner"]: self._owner,
            MARK_RANKS["body"]: self._body,
            MARK_RANKS["docstring"]: self._docstring,
            MARK_RANKS["hint"]: self._hint,
            MARK_RANKS["export.name"]: self._export_name,
            MARK_RANKS["private.name"]: self._private_name,
            MARK_RANKS["access"]: self._access_mark,
            MARK_RANKS["doc"]: self._doc,
            MARK_RANKS["docstring.inside"]: self._docstring_inside,
            MARK_RANKS["self"]: self._self,
            MARK_RANKS["private.names"]: self._private_names,
            MARK_RANKS["head"]: self._end_of_head,
            MARK_RANKS["outside"]: self._outside,
            MARK_RANKS["lead"]: self._attach_leading,
        }
        renames = plan.renames
        for start, minus_end, rank, at in events:
            while stack and stack[-1].tree_end <= start:
                self._close(stack.pop())
            kind = kinds.get(rank)
            if kind is not None:
                if kind not in _LOCAL or not stack or not stack[-1].local:
                    self._definition(kind, start, -minus_end, nodes[at])
            elif rank < DEFINITION:
                self._surround(rank, start, -minus_end, nodes[at])
            elif rank in renames:
                self._rename(renames[rank], start, -minus_end)
            else:
                marks[rank](start, -minus_end)
        while stack:
            self._close(stack.pop())
        return self._definitions

    def _definition(self, kind: str, start: int, end: int, node: Node) -> None:
        stack = self._stack
        top = stack[-1] if stack else None
        if top is not None and top.tree_start == start and top.tree_end == end and top.kind:
            frame = top
        else:
            frame = Frame(DEFINITION, node, start, end, top)
            self._leave_out_what_follows(frame, kind)
            if top is not None and kind in _WITH_BODY and top.body_start < end:
                self._find_body(frame)
                if frame.body_start == top.body_start and top.kind:
                    # `x = function y() {}` is one function, used by its outer name.
                    return
            stack.append(frame)
            self._definitions.frames.append(frame)
            self._take_decorators(frame)
            if self._access or self._private_first:
                self._take_access(frame)
            if end <= self._hidden[1]:
                frame.private = True
            if top is not None and top.role == EXTENT:
                top.count += 1
                top.only = frame
        frame.kind = kind
        if kind in _WITH_BODY:
            frame.local = kind in FUNCTIONS
            if frame.body_start == end:
                self._find_body(frame)

    def _leave_out_what_follows(self, frame: Frame, kind: str) -> None:
        """Ends a definition before trailing blanks, and a module before trailing comments."""
        if kind == "module":
            code_end = _end_before_comments(frame.node)
            if code_end < frame.node.end_byte:
                frame.end = code_end
        if self._text[frame.end - 1 : frame.end].isspace():
            frame.end = before_blanks(self._text, frame.end)

    def _take_decorators(self, frame: Frame) -> None:
        begin, end = self._decorators
        if begin >= 0 and self._touches(end, frame.tree_start):
            frame.start = begin
            if self._lead_start >= begin:
                frame.head_start = self._lead_start
            if self._doc_before[0] >= begin:
                frame.docstring = self._doc_before
            for mark, span in self._marked:
                if span[0] >= begin:
                    self._mark(frame, mark, span)
            self._marked.clear()

    def _mark(self, frame: Frame, mark: str, span: Span) -> None:
        if mark == "hint":
            frame.hints = [*(frame.hints or ()), span]
        elif mark == "export":
            frame.exported = True
        else:
            frame.private = True

    def _is_in_decorators(self, mark: str, start: int, end: int) -> bool:
        if start >= self._decorators[1]:
            return False
        self._marked.append((mark, (start, end)))
        return True

    def _take_access(self, frame: Frame) -> None:
        outer = frame.above
        if outer is not None:
            frame.secluded = (
                outer.kind in self._private_first if outer.hides is None else outer.hides
            )

    def _find_body(self, frame: Frame) -> None:
        if (frame.tree_start, frame.tree_end) in self._tails:
            frame.body_start, frame.body_end = self._tails[frame.tree_start, frame.tree_end]
            return
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
        if role == SCOPE:
            self._definitions.frames.append(frame)
            self._find_body(frame)
        else:
            frame.dropped = True
        self._take_decorators(frame)
        stack.append(frame)

    def _close(self, frame: Frame) -> None:
        """Gives a definition the span of its extent if it is the only one there."""
        only, frame.only = frame.only, None
        if frame.role != EXTENT or frame.count != 1 or only is None:
            if frame.role == EXTENT and self._stack and self._stack[-1].role == EXTENT:
                self._stack[-1].count += frame.count
            return
        only.start = min(only.start, frame.start)
        only.end = max(only.end, frame.end)
        only.head_start = min(only.head_start, frame.head_start)
        only.docstring = only.docstring or frame.docstring
        outer = self._stack[-1] if self._stack else None
        if outer is not None and outer.role == EXTENT:
            outer.count += 1
            outer.only = only

    def _head(self, start: int) -> Frame | None:
        """Returns the innermost definition or scope, if the position is not inside its body."""
        frame = self._innermost()
        if frame is None or frame.body_start <= start < frame.body_end:
            return None
        return frame

    def _inside(self, start: int) -> Frame | None:
        """Returns the innermost definition or scope, if the position is inside its body."""
        frame = self._innermost()
        if frame is None or not frame.body_start <= start < frame.body_end:
            return None
        return frame

    def _innermost(self) -> Frame | None:
        return next((frame for frame in reversed(self._stack) if frame.role != EXTENT), None)

    def _name(self, start: int, end: int) -> None:
        frame = self._head(start)
        if frame is None and end <= self._hiding_names[1]:
            self._private_name(start, end)
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
        while frame is not None and frame.tree_start == start:
            frame = frame.above
        if frame is not None and frame.body_start == frame.tree_end:
            frame.body_start = start
            frame.body_end = frame.tree_end if self._open_bodies else end

    def _end_of_head(self, _start: int, end: int) -> None:
        frame = self._innermost()
        if frame is not None and (frame.headed or frame.body_start == frame.tree_end):
            frame.headed = True
            frame.body_start, frame.body_end = end, frame.tree_end

    def _outside(self, start: int, _end: int) -> None:
        frame = self._head(start)
        if frame is not None:
            frame.outside = True

    def _docstring(self, start: int, end: int) -> None:
        if self._doc_before[0] <= start < self._doc_before[1]:
            self._doc_before = (start, end)
            return
        if self._doc_inside is not None and start < self._doc_inside[0][1]:
            self._doc_inside[1].docstring = (start, end)
            return
        frame = self._stack[-1] if self._stack else None
        if frame is not None and start <= frame.body_start and frame.docstring is None:
            frame.docstring = (start, end)

    def _docstring_inside(self, start: int, end: int) -> None:
        frame = self._inside(start)
        if frame is not None and frame.docstring is None:
            frame.docstring = (start, end)
            self._doc_inside = (start, end), frame

    def _attach_leading(self, start: int, end: int) -> None:
        if self._lead_start < 0 or not self._touches(self._decorators[1], start):
            self._lead_start = start
        self._decorator(start, end)

    def _doc(self, start: int, end: int) -> None:
        self._decorator(start, end)
        self._doc_before = (start, end)

    def _private_name(self, start: int, end: int) -> None:
        self._definitions.hidden.append((start, end, self._inside(start)))

    def _access_mark(self, start: int, end: int) -> None:
        frame = self._inside(start)
        if frame is None:
            return
        word = self._text[start:end].decode("utf-8", "replace")
        for rule, hides in self._access:
            if rule.fullmatch(word):
                frame.hides = hides

    def _export(self, start: int, end: int) -> None:
        self._is_in_decorators("export", start, end)
        top = self._stack[-1] if self._stack else None
        if top is not None and not top.body_start <= start < top.body_end:
            top.exported = True

    def _export_name(self, start: int, end: int) -> None:
        top = self._stack[-1] if self._stack else None
        self._definitions.exports.append(
            (start, end, top if top is not None and top.is_scope else None)
        )

    def _hint(self, start: int, end: int) -> None:
        self._is_in_decorators("hint", start, end)
        top = self._stack[-1] if self._stack else None
        if top is not None and not top.body_start <= start < top.body_end:
            top.hints = [*(top.hints or ()), (start, end)]

    def _private(self, start: int, end: int) -> None:
        if self._is_in_decorators("private", start, end):
            return
        frame = self._head(start)
        if frame is not None:
            frame.private = True
        else:
            self._hidden = (start, end)

    def _private_names(self, start: int, end: int) -> None:
        self._hiding_names = (start, end)

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
        """Whether only blanks and comments are between two positions."""
        if end > start or start - end > FAR:
            return False
        between = self._text[end:start]
        return not between or between.isspace() or _COMMENTS.fullmatch(between) is not None


def _end_before_comments(node: Node) -> int:
    """Returns where a node ends without its trailing comments.

    Kotlin's grammar includes the comment of the first class in the package header.
    """
    code = (child for child in reversed(node.children) if "comment" not in child.type)
    return next(code, node).end_byte
