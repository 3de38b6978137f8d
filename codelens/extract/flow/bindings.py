"""Reads the bindings of a text: names, parameters, results, bases and exports.

`Rules` holds the `[bindings]` recipes of a language; `Bindings` applies them to the captured nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import zip_longest
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.flow.expressions import LIMIT, LITERAL, UNKNOWN, Expressions, child, plain
from codelens.extract.flow.patterns import ROLES as PATTERN_ROLES
from codelens.extract.flow.patterns import (
    Patterns,
    Row,
    declared_type,
    given,
    given_at,
    handed,
    narrowed,
    paired,
    tested_places,
    with_doc_types,
)
from codelens.extract.flow.smart_casts import smart_casts
from codelens.extract.language_settings import LanguageInfo, language_info
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source

_ROLES = frozenset({"pattern", "unbound", "list", *PATTERN_ROLES})
"""Roles that a `[bindings]` recipe may name instead of paths. A recipe may name several."""
OF_SCOPE = {
    "alias": "alias",
    "return": "return",
    "yielded": "yield",
    "result": "->",
    "base": "base",
    "implements": "implements",
    "package": "package",
}
"""Captures whose whole node is the text of the binding."""
BARE = {"yield": ("", "yield"), "this": ("this", "?")}
"""Captures that need no text: name and `how`."""
TYPED = frozenset({"result", "implements", "alias", "package"})
STEPS = {"each": "[*]", "loop": "[*]", "with": "[with]", "held": ".#try", "caught": "()"}
"""The step that leads from the captured value to the value that the name gets."""
FORMS = {
    "unknown": "?",
    "global": "global",
    "type": "type",
    "own": "own",
    "forward": "forward",
}
"""Captures that bind a name without a value."""


class Rules(NamedTuple):
    """The `[bindings]` setting of a language."""

    fields: dict[str, tuple[tuple[str, ...], ...]]
    """Node type -> the paths to try for name, value and type."""
    patterns: frozenset[str]
    lists: frozenset[str]
    unbound: frozenset[str]
    """Definitions of these node types bind no name unless a type contains them."""
    inferred: frozenset[str]
    """Keywords in place of a type, such as `var`, with which the value determines the type."""
    documented: bool
    """Whether comments declare types (`codelens.extract.flow.patterns`)."""
    roles: dict[str, str]
    """Node type -> its role in a pattern (`codelens.extract.flow.patterns`)."""


@cache
def rules(language: str) -> Rules:
    """Returns the binding rules of a language."""
    settings = dict(language_info(language).bindings)
    inferred = frozenset(settings.pop("inferred", "").split())
    documented = bool(settings.pop("documented", ""))
    fields = {
        kind: tuple(
            () if part == "-" else tuple(part.split("|"))
            for part in (recipe.split() + ["-"] * 3)[:3]
        )
        for kind, recipe in settings.items()
        if not _ROLES.issuperset(recipe.split())
    }

    def of(role: str) -> frozenset[str]:
        return frozenset(kind for kind, recipe in settings.items() if role in recipe.split())

    roles = {
        kind: recipe for kind, recipe in settings.items() if recipe in PATTERN_ROLES | {"list"}
    }
    return Rules(fields, of("pattern"), of("list"), of("unbound"), inferred, documented, roles)


def all_children(node: Node, paths: tuple[str, ...]) -> list[Node]:
    """Returns the children that the first matching path leads to; only `path*` yields several."""
    if len(paths) == 1 and paths[0].isidentifier():
        only = node.child_by_field_name(paths[0])
        return [] if only is None else [only]
    for path in paths:
        if path.endswith("*"):
            nodes = node.children_by_field_name(path[:-1])
            if nodes:
                return nodes
    child_node = first_child(node, tuple(path for path in paths if not path.endswith("*")))
    return [child_node] if child_node is not None else []


def first_child(node: Node, paths: tuple[str, ...]) -> Node | None:
    """Returns the child that the first matching path leads to."""
    for path in paths:
        child_node = child(node, path)
        if child_node is not None:
            return child_node
    return None


# The values of `Binding.how`, with the name and text of each:
#
#   `=`: a variable or `self.x`; its value. Also `this` in a Kotlin lambda; its receiver.
#   `+`: a variable bound elsewhere is assigned another value; the value.
#   `:`: a variable, parameter or member; its type as written.
#   `let`: a variable without a value; empty.
#   `?`: a variable with an unknown value, which still hides outer names; empty.
#   `return`: empty; the returned value.
#   `yield`: empty; what a generator yields each time, or empty.
#   `->`: empty; the declared result type.
#   `base`, `implements`: empty; a base of the type.
#   `alias`: empty; the type that the alias stands for.
#   `called`: empty; a function type, as which values of the type can be called.
#   `type`: a type parameter; its bound.
#   `export`: the exported name; the exported expression.
#   `member`: a name; the number of a symbol that binds no name, as it is part of an object literal.
#   `def`, `import`: a name; the number of the symbol or import, if its position does not give the
#   scope.
#   `global`: a name that means the module's name; empty.
#   `asserted`: empty; an expression, a colon, and its asserted type, if any.
#   `forward`: a type whose defining file need not be included; empty.
#   `own`: a name that means the enclosing function or class; empty.
#   `package`: empty; the package that the file declares.
#   `built`: empty; the build constraint of the file (Go).

HOWS = frozenset(
    "alias asserted assign base built called caught each export forward global handed held "
    "implements loop matched own package parameter range receiver rest result return this type "
    "unknown with yield yielded".split()
)
"""The valid `@bind.<how>` captures, in addition to `@bind`. See docs/languages.md."""
_MOST_NAMES = 200
_HANDING = {"with": ".apply"}
"""Functions that pass their first argument as `this` to their function argument."""

_IT = re.compile(r"\bit\b")
"""The implicit name of a lambda's only parameter."""


def _aliased(node: Node) -> tuple[Node, Node]:
    """Returns the place of an alias and the type that it means.

    In `typedef struct a { ... } b;` the place is outside of the struct, and the type is its name.
    """
    name = node.child_by_field_name("name")
    if name is None or node.parent is None or node.child_by_field_name("body") is None:
        return node, node
    return node.parent, name


class Bindings:
    """Reads the bindings of one text.

    Args:
        info: the language.
        source: the text.
        expressions: writes the expressions of the text.
        opened: the spans of the scopes.
        top_level: whether a position is in the module scope.
    """

    def __init__(
        self,
        info: LanguageInfo,
        source: Source,
        expressions: Expressions,
        opened: set[tuple[int, int]],
        top_level: Callable[[int], bool],
    ) -> None:
        self._source = source
        self._leaves = info.destructured
        self._rules = rules(info.name)
        selves = rf"(?:{info.selves})\.[\w$#]+" if info.selves != ".*" else ""
        self._selves = re.compile(selves) if selves else None
        self._exporting = re.compile(info.exporting) if info.exporting else None
        self._expressions = expressions
        self._opened = opened
        self._top_level = top_level
        self._rows: list[Row] = []
        self._patterns = Patterns(self._rules.roles, source, expressions)
        expressions.bound = self._patterns.parts

    def rows(self, captures: Captures) -> list[Row]:
        """Returns the rows of all captures, unordered."""
        for capture, nodes in captures.items():
            head, _, how = capture.partition(".")
            if head == "bind":
                self._read(how, nodes)
        comments = captures.get("comment", []) if self._rules.documented else []
        return with_doc_types(self._rows, comments, self._source)

    def _read(self, how: str, nodes: list[Node]) -> None:
        add = self._rows.append
        written, type_of = self._expressions.written, self._expressions.type
        if how in OF_SCOPE:
            label = OF_SCOPE[how]
            write = type_of if how in TYPED else written
            for node in nodes:
                around, inner = _aliased(node) if how == "alias" else (node, node)
                text = self._base(inner, write(inner)) if how == "base" else write(inner)
                add((around.start_byte, "", label, text, False))
        elif how in BARE:
            name, label = BARE[how]
            for node in nodes:
                member = self._as_member(node) if how == "this" else ""
                add((node.start_byte, name, "=" if member else label, member, False))
        elif how == "built":
            for node in nodes:
                text = type_of(node)
                if text.startswith("//go:build "):
                    add((node.start_byte, "", "built", text[11:], False))
        else:
            others = {"receiver": self._taken_by, "rest": self._rest, "called": self._called}
            row = others.get(how, partial(self._row, how))
            for node in nodes:
                row(node)

    def _base(self, node: Node, text: str) -> str:
        """Writes a base with its type arguments: `Base[int]`, `Base<T>`."""
        if text == UNKNOWN or text.endswith("[]") or node.type == "template_type":
            return self._expressions.type(node)
        around = node.parent
        listed = around.child_by_field_name("type_arguments") if around is not None else None
        if listed is None or text.endswith(")"):
            return text
        whole = text + self._expressions.type(listed)
        return whole if len(whole) <= LIMIT else text

    def _as_member(self, method: Node) -> str:
        """Writes a method of an object literal as a member of the declared type of the object."""
        of = method.parent
        declared = declared_type(of) if of is not None and of.type == "object" else None
        name = method.child_by_field_name("name")
        text = self._expressions.type(declared) if declared is not None else ""
        if not text or "`" in text or name is None or name.type != "property_identifier":
            return ""
        return f"`{text}`.{self._source.slice(name.start_byte, name.end_byte)}"

    def _taken_by(self, node: Node) -> None:
        """Binds `this` and `it` in a function literal, from the call that takes the literal."""
        written = self._expressions.written
        paths = self._rules.fields[node.type]
        taker = written(first_child(node, paths[1]))
        if taker in _HANDING:
            receiver = written(first_child(node, paths[2]))
            taker = UNKNOWN if receiver == UNKNOWN else receiver + _HANDING[taker]
        self._rows.append((node.start_byte, "this", "=", taker, False))
        text = self._source.slice(node.start_byte, node.end_byte)
        if child(node, "~lambda_parameters") is None and _IT.search(text):
            text = given_at(node, 0, written)
            form = "?" if text == UNKNOWN else "="
            self._rows.append((node.start_byte, "it", form, text.strip("?"), False))

    def _row(self, how: str, node: Node) -> None:
        """Adds the rows of a node that binds names."""
        if how == "asserted":
            self._asserted(node)
            return
        if how in {"matched", "handed"}:
            self._matched(how, node)
            return
        if how == "parameter" and self._bind_passed(node):
            return
        start, kind = node.start_byte, node.type
        paths = self._rules.fields.get(kind)
        # A definition's own name is bound in the scope around it, unless its path begins with `^`.
        around = paths is None or not paths[0] or paths[0][0][0] != "^"
        outside = around and how != "loop" and (start, node.end_byte) in self._opened
        if paths is None:
            self._targeted(start, outside, how, node, value=None, node=None)
            return
        value, type_node = first_child(node, paths[1]), first_child(node, paths[2])
        targets = all_children(node, paths[0])
        if how == "export" and not targets and value is not None:
            text = self._expressions.written(value)
            self._rows.append((start, "default", how, text, outside))
        for target in targets:
            if how == "assign" and self._is_exported(target) and self._top_level(start):
                if value is not None and value.type != kind:
                    text = self._expressions.written(value)
                    if text in {LITERAL, UNKNOWN}:
                        text = self._declared(node) or text
                    self._rows.append((start, "default", "export", text, False))
                continue
            self._targeted(start, outside, how, target, value=value, node=type_node)

    def _rest(self, node: Node) -> None:
        """Binds a rest parameter as a list of its type."""
        paths = self._rules.fields[node.type]
        type_ = first_child(node, paths[2])
        text = self._expressions.type(type_) if type_ is not None else ""
        form, text = (":", f"{text}[]") if text else ("?", "")
        for target in all_children(node, paths[0]):
            self._named(node.start_byte, False, target, form, text)

    def _called(self, node: Node) -> None:
        """Adds the function type of a call signature to the type that contains it."""
        parts = (node.child_by_field_name(name) for name in ("parameters", "return_type"))
        taken, result = (self._expressions.type(part) if part is not None else "" for part in parts)
        if not result and (generic := child(node, "return_type.0.name")) is not None:
            # The text of the type would be too long with its type arguments.
            result = self._expressions.type(generic)
        if taken:
            # The signature opens a scope; the type's scope is the one around it.
            self._rows.append((node.start_byte, "", "called", f"{taken} => {result}", True))

    def _bind_passed(self, node: Node) -> bool:
        """Binds an untyped parameter to what the enclosing call passes. Returns whether it did."""
        paths = self._rules.fields.get(node.type, ())
        if any(first_child(node, path) is not None for path in paths[1:]):
            return False
        text = given(node, self._expressions.written, self._expressions.type)
        if text != UNKNOWN:
            for target in all_children(node, paths[0]) if paths else [node]:
                self._named(node.start_byte, False, target, "=", text)
        elif node.type in self._leaves:
            self._named(node.start_byte, False, node, "?", "")
        return text != UNKNOWN or node.type in self._leaves

    def _matched(self, how: str, node: Node) -> None:
        """Adds the rows of a pattern, or of the parameters of a function literal."""
        if how == "handed":
            listed = child(node, "parameters")
            for at, parameter in enumerate(listed.named_children if listed is not None else ()):
                type_ = parameter.child_by_field_name("type")
                text = self._expressions.type(type_) if type_ is not None else ""
                text = f"`{text}`" if text else handed(node, at, self._expressions.written)
                pattern = parameter.child_by_field_name("pattern") or parameter
                self._take_apart(pattern, text, around=None)
            return
        paths = self._rules.fields[node.type]
        pattern, value, type_ = (first_child(node, path) for path in paths)
        text = self._expressions.type(type_) if type_ is not None else ""
        if text:
            text, value = f"`{text}`", None
        elif value is not None:
            text = self._expressions.written(value)
            if paths[0][0] == "pattern" and node.type.startswith("for") and text != UNKNOWN:
                text += "[*]"
        if pattern is not None:
            outside = (node.start_byte, node.end_byte) in self._opened
            for part, taken in paired(
                pattern, value if not type_ else None, text, self._expressions.written
            ):
                self._take_apart(part, taken, around=None if outside else node)

    def _take_apart(self, pattern: Node, text: str, around: Node | None) -> None:
        start = around.start_byte if around is not None else -1
        for place, name, part in self._patterns.parts(pattern, text):
            at = start if start >= 0 else place
            if not part:
                self._rows.append((at, name, "let", "", False))
            elif part in {UNKNOWN, LITERAL}:
                self._rows.append((at, name, "?", "", False))
            elif part[0] == "`" and part.count("`") == 2 and part[-1] == "`":
                self._rows.append((at, name, ":", part[1:-1], False))
            else:
                self._rows.append((at, name, "=", part, False))

    def _asserted(self, node: Node) -> None:
        """Adds the types that tests assert: `isinstance` (Python), `instanceof` (PHP), `is`."""
        if node.type in {"check_expression", "type_test"}:
            self._rows += smart_casts(node, self._expressions)
            return
        if node.type == "binary_expression":
            self._rows += narrowed(node, self._expressions)
            return
        function = child(node, "function")
        if function is None or function.text != b"isinstance":
            return
        tested, of = (self._expressions.written(child(node, f"arguments.{at}")) for at in range(2))
        for start, type_ in tested_places(node, of) if tested != UNKNOWN and plain(of) else ():
            self._rows.append((start, "", "asserted", f"{tested}:{type_}", False))

    def _declared(self, node: Node) -> str:
        """Returns the variable declared along with an export: `var app = module.exports = {}`."""
        around = node.parent
        while around is not None and around.type == node.type:
            around = around.parent
        name = around.child_by_field_name("name") if around is not None else None
        text = "" if name is None else self._source.slice(name.start_byte, name.end_byte)
        return text if text.isidentifier() else ""

    def _is_exported(self, target: Node) -> bool:
        """Whether the target is the whole module: `module.exports = ...`."""
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
        *,
        value: Node | None,
        node: Node | None,
    ) -> None:
        """Adds the rows of one target, or of each target in a list: `a, b = c, d`, `a, b = f()`."""
        lists = self._rules.lists
        if target.type not in lists:
            form, text = self._meaning(how, value, node)
            self._named(start, outside, target, form, text)
            return
        targets = target.named_children
        values = [value] if value is None or value.type not in lists else value.named_children
        if len(targets) == 1 and target.type not in self._rules.patterns and len(values) == 1:
            if how == "range":
                text = self._expressions.written(values[0])
                form, text = ("?", "") if text == UNKNOWN else ("=", f"{text}.#key")
                self._named(start, outside, targets[0], form, text)
            else:
                self._targeted(start, outside, how, targets[0], value=values[0], node=node)
            return
        spread = next((at for at, part in enumerate(targets) if "splat" in part.type), len(targets))
        paired = len(values) == len(targets) == spread and values[0] is not value
        for at, (inner, part) in enumerate(zip_longest(targets, values)):
            if inner is None:
                break
            form, text = "?", ""
            if paired and node is None:
                form, text = self._meaning(how, part, node)
            elif at < spread:
                form, text = self._part(how, at, values[0], node)
            if how == "assign":
                form, text = "+", text or UNKNOWN
            self._named(start, outside, inner, form, text)

    def _part(self, how: str, at: int, value: Node | None, node: Node | None) -> tuple[str, str]:
        """Returns form and text of one of several targets of a single value."""
        text = self._expressions.type(node) if node is not None else ""
        if node is not None and text not in self._rules.inferred:
            return ("=", f"`{text}`.#{at}") if text else ("?", "")
        form, text = self._meaning(how if how in STEPS else "", value, None)
        if text in {"", UNKNOWN}:
            return form, text
        if how == "range":
            return ("=", f"{text}[]") if at else ("?", "")
        return form, f"{text}.#{at}"

    def _named(self, start: int, outside: bool, target: Node, form: str, text: str) -> None:
        for name, taken in self._names(target):
            part = f"{text}.{taken}" if taken and text not in {"", UNKNOWN} else text
            now = form
            if taken and form == ":":
                now, part = "=", f"`{text}`.{taken}"
            elif taken is None and form == ":" and target.type.startswith("rest"):
                # `...all: T[]` has the type as written; a pattern inside it does not.
                if target.named_children[0].type not in self._leaves:
                    now, part = "?", ""
            elif taken is None and form in {"=", ":"}:
                now, part = "?", ""
            elif taken is None and form == "+":
                part = UNKNOWN
            self._rows.append((start, name, now, part, outside))

    def _meaning(self, how: str, value: Node | None, kind: Node | None) -> tuple[str, str]:
        """Returns the form and text that all names of a binding share."""
        if how in FORMS:
            return FORMS[how], self._expressions.type(kind) if kind is not None else ""
        if how == "export":
            return "export", self._expressions.written(value)
        text = self._expressions.type(kind) if kind is not None else ""
        if text and text not in self._rules.inferred:
            return ":", text
        if how == "parameter":
            return "?", ""
        if value is None and how not in STEPS:
            return "let", ""
        text = self._expressions.written(value)
        if how in STEPS:
            return ("?", "") if text == UNKNOWN else ("=", text + STEPS[how])
        sign = "+" if how == "assign" else "="
        return ("?", "") if text == UNKNOWN and sign == "=" else (sign, text)

    def _names(self, target: Node) -> Iterator[tuple[str, str | None]]:
        """Yields the names that a target binds, each with its member of the value.

        The member is empty for the whole value and None if it is unknown.
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
                is_simple = text.isidentifier() and not taken and value.type in leaves
                pending.append((value, text if is_simple else "?"))
                continue
            left = node.child_by_field_name("left")
            if left is not None:
                pending.append((left, taken))
                continue
            pending += [(child, taken and "?") for child in reversed(node.named_children)]
