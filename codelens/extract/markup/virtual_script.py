"""Builds a script with the same uses as a template, and records the origin of each piece.

A component's scripts stay where they are; the script made of its template follows after the end of
the text. Both are parsed in one go, so the template sees the scripts' names, and only positions
after the end of the text need to be mapped back.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Set
from typing import Literal, NamedTuple

from codelens.extract.source_text import Source

OPENING = b"async function __template__(){"
"""Begins the template's script. It begins a definition, so an unclosed bracket in a script before
it is repaired as in any other script."""
NAME = "__template__"
TAKEN = b"__taken__"
"""The name, in the template's script, of the first parameter of a slot's or snippet's type."""
Piece = Literal["exact", "name", "member", "glue", "definition"]
"""Kinds of pieces: code of the source; a name that the source spells differently; a member of a
component; code that the source does not contain; the beginning or end of a definition that the
markup makes."""
APOSTROPHE = re.compile(rb"(?<=[a-z])'(?=(?:d|ll|m|re|s|t|ve)\b)")
"""The one of `it's` in the text of an element."""
_STRINGS = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*+\*/|\\.',
    re.DOTALL,
)
_QUOTES = re.compile(rb"[\"'`]|/[/*]")
_BRACKETS = re.compile(rb"[()\[\]{}]")
_CLOSING = {b")": b"(", b"]": b"[", b"}": b"{"}
_ENTITY = re.compile(rb"&(?:quot|amp|lt|gt|apos|#39);")
_ENTITIES = {
    b"&quot;": b'"', b"&amp;": b"&", b"&lt;": b"<", b"&gt;": b">", b"&apos;": b"'", b"&#39;": b"'",
}  # fmt: skip
_ASSIGNED = re.compile(
    rb"(?<![\w$.])([A-Za-z_$][\w$]*)\s*(?:\*\*|<<|>>>?|&&|\|\||\?\?|[-+*/%&|^])?=(?![=>])"
)
_WORDS = re.compile(rb"[A-Za-z_$][\w$]*")


def is_usable(code: bytes) -> bool:
    """Whether a piece of code can stand in brackets without swallowing what follows."""
    if _QUOTES.search(code) or b"\\" in code:
        whole, code = code, _STRINGS.sub(b"0", code)
        if _QUOTES.search(code):
            # The text of elements has apostrophes.
            code = _STRINGS.sub(b"0", APOSTROPHE.sub(b"", whole))
        if _QUOTES.search(code):
            return False
    if not code or code.isspace():
        return False
    opened: list[bytes] = []
    for sign in _BRACKETS.findall(code):
        if sign not in _CLOSING:
            opened.append(sign)
        elif not opened or opened.pop() != _CLOSING[sign]:
            return False
    return not opened


def words(code: bytes) -> set[bytes]:
    """Returns all words of a script: a superset of the names that it binds."""
    return set(_WORDS.findall(code))


class VirtualScript:
    """A text followed by the script of its template.

    Args:
        text: the whole text of the component.
        opening: what begins the template's script; empty if the translation adds it.
        names: the words in the component's scripts.
    """

    def __init__(
        self, text: bytes, opening: bytes = OPENING, names: Set[bytes] = frozenset()
    ) -> None:
        self._pieces: list[bytes] = [text, b"\n", opening]
        self._closing = b"\n}\n" if opening else b"\n"
        self.base = len(text)
        """Positions from here on belong to the template's script."""
        self._size = self.base + 1 + len(opening)
        self.text, self.names = text, names
        self._starts = [self.base]
        self.members: list[tuple[bytes, int, int]] = []
        """Members that the markup declares, with their spans: slots."""
        self.scripts: list[tuple[int, int]] = []
        """Spans of the scripts that the markup itself contains, in order: imports of MDX."""
        self._places: list[tuple[int, Piece]] = [(0, "glue")]

    def __len__(self) -> int:
        return self._size - self.base

    def glue(self, code: bytes) -> None:
        """Adds code that the template does not contain."""
        self._add(code, 0, "glue")

    def name(self, name: bytes, start: int) -> None:
        """Adds a use of a name that the source spells differently at a position."""
        self._add(name, start, "name")

    def member(self, owner: bytes, name: bytes, start: int, end: bytes = b";") -> None:
        """Adds a use of a member of a component, named at a position: a prop or an event.

        It is a statement; with a comma as `end`, it is an element of a list.
        """
        self.member_head(owner, name, start, end)
        self._add(b"()" + end, 0, "glue")

    def member_head(self, owner: bytes, name: bytes, start: int, end: bytes = b";") -> None:
        """Adds what `member` adds, without brackets: the caller adds them with a value inside."""
        self._add((b"\n;" if end == b";" else b"\n") + owner + b"().", 0, "glue")
        self._add(name, start, "member")

    def definition(self, keyword: bytes, start: int) -> None:
        """Adds the beginning or end of a definition that the markup makes at a position."""
        self._add(keyword, start, "definition")

    def code(self, start: int, end: int, *, attribute: bool = False, opening: bytes = b"") -> None:
        """Adds the source of a span; in an attribute, without its character references.

        Only the `opening` is on the same line: the lines of bindings are those of their statements.
        """
        self._add(b"\n" + opening, 0, "glue")
        at = start
        if attribute and self.text.find(b"&", start, end) >= 0:
            for match in _ENTITY.finditer(self.text, start, end):
                self._add(self.text[at : match.start()], at, "exact")
                self._add(_ENTITIES[match[0]], 0, "glue")
                at = match.end()
        self._add(self.text[at:end], at, "exact")

    def expression(self, start: int, end: int, *, attribute: bool = False) -> None:
        """Adds an expression as a statement, if it is complete."""
        if self.is_usable(start, end):
            self._add(b"\n;[", 0, "glue")
            self.code(start, end, attribute=attribute)
            self._add(b"\n];", 0, "glue")
            self.written(start, end)

    def given(self, owner: bytes, name: bytes, place: int, span: tuple[int, int]) -> None:
        """Adds a use of a member of a component with the expression that it gets, if usable."""
        if not self.is_usable(*span):
            self.member(owner, name, place)
            return
        self.member_head(owner, name, place)
        self._add(b"(", 0, "glue")
        self.code(*span, attribute=True)
        self._add(b"\n);", 0, "glue")
        self.written(*span)

    def written(self, start: int, end: int) -> None:
        """Adds uses of the names that code assigns to: an assignment alone is no use of a name."""
        for match in _ASSIGNED.finditer(self.text, start, end):
            self._add(b"\n;[", 0, "glue")
            self._add(match[1], match.start(1), "exact")
            self._add(b"];", 0, "glue")

    def is_usable(self, start: int, end: int) -> bool:
        """Whether a span of the source is complete code."""
        return is_usable(self.text[start:end])

    def _add(self, code: bytes, source: int, piece: Piece) -> None:
        if code:
            self._pieces.append(code)
            self._starts.append(self._size)
            self._places.append((source, piece))
            self._size += len(code)

    def finished(self) -> bytes:
        """Returns the text with the template's script."""
        self.glue(self._closing)
        return b"".join(self._pieces)

    def source_of(self, byte: int) -> tuple[int, Piece]:
        """Returns where a position of the virtual text is in the source, and in which piece.

        Positions in code that is not the source's map to the beginning of their piece.
        """
        if byte < self.base:
            return byte, "exact"
        at = bisect_right(self._starts, byte) - 1
        source, piece = self._places[at]
        return (source + byte - self._starts[at] if piece == "exact" else source), piece

    def is_definition(self, byte: int) -> bool:
        """Whether the markup makes a definition that begins at a position of the virtual text."""
        at = bisect_right(self._starts, byte) - 1
        return byte < self.base or self._places[at][1] == "definition"

    def line_of(self, line: int, virtual: Source, source: Source) -> int:
        """Returns the line in the source of a line of the virtual text."""
        if virtual.line_starts[line - 1] < self.base:
            return line
        at = bisect_right(self._starts, virtual.line_starts[line - 1]) - 1
        # A line begins with glue; the code that determines its line in the source follows.
        while at < len(self._places) - 1 and self._places[at][1] == "glue":
            at += 1
        start, piece = self._places[at]
        inside = max(0, virtual.line_starts[line - 1] - self._starts[at])
        return source.line(start + inside if piece == "exact" else start)


class OpenPart(NamedTuple):
    """An open element or block of a template."""

    name: bytes
    closing: bytes
    """The code that closes it in the script."""
    component: bytes


class NestedMarkup:
    """The open elements and blocks of a template."""

    def __init__(self, script: VirtualScript) -> None:
        self._script = script
        self._stack: list[OpenPart] = []
        self._opened: dict[bytes, int] = {}
        self._depth = 0
        """Number of open elements and blocks with variables of their own."""

    def _push(self, name: bytes, closing: bytes, component: bytes = b"") -> None:
        self._stack.append(OpenPart(name, closing, component))
        self._opened[name] = self._opened.get(name, 0) + 1
        self._depth += bool(closing)

    def _pop(self, end: int = 0) -> bytes:
        """Closes the innermost part, at a position. Returns its name."""
        part = self._stack.pop()
        self._opened[part.name] -= 1
        self._depth -= bool(part.closing)
        self._add_closing(part, end)
        return part.name

    def _add_closing(self, part: OpenPart, end: int) -> None:
        del end  # For parts that end at a position of the text.
        self._script.glue(part.closing)

    def _close(self, name: bytes, end: int = 0) -> None:
        """Closes the last open part of a name and everything in it, if there is one."""
        if self._opened.get(name):
            while self._pop(end) != name:
                pass

    def _close_all(self, end: int = 0) -> None:
        while self._stack:
            self._pop(end)
