"""Scopes, and what is bound in them: where a name's meaning comes from.

What a `Binding` says, by its `how`:

| how | name | text |
|---|---|---|
| `=` | variable, or `self.x` | the value, as an expression |
| `+` | a variable bound elsewhere is given another value | the value |
| `:` | variable, parameter, member | its type, as written |
| `let` | variable | empty: no value yet |
| `?` | variable | empty: something unknown; it hides outer names all the same |
| `return` | empty | what the function gives back |
| `yield` | empty | empty: the function is a generator |
| `->` | empty | the type that it says to give back |
| `base`, `implements` | empty | a base of the type |
| `alias` | empty | the type that it stands for |
| `type` | type parameter | its bound |
| `export` | name outside | the expression exported |
| `member` | name | number of a symbol that binds no name: it is part of an object written out |
| `def`, `import` | name | number of the symbol or import, where its place does not tell the scope |
| `global` | name | empty: means the module's |
| `package` | empty | what the file says to belong to |
| `built` | empty | when the file is part of it: Go's constraint |
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import repeat, zip_longest

from tree_sitter import Node

from codelens.extract.captures import Captures
from codelens.extract.expressions import UNKNOWN, Expressions, child, plain
from codelens.extract.frames import FUNCTIONS, TYPES
from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source
from codelens.extract.symbols import Symbols
from codelens.types import Binding, Import, Scope

_SCOPES = ("function", "class", "block")
_OF_SCOPE = {
    "return": "return",
    "result": "->",
    "base": "base",
    "implements": "implements",
    "package": "package",
}
"""Captures on the node that is the text itself."""
_TYPED = frozenset({"result", "implements", "alias", "package"})
_MOST_NAMES = 200
_HOLDERS = FUNCTIONS | TYPES | {"type", "module"}
_HOLDING = TYPES | {"type"}
_NO_NAMES = frozenset({"heading", "key", "method", "field", "property", "member"})

_Span = tuple[int, int, str]


class Flow:
    """Scopes and bindings of one text."""

    def __init__(
        self,
        captures: Captures,
        found: Symbols,
        imports: list[Import],
        info: LanguageInfo,
        source: Source,
    ) -> None:
        self._captures = captures
        self._source = source
        self._info = info
        self._fields = _fields(info.bindings)
        told = info.selves != ".*"
        self._selves = re.compile(rf"(?:{info.selves})\.[\w$#]+") if told else None
        self._exporting = re.compile(info.exporting) if info.exporting else None
        self.expressions = Expressions(info, source)
        spans = {
            (node.start_byte, -node.end_byte, kind)
            for kind in _SCOPES
            for node in captures.get(f"scope.{kind}", ())
        }
        self._spans = [(0, source.size, "module"), *((a, -b, kind) for a, b, kind in sorted(spans))]
        self._parents, self._bounds, self._inside = _nested(self._spans)
        self._own = self._owners(found)
        rows = [(at, row) for at, row in self._rows()]
        rows += self._placed(found, imports)
        rows.sort(key=lambda one: one[0])
        self.scopes, self.bindings = self._kept([row for _, row in rows])

    def scopes_at(self, starts: list[int]) -> list[int]:
        """The innermost scope at each position."""
        inside, places = self._inside, self._places
        return [places[inside[at - 1]] for at in map(bisect_right, repeat(self._bounds), starts)]

    def _at(self, start: int) -> int:
        return self._inside[bisect_right(self._bounds, start) - 1]

    def _owners(self, found: Symbols) -> dict[int, int]:
        """Scope -> the symbol whose inside it is."""
        by_span: dict[tuple[int, int], int] = {}
        bodies: dict[int, int] = {}
        for at, frame in enumerate(found.frames):
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
        if free:
            starts = sorted(bodies)
            for start, end, scope in free:
                first = bisect_right(starts, start - 1)
                # The first body in it is its own, as what is around a body stands right before.
                if first < len(starts) and starts[first] < end:
                    at = bodies[starts[first]]
                    frame = found.frames[at]
                    if frame.tree_start <= start and end <= frame.tree_end:
                        owners[scope] = at
        return owners

    def _rows(self) -> Iterator[tuple[int, Binding]]:
        for capture, nodes in self._captures.items():
            head, _, how = capture.partition(".")
            if head != "bind":
                continue
            for node in nodes:
                yield from self._row(how, node)

    def _row(self, how: str, node: Node) -> Iterator[tuple[int, Binding]]:
        start = node.start_byte
        scope = self._at(start)
        line = self._source.line(start)
        if how in _OF_SCOPE or how == "alias":
            write = self.expressions.type if how in _TYPED else self.expressions.written
            text = write(node)
            if how == "base" and text == UNKNOWN:
                text = self.expressions.type(node)
            yield start, Binding(scope, "", _OF_SCOPE.get(how, how), text, line)
            return
        if how == "yield":
            yield start, Binding(scope, "", "yield", "", line)
            return
        if how == "built":
            text = self.expressions.type(node)
            if text.startswith("//go:build "):
                yield start, Binding(scope, "", "built", text[11:], line)
            return
        paths = self._fields.get(node.type)
        whole = self._spans[scope][0] == start and self._spans[scope][1] == node.end_byte
        if whole and (paths is None or not paths[0] or paths[0][0][0] != "^"):
            # The name of what opens a scope is bound around it, unless it is taken from there.
            scope = self._parents[scope]
        value, kind = (
            (None, None) if paths is None else (_first(node, paths[1]), _first(node, paths[2]))
        )
        targets = [node] if paths is None else _all(node, paths[0])
        if how == "export" and not targets and value is not None:
            yield start, Binding(scope, "default", how, self.expressions.written(value), line)
        for target in targets:
            if how == "assign" and not scope and self._is_exported(target):
                if value is not None and value.type != node.type:
                    text = self.expressions.written(value)
                    yield start, Binding(scope, "default", "export", text, line)
                continue
            yield from self._targeted(start, scope, line, how, target, value, kind)

    def _is_exported(self, target: Node) -> bool:
        """The whole of a module is assigned: `module.exports = ...`."""
        if self._exporting is None:
            return False
        start = target.start_byte
        text = self._source.slice(start, min(target.end_byte, start + 40))
        return self._exporting.fullmatch(text) is not None

    def _targeted(
        self,
        start: int,
        scope: int,
        line: int,
        how: str,
        target: Node,
        value: Node | None,
        kind: Node | None,
    ) -> Iterator[tuple[int, Binding]]:
        """Rows of one target, or of each in a list of targets: `a, b = c, d` and `a, b = f()`."""
        if target.type not in self._lists:
            form, text = self._meaning(how, value, kind)
            yield from self._named(start, scope, line, target, form, text)
            return
        targets = target.named_children
        values = [value] if value is None or value.type not in self._lists else value.named_children
        if how == "range" and len(targets) == 1:
            text = self.expressions.written(values[0])
            form = "?" if text == UNKNOWN else "="
            yield from self._named(
                start, scope, line, targets[0], form, "" if form == "?" else f"{text}.#key"
            )
            return
        if len(values) == 1 and len(targets) == 1:
            yield from self._targeted(start, scope, line, how, targets[0], values[0], kind)
            return
        for at, (one, part) in enumerate(zip_longest(targets, values)):
            if one is None:
                break
            if len(values) == len(targets) or kind is not None:
                form, text = self._meaning(how, part, kind)
            else:
                form, text = self._meaning("", values[0], None)
                if text not in {"", UNKNOWN} and how == "range":
                    form, text = ("=", f"{text}[]") if at else ("?", "")
                elif text not in {"", UNKNOWN}:
                    text = f"{text}.#{at}"
            yield from self._named(start, scope, line, one, form, text)

    def _named(
        self, start: int, scope: int, line: int, target: Node, form: str, text: str
    ) -> Iterator[tuple[int, Binding]]:
        for name, taken in self._names(target):
            part = f"{text}.{taken}" if taken and text not in {"", UNKNOWN} else text
            now = form
            if taken and form == ":":
                now, part = "=", f"`{text}`.{taken}"
            elif taken is None and form in {"=", ":", "+"}:
                now, part = "?", ""
            yield start, Binding(scope, name, now, part, line)

    @property
    def _inferred(self) -> frozenset[str]:
        """Words in the place of a type that leave it to the value: `var`."""
        return _words(self._info.bindings)

    @property
    def _lists(self) -> frozenset[str]:
        return _types(self._info.bindings, "list")

    def _meaning(self, how: str, value: Node | None, kind: Node | None) -> tuple[str, str]:
        """The form and text that all names of a binding share."""
        if how in {"unknown", "global", "type"}:
            form = {"unknown": "?", "global": "global", "type": "type"}[how]
            return form, self.expressions.type(kind) if kind is not None else ""
        if how == "export":
            return "export", self.expressions.written(value)
        text = self.expressions.type(kind) if kind is not None else ""
        if text and text not in self._inferred:
            return ":", text
        if how == "each":
            text = self.expressions.written(value)
            return ("?", "") if text == UNKNOWN else ("=", text + "[*]")
        if how == "with":
            text = self.expressions.written(value)
            return ("?", "") if text == UNKNOWN else ("=", text + "[with]")
        if how == "caught":
            text = self.expressions.written(value)
            return ("?", "") if text == UNKNOWN else ("=", text + "()")
        if how == "parameter":
            return "?", ""
        if value is None:
            return "let", ""
        text = self.expressions.written(value)
        sign = "+" if how == "assign" else "="
        return ("?", "") if text == UNKNOWN and sign == "=" else (sign, text)

    def _names(self, target: Node) -> Iterator[tuple[str, str | None]]:
        """Names that a target binds: each with the member it takes, empty for the whole.

        None stands for a part that nothing is known of.
        """
        if not target.named_child_count:
            text = self._source.slice(target.start_byte, target.end_byte)
            if plain(text):
                yield text, ""
            return
        if target.type in self._patterns:
            yield from self._taken_apart(target)
            return
        text = self._source.slice(target.start_byte, min(target.end_byte, target.start_byte + 100))
        if self._selves is not None and self._selves.fullmatch(text):
            yield text, ""

    @property
    def _patterns(self) -> frozenset[str]:
        return _types(self._info.bindings, "pattern")

    def _taken_apart(self, target: Node) -> Iterator[tuple[str, str | None]]:
        pending = [(target, "")]
        count = 0
        leaves = self._info.destructured
        while pending and count < _MOST_NAMES:
            node, taken = pending.pop()
            if node.type in leaves:
                count += 1
                name = self._source.slice(node.start_byte, node.end_byte)
                if node.type.startswith("shorthand"):
                    yield name, name if not taken else None
                else:
                    yield name, taken or None
                continue
            if node.child_by_field_name("object") is not None:
                text = self._source.slice(node.start_byte, node.end_byte)
                if self._selves is not None and self._selves.fullmatch(text):
                    yield text, None
                continue
            key = node.child_by_field_name("key")
            value = node.child_by_field_name("value")
            if key is not None and value is not None:
                text = self._source.slice(key.start_byte, key.end_byte)
                known = text.isidentifier() and not taken and value.type in leaves
                pending.append((value, text if known else "?"))
                continue
            left = node.child_by_field_name("left")
            if left is not None:
                pending.append((left, taken))
                continue
            pending += [(one, taken and "?") for one in reversed(node.named_children)]

    def _placed(self, found: Symbols, imports: list[Import]) -> Iterator[tuple[int, Binding]]:
        """Definitions and imports whose scope their place among the symbols does not tell."""
        scope_of = {symbol: scope for scope, symbol in self._own.items()}
        for at, (symbol, frame) in enumerate(zip(found.symbols, found.frames, strict=True)):
            if symbol.kind in _NO_NAMES and self._in_type(found, symbol.parent):
                continue
            if symbol.kind in {"heading", "key"}:
                continue
            if frame.node.type in self._unbound and not self._in_type(found, symbol.parent):
                yield frame.tree_start, Binding(0, symbol.name, "member", str(at), symbol.name_line)
                continue
            scope = self._at(frame.tree_start)
            if self._own.get(scope) == at and self._spans[scope][0] == frame.tree_start:
                scope = self._parents[scope]
            parent = symbol.parent
            while parent >= 0 and parent not in scope_of:
                parent = found.symbols[parent].parent
            if scope != scope_of.get(parent, 0):
                yield (
                    frame.tree_start,
                    Binding(scope, symbol.name, "def", str(at), symbol.name_line),
                )
        for number, one in enumerate(imports):
            start = self._line_begin(one.line)
            scope = self._at(start)
            if scope:
                name = one.alias or one.name or one.module
                yield start, Binding(scope, name, "import", str(number), one.line)

    @property
    def _unbound(self) -> frozenset[str]:
        return _types(self._info.bindings, "unbound")

    def _in_type(self, found: Symbols, parent: int) -> bool:
        return parent >= 0 and found.symbols[parent].kind in _HOLDING

    def _line_begin(self, line: int) -> int:
        """Where the text of a line begins, behind its blanks."""
        start = self._source.line_start_of(line)
        text = self._source.text
        while text[start : start + 1] in {b" ", b"\t"}:
            start += 1
        return start

    def _kept(self, rows: list[Binding]) -> tuple[list[Scope], list[Binding]]:
        """Without the blocks in which nothing is bound."""
        used = {row.scope for row in rows} | {0}
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
        return scopes, [row._replace(scope=places[row.scope]) for row in rows]


def _nested(spans: list[_Span]) -> tuple[list[int], list[int], list[int]]:
    """Parent of each span, and the innermost one from each boundary on."""
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


def _all(node: Node, paths: tuple[str, ...]) -> list[Node]:
    """All children of the first path that leads anywhere; several only of one ending in `*`."""
    for path in paths:
        if path.endswith("*"):
            found = node.children_by_field_name(path[:-1])
            if found:
                return found
    one = _first(node, tuple(path for path in paths if not path.endswith("*")))
    return [one] if one is not None else []


def _first(node: Node, paths: tuple[str, ...]) -> Node | None:
    for path in paths:
        found = child(node, path)
        if found is not None:
            return found
    return None


@cache
def _fields(settings: tuple[tuple[str, str], ...]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Node type -> for name, value and type the paths to try."""
    return {
        kind: tuple(
            () if part == "-" else tuple(part.split("|"))
            for part in (recipe.split() + ["-"] * 3)[:3]
        )
        for kind, recipe in settings
        if recipe not in {"pattern", "unbound", "list"} and kind != "inferred"
    }


@cache
def _words(settings: tuple[tuple[str, str], ...]) -> frozenset[str]:
    return frozenset(word for key, words in settings if key == "inferred" for word in words.split())


@cache
def _types(settings: tuple[tuple[str, str], ...], role: str) -> frozenset[str]:
    return frozenset(kind for kind, recipe in settings if role in recipe.split())
