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
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import repeat, zip_longest
from typing import NamedTuple, cast

from tree_sitter import Node

from codelens.extract.captures import Captures
from codelens.extract.expressions import UNKNOWN, Expressions, child, plain
from codelens.extract.frames import FUNCTIONS, TYPES
from codelens.extract.languages import LanguageInfo, language_info
from codelens.extract.source import Source
from codelens.extract.symbols import Symbols
from codelens.types import Binding, Import, Scope

SCOPES = ("function", "class", "block")
"""What a `@scope.<kind>` may be."""
HOWS = frozenset(
    "alias assign base built caught each export global held implements package parameter range "
    "result return type unknown with yield".split()
)
"""What a `@bind.<how>` may be, beside `@bind`: docs/languages.md has their meaning."""
_OF_SCOPE = {
    "alias": "alias",
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
_Row = tuple[int, str, str, str, bool]
"""Start, name, how, text, and whether it is bound outside of the scope that begins there."""

_new_binding = cast(
    "Callable[[tuple[int, str, str, str, int]], Binding]",
    partial(tuple.__new__, Binding),  # pyright: ignore[reportUnknownMemberType]
)


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
        self._leaves = info.destructured
        self._rules = _rules(info.name)
        told = info.selves != ".*"
        self._selves = re.compile(rf"(?:{info.selves})\.[\w$#]+") if told else None
        self._exporting = re.compile(info.exporting) if info.exporting else None
        self.expressions = Expressions(info, source)
        spans = {
            (node.start_byte, -node.end_byte, kind)
            for kind in SCOPES
            for node in captures.get(f"scope.{kind}", ())
        }
        self._spans = [(0, source.size, "module"), *((a, -b, kind) for a, b, kind in sorted(spans))]
        self._opened = {span[:2] for span in self._spans[1:]}
        self._parents, self._bounds, self._inside = _nested(self._spans)
        self._own = self._owners(found)
        self._found: list[_Row] = []
        self._read()
        rows = self._settled()
        rows += self._placed(found, imports)
        rows.sort()
        self.scopes, self.bindings = self._kept(rows)

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

    def _settled(self) -> list[tuple[int, int, str, str, str, int]]:
        """The rows read, with their scopes and lines: start, scope, name, how, text, line."""
        rows = self._found
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

    def _read(self) -> None:
        """Rows of all captures."""
        add = self._found.append
        written, type_of = self.expressions.written, self.expressions.type
        for capture, nodes in self._captures.items():
            head, _, how = capture.partition(".")
            if head != "bind":
                continue
            if how in _OF_SCOPE:
                label = _OF_SCOPE[how]
                write = type_of if how in _TYPED else written
                for node in nodes:
                    text = write(node)
                    if how == "base" and text == UNKNOWN:
                        text = type_of(node)
                    add((node.start_byte, "", label, text, False))
            elif how == "yield":
                for node in nodes:
                    add((node.start_byte, "", "yield", "", False))
            elif how == "built":
                for node in nodes:
                    text = type_of(node)
                    if text.startswith("//go:build "):
                        add((node.start_byte, "", "built", text[11:], False))
            else:
                for node in nodes:
                    self._row(how, node)

    def _row(self, how: str, node: Node) -> None:
        """Rows of what binds names."""
        start = node.start_byte
        kind = node.type
        if how == "parameter" and kind in self._leaves:
            name = self._source.slice(start, node.end_byte)
            self._found.append((start, name, "?", "", False))
            return
        paths = self._rules.fields.get(kind)
        outside = (start, node.end_byte) in self._opened and (
            # The name of what opens a scope is bound around it, unless it is taken from there.
            paths is None or not paths[0] or paths[0][0][0] != "^"
        )
        if paths is None:
            self._targeted(start, outside, how, node, None, None)
            return
        value, said = _first(node, paths[1]), _first(node, paths[2])
        targets = _all(node, paths[0])
        if how == "export" and not targets and value is not None:
            text = self.expressions.written(value)
            self._found.append((start, "default", how, text, outside))
        for target in targets:
            if how == "assign" and self._is_exported(target) and not self._at(start):
                if value is not None and value.type != kind:
                    text = self.expressions.written(value)
                    self._found.append((start, "default", "export", text, False))
                continue
            self._targeted(start, outside, how, target, value, said)

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
        outside: bool,
        how: str,
        target: Node,
        value: Node | None,
        said: Node | None,
    ) -> None:
        """Rows of one target, or of each in a list of targets: `a, b = c, d` and `a, b = f()`."""
        lists = self._rules.lists
        if target.type not in lists:
            form, text = self._meaning(how, value, said)
            self._named(start, outside, target, form, text)
            return
        targets = target.named_children
        values = [value] if value is None or value.type not in lists else value.named_children
        if how == "range" and len(targets) == 1:
            text = self.expressions.written(values[0])
            form, text = ("?", "") if text == UNKNOWN else ("=", f"{text}.#key")
            self._named(start, outside, targets[0], form, text)
            return
        if len(values) == 1 and len(targets) == 1:
            self._targeted(start, outside, how, targets[0], values[0], said)
            return
        for at, (one, part) in enumerate(zip_longest(targets, values)):
            if one is None:
                break
            if said is not None:
                text = self.expressions.type(said)
                form, text = ("=", f"`{text}`.#{at}") if text else ("?", "")
            elif len(values) == len(targets):
                form, text = self._meaning(how, part, said)
            else:
                form, text = self._meaning("", values[0], None)
                if text not in {"", UNKNOWN} and how == "range":
                    form, text = ("=", f"{text}[]") if at else ("?", "")
                elif text not in {"", UNKNOWN}:
                    text = f"{text}.#{at}"
            self._named(start, outside, one, form, text)

    def _named(self, start: int, outside: bool, target: Node, form: str, text: str) -> None:
        for name, taken in self._names(target):
            part = f"{text}.{taken}" if taken and text not in {"", UNKNOWN} else text
            now = form
            if taken and form == ":":
                now, part = "=", f"`{text}`.{taken}"
            elif taken is None and form in {"=", ":", "+"}:
                now, part = "?", ""
            self._found.append((start, name, now, part, outside))

    def _meaning(self, how: str, value: Node | None, kind: Node | None) -> tuple[str, str]:
        """The form and text that all names of a binding share."""
        if how in {"unknown", "global", "type"}:
            form = {"unknown": "?", "global": "global", "type": "type"}[how]
            return form, self.expressions.type(kind) if kind is not None else ""
        if how == "export":
            return "export", self.expressions.written(value)
        text = self.expressions.type(kind) if kind is not None else ""
        if text and text not in self._rules.inferred:
            return ":", text
        if how == "each":
            text = self.expressions.written(value)
            return ("?", "") if text == UNKNOWN else ("=", text + "[*]")
        if how == "with":
            text = self.expressions.written(value)
            return ("?", "") if text == UNKNOWN else ("=", text + "[with]")
        if how == "held":
            text = self.expressions.written(value)
            return ("?", "") if text == UNKNOWN else ("=", text + ".#try")
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
            if text[:1] == "@":
                yield f"self.{text.lstrip('@')}", ""
            elif text.isidentifier() or plain(text):
                yield text, ""
            return
        if target.type in self._rules.patterns:
            yield from self._taken_apart(target)
            return
        text = self._source.slice(target.start_byte, min(target.end_byte, target.start_byte + 100))
        if self._selves is not None and self._selves.fullmatch(text):
            yield text, ""

    def _taken_apart(self, target: Node) -> Iterator[tuple[str, str | None]]:
        pending = [(target, "")]
        count = 0
        leaves = self._leaves
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

    def _placed(
        self, found: Symbols, imports: list[Import]
    ) -> Iterator[tuple[int, int, str, str, str, int]]:
        """Definitions and imports whose scope their place among the symbols does not tell."""
        scope_of = {symbol: scope for scope, symbol in self._own.items()}
        symbols = found.symbols
        unbound = self._rules.unbound
        for at, (symbol, frame) in enumerate(zip(symbols, found.frames, strict=True)):
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
        for number, one in enumerate(imports):
            start = self._line_begin(one.line)
            scope = self._at(start)
            if scope:
                name = one.alias or one.name or one.module
                yield start, scope, name, "import", str(number), one.line

    def _line_begin(self, line: int) -> int:
        """Where the text of a line begins, behind its blanks."""
        start = self._source.line_start_of(line)
        text = self._source.text
        while text[start : start + 1] in {b" ", b"\t"}:
            start += 1
        return start

    def _kept(
        self, rows: list[tuple[int, int, str, str, str, int]]
    ) -> tuple[list[Scope], list[Binding]]:
        """Without the blocks in which nothing is bound."""
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
    if len(paths) == 1 and paths[0].isidentifier():
        only = node.child_by_field_name(paths[0])
        return [] if only is None else [only]
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


class _Rules(NamedTuple):
    """The setting `bindings` of a language."""

    fields: dict[str, tuple[tuple[str, ...], ...]]
    """Node type -> for name, value and type the paths to try."""
    patterns: frozenset[str]
    lists: frozenset[str]
    unbound: frozenset[str]
    """Definitions of these types bind no name outside of a type."""
    inferred: frozenset[str]
    """Words in the place of a type that leave it to the value: `var`."""


@cache
def _rules(language: str) -> _Rules:
    settings = dict(language_info(language).bindings)
    inferred = frozenset(settings.pop("inferred", "").split())
    fields = {
        kind: tuple(
            () if part == "-" else tuple(part.split("|"))
            for part in (recipe.split() + ["-"] * 3)[:3]
        )
        for kind, recipe in settings.items()
        if recipe not in {"pattern", "unbound", "list"}
    }

    def of(role: str) -> frozenset[str]:
        return frozenset(kind for kind, recipe in settings.items() if role in recipe.split())

    return _Rules(fields, of("pattern"), of("list"), of("unbound"), inferred)
