"""Where PHP narrows a type: `assert($a instanceof B)`, `if ($a instanceof B)`, and a way out else.

So does Python with `isinstance(a, B)`.

Each gives a row where the type begins to hold and, but for the body of a function, one where the
block ends that it holds in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from codelens.extract.flow.expressions import Expressions

_EXPRESSION = re.compile(r"\$\w+(?:\??->\w+)*")
_ARROW = re.compile(r"\??->")
_LONGEST = 160
_BODIES = frozenset({"function_definition", "method_declaration", "anonymous_function", "program"})
_LEAVING = frozenset({"return_statement", "continue_statement", "break_statement"})
_LEAVING_PYTHON = frozenset(
    "return_statement continue_statement break_statement raise_statement".split()
)

Row = tuple[int, str, str, str, bool]


def narrowed(node: Node, expressions: Expressions) -> Iterator[Row]:
    """Rows of one `instanceof`, none where nothing follows from it."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.text is None:
        return
    subject = left.text[:_LONGEST].decode("utf-8", "replace")
    type_text = expressions.type(right)
    if not type_text or not _EXPRESSION.fullmatch(subject):
        return
    subject = _ARROW.sub(".", subject)
    start, block = _begins(node)
    if block is None:
        return
    yield start, "", "asserted", f"{subject}:{type_text}", False
    if block.type != "program" and (block.parent is None or block.parent.type not in _BODIES):
        yield block.end_byte - 1, "", "asserted", f"{subject}:", False


def _begins(node: Node) -> tuple[int, Node | None]:
    """Where an `instanceof` begins to hold, and the block in which it does."""
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
    """What stands around an expression and others that are joined to it by an operator."""
    around = node.parent
    while around is not None:
        if around.type == "binary_expression":
            sign = around.child_by_field_name("operator")
            if sign is None or sign.type != operator:
                return None
        elif around.type != "parenthesized_expression":
            return around
        around = around.parent
    return None


def _leaves(body: Node) -> bool:
    """A block ends by leaving what stands around it."""
    last = (
        body.named_children[-1]
        if body.type == "compound_statement" and body.named_children
        else body
    )
    if last.type == "expression_statement" and last.named_children:
        last = last.named_children[0]
    return last.type in _LEAVING or last.type == "throw_expression"


def tested_places(test: Node, type_: str) -> Iterator[tuple[int, str]]:
    """Where Python's `isinstance` begins to tell a type, and where it ends to: no type."""
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
            # It holds behind the branch, as far as what is around goes.
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
