"""Finds uses of names in what a grammar leaves as text: strings, symbols and bodies of macros.

`a.send(:b)`, `call_user_func([$a, "b"])` and `getattr(a, "b")()` call `b` of `a`; `a.method(:b)`
gives it as a value; `list.map(&:b)` calls `b` of each element, `attrgetter("b")` reads it.
`a["b"]` reads `b` of `a` where members are keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.flow.expressions import UNKNOWN
from codelens.extract.flow.receivers import receivers_of
from codelens.extract.flow.scopes import Flow
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.types import ROOT

_ARGUMENTS = frozenset({"argument_list", "arguments"})
_CALLS = frozenset({"call", "call_expression", "function_call"})
_SUBSCRIPTS = frozenset({"subscript_expression", "bracket_index_expression"})
_PAIR = "array_creation_expression"
_IN_ARGUMENTS = frozenset({"argument", "array_element_initializer", "binary_expression", _PAIR})
"""Nodes between the arguments of a call and the text that names a method."""
_PATH = re.compile(r"(\\?(?:\w+\\+)*)(?:(\w+)::)?([^\W\d]\w*[?!=]?)")
"""Namespaces, class and name of a callable in a string."""
_QUOTES = frozenset({"'", '"'})
_OWN_TYPE = {"__CLASS__": "self"}
_TOKEN = re.compile(
    rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|$)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    rb"|(?P<before>(?:->|\.|\#)\s*)?(?P<path>(?:::)?(?:[A-Za-z_]\w*::)*)(?P<name>[A-Za-z_]\w*)"
    rb"(?=(?P<after>[ \t]*(?:\#\#|\())?)|[0-9][\w.']*|\#\#\s*\w+",
    re.DOTALL,
)
_LONGEST = 10_000
"""Longer bodies are tables of data."""


class NamedUse(NamedTuple):
    """A use of a name in a text, and what is before its dot."""

    start: int
    name: str
    kind: str
    receiver: str


class _Rule(NamedTuple):
    """What a function does with a name; see `LanguageInfo.sending_calls`."""

    kind: str = "name"
    position: str = ""
    step: str = ""
    owner: str = ""


_NO_RULE = _Rule()


def _rule_of(text: str) -> _Rule:
    kind, _, rest = text.partition(" ")
    place, _, owner = rest.partition(" ")
    position, _, step = place.partition(".")
    return _Rule(kind, position or "0", step, owner)


class _Place(NamedTuple):
    """Where a name is: its call's arguments, its number among them, its object in a pair."""

    arguments: Node | None
    position: int
    owner: Node | None
    outermost: Node


def named_uses(
    captures: Captures, info: LanguageInfo, source: Source, flow: Flow
) -> Iterator[NamedUse]:
    """Yields the uses by names in strings and symbols, then those in the bodies of macros."""
    yield from _in_strings(captures, info, source, flow)
    yield from _in_macros(captures, info, source)


def _in_strings(
    captures: Captures, info: LanguageInfo, source: Source, flow: Flow
) -> Iterator[NamedUse]:
    rules = {name: _rule_of(text) for name, text in info.sending_calls}
    calls = captures.get("reference.call", []) if rules else []
    nodes = captures.get("call.sending", calls)
    texts = (text.lstrip("\\") for text in source.texts(nodes))
    senders = {
        node.end_byte: (node, rules[text])
        for node, text in zip(nodes, texts, strict=True)
        if text in rules
    }
    for node in captures.get("reference.sent", ()):
        text = source.slice(node.start_byte, node.end_byte)
        quote = int(text[-1:] in _QUOTES)
        path = _PATH.fullmatch(text[quote:-1] if quote else text.removeprefix(":"))
        if path is None:
            continue
        start = node.end_byte - quote - len(path[3].encode())
        if node.parent is not None and node.parent.type == "block_argument":
            yield NamedUse(start, path[3], "call", UNKNOWN)
            continue
        if node.parent is not None and node.parent.type in _SUBSCRIPTS:
            kind = "call" if _is_called(node.parent) else "name"
            receiver = flow.expressions.written(node.parent.children[0])
            yield NamedUse(start, path[3], kind, receiver)
            continue
        place = _place_of(node)
        at = place.arguments.start_byte if place.arguments is not None else -1
        sender, rule = senders.get(at, (None, _NO_RULE))
        applies = rule.position in {str(place.position), "*"}
        kind = rule.kind if applies else "name"
        if place.owner is not None:
            receiver = _receiver_in_pair(place.owner, applies, source, flow)
            if receiver:
                yield NamedUse(start, path[3], kind, receiver)
        elif not applies or sender is None or place.arguments is None:
            continue
        elif rule.owner:
            kind = "call" if _is_called(place.arguments.parent) else kind
            yield NamedUse(start, path[3], kind, _receiver_in(place.arguments, rule.owner, flow))
        elif info.sending_paths:
            prefixed = place.outermost.type == "binary_expression"
            yield NamedUse(start, path[3], kind, _receiver_in_path(path, prefixed=prefixed))
        else:
            sending = source.slice(sender.start_byte, sender.end_byte)
            receiver = receivers_of(captures, [sending], [sender.start_byte], source, flow)[0]
            receiver += f".{rule.step}" if rule.step and receiver else ""
            yield NamedUse(start, path[3], kind, receiver)


def _is_called(node: Node | None) -> bool:
    """Whether an expression is what a call calls: `getattr(a, "b")()`, `a["b"]()`."""
    around = node.parent if node is not None else None
    return around is not None and around.type in _CALLS and around.children[0] == node


def _receiver_in(arguments: Node, owner: str, flow: Flow) -> str:
    """Returns the argument whose member another argument names."""
    node = arguments.named_child(int(owner)) if owner != "?" else None
    if node is not None and node.type == "argument":
        node = node.named_child(0)
    return flow.expressions.written(node) if node is not None else UNKNOWN


def _place_of(node: Node) -> _Place:
    owner: Node | None = None
    below, around = node, node.parent
    while around is not None and around.type in _IN_ARGUMENTS:
        if around.type == _PAIR and owner is None:
            owner = around.named_child(0)
        below, around = around, around.parent
    if around is None or around.type not in _ARGUMENTS:
        return _Place(None, 0, owner, below)
    position = around.named_children.index(below)
    inner = below.named_child(0) if below.type == "argument" else None
    return _Place(around, position, owner, below if inner is None else inner)


def _receiver_in_pair(element: Node, applies: bool, source: Source, flow: Flow) -> str:
    """Returns the object of a pair `[$a, "m"]`; a string there names a class only in a call."""
    owner = element.named_child(0)
    if source.slice(owner.start_byte, owner.start_byte + 1) in _QUOTES:
        path = source.slice(owner.start_byte + 1, owner.end_byte - 1)
        plain = path.replace("\\\\", "\\").lstrip("\\")
        return f"`\\{plain}`" if applies else ""
    if owner.type == "class_constant_access_expression":
        owner = owner.named_child(0) or owner
    text = flow.expressions.written(owner)
    return _OWN_TYPE.get(text, text if text != UNKNOWN else "")


def _receiver_in_path(path: re.Match[str], *, prefixed: bool) -> str:
    """Returns what precedes the name in a fully qualified path in a string."""
    space = path[1].replace("\\\\", "\\").strip("\\")
    if path[2] in {"self", "static", "parent"}:
        return path[2]
    if path[2]:
        return f"`\\{space}\\{path[2]}`" if space else f"`\\{path[2]}`"
    return "" if prefixed else ROOT + space.replace("\\", ".")


def _in_macros(captures: Captures, info: LanguageInfo, source: Source) -> Iterator[NamedUse]:
    """Yields the uses in the macro bodies of a text: `#define CALL(x) f(x)`.

    A body may be any tokens, so a name before `(` is a call and any other name a use. Parameters do
    not count, nor operands of `#` and `##`, nor members, whose owner is unknown.
    """
    for node in captures.get("reference.macro", ()):
        if node.end_byte - node.start_byte > _LONGEST:
            continue
        left_out = info.keywords | _parameters(node, source)
        text = source.text[node.start_byte : node.end_byte]
        for token in _TOKEN.finditer(text):
            name, after = token["name"], token["after"] or b""
            if name is None or token["before"] or after.endswith(b"##"):
                continue
            word = name.decode("utf-8", "replace")
            if word in left_out:
                continue
            receiver = token["path"].strip(b":").replace(b"::", b".").decode("utf-8", "replace")
            kind = "call" if after.endswith(b"(") else "name"
            yield NamedUse(node.start_byte + token.start("name"), word, kind, receiver)


def _parameters(body: Node, source: Source) -> set[str]:
    macro = body.parent
    listed = macro.child_by_field_name("parameters") if macro is not None else None
    nodes = listed.named_children if listed is not None else []
    return {source.slice(node.start_byte, node.end_byte) for node in nodes}
