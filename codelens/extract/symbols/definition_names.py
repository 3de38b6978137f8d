"""Names and owners of definitions: by capture, else along the field paths of the settings."""

from __future__ import annotations

import re

from tree_sitter import Node

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.source_text import Source
from codelens.extract.symbols.comments import shortened
from codelens.extract.symbols.definition_frames import Frame, Span

NAME_LIMIT = 200
"""Longest name, in characters."""
_MOST_TAKEN_APART = 1_000
_PATTERN_TYPES = ("_pattern", "_list")
"""Ends of the types of nodes that take several values apart."""
_WORD = re.compile(rb"[^\s()]+")
_QUOTES = ("'", '"', "`")
_VALUES = frozenset({"variable", "constant", "field", "member"})
"""Kinds for which the name `_` means none."""
_DEPTHS = {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}
_BRACKETS = re.compile(r"<.*>|\(.*\)|\[.*\]")
_CLOSING_MARKS = re.compile(r"\s+#+$")
"""The closing marks of a Markdown heading."""


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
        self._name_noise = re.compile(info.name_noise) if info.name_noise else None
        self._spaced = re.compile(info.spaced_names) if info.spaced_names else None
        self._words = info.words
        self._separators = info.name_separators
        self._whole_modules = info.whole_modules

    def spans(self, frame: Frame) -> list[Span]:
        """Where the names of a definition stand; several for `a, b = 1, 2`, none if unnamed."""
        spans = self._found(frame)
        if not self._words:
            return spans
        return [
            (start + word.start(), start + word.end())
            for start, end in spans
            for word in _WORD.finditer(self._source.text[start:end])
        ]

    def _found(self, frame: Frame) -> list[Span]:
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
        return placeholder or sorted(frame.renames or ())

    def name(self, kind: str, span: Span) -> tuple[str, str]:
        """Text of a name, without quotes and marks, and the owner that is written before it.

        The name is empty if it is none, the owner mostly.
        """
        name = self._source.slice(span[0], span[1])
        if name.isidentifier():
            return ("" if name == "_" and kind in _VALUES else name), ""
        if kind == "heading":
            return shortened(_CLOSING_MARKS.sub("", " ".join(name.split())), NAME_LIMIT), ""
        if self._name_noise is not None:
            name = self._name_noise.sub("", name)
        name = " ".join(name.split())
        owner = ""
        if (
            self._separators
            and name[:1] not in _QUOTES
            and not (self._whole_modules and kind == "module")
        ):
            owner, name = self._split(name)
        quoted = name[:1] in _QUOTES
        if quoted:
            paired = len(name) > 1 and name[0] == name[-1]
            name = name[1:-1].strip() if paired else name.strip("\"'` ")
        if self._spaced is not None and " " in name:
            name = name.replace(" ", "_") if self._spaced.fullmatch(name) else ""
        # A pattern whose parts are too deep to be taken apart is no name.
        strange = kind != "key" and not quoted and (name[:1] == "{" or "," in name)
        return "" if strange or len(name) > NAME_LIMIT else name, owner

    def _split(self, name: str) -> tuple[str, str]:
        """`A<x::y>.B::c` -> (`A.B`, `c`); nothing behind a blank is taken apart."""
        depth, at, cut, begin = 0, 0, 0, 0
        end = (name.find(" ") + 1 or len(name) + 1) - 1
        while at < end:
            depth = max(0, depth + _DEPTHS.get(name[at], 0))
            separator = "" if depth else next(filter(name[at:].startswith, self._separators), "")
            if separator and 0 < at < len(name) - len(separator):
                cut, begin = at, at + len(separator)
            at += len(separator) or 1
        owner = _BRACKETS.sub("", name[:cut])
        for separator in self._separators:
            owner = owner.replace(separator, ".")
        return self._without_noise(owner), name[begin:]

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
        for separator in self._separators:
            owner = owner.replace(separator, ".")
        return self._without_noise(owner)

    def _without_noise(self, owner: str) -> str:
        if self._noise is not None:
            owner = self._noise.sub("", owner)
        return owner if len(owner) <= NAME_LIMIT else ""

    def _text(self, span: Span) -> str:
        return self._source.slice(span[0], span[1])

    def _taken_apart(self, pattern: Node) -> list[Node]:
        """Names in a pattern and in the patterns in it."""
        nodes: list[Node] = []
        pending = [pattern]
        while pending and len(nodes) < _MOST_TAKEN_APART:
            node = pending.pop()
            if node.type in self._patterns:
                nodes.append(node)
            elif node is pattern or node.type.endswith(_PATTERN_TYPES):
                pending += [_target(child) for child in reversed(node.named_children)]
        return nodes


def _target(part: Node) -> Node:
    """What a part of a pattern gives a name: `a`, `key: a` and `key: a = otherwise`."""
    while True:
        inner = part.child_by_field_name("value") or part.child_by_field_name("left")
        if inner is None:
            return part
        part = inner
        if not part.type.endswith(_PATTERN_TYPES):
            return part


def _followed(node: Node, path: list[str]) -> list[Node]:
    """Nodes that a field path leads to; `a*` goes on by field a down to the leaves."""
    for field in path:
        if field[-1] == "*":
            return [
                _leaf(child_node, field[:-1])
                for child_node in node.children_by_field_name(field[:-1])
            ]
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
