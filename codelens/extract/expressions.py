"""Expressions in a short form: what resolving names needs of them, and nothing else.

    name    E.name    E()    E[]    E[*]    E[with]    (E|E)    `type`    0    ?

`E()` is a call or a construction, `E[]` an element by key, `E[*]` one by iteration, `E[with]` what
entering it as a context gives, `(E|E)` one or the other, a type in back quotes a value said to be of
that type, `0` a literal, `?` anything else. What only waits for a value, or wraps it, vanishes.
A language says by its setting `expressions` which nodes are which.
"""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Node

from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source

UNKNOWN = "?"
LITERAL = "0"
LIMIT = 200
"""Longest expression or type, in characters."""
_DEEPEST = 40
_PLAIN = re.compile(r"[^\W\d][\w$]*(?:\??\.#?[\w$]+)*|[$#][\w$]*(?:\??\.#?[\w$]+)*")
"""A name, or names with dots between: most of all expressions."""
_FIRST = frozenset({"&&", "and"})
_CHOICES = frozenset({"||", "??", "or"})


class Expressions:
    """Writes expressions of one text."""

    def __init__(self, info: LanguageInfo, source: Source) -> None:
        self._source = source
        self._recipes, self._plain = _recipes(info.expressions)

    def written(self, node: Node | None, depth: int = 0) -> str:
        """The expression of a node; `?` if it is too long or deep."""
        if node is None or depth > _DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind in self._plain:
            text = self._source.slice(node.start_byte, min(node.end_byte, node.start_byte + LIMIT))
            if text.isidentifier():
                return text
            if _PLAIN.fullmatch(text):
                return text.replace("?", "") if "?" in text else text
        recipe = self._recipes.get(kind)
        if recipe is None:
            return UNKNOWN
        found = self._by_recipe(node, recipe, depth + 1)
        return found if len(found) <= LIMIT else UNKNOWN

    def _by_recipe(self, node: Node, recipe: tuple[str, ...], depth: int) -> str:
        form, parts = recipe[0], recipe[1:]
        if form == "plain":
            return LITERAL
        if form == "member":
            name = child(node, parts[1])
            owner = self.written(child(node, parts[0]), depth)
            if name is None or owner == UNKNOWN:
                return UNKNOWN
            return f"{owner}.{self._source.slice(name.start_byte, name.end_byte)}"
        if form == "own":
            return "self." + self._source.slice(node.start_byte, node.end_byte).lstrip("@")
        if form == "method":
            return self._method(node, parts, depth)
        if form in {"either", "operator"}:
            return self._either(node, form, parts, depth)
        if form == "cast":
            return self._cast(node, depth)
        if form == "returns":
            result = self._quoted(child(node, parts[0]))
            return UNKNOWN if result == UNKNOWN else "`() => " + result[1:]
        if form == "then":
            before = self.written(child(node, parts[0]), depth)
            return UNKNOWN if before == UNKNOWN else before + parts[1]
        if form == "type":
            return self._quoted(child(node, parts[0]))
        inner = self.written(child(node, parts[0] if parts else "0"), depth)
        if form == "call" and len(parts) > 1 and inner in (own := dict(map(_pair, parts[1:]))):
            given = child(node, "arguments.0")
            return self._quoted(given) if own[inner] == "type" else self.written(given, depth)
        if inner == UNKNOWN or form == "through":
            return inner
        return inner + ("()" if form == "call" else "[]")

    def _method(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """A call whose node holds the object and the name of the method side by side."""
        name, owner = child(node, parts[1]), child(node, parts[0])
        if name is None:
            return UNKNOWN
        called = self._source.slice(name.start_byte, name.end_byte) + "()"
        if owner is None:
            return called
        before = self.written(owner, depth)
        return UNKNOWN if before == UNKNOWN else f"{before}.{called}"

    def _either(self, node: Node, form: str, parts: tuple[str, ...], depth: int) -> str:
        if form == "operator":
            sign = node.child_by_field_name("operator")
            word = "" if sign is None else sign.type
            if word in _FIRST:
                return self.written(child(node, parts[1]), depth)
            if word not in _CHOICES:
                return UNKNOWN
        first, second = (self.written(child(node, part), depth) for part in parts[:2])
        if first == second:
            return first
        return UNKNOWN if UNKNOWN in {first, second} else f"({first}|{second})"

    def _cast(self, node: Node, depth: int) -> str:
        to = child(node, "1")
        if to is None:
            return self.written(child(node, "0"), depth)
        return self._quoted(to)

    def _quoted(self, node: Node | None) -> str:
        text = self.type(node) if node is not None else ""
        return f"`{text}`" if text and "`" not in text else UNKNOWN

    def type(self, node: Node) -> str:
        """Text of a type, on one line; empty if it is too long."""
        raw = self._source.slice(node.start_byte, min(node.end_byte, node.start_byte + 4 * LIMIT))
        text = " ".join(raw.split()).removeprefix(":").strip()
        return text if len(text) <= LIMIT else ""


def _pair(part: str) -> tuple[str, str]:
    """A built-in function, and what it gives: `new:type` its first argument as a type."""
    name, _, gives = part.partition(":")
    return name, gives


def plain(text: str) -> bool:
    """A text is a name, or names with dots between."""
    return _PLAIN.fullmatch(text) is not None


def child(node: Node, path: str) -> Node | None:
    """The node by fields, by numbers among named children, `^` for the
    parent, `$` for the last child, `~kind` for the first of a kind; itself: `.`."""
    if path.isidentifier():
        return node.child_by_field_name(path)
    if path == ".":
        return node
    found: Node | None = node
    for part in path.split("."):
        if found is None:
            return None
        if part == "^":
            found = found.parent
        elif part == "$":
            count = found.named_child_count
            found = found.named_child(count - 1) if count else None
        elif part[0] == "~":
            kind = part[1:]
            found = next((one for one in found.named_children if one.type == kind), None)
        elif part.isdigit():
            found = found.named_child(int(part)) if int(part) < found.named_child_count else None
        else:
            found = found.child_by_field_name(part)
    return found


@cache
def _recipes(
    settings: tuple[tuple[str, str], ...],
) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    found = {kind: tuple(recipe.split()) for kind, recipe in settings}
    plain_kinds = frozenset(
        kind for kind, recipe in found.items() if recipe[0] in {"name", "member"}
    )
    return found, plain_kinds
