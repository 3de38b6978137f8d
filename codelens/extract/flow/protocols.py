"""Methods that Python calls without their names: `with a`, `a + b`, `a[i]`, `len(a)`, `a(1)`.

Each is a use of that method behind what it is called on. Most operands are texts and numbers, or
nothing is known of them, so only such uses count whose operand the text says anything of. What
`getattr(a, "b")` takes is a use of `b`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set

from tree_sitter import Node

from codelens.extract.flow.expressions import LITERAL, UNKNOWN
from codelens.extract.flow.operators import Use
from codelens.extract.flow.scopes import Flow
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.types import PROTOCOL

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_FUNCTIONS = {
    "abs": "abs", "bool": "bool", "bytes": "bytes", "dict": "iter", "enumerate": "iter",
    "float": "float", "hash": "hash", "int": "int", "iter": "iter", "len": "len", "list": "iter",
    "next": "next", "repr": "repr", "reversed": "reversed", "round": "round", "set": "iter",
    "sorted": "iter", "str": "str", "sum": "iter", "tuple": "iter",
}  # fmt: skip
_CALLING = frozenset({*_FUNCTIONS, "getattr"})
_UNIONS = frozenset({"type", "binary_operator", "subscript"})
"""What stands around `A | B` that is a type."""
_TEXTS = frozenset({"string", "integer", "float", "none", "true", "false", "concatenated_string"})
_SAYING_NOTHING = _TEXTS | frozenset(
    "list dictionary set tuple binary_operator comparison_operator not_operator subscript lambda "
    "list_comprehension dictionary_comprehension set_comprehension generator_expression".split()
)
_TYPES = frozenset("str int float bool bytes None".split())
_BUILT_IN = re.compile(
    r"(?:dict|frozenset|int|len|list|open|range|set|sorted|str|tuple|zip"
    r"|.*\.(?:decode|encode|format|items|join|keys|lower|lstrip|read|readlines|replace|rsplit|rstrip"
    r"|split|splitlines|strip|upper))\(\)"
)
"""What gives a text, a number or a collection of Python's own."""
_HEAD = re.compile(r"(?:(?:self|cls)\.)?[^\W\d]\w*|[(`]")

_Named = tuple[str, Node | None]


def protocol_uses(
    captures: Captures, defined: Set[str], source: Source, flow: Flow
) -> Iterator[Use]:
    """All uses in a text that defines and imports some names, in no order."""
    written = flow.expressions.written
    telling_names = _told(flow)
    calls = list(_calls(captures.get("reference.call", []), source, telling_names))
    for node in calls:
        named = _named_in_text(node)
        if named is not None:
            yield named[2].end_byte - 1, named[0], named[1], written(named[2]), -1, ""
    for node in (*captures.get("protocol", []), *calls):
        for name, operand in _READERS[node.type](node):
            if operand is None or _says_nothing(name, operand, telling_names, defined):
                continue
            receiver = written(operand)
            head = _HEAD.match(receiver)
            if (
                head is not None
                and telling_names.get(head[0], True)
                and not _BUILT_IN.fullmatch(receiver)
            ):
                yield operand.end_byte - 1, f"__{name}__", "call", receiver, PROTOCOL, ""


def _calls(names: list[Node], source: Source, telling_names: Mapping[str, bool]) -> Iterator[Node]:
    """The calls of functions and variables that may call a method."""
    for node, text in zip(names, source.texts(names), strict=True):
        if telling_names.get(text, text in _CALLING) and node.type == "identifier":
            call = node.parent
            if call is not None and call.type == "call":
                yield call


def _says_nothing(
    name: str, operand: Node, telling_names: Mapping[str, bool], defined: Set[str]
) -> bool:
    """Nothing follows from an operand for what is called, or another use says it already."""
    if operand.type != "identifier":
        return operand.type in _SAYING_NOTHING
    bare = (operand.text or b"").decode("utf-8", "replace")
    if bare in defined:
        return name == "call" or not telling_names.get(bare, True)
    return not telling_names.get(bare, False)


def _told(flow: Flow) -> dict[str, bool]:
    """Whether the text says of a variable more than that it is of one of Python's own types."""
    telling_names: dict[str, bool] = {}
    for row in flow.bindings:
        if row.how in {"=", "+", ":", "?", "let", "type"}:
            says = row.text not in {"", LITERAL, UNKNOWN} and row.text not in _TYPES
            says = says and _BUILT_IN.fullmatch(row.text) is None
            telling_names[row.name] = telling_names.get(row.name, False) or says
    return telling_names


def _with(node: Node) -> Iterator[_Named]:
    value = node.child_by_field_name("value")
    if value is not None and value.type == "as_pattern":
        value = value.named_child(0)
    clause = node.parent
    statement = clause.parent if clause is not None else None
    waits = statement is not None and statement.children[0].type == "async"
    for name in ("aenter", "aexit") if waits else ("enter", "exit"):
        yield name, value


def _each(node: Node) -> Iterator[_Named]:
    waits = node.children[0].type == "async"
    yield "aiter" if waits else "iter", node.child_by_field_name("right")


def _subscript(node: Node) -> Iterator[_Named]:
    around = node.parent
    name = "getitem"
    if around is not None and around.type == "delete_statement":
        name = "delitem"
    elif around is not None and around.type in {"assignment", "augmented_assignment"}:
        left = around.child_by_field_name("left")
        name = "setitem" if left is not None and left.id == node.id else name
    value = node.child_by_field_name("value")
    last = (value.text or b"").rpartition(b".")[2] if value is not None else b""
    if not last[:1].isupper():
        # `List[int]`: a type by its name.
        yield name, value


def _operator(node: Node) -> Iterator[_Named]:
    sign = node.child_by_field_name("operator")
    text = sign.type if sign is not None else ""
    name = _OPERATORS.get(text.removesuffix("=") if text[-1:] == "=" else text)
    left, around = node.child_by_field_name("left"), node.parent
    is_type = text == "|" and around is not None and around.type in _UNIONS
    if name is not None and not is_type:
        if node.type == "augmented_assignment":
            yield f"i{name}", left
        yield name, left


def _comparison(node: Node) -> Iterator[_Named]:
    if node.child_count != 3:
        return
    left, sign, right = node.children
    if sign.type in {"in", "not in"}:
        yield "contains", right
    elif right.type not in _TEXTS and sign.type in _COMPARISONS:
        # What is compared with a text or a number is nearly always one as well.
        yield _COMPARISONS[sign.type], left


def _call(node: Node) -> Iterator[_Named]:
    function, arguments = node.children[0], node.child_by_field_name("arguments")
    text = (function.text or b"").decode("utf-8", "replace")
    name = _FUNCTIONS.get(text)
    if name is None:
        yield "call", function
    elif arguments is not None and arguments.named_child_count:
        yield name, arguments.named_child(0)


def _named_in_text(node: Node) -> tuple[str, str, Node] | None:
    """Name, kind and owner of what `getattr(a, "b")` takes, if a text says the name."""
    arguments = node.child_by_field_name("arguments")
    if node.children[0].text != b"getattr" or arguments is None:
        return None
    owner, text = (arguments.named_child(at) if arguments.named_child_count > at else None
                   for at in range(2))  # fmt: skip
    content = text.named_child(1) if text is not None and text.named_child_count == 3 else None
    if owner is None or content is None or content.type != "string_content":
        return None
    around = node.parent
    is_called = around is not None and around.type == "call" and around.children[0].id == node.id
    name = (content.text or b"").decode("utf-8", "replace")
    return (name, "call" if is_called else "name", owner) if name.isidentifier() else None


_READERS: dict[str, Callable[[Node], Iterator[_Named]]] = {
    "module": lambda _: iter(()),
    "with_item": _with,
    "for_statement": _each,
    "for_in_clause": _each,
    "subscript": _subscript,
    "binary_operator": _operator,
    "augmented_assignment": _operator,
    "comparison_operator": _comparison,
    "call": _call,
}
