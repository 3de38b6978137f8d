"""Finds the type of which a key of a literal, or of a pattern, names a field: `T{Size: 1}`."""

from __future__ import annotations

from functools import cache

from tree_sitter import Node

from codelens.extract.flow.expressions import UNKNOWN, Expressions, child
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source

_ELEMENT = "[]"
_DEEPEST = 24
_EXPRESSION = "-"
"""Before the kind of a type: the keys of its literals are expressions, no names of fields."""


def literal_keys(
    captures: Captures, info: LanguageInfo, source: Source, expressions: Expressions
) -> dict[int, tuple[str, str]]:
    """Returns the keys of literals of a type, by position: the key, and the value that has it.

    The setting `[keys]` says how the nodes around a key lead to that value. It is `?` for a
    literal of unknown type. The keys of a map are left out.
    """
    nodes = [*captures.get("reference.key", ()), *captures.get("reference.key.short", ())]
    if not nodes:
        return {}
    recipes = _recipes(info.keys)
    owners: dict[int, str] = {}
    keys: dict[int, tuple[str, str]] = {}
    for node, name in zip(nodes, source.texts(nodes), strict=True):
        around = node.parent
        # The keys of a literal have one owner; most literals have several keys.
        literal = around.parent if around is not None else None
        if literal is None:
            continue
        if literal.id not in owners:
            owners[literal.id] = _owner(node, recipes, source, expressions)
        owner = owners[literal.id]
        if owner:
            keys[node.start_byte] = (name, owner)
    return keys


def _owner(
    node: Node, recipes: dict[str, tuple[str, ...]], source: Source, expressions: Expressions
) -> str:
    """Writes the value that has a key: `?` if no type is named around it, empty for a map."""
    steps, literals, is_named = "", 0, True
    around = node.parent
    for _ in range(_DEEPEST):
        form, *parts = recipes.get(around.type, ("",)) if around is not None else ("",)
        if around is None or not form:
            return UNKNOWN
        if form == "literal":
            steps = steps if is_named else _ELEMENT + steps
            literals, is_named = literals + 1, False
        elif form == "list":
            steps = _ELEMENT + steps
        elif form == "part" and literals:
            part = child(around, parts[0])
            if part is None:
                return UNKNOWN
            text = source.slice(part.start_byte, part.end_byte).lstrip(".")
            steps, is_named = (f".{text}{steps}" if text.isidentifier() else _ELEMENT + steps), True
        elif form in {"type", "value"}:
            paths = [path for path in parts if path[0] != _EXPRESSION]
            part = next((inner for path in paths if (inner := child(around, path))), None)
            if part is None:
                return UNKNOWN
            if not steps and _EXPRESSION + part.type in parts:
                return ""
            if form == "value":
                text = expressions.written(part)
            elif text := expressions.type(part):
                text = f"`{text}`" if "`" not in text else UNKNOWN
            return f"{text}{steps}" if text and text != UNKNOWN else UNKNOWN
        around = around.parent
    return UNKNOWN


@cache
def _recipes(settings: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(recipe.split()) for kind, recipe in settings}
