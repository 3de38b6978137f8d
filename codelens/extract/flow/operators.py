"""Finds methods that are called by an operator or another syntax form: `a + b`, `a[i]`.

`[operators]` maps the type of a `@protocol` node to the methods that it calls; `[operator_names]`
maps an operator to its method name. A use is `NAME RECEIVER ARGUMENT...`; all but the name are
paths to nodes. In a name `{}` stands for the method of the operator, `{x}` for the method of `x`
and the operator, `{#}` for the ordinal of the node, and `{a=b}` for `a`, or for `b` if the node is
assigned to. A receiver `?path` must be a variable or a call; text after `+` is called on it first.
An argument `path*` is a list of arguments; `'int` is the argument that a postfix operator passes.
With `=path` in place of a method the node at that path names a member: `const { f: renamed } =
module`.

Most operands are strings and numbers, so a use counts only if the text shows that an operand may
have another type (`plain_types`). `codelens.extract.flow.receivers` does the same for Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from tree_sitter import Node

from codelens.extract.flow.expressions import LITERAL, UNKNOWN, child
from codelens.extract.flow.scopes import Flow
from codelens.extract.language_settings import ASSIGNED_METHOD, LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.types import PROTOCOL

Use = tuple[int, str, str, str, int, str]
"""Start, name, kind, receiver, `PROTOCOL` in place of the number of arguments, arguments."""
GIVING_TYPES = frozenset({"=", "+", ":", "?", "let"})
"""Forms of bindings that give a variable a type."""
_HEAD = re.compile(r"[^\W\d][\w$]*|[$#@][\w$]*")
_MARK = re.compile(r"\{(\w*)\}")
_ORDINAL = "{#}"
_CHAINED = frozenset({"<<", ">>"})
"""Operators whose result is their left operand: `out << a << b` is `out`."""
_WRAPPING = frozenset({"parenthesized_expression"})
_WRITTEN_OUT = frozenset({"binary", "sign", "argument"})
"""Kinds of arguments whose type depends on their operands."""


class Operators:
    """Finds the operator uses of one text."""

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
        plain = re.compile(info.plain_types) if info.plain_types else None
        self._typed = typed_names(flow, GIVING_TYPES, plain)

    def uses(self) -> Iterator[Use]:
        """Yields all uses, unordered."""
        for node in self._nodes:
            for name, receiver, *arguments in self._recipes.get(node.type, ()):
                use = self._use(node, name, receiver, arguments)
                if use is not None:
                    yield use

    def _use(self, node: Node, name: str, path: str, arguments: list[str]) -> Use | None:
        mark, sign = _MARK.search(name), ""
        assigned = ASSIGNED_METHOD.search(name)
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
        # In broken text, the parser may put an operand of no length in place of a missing one.
        if first is None or first.start_byte == first.end_byte:
            return None
        if path[0] == "?" and not self._is_value(first):
            return None
        owner = self._leftmost(first, node.type, sign) if sign in _CHAINED else first
        receiver = self._written(owner)
        has_type = self._has_type(receiver)
        if not has_type and (path not in arguments or len(arguments) == 1):
            return None
        lines = [
            line for place in arguments for line in self._arguments(node, place, (first, owner))
        ]
        if not has_type:
            # `2 * v`: the right operand may be the one with a type.
            typed = [line for line in lines if line[:1] != "'" and self._has_type(line)]
            if not typed:
                return None
            receiver = typed[0]
        text = "\n".join(lines) if any(line != UNKNOWN for line in lines) else ""
        return first.end_byte - 1, name, "call", receiver + further, PROTOCOL, text

    def _sign(self, node: Node, before: str) -> str:
        """Returns the operator of a node that has a method; empty if it has none."""
        for part in node.children:
            if not part.is_named and before + part.type in self._names:
                return part.type
        return ""

    def _leftmost(self, node: Node, kind: str, sign: str) -> Node:
        while node.type == kind and self._sign(node, "") == sign and node.named_children:
            node = node.named_children[0]
        return node

    def _is_value(self, node: Node) -> bool:
        """Whether a node is a variable of known type or a call."""
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
        """Writes an operand; `?` if it is a pointer."""
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

    def _has_type(self, text: str) -> bool:
        if text in {"", UNKNOWN, LITERAL}:
            return False
        head = _HEAD.match(text)
        return head is None or self._typed.get(head[0].strip("$"), True)


def typed_names(flow: Flow, forms: Set[str], plain: re.Pattern[str] | None) -> dict[str, bool]:
    """Returns for each variable whether the text gives it a type that may have methods of its own.

    Args:
        flow: the scopes and bindings of the text.
        forms: the forms of bindings that count.
        plain: types and values that have no methods of their own.
    """
    typed: dict[str, bool] = {}
    for row in flow.bindings:
        if row.how in forms:
            says = row.text not in {"", LITERAL, UNKNOWN}
            says = says and (plain is None or plain.fullmatch(row.text) is None)
            typed[row.name] = typed.get(row.name, False) or says
    return typed


def _is_assigned(node: Node) -> bool:
    around = node.parent
    left = around.child_by_field_name("left") if around is not None else None
    return (
        around is not None and ("assign" in around.type) and left is not None and left.id == node.id
    )
