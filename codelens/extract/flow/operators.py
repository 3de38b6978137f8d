"""Methods that a language calls without their names, as its settings tell: `a + b`, `a[i]`.

`[operators]` says of the type of a `@protocol` node which methods are called on what, and
`[operator_names]` what the method of a sign is called. A use is `NAME RECEIVER ARGUMENT...`, of
which all but the name are paths to nodes. In a name `{}` stands for the method of the sign, `{x}`
for that of `x` and the sign, `{#}` for the place of the node among others, and `{a=b}` for `a`, or
`b` where something is assigned to the node. A receiver `?path` has to be a variable or a call, what
follows a `+` is called on it first; an argument `path*` is a list of them, and `'int` one that is
handed over where the sign stands behind what it belongs to. With `=path` in place of a method the
node at that path names a member: `const { f: renamed } = module`.

Most operands are texts and numbers, so only such uses count of which the text says of an operand
that it may be anything else (`plain_types`). `codelens.extract.flow.receivers` does the same for
Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from codelens.extract.flow.expressions import LITERAL, UNKNOWN, child
from codelens.extract.flow.scopes import Flow
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.types import PROTOCOL

Use = tuple[int, str, str, str, int, str]
"""Start, name, kind, receiver, `PROTOCOL` in place of how many arguments there are, arguments."""
_SAYING = frozenset({"=", "+", ":", "?", "let"})
"""Forms of bindings that say of what type a variable is."""
_HEAD = re.compile(r"[^\W\d][\w$]*|[$#@][\w$]*")
_MARK = re.compile(r"\{(\w*)\}")
_ASSIGNED = re.compile(r"\{(\S*?)=(\S+)\}")
_ORDINAL = "{#}"
_CHAINED = frozenset({"<<", ">>"})
"""Signs whose result is what stands on their left: of `out << a << b` it is `out`."""
_WRAPPING = frozenset({"parenthesized_expression"})
_WRITTEN_OUT = frozenset({"binary", "sign", "argument"})
"""Kinds of arguments that say nothing of what they are."""


class Operators:
    """The uses of one text."""

    def __init__(self, captures: Captures, info: LanguageInfo, source: Source, flow: Flow) -> None:
        self._nodes = captures.get("protocol", [])
        self._source, self._flow = source, flow
        self._recipes = {
            kind: [use.split() for use in uses.split("|")] for kind, uses in info.operators
        }
        self._names = dict(info.operator_names)
        self._pointing = info.pointing
        self._pointers = frozenset(source.texts(captures.get("protocol.pointer", []))) | {"this"}
        self._far_pointers = frozenset(source.texts(captures.get("protocol.pointer.far", [])))
        self._literals = frozenset(
            kind for kind, value in info.literals if value not in _WRITTEN_OUT
        )
        self._typed = self._known(info)

    def _known(self, info: LanguageInfo) -> dict[str, bool]:
        """Whether the text says of a variable more than that it is of a plain type."""
        plain = re.compile(info.plain_types) if info.plain_types else None
        typed: dict[str, bool] = {}
        for row in self._flow.bindings:
            if row.how in _SAYING:
                says = row.text not in {"", LITERAL, UNKNOWN}
                says = says and (plain is None or plain.fullmatch(row.text) is None)
                typed[row.name] = typed.get(row.name, False) or says
        return typed

    def uses(self) -> Iterator[Use]:
        """All of them, in no order."""
        for node in self._nodes:
            for name, receiver, *arguments in self._recipes.get(node.type, ()):
                use = self._use(node, name, receiver, arguments)
                if use is not None:
                    yield use

    def _use(self, node: Node, name: str, path: str, arguments: list[str]) -> Use | None:
        mark, sign = _MARK.search(name), ""
        assigned = _ASSIGNED.search(name)
        if assigned is not None:
            name = name.replace(assigned[0], assigned[1 + _is_assigned(node)])
        if _ORDINAL in name and node.parent is not None:
            before = [part.start_byte <= node.start_byte for part in node.parent.named_children]
            name = name.replace(_ORDINAL, str(sum(before)))
        if mark is not None:
            sign = self._sign(node, mark[1])
            if not sign:
                return None
            name = name.replace(mark[0], self._names[mark[1] + sign])
        path, _, further = path.partition("+")
        first = child(node, path.removeprefix("?"))
        if first is None or (path[0] == "?" and not self._is_value(first)):
            return None
        owner = self._leftmost(first, node.type, sign) if sign in _CHAINED else first
        receiver = self._written(owner)
        tells = self._tells(receiver)
        if not tells and (path not in arguments or len(arguments) == 1):
            return None
        lines = [
            line for place in arguments for line in self._arguments(node, place, (first, owner))
        ]
        if not tells:
            # `2 * v`: what is on the right may be what tells.
            typed = [line for line in lines if line[:1] != "'" and self._tells(line)]
            if not typed:
                return None
            receiver = typed[0]
        text = "\n".join(lines) if any(line != UNKNOWN for line in lines) else ""
        return first.end_byte - 1, name, "call", receiver + further, PROTOCOL, text

    def _sign(self, node: Node, before: str) -> str:
        """The sign of a node that a method is called for; empty if none is."""
        for part in node.children:
            if not part.is_named and before + part.type in self._names:
                return part.type
        return ""

    def _leftmost(self, node: Node, kind: str, sign: str) -> Node:
        while node.type == kind and self._sign(node, "") == sign and node.named_children:
            node = node.named_children[0]
        return node

    def _is_value(self, node: Node) -> bool:
        """A variable of which the text says something, or what a call gives."""
        text = self._source.slice(node.start_byte, node.end_byte)
        return self._typed.get(text.strip("$"), False) or "call" in node.type

    def _arguments(self, node: Node, place: str, owners: tuple[Node, Node]) -> list[str]:
        if place[0] == "'":
            return [place] if owners[0].start_byte == node.start_byte else []
        operand = child(node, place.removesuffix("*"))
        if operand is None:
            return [UNKNOWN]
        if place[-1] == "*":
            count, text = self._flow.arguments.written(operand)
            return text.split("\n") if text else [UNKNOWN] * count
        operand = owners[1] if operand.id == owners[0].id else operand
        kind = self._flow.arguments.kind(operand)
        return [kind or self._written(operand)]

    def _written(self, node: Node) -> str:
        """What an operand is, where that is no pointer."""
        while node.type in _WRAPPING and node.named_child_count == 1:
            node = node.named_children[0]
        if node.type in self._literals:
            return UNKNOWN
        text = self._flow.expressions.written(node)
        if not self._pointing:
            return text
        if node.type in {"pointer_expression", "subscript_expression"}:
            pointed = self._flow.expressions.written(child(node, "argument"))
            if pointed in self._pointers and node.children[0].type != "&":
                return UNKNOWN if pointed in self._far_pointers else pointed
            return UNKNOWN if node.type == "pointer_expression" else text
        if text in self._pointers or "*" in text.replace("[*]", ""):
            return UNKNOWN
        return UNKNOWN if text[:1] == "`" and node.type in self._pointing else text

    def _tells(self, text: str) -> bool:
        if text in {"", UNKNOWN, LITERAL}:
            return False
        head = _HEAD.match(text)
        return head is None or self._typed.get(head[0].strip("$"), True)


def _is_assigned(node: Node) -> bool:
    around = node.parent
    left = around.child_by_field_name("left") if around is not None else None
    return (
        around is not None and ("assign" in around.type) and left is not None and left.id == node.id
    )
