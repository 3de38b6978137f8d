"""Names and owners of definitions: by capture, else along the field paths of the settings."""

from __future__ import annotations

import re

from tree_sitter import Node

from codelens.extract.comments import shortened
from codelens.extract.definitions import Frame
from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source

NAME_LIMIT = 200
"""Longest name, in characters."""
_PATTERN_TYPES = ("_pattern", "_list")
"""Ends of the types of nodes that take several values apart."""
_CLOSING_MARKS = re.compile(r"\s+#+$")
"""The closing marks of a Markdown heading."""

Span = tuple[int, int]


class Names:
    """Finds the names and owners of definitions in one text."""

    def __init__(self, info: LanguageInfo, source: Source) -> None:
        self._source = source
        self._patterns = info.destructured
        self._placeholders = info.placeholder_names
        self._paths = [path.split(".") for path in info.names]
        self._owner_paths = [path.split(".") for path in info.owners]
        self._scope_paths = [path.split(".") for path in info.scope_owners]
        self._noise = re.compile(info.owner_noise) if info.owner_noise else None

    def spans(self, frame: Frame) -> list[Span]:
        """Where the names of a definition stand; several for `a, b = 1, 2`, none if unnamed."""
        if frame.names is not None:
            return frame.names
        placeholder: list[Span] = []
        for path in self._paths:
            if len(path) == 1 and path[0][-1] != "*":
                node = frame.node.child_by_field_name(path[0])
                nodes = [node] if node is not None else []
            else:
                nodes = _followed(frame.node, path)
            if not nodes:
                continue
            if nodes[0].named_child_count and nodes[0].type.endswith(_PATTERN_TYPES):
                nodes = self._taken_apart(nodes[0]) or nodes
            spans = [(node.start_byte, node.end_byte) for node in nodes]
            if not self._placeholders or self._text(spans[0]) not in self._placeholders:
                return spans
            placeholder = placeholder or spans
        return placeholder

    def name(self, kind: str, span: Span) -> str:
        """Text of a name, without quotes and marks; empty if it is none."""
        name = self._source.slice(span[0], span[1])
        if name.isidentifier():
            return name
        name = " ".join(name.split())
        if kind == "heading":
            return shortened(_CLOSING_MARKS.sub("", name), NAME_LIMIT)
        if name[:1] in "\"'`":
            name = name.strip("\"'` ")
        # A pattern whose parts are too deep to be taken apart is no name.
        return "" if name[:1] == "{" or "," in name or len(name) > NAME_LIMIT else name

    def owner(self, frame: Frame) -> str:
        """Name of the type or object that a definition outside it belongs to; mostly empty."""
        span = frame.owner
        paths = self._scope_paths if frame.is_scope else self._owner_paths
        if span is None and not paths:
            return ""
        for path in paths if span is None else ():
            nodes = _followed(frame.node, path)
            if nodes:
                span = nodes[0].start_byte, nodes[0].end_byte
                break
        if span is None:
            return ""
        owner = "".join(self._text(span).split())
        if self._noise is not None:
            owner = self._noise.sub("", owner)
        return owner if len(owner) <= NAME_LIMIT else ""

    def _text(self, span: Span) -> str:
        return self._source.slice(span[0], span[1])

    def _taken_apart(self, pattern: Node) -> list[Node]:
        """Names in a pattern, one level deep."""
        found: list[Node] = []
        for child in pattern.named_children:
            inner = child.child_by_field_name("value") or child.child_by_field_name("left") or child
            if inner.type in self._patterns:
                found.append(inner)
        return found


def _followed(node: Node, path: list[str]) -> list[Node]:
    """Nodes that a field path leads to; `a*` goes on by field a down to the leaves."""
    for field in path:
        if field[-1] == "*":
            return [_leaf(one, field[:-1]) for one in node.children_by_field_name(field[:-1])]
        child = node.child_by_field_name(field)
        if child is None:
            return []
        node = child
    return [node]


def _leaf(node: Node, field: str) -> Node:
    """The end of a chain of declarators; what has no such field wraps the next one."""
    while node.named_child_count:
        node = node.child_by_field_name(field) or node.named_children[0]
    return node
