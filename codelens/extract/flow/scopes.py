"""Builds the scopes of a text and the bindings in each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from typing import cast

from codelens.extract.flow.arguments import Arguments
from codelens.extract.flow.bindings import Bindings, rules
from codelens.extract.flow.expressions import Expressions
from codelens.extract.flow.patterns import Row
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.extract.symbols.capture_events import FUNCTIONS, TYPES
from codelens.extract.symbols.symbols import Symbols
from codelens.types import Binding, Import, Scope

SCOPES = ("function", "class", "block")
"""The valid `@scope.<kind>` captures."""
_HOLDERS = FUNCTIONS | TYPES | {"type", "module"}
_HOLDING = TYPES | {"type"}
_NO_NAMES = frozenset({"heading", "key", "method", "field", "property", "member"})

_Span = tuple[int, int, str]
_Placed = tuple[int, int, str, str, str, int]
"""Start, scope, name, how, text, line."""

_new_binding = cast(
    "Callable[[tuple[int, str, str, str, int]], Binding]",
    partial(tuple.__new__, Binding),  # pyright: ignore[reportUnknownMemberType]
)


_DEFINING = frozenset({"def", "member"})
"""How the row of a definition binds its name; all others are variables."""


class Flow:
    """The scopes and bindings of one text."""

    def __init__(
        self,
        captures: Captures,
        extracted: Symbols,
        imports: list[Import],
        info: LanguageInfo,
        source: Source,
    ) -> None:
        self._source = source
        self._unbound = rules(info.name).unbound
        self.joins_texts = info.joins_texts
        self.expressions = Expressions(info, source, imports)
        self.arguments = Arguments(info, source, self.expressions)
        spans = {
            (node.start_byte, -node.end_byte, kind)
            for kind in SCOPES
            for node in captures.get(f"scope.{kind}", ())
        }
        self._spans = [(0, source.size, "module"), *((a, -b, kind) for a, b, kind in sorted(spans))]
        self._parents, self._bounds, self._inside = _nested(self._spans)
        self._own = self._owners(extracted)
        opened = {span[:2] for span in self._spans[1:]}
        bindings = Bindings(
            info, source, self.expressions, opened, lambda start: not self._at(start)
        )
        rows = self._settled(bindings.rows(captures))
        rows += self._placed(extracted, imports)
        rows.sort()
        self.scopes, self.bindings = self._without_empty_blocks(rows)
        defined = {(row.scope, row.name) for row in self.bindings if row.how in _DEFINING}
        self._variables = {(row.scope, row.name) for row in self.bindings} - defined

    def scopes_at(self, starts: list[int]) -> list[int]:
        """Returns the innermost scope at each position."""
        inside, places = self._inside, self._places
        return [places[inside[at - 1]] for at in map(bisect_right, repeat(self._bounds), starts)]

    def has_variable(self, scope: int, name: str) -> bool:
        """Whether a name is a variable in a scope or in the enclosing scopes up to a definition."""
        while (scope, name) not in self._variables:
            here = self.scopes[scope]
            if scope == 0 or here.kind == "class" or here.symbol >= 0:
                return False
            scope = here.parent
        return True

    def _at(self, start: int) -> int:
        return self._inside[bisect_right(self._bounds, start) - 1]

    def _owners(self, symbols: Symbols) -> dict[int, int]:
        """Maps each scope to the symbol whose body it is."""
        by_span: dict[tuple[int, int], int] = {}
        bodies: dict[int, int] = {}
        for at, frame in enumerate(symbols.frames):
            if frame.index == at and frame.kind in _HOLDERS:
                by_span.setdefault((frame.tree_start, frame.tree_end), at)
                if frame.body_start < frame.tree_end:
                    bodies.setdefault(frame.body_start, at)
        owners: dict[int, int] = {}
        free: list[tuple[int, int, int]] = []
        for scope, (start, end, kind) in enumerate(self._spans):
            if scope and kind != "block":
                at = by_span.get((start, end), -1)
                if at >= 0:
                    owners[scope] = at
                else:
                    free.append((start, end, scope))
        starts = sorted(bodies)
        whole = set(owners.values())
        for start, end, scope in free:
            first = bisect_right(starts, start - 1)
            # The first body in the scope belongs to it, because a scope begins right before its
            # body.
            if first < len(starts) and starts[first] < end:
                at = bodies[starts[first]]
                frame = symbols.frames[at]
                # A scope that begins where a body begins is inside that body: `class A; class <<
                # self`.
                inside = at in whole and start >= frame.body_start
                if not inside and frame.tree_start <= start and end <= frame.tree_end:
                    owners[scope] = at
        return owners

    def _settled(self, rows: list[Row]) -> list[_Placed]:
        """Adds scopes and lines to the rows."""
        starts = [row[0] for row in rows]
        scopes = [self._inside[at - 1] for at in map(bisect_right, repeat(self._bounds), starts)]
        lines = map(bisect_right, repeat(self._source.line_starts), starts)
        parents = self._parents
        return [
            (start, parents[scope] if outside else scope, name, how, text, line)
            for (start, name, how, text, outside), scope, line in zip(
                rows, scopes, lines, strict=True
            )
        ]

    def _placed(self, extracted: Symbols, imports: list[Import]) -> Iterator[_Placed]:
        """Yields definitions and imports whose parent symbol does not determine their scope."""
        scope_of = {symbol: scope for scope, symbol in self._own.items()}
        symbols = extracted.symbols
        unbound = self._unbound
        for at, (symbol, frame) in enumerate(zip(symbols, extracted.frames, strict=True)):
            kind, parent = symbol.kind, symbol.parent
            if kind in {"heading", "key"}:
                continue
            in_type = parent >= 0 and symbols[parent].kind in _HOLDING
            if in_type and kind in _NO_NAMES:
                continue
            start = frame.tree_start
            if unbound and not in_type and frame.node.type in unbound:
                yield start, 0, symbol.name, "member", str(at), symbol.name_line
                continue
            scope = self._at(start)
            if self._own.get(scope) == at and self._spans[scope][0] == start:
                scope = self._parents[scope]
            while parent >= 0 and parent not in scope_of:
                parent = symbols[parent].parent
            if scope != scope_of.get(parent, 0):
                yield start, scope, symbol.name, "def", str(at), symbol.name_line
        for number, imported in enumerate(imports):
            start = self._line_begin(imported.line)
            scope = self._at(start)
            if scope:
                name = imported.alias or imported.name or imported.module
                yield start, scope, name, "import", str(number), imported.line

    def _line_begin(self, line: int) -> int:
        """Returns where the text of a line begins, after its blanks."""
        start = self._source.line_start_of(line)
        text = self._source.text
        while text[start : start + 1] in {b" ", b"\t"}:
            start += 1
        return start

    def _without_empty_blocks(self, rows: list[_Placed]) -> tuple[list[Scope], list[Binding]]:
        """Drops the blocks that bind nothing."""
        used = {row[1] for row in rows} | {0}
        places: list[int] = []
        scopes: list[Scope] = []
        for at, (_, _, kind) in enumerate(self._spans):
            parent = places[self._parents[at]] if at else -1
            if kind == "block" and at not in used:
                places.append(parent)
                continue
            places.append(len(scopes))
            scopes.append(Scope(parent, self._own.get(at, -1), kind))
        self._places = places
        return scopes, [
            _new_binding((places[scope], name, how, text, line))
            for _, scope, name, how, text, line in rows
        ]


def _nested(spans: list[_Span]) -> tuple[list[int], list[int], list[int]]:
    """Returns the parent of each span, and the innermost span from each boundary on."""
    parents, bounds, inside = [-1], [0], [0]
    stack = [0]
    for at in range(1, len(spans)):
        start = spans[at][0]
        while len(stack) > 1 and spans[stack[-1]][1] <= start:
            bounds.append(spans[stack.pop()][1])
            inside.append(stack[-1])
        parents.append(stack[-1])
        bounds.append(start)
        inside.append(at)
        stack.append(at)
    while len(stack) > 1:
        bounds.append(spans[stack.pop()][1])
        inside.append(stack[-1])
    return parents, bounds, inside
