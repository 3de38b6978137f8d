"""Finds the type whose field a key names: `T{Size: 1}`, `T(size=1)`, `case T(size=1)`.

A key belongs to a literal or to a pattern. Named arguments count too, if the call is of a
constructor or copies a value: these may have a parameter for each field.
"""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Node

from codelens.extract.flow.expressions import LITERAL, UNKNOWN, Expressions, child
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source

_KINDS = ("reference.key", "reference.key.short", "reference.key.case")
_ELEMENT = "[]"
_DEEPEST = 24
_PROMISE = re.compile(r"Promise\s*<(.*)>", re.DOTALL)
_EXPRESSION = "-"
"""Before the kind of a type: the keys of its literals are expressions, not names of fields."""


def literal_keys(
    captures: Captures, info: LanguageInfo, source: Source, expressions: Expressions
) -> dict[int, tuple[str, str]]:
    """Returns the keys of typed literals: position -> the key, and the value whose field it names.

    The setting `[keys]` says how the nodes around a key lead to that value, which is `?` if the
    type is unknown. The keys of a map are left out.
    """
    nodes = [node for kind in _KINDS for node in captures.get(kind, ())]
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
    """Writes the value whose field a key names; `?` if its type is unknown, empty for a map."""
    steps, is_nested, is_named = "", False, True
    below, around = node, node.parent
    for _ in range(_DEEPEST):
        form, *parts = recipes.get(around.type, ("",)) if around is not None else ("",)
        if around is None or form in {"", "type", "value"}:
            return _head(around, form, parts, steps, expressions)
        if form == "made":
            return _made(around, parts, expressions)
        if form == "taken":
            return _taken(below, around, steps, expressions)
        if form == "typed" and child(around, parts[0]) is not None:
            return _head(around, "type", parts, steps, expressions)
        if form == "literal":
            steps = steps if is_named else _ELEMENT + steps
            is_nested, is_named = True, False
        elif form == "list":
            steps = _ELEMENT + steps
        elif form == "part" and is_nested:
            steps, is_named = _step(around, parts[0], source) + steps, True
        below, around = around, around.parent
    return UNKNOWN


def _step(part: Node, path: str, source: Source) -> str:
    """Writes the step to a part of a literal: to a field by its key, or to an element."""
    key = child(part, path)
    text = "" if key is None else source.slice(key.start_byte, key.end_byte).lstrip(".")
    return f".{text}" if text.isidentifier() else _ELEMENT


def _head(
    node: Node | None, form: str, parts: list[str], steps: str, expressions: Expressions
) -> str:
    """Writes the type or variable of a literal, and the steps from it to a part."""
    paths = [path for path in parts if path[0] != _EXPRESSION]
    named = next((inner for path in paths if node and (inner := child(node, path))), None)
    if named is None:
        return UNKNOWN
    if not steps and _EXPRESSION + named.type in parts:
        return ""
    text = expressions.written(named) if form == "value" else expressions.type(named)
    if form == "type":
        is_async = node is not None and any(part.type == "async" for part in node.children)
        promised = _PROMISE.fullmatch(text) if is_async else None
        text = promised[1] if promised is not None else text
        text = f"`{text}`" if text and "`" not in text else UNKNOWN
    return text if text == UNKNOWN else text + steps


def _taken(argument: Node, listed: Node, steps: str, expressions: Expressions) -> str:
    """Writes the parameter that takes an argument, and the steps to a part: `f({ size: 1 })`."""
    call = listed.parent
    callee = call.child_by_field_name("function") if call is not None else None
    builder = call.child_by_field_name("constructor") if call is not None else None
    arguments = [each.id for each in listed.named_children if not each.is_extra]
    if builder is not None:
        type_ = expressions.type(builder)
        text = f"`{type_}`.constructor" if type_ and "`" not in type_ else UNKNOWN
    else:
        text = expressions.written(callee)
    known = text not in {UNKNOWN, LITERAL} and argument.id in arguments
    return f"{text}.#takes{arguments.index(argument.id)}{steps}" if known else UNKNOWN


def _made(call: Node, parts: list[str], expressions: Expressions) -> str:
    """Writes the type that a call makes, or the value that it copies: `a.copy(size = 1)`.

    A capitalized name is that of a type. Other functions have parameters that name no field.
    """
    callee = child(call, parts[0])
    text = expressions.type(callee) if callee is not None else ""
    last = text.rpartition(".")[2]
    if last[:1].isupper() and "`" not in text:
        return f"`{text}`"
    if callee is not None and f".{last}" in parts and last != text:
        return expressions.written(callee).removesuffix(f".{last}")
    arguments = call.child_by_field_name("arguments")
    if f"={text}" in parts and arguments is not None:
        copied = expressions.written(arguments.named_child(0))
        return copied if copied != LITERAL else UNKNOWN
    return UNKNOWN


@cache
def _recipes(settings: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(recipe.split()) for kind, recipe in settings}
