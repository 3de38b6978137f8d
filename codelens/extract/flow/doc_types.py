"""Types that comments tell of what has none written: `@var`, `@param` and `@return` of PHP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.source_text import Source

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
_MOST = 4_000
"""Characters of a comment that are looked at."""


_LESS = frozenset({"?", "let", ":", "->"})
"""Rows that give way to what a comment tells: of no type, or of a vague one."""

Row = tuple[int, str, str, str, bool]
"""As in `codelens.extract.flow.bindings`."""


class Told(NamedTuple):
    """What a comment tells."""

    start: int
    name: str
    """Of a variable, parameter or property; empty for what a function gives."""
    type: str


def with_told(rows: list[Row], comments: list[Node], source: Source) -> list[Row]:
    """Rows of bindings, and of the types that comments tell."""
    tags = list(_told_types(comments, source))
    places = {(start, name) for start, name, _ in tags}
    others = [row for row in rows if row[2] not in _LESS or row[:2] not in places]
    types = [(start, name, ":" if name else "->", type_, False) for start, name, type_ in tags]
    return [*others, *types, *_type_parameters(comments, source)]


def _type_parameters(comments: list[Node], source: Source) -> Iterator[Row]:
    """What `@template` of a type or a function says: a type parameter, and what it must be."""
    for comment in comments:
        subject = comment.next_named_sibling
        if subject is None or subject.type not in _TYPES | _FUNCTIONS:
            continue
        start = comment.start_byte
        text = source.slice(start, min(comment.end_byte, start + _MOST))
        inside = subject.child_by_field_name("body" if subject.type in _TYPES else "parameters")
        if inside is None or not text.startswith(_BEGIN):
            continue
        for name, bound in _TEMPLATE.findall(text):
            yield (inside.start_byte, name, "type", bound, False)


def _told_types(comments: list[Node], source: Source) -> Iterator[Told]:
    """Types tagged by comments, each with the place that it is told of."""
    for comment in comments:
        start = comment.start_byte
        text = source.slice(start, min(comment.end_byte, start + _MOST))
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
    """A type as it would be written in code."""
    text = _NOTHING.sub("", text).replace("$this", "static")
    rows = _ROWS.match(text)
    return f"{rows[1].strip()}[]" if rows is not None else text


def _of_variable(
    subject: Node | None, start: int, name: str, type_: str, source: Source
) -> Iterator[Told]:
    if subject is None or subject.type != _PROPERTY:
        if name:
            yield Told(start, name, type_)
        return
    for element in subject.named_children:
        if element.type == "property_element" and _may_say(type_, subject):
            variable = element.child_by_field_name("name")
            if variable is not None:
                property_name = source.slice(variable.start_byte, variable.end_byte).lstrip("$")
                yield Told(element.start_byte, property_name, type_)


def _of_function(subject: Node, tag: str, name: str, type_: str) -> Iterator[Told]:
    listed = subject.child_by_field_name("parameters")
    if listed is None:
        return
    if tag == "return":
        declared = subject.child_by_field_name("return_type")
        if declared is None:
            yield Told(listed.start_byte, "", type_)
        elif _says_more(type_, declared):
            yield Told(declared.start_byte, "", type_)
    elif name:
        for parameter in listed.named_children:
            variable = parameter.child_by_field_name("name")
            is_it = variable is not None and variable.text == b"$" + name.encode()
            if is_it and _may_say(type_, parameter):
                yield Told(parameter.start_byte, name, type_)


def _may_say(type_: str, declaration: Node) -> bool:
    """Nothing is declared, or less than a comment tells."""
    declared = declaration.child_by_field_name("type")
    return declared is None or _says_more(type_, declared)


def _says_more(type_: str, declared: Node) -> bool:
    """What is declared says less: it is vague, or the same type without its arguments."""
    text = (declared.text or b"").decode("utf-8", "replace").lstrip("?")
    name = text.rpartition("\\")[2]
    head, bracket, _ = type_.partition("<")
    return name in _VAGUE or (bool(bracket) and head.rpartition("\\")[2] == name)
