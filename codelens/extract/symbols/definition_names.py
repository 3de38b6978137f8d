"""Finds the names, owners and visibility of definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.source_text import Source
from codelens.extract.symbols.capture_events import FUNCTIONS, TYPES, Definitions, Frame, Span
from codelens.extract.symbols.comments import shortened

NAME_LIMIT = 200
"""Longest name, in characters."""
_MOST_TAKEN_APART = 1_000
_PATTERN_TYPES = ("_pattern", "_list")
"""Suffixes of the node types that destructure a value."""
_WORD = re.compile(rb"[^\s()]+")
_QUOTES = ("'", '"', "`")
_VALUES = frozenset({"variable", "constant", "field", "member"})
"""Kinds for which the name `_` means no name."""
_DEPTHS = {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}
_BRACKETS = re.compile(r"<.*>|\(.*\)|\[.*\]")
_CLOSING_MARKS = re.compile(r"\s+#+$")
"""The closing marks of a Markdown heading."""


class Names:
    """Finds the names and owners of definitions in one text: by capture, else by field paths."""

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
        """Returns the spans of a definition's names: several for `a, b = 1, 2`, none if unnamed."""
        spans = self._all_spans(frame)
        if not self._words:
            return spans
        return [
            (start + word.start(), start + word.end())
            for start, end in spans
            for word in _WORD.finditer(self._source.text[start:end])
        ]

    def _all_spans(self, frame: Frame) -> list[Span]:
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
        """Returns a name without quotes and marks, and the owner that is written before it.

        The name is empty if it is not valid. The owner is usually empty.
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
        # A pattern whose parts are nested too deeply is not a name.
        strange = kind != "key" and not quoted and (name[:1] == "{" or "," in name)
        return "" if strange or len(name) > NAME_LIMIT else name, owner

    def _split(self, name: str) -> tuple[str, str]:
        """Splits `A<x::y>.B::c` into (`A.B`, `c`). Text after a blank is not split."""
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
        """Returns the type or object that a definition outside of it belongs to; usually empty."""
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
        """Returns the names in a pattern and its nested patterns."""
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
    """Returns the named node of a part of a pattern: `a`, `key: a` and `key: a = otherwise`."""
    while True:
        inner = part.child_by_field_name("value") or part.child_by_field_name("left")
        if inner is None:
            return part
        part = inner
        if not part.type.endswith(_PATTERN_TYPES):
            return part


def _followed(node: Node, path: list[str]) -> list[Node]:
    """Returns the nodes at a field path; `a*` follows field a down to the leaves."""
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
    """Returns the end of a chain of declarators. A node without the field wraps the next one."""
    while node.named_child_count:
        node = node.child_by_field_name(field) or node.named_children[0]
    return node


# Visibility: which definitions are visible outside their file, by the rule of the language.


class Visibility:
    """Decides visibility for one text. Queries must be in order of the definitions."""

    def __init__(self, info: LanguageInfo, source: Source, defined: Definitions) -> None:
        self._info = info
        self._source = source
        self._open = defined.open
        self._has_list = defined.listed
        self._exporting = re.compile(info.exporting.encode()) if info.exporting else None
        self._private = re.compile(info.private_names) if info.private_names else None
        self._closed = set(self._texts(defined.closed))
        """Types that are visible without their members."""
        self._listed = set(
            self._texts(
                (start, end)
                for start, end, scope in defined.exports
                if scope is None or self.is_exporting(scope)
            )
        )
        """Visible names at the top level."""
        self._listed |= self._closed

    @property
    def by_expression(self) -> bool:
        """Whether the text that begins a definition may export it."""
        return self._exporting is not None

    def is_exporting(self, frame: Frame) -> bool:
        """Whether a definition or scope begins with the text that exports."""
        if self._exporting is None:
            return False
        return self._exporting.match(self._source.text, frame.tree_start) is not None

    def is_exported(
        self, frame: Frame, parent: Frame | None, around: Frame | None, owner: str, name: str
    ) -> bool:
        """Whether a definition is visible outside its file.

        Args:
            frame: the definition.
            parent: the definition or scope directly around it.
            around: the definition directly around it.
            owner: the type that it belongs to, if it is outside of that type.
            name: its name.
        """
        if around is not None and (_has_local_content(around) or not around.exported):
            return False
        if _in_nameless_function(frame) or (self._private and self._private.fullmatch(name)):
            return False
        return self._by_rule(frame, parent, around, owner, name)

    def _by_rule(
        self, frame: Frame, parent: Frame | None, around: Frame | None, owner: str, name: str
    ) -> bool:
        rule = self._info.exported
        if rule == "marked":
            return self._by_marks(frame, parent, around, owner, name)
        if rule == "unmarked":
            if parent is not None and parent.is_scope and parent.private:
                return False
            return not frame.private and (frame.exported or frame.outside or not frame.secluded)
        if rule == "uppercase":
            return name[:1].isupper() and (not owner or owner[:1].isupper())
        if rule == "no-underscore":
            if self._listed and around is None:
                return name in self._listed
            if frame.private:
                return False
            return name[:1] != "_" or (name[:2] == "__" and name[-2:] == "__")
        return rule == "always"

    def _by_marks(
        self, frame: Frame, parent: Frame | None, around: Frame | None, owner: str, name: str
    ) -> bool:
        if around is None and self._open:
            return not frame.private
        if self._info.members == "marked":
            return self._is_marked_itself(frame, parent)
        if parent is not None and not parent.is_scope:
            if self._has_list and parent.kind == "module":
                return frame.exported or name in self._listed
            return self._is_open_member(frame, parent, name)
        return self._is_marked(frame, parent, owner, name)

    def _is_open_member(self, frame: Frame, parent: Frame, name: str) -> bool:
        if self._closed and parent.qualified.rpartition(".")[2] in self._closed:
            return name in self._listed
        return not frame.private and name[:1] != "#"

    def _is_marked_itself(self, frame: Frame, parent: Frame | None) -> bool:
        """Applies the rule by which each member is marked itself."""
        if frame.private:
            return False
        if frame.exported or (frame.kind == "module" and not self._info.modules_marked):
            return True
        if parent is not None and (
            parent.exported if parent.is_scope else parent.kind in self._info.open_kinds
        ):
            return True
        return _in_marked_extent(frame)

    def _is_marked(self, frame: Frame, parent: Frame | None, owner: str, name: str) -> bool:
        marked = (frame.exported and not frame.private) or name in self._listed
        marked = marked or owner in self._listed or owner.partition(".")[0] in self._listed
        if parent is not None:
            listed = parent.owns and parent.qualified in self._listed
            marked = marked or parent.exported or listed
        marked = marked or _in_marked_extent(frame)
        if marked:
            self._listed.add(name)
        return marked

    def _texts(self, spans: Iterable[tuple[int, int]]) -> list[str]:
        return [self._source.slice(start, end) for start, end in spans]


def _has_local_content(around: Frame) -> bool:
    """Whether its content is local. A property without a body only describes a type."""
    return around.kind in FUNCTIONS and (
        around.kind != "property" or around.body_start < around.tree_end
    )


def _in_nameless_function(frame: Frame) -> bool:
    outer = frame.parent
    while outer is not None and outer.dropped:
        if outer.kind in FUNCTIONS:
            return True
        outer = outer.parent
    return False


def _in_marked_extent(frame: Frame) -> bool:
    outer = frame.parent
    while outer is not None and outer.dropped and not outer.exported:
        outer = outer.parent
    return outer is not None and outer.dropped


# Names that count once per place: members assigned through an instance, shell variables.


class Taken:
    """Tracks the names taken in one text."""

    def __init__(self, frames: list[Frame], names: Names) -> None:
        self._frames = frames
        self._names = names
        self._declared: dict[int, set[str]] | None = None
        """Names declared in types. Computed for the first member assigned through an instance."""
        self._seen: set[tuple[int, str]] = set()

    def in_type(self, holder: Frame, name: str) -> bool:
        """Whether a type declares this member or has it already. Takes the name."""
        if self._declared is None:
            self._declared = self._declarations()
        own = self._declared.setdefault(id(holder), set())
        taken = name in own
        own.add(name)
        return taken

    def in_place(self, index: int, name: str) -> bool:
        """Whether the name occurred before in the symbol at an index. Takes the name."""
        second = (index, name) in self._seen
        self._seen.add((index, name))
        return second

    def _declarations(self) -> dict[int, set[str]]:
        """Returns the names that types declare directly, not through an instance, by frame."""
        names_by_scope: dict[int, set[str]] = {}
        for frame in self._frames:
            outer = frame.above
            if outer is not None and outer.kind in TYPES and frame.through is None:
                names = names_by_scope.setdefault(id(outer), set())
                for span in self._names.spans(frame):
                    names.add(self._names.name(frame.kind, span)[0])
        return names_by_scope
