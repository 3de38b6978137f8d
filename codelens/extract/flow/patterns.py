"""Names that a pattern binds, each with the part of the value that it is (Rust).

A language says by its setting `bindings` what nodes are: `variant` takes parts by their place,
`fields` by their names, `list` those of a tuple, `elements` those of a list, `captured` the whole
beside what is inside, `inner` stands for what is in it, of several the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.flow.expressions import UNKNOWN, Expressions, child
from codelens.extract.source_text import Source

ROLES = frozenset({"variant", "fields", "elements", "captured", "inner"})
"""What a recipe of the setting `bindings` may say of a pattern, beside `list`."""
_HOLDING = {"Some": ".#try", "Ok": ".#try", "Err": ".#err"}
_MOST = 200


class Part(NamedTuple):
    """A name, and what it stands for; `?` if that is not known."""

    start: int
    name: str
    text: str


class Patterns:
    """Takes patterns of one text apart."""

    def __init__(self, roles: Mapping[str, str], source: Source, expressions: Expressions) -> None:
        self._roles = roles
        self._source = source
        self._written = expressions.written

    def parts(self, pattern: Node, value: str) -> Iterator[Part]:
        """The names in a pattern for a value."""
        pending: list[tuple[Node, str]] = [(pattern, value)]
        count = 0
        while pending and count < _MOST:
            node, text = pending.pop()
            count += 1
            role = self._roles.get(node.type, "")
            if role:
                pending += reversed(list(self._inside(node, role, text)))
            elif not node.named_child_count:
                name = self._source.slice(node.start_byte, node.end_byte)
                # What begins with a capital is a constant or a variant, and binds nothing.
                if name.isidentifier() and name != "_" and not name[0].isupper() and name != "self":
                    yield Part(node.start_byte, name, text)

    def _inside(self, node: Node, role: str, text: str) -> Iterator[tuple[Node, str]]:
        inner = [child_ for child_ in node.named_children if not child_.is_extra]
        if role == "inner":
            parts = [part for part in inner if part.type != "mutable_specifier"]
            yield from ((part, text) for part in parts[:1])
        elif role == "captured":
            yield from ((part, text) for part in inner)
        elif role == "list":
            yield from ((part, _of(text, f".#{at}")) for at, part in _placed(node))
        elif role == "elements":
            yield from ((part, _of(text, "[*]")) for part in inner)
        elif role == "variant":
            yield from self._of_variant(node, text)
        else:
            yield from self._of_fields(node, inner)

    def _of_variant(self, node: Node, text: str) -> Iterator[tuple[Node, str]]:
        type_ = child(node, "type")
        kind = self._written(type_)
        step = _HOLDING.get(kind)
        for at, part in _placed(node):
            if type_ is None or part.start_byte != type_.start_byte:
                yield part, _of(text, step) if step is not None else _of(kind, f".#{at}")

    def _of_fields(self, node: Node, inner: list[Node]) -> Iterator[tuple[Node, str]]:
        kind = self._written(child(node, "type"))
        for field_ in inner[1:]:
            name = field_.child_by_field_name("name")
            if name is not None:
                field = self._source.slice(name.start_byte, name.end_byte)
                yield field_.child_by_field_name("pattern") or name, _of(kind, f".{field}")


def paired(
    pattern: Node, value: Node | None, text: str, written: Callable[[Node | None], str]
) -> Iterator[tuple[Node, str]]:
    """A pattern with what it is for; part by part, where both are tuples written out."""
    inner = pattern
    while inner.type == "match_pattern" and inner.named_child_count:
        inner = inner.named_children[0]
    both = value is not None and (inner.type, value.type) == ("tuple_pattern", "tuple_expression")
    if value is None or not both or any(".." in part.type for part in inner.children):
        yield pattern, text
        return
    values = [part for part in value.named_children if not part.is_extra]
    for at, part in _placed(inner):
        if at < len(values):
            yield part, written(values[at])


_CLOSURES = frozenset(
    "anonymous_function anonymous_method_expression arrow_function function_expression "
    "lambda_expression lambda_literal".split()
)
_GIVING = frozenset(
    "arrow_function function_declaration function_expression generator_function "
    "generator_function_declaration method_definition".split()
)
"""What a value is given back from, in JavaScript."""
_LISTS = frozenset({"argument_list", "arguments", "value_arguments"})
_BETWEEN = _LISTS | {"annotated_lambda", "argument", "call_suffix", "value_argument"}
"""What may stand between a function written out and the call that takes it."""
LAST = 8
"""In place of a number: the function stands behind the brackets, as the last argument."""


def given(
    parameter: Node, written: Callable[[Node | None], str], type_of: Callable[[Node], str]
) -> str:
    """What a parameter without a type is given, by what takes the function it is of.

    With the type of the variable that the taker's result is for, as far as one is written: what
    the taker's type parameters stand for follows from it.
    """
    listed, at = parameter.parent, 0
    closure = listed
    if listed is not None and listed.type not in _CLOSURES:
        closure = listed.parent
        places = (n for n, part in enumerate(listed.named_children) if part == parameter)
        at = next(places, 9)
    if closure is not None and closure.type == "lambda":
        return _element(closure, written) if not at else UNKNOWN
    if closure is None or closure.type not in _CLOSURES or at > LAST:
        return UNKNOWN
    text = given_at(closure, at, written)
    if text == UNKNOWN:
        return _of(_expected(closure, type_of), f".#own{at}")
    listed = closure.parent
    call = listed.parent if listed is not None and listed.type == "arguments" else None
    declared = call.parent if call is not None else None
    if declared is None or declared.type != "variable_declarator":
        return text
    type_ = declared.child_by_field_name("type")
    declared_text = type_of(type_) if type_ is not None else ""
    return f"{text}`{declared_text}`" if declared_text and "`" not in declared_text else text


_TYPED = frozenset({"public_field_definition", "as_expression", "satisfies_expression"})


def _expected(closure: Node, type_of: Callable[[Node], str]) -> str:
    """What TypeScript's code says that a function written out is, by where it stands."""
    around = closure.parent
    while around is not None and around.type == "parenthesized_expression":
        around = around.parent
    type_ = declared_type(closure)
    if type_ is None and around is not None and around.type in _TYPED:
        type_ = around.child_by_field_name("type") or around.named_children[-1]
    if type_ is not None:
        text = type_of(type_)
        return f"`{text}`" if text and "`" not in text else UNKNOWN
    if around is None or around.type not in {"arrow_function", "return_statement"}:
        return UNKNOWN
    while around is not None and around.type not in _GIVING:
        around = around.parent
    return _of(_expected(around, type_of), "()") if around is not None else UNKNOWN


_BY_KEY = frozenset({b"sorted", b"max", b"min"})
_BY_FUNCTION = frozenset({b"map", b"filter"})


def _element(closure: Node, written: Callable[[Node | None], str]) -> str:
    """What Python's functions and `sort` give a `lambda`: an element of what they are given."""
    around = closure.parent
    is_key = around is not None and around.type == "keyword_argument"
    listed = around.parent if around is not None and is_key else around
    call = listed.parent if listed is not None and listed.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    if listed is None or around is None or function is None:
        return UNKNOWN
    if not is_key:
        is_first = listed.named_children[0].id == closure.id
        return (
            _of(written(child(listed, "1")), "[*]")
            if (function.text in _BY_FUNCTION and is_first and listed.named_child_count == 2)
            else UNKNOWN
        )
    name = around.child_by_field_name("name")
    if name is None or name.text != b"key":
        return UNKNOWN
    if function.text in _BY_KEY:
        return _of(written(child(listed, "0")), "[*]")
    attribute = function.child_by_field_name("attribute")
    if attribute is None or attribute.text != b"sort":
        return UNKNOWN
    return _of(written(function.child_by_field_name("object")), "[*]")


def given_at(closure: Node, at: int, written: Callable[[Node | None], str]) -> str:
    """What a function written out is given as its parameter of a place."""
    node, place = closure, 0
    around = closure.parent
    while around is not None and around.type in _BETWEEN:
        if around.type in _LISTS:
            same = (n for n, part in enumerate(around.named_children) if part == node)
            place = next(same, LAST)
            if place >= LAST:
                return UNKNOWN
        elif node.type == "annotated_lambda":
            place = LAST
        node, around = around, around.parent
    if around is None or node is closure:
        return UNKNOWN
    text = written(around)
    taker = text[: text.rfind("(")] if text[-1] == ")" else ""
    return _of(taker, f".#in{place}{at}") if taker[-1:].isidentifier() else UNKNOWN


def declared_type(value: Node) -> Node | None:
    """The type that TypeScript's code says of a value: of a variable, or of what gives it back."""
    node = value.parent
    while node is not None and node.type == "parenthesized_expression":
        node = node.parent
    if node is not None and node.type == "variable_declarator":
        return node.child_by_field_name("type")
    if node is None or node.type not in {"return_statement", "arrow_function"}:
        return None
    while node is not None and node.type not in _GIVING:
        node = node.parent
    if node is None or any(part.type in {"async", "*"} for part in node.children):
        return None
    return node.child_by_field_name("return_type")


def handed(closure: Node, at: int, written: Callable[[Node | None], str]) -> str:
    """What a parameter of a function written out is given, by what it is handed to."""
    listed = closure.parent
    call = listed.parent if listed is not None else None
    if listed is None or call is None or listed.type != "arguments":
        return UNKNOWN
    taker = written(call.child_by_field_name("function"))
    arguments = [argument for argument in listed.named_children if not argument.is_extra]
    place = next(
        (n for n, argument in enumerate(arguments) if argument.start_byte == closure.start_byte),
        LAST,
    )
    return _of(taker, f".#in{place}{at}") if place < LAST and at <= LAST else UNKNOWN


def _placed(node: Node) -> Iterator[tuple[int, Node]]:
    """What stands between the commas, each with its place: `_` is no named node."""
    at = 0
    for part in node.children:
        if part.type == ",":
            at += 1
        elif part.is_named and not part.is_extra:
            yield at, part


def _of(text: str, step: str) -> str:
    return UNKNOWN if text in {"", UNKNOWN} else text + step
