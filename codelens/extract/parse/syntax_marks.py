"""Classifies spans of a text for syntax highlighting: comments, strings, keywords, names.

It needs no query per grammar, because grammars name their nodes in similar ways. A keyword is a
token whose type is its text; comments, strings, numbers and names have these words in their node
types. Embedded text of another language (a script in a page) is not classified.
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
    """A half-open span of a text in UTF-8 bytes. Marks of a text never overlap."""

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
"""The number of nodes between two checks of the clock."""


def syntax_marks(text: bytes, language: str, start_byte: int, end_byte: int) -> list[SyntaxMark]:
    """Returns the marks of a part of a text in order; none if the text takes too much work.

    Args:
        text: all of it, in UTF-8.
        language: the language to parse it as.
        start_byte: leave out marks that end at or before it.
        end_byte: leave out marks that begin at or after it.

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
    """Yields the marks below a node in a span; of a string the parts around its embedded code."""
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
    """Returns the kind of a whole node; None if its children decide."""
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
    """Returns the parts of a string around the code in it, in order."""
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
    """Yields the outermost pieces of code in a string, in order."""
    pending = list(reversed(string.children))
    while pending:
        node = pending.pop()
        if _CODE_IN_STRING.search(node.type):
            yield node
        else:
            pending.extend(reversed(node.children))
