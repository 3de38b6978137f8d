"""Builds symbols from definitions: kinds, signatures, docs and parents."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.source_text import Source, regex
from codelens.extract.symbols.capture_events import FUNCTIONS, TYPES, Definitions, Frame, tidy
from codelens.extract.symbols.comments import Comments, plain_docstring, shortened
from codelens.extract.symbols.definition_names import Names, Span, Taken, Visibility
from codelens.extract.symbols.definitions import is_definition
from codelens.types import Symbol

_SIGNATURE_LIMIT = 200
_SIGNATURE_RAW = 4 * _SIGNATURE_LIMIT
_DOCSTRING_RAW = 2400
_PLAIN_VALUES = frozenset({"variable", "constant", "field", "type", "property"})
_MANY_NAMES = _PLAIN_VALUES | TYPES | {"member"}
_FLOATING = TYPES | {"member", "variable", "constant"}
"""Kinds that, if they are declared inside a variable's value, belong to what encloses the variable.
"""
_NAMED_SHAPES = FUNCTIONS - {"function", "method"}
_HOLDERS = TYPES | {"module"}
_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*")
_CONST_WORD = re.compile(r"\bconst\b")
_BODY_TAIL = " {;"
_TAIL = " \t\r\n{:;,=\\"

_Row = tuple[str, str, str, str, str, bool, int, int, int, int, int, int]
_new_symbol = cast(
    "Callable[[_Row], Symbol]",
    partial(tuple.__new__, Symbol),  # pyright: ignore[reportUnknownMemberType]
)
"""Builds a `Symbol` from its fields in order, at a third of the cost of its constructor."""


class Symbols(NamedTuple):
    """The symbols of a text, with the data that later steps need."""

    symbols: list[Symbol]
    frames: list[Frame]
    """The frame of each symbol."""
    name_starts: set[int]
    """The positions of definition names, which are not references."""


def symbols_of(
    defined: Definitions,
    info: LanguageInfo,
    source: Source,
    comments: Comments,
    imports: set[Span],
) -> Symbols:
    """Returns the symbols of definitions in order of their starts.

    Args:
        defined: the result of the sweep.
        info: the language's settings.
        source: the text.
        comments: its comments.
        imports: spans of its imports; a definition that is one binds a foreign name.
    """
    builder = _Builder(info, source, comments, defined)
    for frame in defined.frames:
        if frame.is_scope:
            continue
        if imports and (frame.tree_start, frame.tree_end) in imports:
            frame.dropped = True
        else:
            builder.add(frame)
    builder.hide(defined)
    tidy(builder.found.symbols, builder.found.frames)
    return builder.found


class _Builder:
    def __init__(
        self, info: LanguageInfo, source: Source, comments: Comments, defined: Definitions
    ) -> None:
        self._info = info
        self._source = source
        self._comments = comments
        self._names = Names(info, source)
        self._visibility = Visibility(info, source, defined)
        self._taken = Taken(defined.frames, self._names)
        self._last_in: dict[int, int] = {}
        """Parent -> the last symbol directly in it, for merging clauses."""
        self.found = Symbols([], [], set())

    def hide(self, defined: Definitions) -> None:
        """Makes symbols private that a separate statement declares private."""
        if not defined.hidden:
            return
        names = {
            (
                scope.index if scope is not None else -1,
                self._names.name("", (start, end))[0],
            )
            for start, end, scope in defined.hidden
        }
        symbols = self.found.symbols
        for at, symbol in enumerate(symbols):
            if (symbol.parent, symbol.name) in names:
                symbols[at] = symbol._replace(exported=False)

    def add(self, frame: Frame) -> None:
        """Adds the symbols of a definition. A definition without a name is dropped."""
        self._source.check()
        parent = self._place(frame)
        if frame.dropped:
            return
        if self._info.macro_names and not self._is_definition(frame, parent):
            frame.dropped = True
            return
        spans = self._names.spans(frame)
        owner = self._names.owner(frame)
        if owner or self._visibility.by_expression:
            frame.exported = frame.exported or self._visibility.is_exporting(frame)
        if len(spans) > 1 and frame.kind not in _MANY_NAMES:
            del spans[1:]
        index = len(self.found.symbols)
        declared = frame.kind
        for span in spans:
            if frame.renames is not None:
                frame.kind = frame.renames.get(span, declared)
            if self._add_named(frame, parent, owner, span):
                return
        if len(self.found.symbols) == index:
            frame.dropped = True
            return
        self._update_frame(frame, index, parent.qualified if parent is not None else "")

    def _is_definition(self, frame: Frame, parent: Frame | None) -> bool:
        return is_definition(frame, self._around(parent), self._source, self._info.macro_names)

    def _place(self, frame: Frame) -> Frame | None:
        """Returns the parent of a definition. A definition that is invalid there is dropped."""
        parent = self._enclosing(frame) if frame.parent is not None else None
        while frame.outside and parent is not None and (parent.owns or parent.kind in TYPES):
            parent = self._enclosing(parent)
        if frame.through is not None:
            parent = self._through_self(frame, parent)
        if frame.kind in self._info.confined and self._is_stray(frame, parent):
            frame.dropped = True
        return parent

    def _add_named(self, frame: Frame, parent: Frame | None, owner: str, span: Span) -> bool:
        """Adds the symbol of one name. Returns whether it was merged into the previous one."""
        name, own = self._names.name(frame.kind, span)
        if not name:
            return False
        if frame.through is not None and parent is not None and self._taken.in_type(parent, name):
            return False
        index = parent.index if parent is not None else -1
        if frame.kind in self._info.once and self._taken.in_place(index, name):
            return False
        owner = _joined(owner, own)
        around = parent.qualified if parent is not None else ""
        absolute = self._info.absolute_names and (own or frame.kind == "module")
        if absolute or (
            parent is not None and parent.kind == "heading" and frame.kind != "heading"
        ):
            around = ""
        inside = _joined(around, owner) if owner else around
        symbol = self._symbol(frame, parent, owner, name, span=span, inside=inside)
        if frame.kind != "field":
            # Embedded fields of Go are also uses of their types.
            own_start = span[1] - len(name.encode()) if own else span[0]
            self.found.name_starts.add(own_start)
        if self._info.merged and self._is_merged(symbol, frame):
            return True
        self.found.symbols.append(symbol)
        self.found.frames.append(frame)
        return False

    def _through_self(self, frame: Frame, parent: Frame | None) -> Frame | None:
        """Returns the type of a member that is assigned in a method: `self.x = 1`."""
        start, end = frame.through or (0, 0)
        if not regex(self._info.selves).fullmatch(self._source.slice(start, end)):
            frame.dropped = True
            return None
        around = self._around(parent)
        while around is not None and around.kind not in TYPES:
            around = self._around(self._enclosing(around))
        if around is None:
            frame.through = None
            frame.dropped = frame.kind not in FUNCTIONS
            return parent
        frame.passing = frame.kind not in FUNCTIONS
        return around

    def _is_stray(self, frame: Frame, parent: Frame | None) -> bool:
        """Whether a member has no type. A property may also be in the type of a parameter."""
        around = self._around(parent)
        if frame.kind == "property":
            return around is None
        return around is None or around.kind not in _HOLDERS

    def _update_frame(self, frame: Frame, index: int, around: str) -> None:
        """Updates the frame of a definition, which inner definitions read."""
        symbol = self.found.symbols[index]
        if symbol.kind in FUNCTIONS and frame.kind not in FUNCTIONS:
            # Only a hint says that it is a function, so all of it is the body.
            frame.body_start = frame.tree_start
        frame.index = index
        frame.kind = symbol.kind
        qualifies = symbol.kind != "module" or self._info.modules_qualify
        frame.qualified = symbol.qualified if qualifies else around
        frame.exported = symbol.exported

    def _is_merged(self, symbol: Symbol, frame: Frame) -> bool:
        """Merges a clause into the definition right before it, if they belong together."""
        symbols = self.found.symbols
        at = self._last_in.get(symbol.parent, -1)
        self._last_in[symbol.parent] = len(symbols)
        if at < 0:
            return False
        before = symbols[at]
        if (before.kind, before.qualified) != (symbol.kind, symbol.qualified):
            return False
        self._last_in[symbol.parent] = at
        symbols[at] = before._replace(
            end_line=symbol.end_line,
            end_byte=symbol.end_byte,
            doc=before.doc or symbol.doc,
            exported=before.exported or symbol.exported,
        )
        self.found.frames[at].tree_end = frame.tree_end
        self._update_frame(frame, at, "")
        return True

    def _symbol(
        self, frame: Frame, parent: Frame | None, owner: str, name: str, *, span: Span, inside: str
    ) -> Symbol:
        starts = self._source.line_starts
        first = bisect_right(starts, frame.start)
        last = bisect_right(starts, frame.end - 1)
        return _new_symbol(
            (
                name,
                f"{inside}.{name}" if inside else name,
                self._kind(frame, parent, owner, name, span[0]),
                self._signature(frame, span, name),
                self._doc(frame, first, last),
                self._visibility.is_exported(frame, parent, self._around(parent), owner, name),
                first,
                last,
                min(max(bisect_right(starts, span[0]), first), last),
                frame.start,
                frame.end,
                parent.index if parent is not None else -1,
            )
        )

    def _enclosing(self, frame: Frame) -> Frame | None:
        """Returns the definition or scope that qualifies a definition."""
        outer = frame.parent
        floats = frame.kind in _FLOATING
        # Members of a type in a function's head belong to the function.
        shape = frame.kind in {"property", "method"} and frame.body_start == frame.tree_end
        hiding = _NAMED_SHAPES if shape else FUNCTIONS
        while outer is not None:
            if not (
                outer.dropped
                or (floats and outer.kind in _PLAIN_VALUES)
                # The head of a function is not inside the function.
                or (frame.tree_start < outer.body_start and outer.kind in hiding)
            ):
                if outer.is_scope and not outer.resolved:
                    self._resolve(outer)
                return outer
            outer = outer.parent
        return None

    def _around(self, parent: Frame | None) -> Frame | None:
        """Returns the definition at or around a definition or scope."""
        while parent is not None and parent.is_scope:
            parent = self._enclosing(parent)
        return parent

    def _resolve(self, scope: Frame) -> None:
        scope.resolved = True
        scope.exported = scope.exported or self._visibility.is_exporting(scope)
        parent = self._enclosing(scope)
        if parent is not None:
            scope.index = parent.index
        inside = parent.qualified if parent is not None else ""
        owner = self._names.owner(scope)
        scope.owns = bool(owner)
        scope.qualified = _joined(inside, owner)

    def _kind(
        self, frame: Frame, parent: Frame | None, owner: str, name: str, name_start: int
    ) -> str:
        outer = frame.parent
        hints = frame.hints or (outer.hints if outer is not None and outer.dropped else None)
        kind = self._hinted(frame.kind, hints) if hints else frame.kind
        inside = parent.kind if parent is not None else ""
        if kind == "function":
            scoped = parent is not None and parent.owns
            owned = bool(owner) and self._info.owned == "method"
            return "method" if owned or scoped or inside in TYPES else kind
        if kind == "method" and not owner and inside in FUNCTIONS:
            return "function"
        if kind != "variable":
            return kind
        if inside in TYPES:
            return "member" if inside == "enum" else "field"
        return "constant" if self._is_constant(frame, name, name_start) else kind

    def _is_constant(self, frame: Frame, name: str, name_start: int) -> bool:
        rule = self._info.constants
        if rule == "uppercase":
            return _CONSTANT.fullmatch(name) is not None
        if rule == "keyword":
            outer = frame.parent
            begin = outer.tree_start if outer is not None and outer.dropped else frame.tree_start
            head = self._source.slice(begin, min(name_start, begin + 60))
            return _CONST_WORD.search(head) is not None
        return False

    def _hinted(self, kind: str, hints: list[Span]) -> str:
        """Returns the more specific kind that a base or a decorator implies, in the same family."""
        for start, end in hints:
            text = self._source.slice(start, end)
            for closer, pattern in self._info.hints:
                alike = (closer in TYPES) == (kind in TYPES) or kind == "variable"
                if alike and regex(pattern).search(text):
                    return closer
        return kind

    def _signature(self, frame: Frame, name: Span, called: str) -> str:
        start = frame.head_start
        end = frame.body_start if frame.body_start < frame.tree_end else frame.end
        tail = ""
        if name[0] >= end:
            # The name follows the body: `typedef struct {...} name`.
            rest = self._source.slice(frame.body_end, frame.end)[:_SIGNATURE_RAW]
            tail = " {…} " + " ".join(rest.split()).rstrip("; ")
        raw = self._comments.left_out(start, min(end, start + _SIGNATURE_RAW))
        if self._info.signature_noise:
            raw = regex("(?m)" + self._info.signature_noise).sub(" ", raw)
        if self._info.signature == "line":
            raw = raw.split("\n", 1)[0]
        whole = " ".join(raw.split())
        head = whole.rstrip(_TAIL)
        if called[-1:] in _TAIL and called not in head:
            # An operator's name ends in the same characters.
            head = whole.rstrip(_BODY_TAIL)
        return shortened(head + tail, _SIGNATURE_LIMIT)

    def _doc(self, frame: Frame, first: int, last: int) -> str:
        for style in self._info.docs:
            doc = ""
            if style == "docstring":
                if frame.docstring is not None:
                    start, end = frame.docstring
                    raw = self._source.slice(start, min(end, start + _DOCSTRING_RAW))
                    doc = plain_docstring(raw)
            elif style == "following":
                doc = self._comments.following_doc(last)
            elif style == "leading":
                doc = self._comments.leading_doc(frame.start, first)
                if not doc and frame.start < frame.tree_start:
                    # A doc between the attributes and the definition.
                    line = self._source.line(frame.tree_start)
                    doc = self._comments.leading_doc(frame.tree_start, line)
            elif _is_short(frame):
                doc = self._comments.trailing_doc(frame.end, last)
            if doc and self._info.doc_noise:
                doc = " ".join(regex(self._info.doc_noise).sub(" ", doc).split())
            if doc:
                return doc
        return ""


def _is_short(frame: Frame) -> bool:
    """Whether its doc may follow it on its line."""
    if frame.kind == "property":
        return frame.body_start == frame.tree_end
    return frame.kind not in _HOLDERS and frame.kind not in FUNCTIONS


def _joined(outer: str, inner: str) -> str:
    return f"{outer}.{inner}" if outer and inner else outer or inner
