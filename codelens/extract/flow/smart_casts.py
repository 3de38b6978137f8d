"""Reads the type tests of Kotlin, after which a name has another type.

A test in an `if`, a `when` or a `while` holds in its body; a negated one holds in the `else`, or
after the statement if its body leaves. For other tests (`x is A && f(x)`) only the tested name is
recorded, not where the test holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from codelens.extract.flow.expressions import Expressions
from codelens.extract.flow.patterns import Row

_SOMEWHERE = ""
"""In place of the type: it is unknown where in what follows the test holds."""
_AROUND = frozenset({"parenthesized_expression", "conjunction_expression"})
_NAME = "simple_identifier"


def smart_casts(node: Node, expressions: Expressions) -> Iterator[Row]:
    """Yields the rows of a `check_expression` (`x is A`) or a `type_test` (`is A` of a `when`)."""
    if node.type == "type_test":
        yield from _in_when(node, expressions)
        return
    if node.child_count != 3 or node.children[1].type not in {"is", "!is"}:
        return
    subject, sign, tested = node.children
    if subject.type != _NAME:
        return
    row = _row(subject, expressions.type(tested))
    top = node
    while top.parent is not None and top.parent.type in _AROUND:
        top = top.parent
    around = top.parent
    start = _held_from(node, top, around, negated=sign.type == "!is")
    yield (start, *row) if start is not None else (node.end_byte, *_row(subject, _SOMEWHERE))
    if top.type == "conjunction_expression" and start is not None:
        yield (node.end_byte, *_row(subject, _SOMEWHERE))


def _held_from(node: Node, top: Node, around: Node | None, *, negated: bool) -> int | None:
    """Returns where the tested type begins to hold; None if unknown."""
    if around is None:
        return None
    if around.type == "when_condition" and not negated:
        return around.parent.start_byte if around.parent is not None else None
    if around.type not in {"if_expression", "while_statement"}:
        return None
    bodies = [child for child in around.children if child.type == "control_structure_body"]
    if not bodies or bodies[0].start_byte < top.end_byte:
        return None
    if not negated:
        return bodies[0].start_byte
    if around.type != "if_expression" or top.type == "conjunction_expression":
        return None
    if len(bodies) > 1:
        return bodies[1].start_byte
    return around.end_byte if _leaves(bodies[0]) else None


def _leaves(body: Node) -> bool:
    """Whether the last statement of a body returns, throws, breaks or continues."""
    last: Node | None = body
    while last is not None and last.type in {"control_structure_body", "statements"}:
        last = last.named_children[-1] if last.named_children else None
    return last is not None and last.type == "jump_expression"


def _in_when(node: Node, expressions: Expressions) -> Iterator[Row]:
    condition = node.parent
    entry = condition.parent if condition is not None else None
    when = entry.parent if entry is not None else None
    if entry is None or when is None:
        return
    tested = next((child for child in when.children if child.type == "when_subject"), None)
    subject = tested.named_child(0) if tested is not None else None
    conditions = [child for child in entry.children if child.type == "when_condition"]
    if subject is None or subject.type != _NAME or conditions[0] != condition:
        return
    tests = [test for alternative in conditions for test in alternative.named_children]
    if any(test.type != "type_test" or test.child_count != 2 for test in tests):
        return
    if any(test.children[0].type != "is" for test in tests):
        return
    types = [expressions.type(test.children[1]) for test in tests]
    if all(types):
        yield (entry.start_byte, *_row(subject, "|".join(types)))


def _row(subject: Node, type_text: str) -> tuple[str, str, str, bool]:
    name = (subject.text or b"").decode("utf-8", "replace")
    return "", "asserted", f"{name}:{type_text}", False
