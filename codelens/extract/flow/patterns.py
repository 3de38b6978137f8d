"""Finds types and values that a text gives to names other than by assignment.

These are the names in patterns (Rust), parameters of function literals, type tests (PHP, Python),
and types in doc comments (PHP). For patterns the `[bindings]` setting gives node types a role:
`variant` binds parts by position, `fields` by name, `list` those of a tuple, `elements` those of a
list, `captured` binds the whole and its parts, `inner` is replaced by its first child.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from weakref import proxy

from tree_sitter import Node

from codelens.extract.flow.expressions import UNKNOWN, Expressions, child
from codelens.extract.source_text import Source

ROLES = frozenset({"variant", "fields", "elements", "captured", "inner"})
"""Roles in patterns that a `[bindings]` recipe may name, in addition to `list`."""
_HOLDING = {"Some": ".#try", "Ok": ".#try", "Err": ".#err"}
_MOST = 200


class Part(NamedTuple):
    """A bound name and its value, `?` if the value is unknown."""

    start: int
    name: str
    text: str


class Patterns:
    """Splits the patterns of one text into parts."""

    def __init__(self, roles: Mapping[str, str], source: Source, expressions: Expressions) -> None:
        self._roles = roles
        self._source = source
        # The expressions hold these patterns: two strong references would keep the text in memory.
        self._expressions = proxy(expressions)

    def parts(self, pattern: Node, value: str) -> Iterator[Part]:
        """Yields the names that a pattern binds when it matches a value."""
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
                # A capitalized name is a constant or a variant and binds nothing.
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
        kind = self._expressions.written(type_)
        step = _HOLDING.get(kind)
        for at, part in _placed(node):
            if type_ is None or part.start_byte != type_.start_byte:
                yield part, _of(text, step) if step is not None else _of(kind, f".#{at}")

    def _of_fields(self, node: Node, inner: list[Node]) -> Iterator[tuple[Node, str]]:
        kind = self._expressions.written(child(node, "type"))
        for field_ in inner[1:]:
            name = field_.child_by_field_name("name")
            if name is not None:
                field = self._source.slice(name.start_byte, name.end_byte)
                yield field_.child_by_field_name("pattern") or name, _of(kind, f".{field}")


def paired(
    pattern: Node, value: Node | None, text: str, written: Callable[[Node | None], str]
) -> Iterator[tuple[Node, str]]:
    """Yields a pattern with its value; the parts one by one if both are tuple literals."""
    inner = pattern
    while inner.type == "match_pattern" and inner.named_child_count:
        inner = inner.named_children[0]
    # As in other patterns, the first branch of an `if` determines the value.
    while value is not None and value.type in {"if_expression", "block"} and value.named_children:
        is_choice = value.type == "if_expression"
        value = value.child_by_field_name("consequence") if is_choice else value.named_children[-1]
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
"""Functions of JavaScript that contain a `return`."""
_LISTS = frozenset({"argument_list", "arguments", "value_arguments"})
_BETWEEN = _LISTS | {"annotated_lambda", "argument", "call_suffix", "value_argument"}
"""Nodes between a function literal and the call that takes it."""
LAST = 8
"""In place of an argument's number: the function literal follows the parentheses."""


def given(
    parameter: Node, written: Callable[[Node | None], str], type_of: Callable[[Node], str]
) -> str:
    """Writes what the enclosing call passes to an untyped parameter of a function literal.

    The text includes the declared type of the variable that takes the call's result, if any,
    because the type parameters of the called function may follow from it.
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


_TYPED = frozenset(
    {"public_field_definition", "as_expression", "satisfies_expression", "cast_expression"}
)
_AROUND = frozenset(
    "parenthesized_expression return_statement block arrow_expression_clause".split()
)
_RESULTS = frozenset({"method_declaration", "local_function_statement"})


def _expected(closure: Node, type_of: Callable[[Node], str]) -> str:
    """Writes the type of a function literal that its context declares (TypeScript, Java, C#)."""
    around = closure.parent
    while around is not None and around.type == "parenthesized_expression":
        around = around.parent
    type_ = declared_type(closure)
    if type_ is None and around is not None and around.type in _TYPED:
        type_ = around.child_by_field_name("type") or around.named_children[-1]
    if type_ is None and closure.type == "lambda_expression":
        type_ = _declared_before(closure)
    if type_ is not None:
        text = type_of(type_)
        return f"`{text}`" if text and "`" not in text else UNKNOWN
    if around is None or around.type not in {"arrow_function", "return_statement"}:
        return UNKNOWN
    while around is not None and around.type not in _GIVING:
        around = around.parent
    return _of(_expected(around, type_of), "()") if around is not None else UNKNOWN


def _declared_before(value: Node) -> Node | None:
    """Returns the type that stands before the variable or method which takes a value (Java, C#)."""
    node = value.parent
    while node is not None and node.type in _AROUND:
        node = node.parent
    if node is not None and node.type == "variable_declarator" and node.parent is not None:
        return node.parent.child_by_field_name("type")
    if node is None or node.type not in _RESULTS:
        return None
    return node.child_by_field_name("type") or node.child_by_field_name("returns")


_BY_KEY = frozenset({b"sorted", b"max", b"min"})
_BY_FUNCTION = frozenset({b"map", b"filter"})


def _element(closure: Node, written: Callable[[Node | None], str]) -> str:
    """Writes the parameter of a Python `lambda` key or callback: an element of the sorted list."""
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
    """Writes the argument that a call passes to a parameter of a function literal, by position."""
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
    """Returns the declared type of the variable or result that takes a value (TypeScript)."""
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
    """Writes the argument that a call passes to a parameter of its function literal (Rust)."""
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
    """Yields the parts between commas with their positions. `_` is not a named node."""
    at = 0
    for part in node.children:
        if part.type == ",":
            at += 1
        elif part.is_named and not part.is_extra:
            yield at, part


def _of(text: str, step: str) -> str:
    return UNKNOWN if text in {"", UNKNOWN} else text + step


# Narrowed types: `assert($a instanceof B)`, `if ($a instanceof B || $a instanceof C)` and a negated
# early exit of PHP, and `isinstance(a, B)` of Python.
#
# Each yields a row where the type begins to hold, and another where it stops, unless it holds until
# the end of a function body.

_EXPRESSION = re.compile(r"\$\w+(?:\??->\w+)*")
_ARROW = re.compile(r"\??->")
_LONGEST = 160
_MOST_TESTS = 20
_BODIES = frozenset({"function_definition", "method_declaration", "anonymous_function", "program"})
_LEAVING = frozenset({"return_statement", "continue_statement", "break_statement"})
_LEAVING_PYTHON = frozenset(
    "return_statement continue_statement break_statement raise_statement".split()
)

Row = tuple[int, str, str, str, bool]
"""Start, name, how, text, and whether the name is bound outside of the scope that begins there."""


def narrowed(node: Node, expressions: Expressions) -> Iterator[Row]:
    """Yields the rows of one `instanceof`; none if it narrows nothing."""
    whole, tests = _alternatives(node)
    sides = [tuple(map(test.child_by_field_name, ("left", "right"))) for test in tests]
    subjects = {left.text or b"" for left, _ in sides if left is not None}
    types = [expressions.type(right) for _, right in sides if right is not None]
    if node != tests[0] or len(subjects) != 1 or not all(types) or len(types) != len(tests):
        return
    subject = subjects.pop()[:_LONGEST].decode("utf-8", "replace")
    if not _EXPRESSION.fullmatch(subject):
        return
    type_text = "|".join(types)
    subject = _ARROW.sub(".", subject)
    start, block = _begins(whole)
    if block is None:
        return
    yield start, "", "asserted", f"{subject}:{type_text}", False
    if block.type != "program" and (block.parent is None or block.parent.type not in _BODIES):
        yield block.end_byte - 1, "", "asserted", f"{subject}:", False


def _alternatives(node: Node) -> tuple[Node, list[Node]]:
    """Returns the `A || B` around an `instanceof`, and its operands in order."""
    whole = node
    for _ in range(_MOST_TESTS):
        around = whole.parent
        if around is None or not (_is_bracketed(around) or _operator(around) == "||"):
            break
        whole = around
    tests: list[Node] = []
    pending = [whole]
    while pending and len(tests) < _MOST_TESTS:
        part = pending.pop()
        if _is_bracketed(part) or _operator(part) == "||":
            pending += reversed(part.named_children)
        else:
            tests.append(part)
    are_tests = not pending and all(_operator(test) == "instanceof" for test in tests)
    return (whole, tests) if are_tests else (node, [node])


def _is_bracketed(node: Node) -> bool:
    return node.type == "parenthesized_expression"


def _operator(node: Node) -> str:
    sign = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return sign.type if sign is not None else ""


def _begins(node: Node) -> tuple[int, Node | None]:
    """Returns where an `instanceof` begins to hold, and the block in which it holds."""
    around = _outermost(node, "&&")
    if around is None:
        return 0, None
    if around.type == "if_statement":
        return node.start_byte, around.child_by_field_name("body")
    if around.type == "argument":
        arguments = around.parent
        call = arguments.parent if arguments is not None else None
        function = call.child_by_field_name("function") if call is not None else None
        statement = call.parent if call is not None else None
        asserts = function is not None and function.text == b"assert"
        if asserts and statement is not None and statement.type == "expression_statement":
            return node.start_byte, statement.parent
    if around.type == "unary_op_expression" and (around.text or b"")[:1] == b"!":
        choice = _outermost(around, "||")
        body = choice.child_by_field_name("body") if choice is not None else None
        if choice is not None and choice.type == "if_statement" and body is not None:
            ways = sum(child.type in {"else_clause", "else_if_clause"} for child in choice.children)
            if not ways and _leaves(body):
                return body.end_byte - 1, choice.parent
    return 0, None


def _outermost(node: Node, operator: str) -> Node | None:
    """Returns the node around all expressions that the operator joins."""
    around = node.parent
    while around is not None:
        if around.type == "binary_expression":
            if _operator(around) != operator:
                return None
        elif not _is_bracketed(around):
            return around
        around = around.parent
    return None


def _leaves(body: Node) -> bool:
    """Whether a block ends by leaving the enclosing block."""
    last = (
        body.named_children[-1]
        if body.type == "compound_statement" and body.named_children
        else body
    )
    if last.type == "expression_statement" and last.named_children:
        last = last.named_children[0]
    return last.type in _LEAVING or last.type == "throw_expression"


def tested_places(test: Node, type_: str) -> Iterator[tuple[int, str]]:
    """Yields where an `isinstance` begins to hold, and where it stops: an empty type."""
    around = test.parent
    if around is None or around.type == "assert_statement":
        yield test.start_byte, type_
        return
    if around.type == "boolean_operator" and around.parent is not None:
        around = around.parent
    if around.type == "not_operator":
        choice = around.parent
        body = choice.child_by_field_name("consequence") if choice is not None else None
        others = choice.child_by_field_name("alternative") if choice is not None else None
        if body is not None and others is None and _leaves_python(body):
            # The type holds after the branch, until the end of the enclosing block.
            yield body.end_byte - 1, type_
            if choice is not None and choice.parent is not None:
                yield choice.parent.end_byte - 1, ""
        return
    body = around.child_by_field_name("consequence")
    if body is not None:
        yield test.start_byte, type_
        yield body.end_byte - 1, ""


def _leaves_python(body: Node) -> bool:
    last = body.named_children[-1] if body.named_child_count else body
    return last.type in _LEAVING_PYTHON


# Types that doc comments declare: `@var`, `@param` and `@return` of PHP.

_BEGIN = "/**"
_TAG = re.compile(
    r"@(?:phpstan-|psalm-)?(var|param|return)\s+"
    r"((?:[^\s<>(){}]|<(?:[^<>]|<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)*>)+)(?:\s+&?(?:\.\.\.)?\$(\w+))?"
)
_NOTHING = re.compile(r"\|?\bnull\b\|?")
_ROWS = re.compile(
    r"^(?:array|list|iterable|non-empty-array|non-empty-list"
    r"|\\?(?:Generator|Iterator|Traversable|IteratorAggregate|ArrayIterator|ArrayObject"
    r"|ArrayAccess|SplQueue|SplStack|SplDoublyLinkedList|SplFixedArray))"
    r"<(?:[^,<>]*,\s*)?(.*)>$"
)
_PROPERTY = "property_declaration"
_FUNCTIONS = frozenset({"function_definition", "method_declaration"})
_TYPES = frozenset({"class_declaration", "interface_declaration", "trait_declaration"})
_TEMPLATE = re.compile(
    r"@(?:phpstan-|psalm-)?template(?:-covariant|-contravariant)?\s+(\w+)"
    r"(?:[ \t]+(?:of|as)[ \t]+([^\s<>(){}*]+))?"
)
_VAGUE = frozenset(
    "array iterable mixed object Generator Iterator Traversable IteratorAggregate".split()
)
_MOST_DOC_TYPES = 4_000
"""Longest part of a comment that is searched, in characters."""


_LESS = frozenset({"?", "let", ":", "->"})
"""Forms of rows without a type, or with a vague type, which a doc comment overrides."""


class DocType(NamedTuple):
    """A type that a doc comment declares."""

    start: int
    name: str
    """A variable, parameter or property; empty for a result."""
    type: str


def with_doc_types(rows: list[Row], comments: list[Node], source: Source) -> list[Row]:
    """Adds the types that doc comments declare, and drops the rows that they override."""
    tags = list(_doc_types(comments, source))
    places = {(start, name) for start, name, _ in tags}
    others = [row for row in rows if row[2] not in _LESS or row[:2] not in places]
    types = [(start, name, ":" if name else "->", type_, False) for start, name, type_ in tags]
    return [*others, *types, *_type_parameters(comments, source)]


def _type_parameters(comments: list[Node], source: Source) -> Iterator[Row]:
    """Yields the type parameters, with their bounds, that `@template` declares."""
    for comment in comments:
        subject = comment.next_named_sibling
        if subject is None or subject.type not in _TYPES | _FUNCTIONS:
            continue
        start = comment.start_byte
        text = source.slice(start, min(comment.end_byte, start + _MOST_DOC_TYPES))
        inside = subject.child_by_field_name("body" if subject.type in _TYPES else "parameters")
        if inside is None or not text.startswith(_BEGIN):
            continue
        for name, bound in _TEMPLATE.findall(text):
            yield (inside.start_byte, name, "type", bound, False)


def _doc_types(comments: list[Node], source: Source) -> Iterator[DocType]:
    """Yields the types that doc comments declare, each at the position of its declaration."""
    for comment in comments:
        start = comment.start_byte
        text = source.slice(start, min(comment.end_byte, start + _MOST_DOC_TYPES))
        if not text.startswith(_BEGIN) or "@" not in text:
            continue
        subject = comment.next_named_sibling
        for tag, type_, name in _TAG.findall(text):
            written = _type(type_)
            if not written:
                continue
            if tag == "var":
                yield from _of_variable(subject, start, name, written, source)
            elif subject is not None and subject.type in _FUNCTIONS:
                yield from _of_function(subject, tag, name, written)


def _type(text: str) -> str:
    """Writes a doc comment's type as code writes it."""
    text = _NOTHING.sub("", text).replace("$this", "static")
    rows = _ROWS.match(text)
    if rows is None:
        return text
    element = rows[1].strip()
    return f"({element})[]" if "|" in element else f"{element}[]"


def _of_variable(
    subject: Node | None, start: int, name: str, type_: str, source: Source
) -> Iterator[DocType]:
    if subject is None or subject.type != _PROPERTY:
        if name:
            yield DocType(start, name, type_)
        return
    for element in subject.named_children:
        if element.type == "property_element" and _replaces_declared(type_, subject):
            variable = element.child_by_field_name("name")
            if variable is not None:
                property_name = source.slice(variable.start_byte, variable.end_byte).lstrip("$")
                yield DocType(element.start_byte, property_name, type_)


def _of_function(subject: Node, tag: str, name: str, type_: str) -> Iterator[DocType]:
    listed = subject.child_by_field_name("parameters")
    if listed is None:
        return
    if tag == "return":
        declared = subject.child_by_field_name("return_type")
        if declared is None:
            yield DocType(listed.start_byte, "", type_)
        elif _is_more_specific(type_, declared):
            yield DocType(declared.start_byte, "", type_)
    elif name:
        for parameter in listed.named_children:
            variable = parameter.child_by_field_name("name")
            is_it = variable is not None and variable.text == b"$" + name.encode()
            if is_it and _replaces_declared(type_, parameter):
                yield DocType(parameter.start_byte, name, type_)


def _replaces_declared(type_: str, declaration: Node) -> bool:
    """Whether a doc comment's type replaces the declared one."""
    declared = declaration.child_by_field_name("type")
    return declared is None or _is_more_specific(type_, declared)


def _is_more_specific(type_: str, declared: Node) -> bool:
    """Whether the declared type is vague, or is the same type without its arguments."""
    text = (declared.text or b"").decode("utf-8", "replace").lstrip("?")
    name = text.rpartition("\\")[2]
    head, bracket, _ = type_.partition("<")
    return name in _VAGUE or (bool(bracket) and head.rpartition("\\")[2] == name)
