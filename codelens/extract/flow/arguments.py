"""Writes call arguments in the compact notation that name resolution reads.

`Arguments` writes one line per argument, to distinguish overloads: `[name=]` and an expression, or
a quote and the kind of value if the node type determines it: `'string`, `'int`, `'long`, `'real`,
`'float`, `'decimal`, `'char`, `'bool`, `'null`, `'function`, `'class`. The `[literals]` setting of
a language maps node types to kinds; without it arguments have no text. If the setting has
`generics`, a first line `<n` says that `n` type arguments follow the name, called or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from codelens.extract.flow.expressions import LITERAL, UNKNOWN, Expressions
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.source_text import Source

_MOST = 12
"""Longer argument lists are only counted."""
_DEEPEST_ARGUMENT = 8
_SUFFIXES = {"int": {"l": "long"}, "real": {"f": "float", "m": "decimal"}}
_REAL = re.compile(r"[\d']*\.|[\d']+[eE]|0[xX][\da-fA-F']*[.pP]")
"""Numbers with a fraction or exponent, for grammars that have one node type for all numbers
(`number`).
"""
_TRUTHS = frozenset("== != < > <= >= && || === !== instanceof in !in is !is".split())
_NUMBERS = ("int", "long", "float", "real")
_ARGUMENT_FORMS = frozenset({"binary", "sign", "array", "argument"})
_GENERIC = re.compile(rb"<[\w\s.,?<>\[\]:]{0,200}>\s*(?=\()")
"""Type arguments between a name and its argument list."""


class Arguments:
    """Writes the arguments of calls in one text."""

    def __init__(self, info: LanguageInfo, source: Source, expressions: Expressions) -> None:
        self._kinds = dict(info.literals)
        self._source = source
        self._expressions = expressions

    def __bool__(self) -> bool:
        """Whether the language has a `[literals]` setting."""
        return bool(self._kinds)

    def behind(self, end: int) -> int:
        """Returns where the argument list begins, after any type arguments at a position."""
        if self._source.text[end : end + 1] != b"<":
            return end
        match = _GENERIC.match(self._source.text, end)
        return match.end() if match is not None else end

    def generics(self, end: int) -> str:
        """Counts the type arguments at a position, as `<n`; empty if there are none."""
        if "generics" not in self._kinds or self._source.text[end : end + 1] != b"<":
            return ""
        depth = count = 0
        for sign in self._source.text[end : end + 300].decode("latin-1"):
            depth += (sign in "<([") - (sign in ">)]")
            count += sign == "," and depth == 1
            if not depth:
                return f"<{count + 1}"
            if sign in ";{}=&|":
                break
        return ""

    def written(self, node: Node) -> tuple[int, str]:
        """Returns the number of arguments and their text; empty if all arguments are unknown."""
        nodes = list(_flat(node))
        if not nodes or len(nodes) > _MOST:
            return len(nodes), ""
        argument_texts = [self._argument(argument) for argument in nodes]
        return len(nodes), "\n".join(argument_texts) if any(
            text_ != UNKNOWN for text_ in argument_texts
        ) else ""

    def _argument(self, node: Node) -> str:
        if self._kinds.get(node.type) != "argument":
            return self._value(node)
        count = node.named_child_count
        inner = node.named_child(count - 1) if count else None
        named = node.child_by_field_name("name")
        if named is None and count == 2 and node.children[1].type == "=":
            named = node.named_child(0)
        value = self._value(inner) if inner is not None else UNKNOWN
        if named is None:
            return value
        return f"{self._source.slice(named.start_byte, named.end_byte)}={value}"

    def kind(self, node: Node) -> str:
        """Returns the kind of value that the argument's node shows; empty if it shows none."""
        kind = self._kind(node, 0)
        return kind if not kind or kind[0] == "`" else "'" + kind

    def _value(self, node: Node) -> str:
        kind = self.kind(node)
        if kind:
            return kind
        text = self._expressions.written(node)
        return UNKNOWN if text == LITERAL or "\n" in text else text

    def _kind(self, node: Node, depth: int) -> str:
        kind = self._kinds.get(node.type, "")
        if kind == "number":
            text = self._source.slice(node.start_byte, node.end_byte)
            kind = "real" if _REAL.match(text) else "int"
        if kind in {"char", "string"}:
            prefix = _PREFIX.match(self._source.slice(node.start_byte, node.start_byte + 3))
            return kind if prefix is None else _WIDE.get(prefix[1] + kind, "")
        if kind in _SUFFIXES:
            last = self._source.slice(node.end_byte - 1, node.end_byte).lower()
            text = self._source.slice(node.start_byte, node.start_byte + 2).lower()
            return kind if text == "0x" and last == "f" else _SUFFIXES[kind].get(last, kind)
        if kind not in _ARGUMENT_FORMS:
            return kind
        if kind == "array":
            return self._array(node)
        if depth > _DEEPEST_ARGUMENT or not node.children:
            return ""
        if kind == "sign":
            if node.children[0].type == "!":
                return "bool"
            return self._kind(node.children[-1], depth + 1)
        return self._joined(node, depth) if kind == "binary" else ""

    def _joined(self, node: Node, depth: int) -> str:
        if len(node.children) != 3:
            return ""
        left, sign, right = node.children
        if sign.type in _TRUTHS:
            return "bool"
        kinds = {self._kind(left, depth + 1), self._kind(right, depth + 1)}
        if sign.type == "+" and "string" in kinds:
            return "string"
        numbers = [name for name in _NUMBERS if name in kinds]
        return numbers[-1] if numbers and kinds <= set(_NUMBERS) else ""

    def _array(self, node: Node) -> str:
        of = node.child_by_field_name("type")
        if of is None:
            return ""
        text = self._source.slice(of.start_byte, of.end_byte).partition("[")[0].strip()
        depth = sum(child.type in _DIMENSIONS for child in node.children) or 1
        return f"`{text}{'[]' * depth}`" if text.replace(".", "").isidentifier() else ""


_PREFIX = re.compile(r"(L|u8|u|U)(?=['\"])")
_WIDE = {"Lchar": "`wchar_t`", "uchar": "`char16_t`", "Uchar": "`char32_t`"}
"""Prefix and kind of a literal of C++ -> its type; that of others depends on the version."""
_DIMENSIONS = frozenset({"dimensions_expr"})


def _flat(node: Node) -> Iterator[Node]:
    """Yields the arguments of a list, or of consecutive lists: `f<T>(a) { b }` in Kotlin."""
    for child in node.named_children:
        if child.type == "value_arguments":
            yield from (inner for inner in child.named_children if not inner.is_extra)
        elif child.type != "type_arguments" and not child.is_extra:
            yield child
