"""What the words of a text are, for showing it in colours: comments, strings, keywords, names.

No query of a grammar's own is needed: every grammar names its nodes in the same few ways. A
keyword is a token that is written as it is named; a comment, a string, a number and a name say so
in the name of their node. Text of another language inside (a script in a page) is not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from tree_sitter import Node

from codelens.extract.language_settings import language_info
from codelens.extract.parse.captures import ParseTimeout, check_work, limited, parse
from codelens.extract.parse.grammars import grammar

MarkKind = Literal["comment", "string", "number", "keyword", "constant", "type", "name", "heading"]


class SyntaxMark(NamedTuple):
    """A span of a text in UTF-8 bytes, half-open; marks of a text never overlap."""

    start_byte: int
    end_byte: int
    kind: MarkKind


_COMMENT = re.compile(r"comment|shebang|hash_bang")
_STRING = re.compile(
    r"string|heredoc|char(acter)?_literal|rune_literal|regex|quoted_(?!attribute)|^char$"
)
_CODE_IN_STRING = re.compile(r"interpolation|substitution|expansion|embedded_expression")
_NUMBER = re.compile(r"number|integer|float|decimal|(int|real|hex|octal|numeric)[a-z_]*literal")
_CONSTANT = re.compile(
    r"^(true|false|null|nil|none|undefined|boolean|bool|self|this|super|(null|boolean|bool)_literal"
    r"|(this|self|super)_expression|boolean_(true|false)|null_value|boolean_scalar|null_scalar)$"
)
_TYPE = re.compile(r"type_identifier|primitive_type|predefined_type|builtin_type|sized_type")
_HEADING = re.compile(r"^(atx|setext)_heading$|^title$")
_NAME = re.compile(
    r"identifier|^(name|word|constant|symbol_name|variable|simple_symbol|sym_name|atom)$"
)
_WORD = re.compile(r"[A-Za-z_@#][\w-]*\Z")
_NODES_BETWEEN = 2_048
"""So many nodes between two looks at the clock."""


def syntax_marks(text: bytes, language: str, start_byte: int, end_byte: int) -> list[SyntaxMark]:
    """The marks of a part of a text, in order; none where the text takes too much work.

    Args:
        text: all of it, in UTF-8.
        language: what it is read as.
        start_byte: marks that end before it are left out.
        end_byte: those that begin at it or later, too.

    Raises:
        SettingError: there is no such language.
    """
    if not language_info(language).grammar:
        return []
    try:
        with limited(len(text)):
            root = parse(text, grammar(language)).root_node
            return list(_marks(root, start_byte, end_byte))
    except ParseTimeout:
        return []


def _marks(root: Node, start_byte: int, end_byte: int) -> Iterator[SyntaxMark]:
    """The marks below a node that lie in a span; of a string what is between its code."""
    pending: list[Node | SyntaxMark] = [root]
    seen = 0
    while pending:
        node = pending.pop()
        if isinstance(node, SyntaxMark):
            yield node
            continue
        seen += 1
        if seen % _NODES_BETWEEN == 0:
            check_work()
        if node.end_byte <= start_byte or node.start_byte >= end_byte:
            continue
        kind = _kind(node)
        if kind == "string" and node.child_count:
            pending.extend(reversed(_string_parts(node)))
        elif kind is not None:
            if node.end_byte > node.start_byte:
                yield SyntaxMark(node.start_byte, node.end_byte, kind)
        else:
            pending.extend(reversed(node.children))


def _kind(node: Node) -> MarkKind | None:
    """What a node is as a whole; None: what its children are."""
    name = node.type
    if not node.is_named:
        return "keyword" if _WORD.match(name) and not node.child_count else None
    if _COMMENT.search(name):
        return "comment"
    if _STRING.search(name):
        return "string"
    if _HEADING.match(name):
        return "heading"
    if _CONSTANT.match(name):
        return "constant"
    if node.child_count:
        return None
    for pattern, kind in _OF_LEAVES:
        if pattern.search(name):
            return kind
    return None


_OF_LEAVES: tuple[tuple[re.Pattern[str], MarkKind], ...] = (
    (_NUMBER, "number"), (_TYPE, "type"), (_NAME, "name"),
)  # fmt: skip


def _string_parts(string: Node) -> list[Node | SyntaxMark]:
    """A string, cut around the code in it, in order."""
    parts: list[Node | SyntaxMark] = []
    position = string.start_byte
    for code in _code_in(string):
        if code.start_byte > position:
            parts.append(SyntaxMark(position, code.start_byte, "string"))
        parts.append(code)
        position = code.end_byte
    if string.end_byte > position:
        parts.append(SyntaxMark(position, string.end_byte, "string"))
    return parts


def _code_in(string: Node) -> Iterator[Node]:
    """The outermost pieces of code in a string, in order."""
    pending = list(reversed(string.children))
    while pending:
        node = pending.pop()
        if _CODE_IN_STRING.search(node.type):
            yield node
        else:
            pending.extend(reversed(node.children))
