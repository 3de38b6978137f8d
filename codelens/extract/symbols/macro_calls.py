"""Macro calls where a definition would stand: `TEST_BEGIN(name) {...}`, `MOCK_METHOD(int, f, ())`.

To a parser they are functions without a type, called after the macro. What they define, if it can
be told from their form, is named by an argument.
"""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Node

from codelens.extract.source_text import Source, before_blanks
from codelens.extract.symbols.definition_frames import FUNCTIONS, TYPES, Frame, Span

_VALUES = frozenset({"variable", "field"})
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_MOST_ARGUMENTS = 50


def is_definition(frame: Frame, parent: Frame | None, source: Source, rule: str) -> bool:
    """Whether a definition is one, and no macro call that defines nothing that can be told.

    A macro call that defines something is given the name that its arguments tell.

    Args:
        frame: a definition; its names may be set.
        parent: the definition around it.
        source: the text.
        rule: regex of the names of macros.
    """
    if frame.names is not None or (frame.kind not in FUNCTIONS and frame.kind not in _VALUES):
        return True
    head = _head(frame.node)
    if head is None or _has_type(frame.node, source):
        return True
    called, arguments = head
    name = source.slice(*called.byte_range)
    in_type = parent is not None and parent.kind in TYPES
    if not _regex(rule).fullmatch(name):
        return True
    if in_type and parent is not None and parent.qualified.rpartition(".")[2] == name:
        return True
    body = frame.node.child_by_field_name("body") is not None
    span = _told(arguments, source, in_type, body)
    if span is None:
        return False
    frame.names = [span]
    frame.renames = {span: "function"}
    return True


def _head(node: Node) -> tuple[Node, Node] | None:
    """The name and the list of arguments, if there is nothing else."""
    head = (
        node if node.child_by_field_name("parameters") else node.child_by_field_name("declarator")
    )
    if head is None:
        return None
    name, arguments = head.child_by_field_name("declarator"), head.child_by_field_name("parameters")
    if name is None or arguments is None or name.named_child_count:
        return None
    return name, arguments


def _has_type(node: Node, source: Source) -> bool:
    if node.child_by_field_name("type") is not None:
        return True
    # In broken code the type may stand beside it.
    before = before_blanks(source.text, node.start_byte)
    return (
        before > 0
        and b"\n" not in source.text[before : node.start_byte]
        and node.parent is not None
        and node.parent.is_error
    )


def _told(arguments: Node, source: Source, in_type: bool, body: bool) -> Span | None:
    """Where the name of what is defined stands.

    With a body the first argument is the name. In a type `(int, name, (...))` and
    `(name, int(...))` declare a method, as gmock's do.
    """
    nodes = arguments.named_children[:_MOST_ARGUMENTS]
    texts = [source.slice(*argument.byte_range).strip() for argument in nodes]
    at = -1
    if body and texts and _PLAIN.fullmatch(texts[0]):
        at = 0
    elif in_type and len(texts) > 2 and _PLAIN.fullmatch(texts[1]) and texts[2][:1] == "(":
        at = 1
    elif in_type and len(texts) == 2 and _PLAIN.fullmatch(texts[0]) and texts[1][-1:] == ")":
        at = 0
    return nodes[at].byte_range if at >= 0 else None


@cache
def _regex(rule: str) -> re.Pattern[str]:
    return re.compile(rule)
