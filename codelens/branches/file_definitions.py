"""Represents the definitions of one text and the lines that belong to each.

A line belongs to the innermost definition around it, comments right above a definition to that
definition, and other lines to the file. Definitions that share a line with another (`int a, b;`)
have no lines of their own and are identified by their bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from codelens.branches.code_tokens import code_of, is_comment_line
from codelens.types import Symbol

FILE = -1
"""Represents the file instead of a definition."""
_DISTINCT = frozenset({"heading", "key"})
_BLANKS = b" \t\r\n\f\v"
_SHORT = 4_000
_WORD = re.compile(rb"\w+")
_GROUPS = {
    **dict.fromkeys(("class", "struct", "union", "interface", "trait", "enum", "type"), "type"),
    **dict.fromkeys(("function", "method", "macro"), "callable"),
    "module": "module",
}

Lines = tuple[int, int]
"""First and last line, 1-based."""


class FileText(NamedTuple):
    """One side of a file."""

    path: bytes
    data: bytes
    """Its text in UTF-8."""
    symbols: Sequence[Symbol]
    language: str
    shown: str = "text"
    """`text`; or `binary`, `oversized`, `generated`, `vendored`, `link`, `submodule`: reported as a
    whole."""
    key: bytes = b""
    """Equal for equal bytes; empty if unknown."""
    mode: int = 0


class Definition:
    """One definition of one text."""

    __slots__ = ("__dict__", "at", "file", "inline", "runs", "start", "stop", "symbol")

    def __init__(self, file: FileDefinitions, at: int, symbol: Symbol) -> None:
        self.file = file
        self.at = at
        self.symbol = symbol
        self.start = symbol.start_line - 1
        """First line, 0-based, including the comments above it."""
        self.stop = symbol.end_line
        """Line after the last."""
        self.inline = False
        """Whether it shares a line with another."""
        self.runs: list[tuple[int, int]] = []
        """Lines outside of inner definitions: 0-based, half-open."""

    @property
    def name(self) -> str:
        """Return its own name."""
        return self.symbol.name

    @property
    def owner(self) -> str:
        """Return the qualified name of its owner; empty at top level."""
        qualified, name = self.symbol.qualified, self.symbol.name
        if qualified.endswith("." + name):
            return qualified[: -len(name) - 1]
        return "" if qualified == name else qualified.rpartition(".")[0]

    @property
    def group(self) -> str:
        """Return `type`, `callable`, `module` or `value`."""
        return _GROUPS.get(self.symbol.kind, "value")

    @cached_property
    def own(self) -> bytes:
        """Return its text without inner definitions and blank lines."""
        if self.inline:
            text = self.file.data[self.symbol.start_byte : self.symbol.end_byte]
            return text.replace(b"\r\n", b"\n")
        lines = self.file.lines
        text = b"\n".join(
            line for start, stop in self.runs for line in lines[start:stop] if line.strip()
        )
        for inner in self.file.inline_in(self.at):
            text = text.replace(inner.own, b"", 1)
        if self.file.inline_in(self.at):
            text = text.translate(None, b",;|")
        return text

    @cached_property
    def whole(self) -> bytes:
        """Return its text without blanks, including inner definitions."""
        if self.inline:
            return squeezed(self.own)
        return squeezed(b"\n".join(self.file.lines[self.start : self.stop]))

    @cached_property
    def shape(self) -> bytes:
        """Return `whole` without the definition's own name, so that a rename does not change it."""
        text = self.own if self.inline else b"\n".join(self.file.lines[self.start : self.stop])
        return squeezed(renamed(text, self.name, "\0"))

    @cached_property
    def words(self) -> Counter[bytes]:
        """Count the words of its whole text except its own name."""
        text = self.own if self.inline else b"\n".join(self.file.lines[self.start : self.stop])
        counts = Counter(_WORD.findall(text))
        counts.pop(self.name.encode("utf-8", "replace"), None)
        return counts

    @cached_property
    def size(self) -> int:
        """Return its number of words."""
        return self.words.total()

    @property
    def spans(self) -> list[Lines]:
        """Return its own lines, 1-based and inclusive."""
        if self.inline:
            return [(self.symbol.start_line, self.symbol.end_line)]
        return [(start + 1, stop) for start, stop in self.runs]

    @property
    def signature(self) -> bytes:
        """Return its signature as declared, without blanks."""
        return squeezed(self.symbol.signature.encode("utf-8", "replace"))

    def written(self, text: bytes) -> bytes:
        """Remove blanks and comments from a text in its language."""
        return squeezed(code_of(text, self.file.language))


class FileDefinitions:
    """All definitions of one text, in order."""

    def __init__(self, text: FileText, left_out: Set[int] = frozenset()) -> None:
        self.text = text
        self.left_out = left_out
        """Positions of the untouched symbols, which are not among the definitions."""
        self.path = text.path
        self.data = text.data
        self.language = text.language
        self.lines: list[bytes] = text.data.split(b"\n")
        if b"\r\n" in text.data:
            self.lines = [line.removesuffix(b"\r") for line in self.lines]
        if self.lines and not self.lines[-1]:
            self.lines.pop()
        self.definitions: list[Definition] = [
            Definition(self, at, symbol)
            for at, symbol in enumerate(text.symbols)
            if symbol.kind not in _DISTINCT
            and symbol.end_line <= len(self.lines)
            and at not in left_out
        ]
        self.has_definitions = bool(self.definitions) or any(
            text.symbols[at].kind not in _DISTINCT for at in left_out
        )
        """Whether it defines anything, untouched definitions included."""
        self.by_symbol = {definition.at: definition for definition in self.definitions}
        self._position = {definition.at: place for place, definition in enumerate(self.definitions)}
        self._inline: dict[int, list[Definition]] = {}
        self.runs: list[tuple[int, int, int]] = []
        """Ranges of lines and their symbol, or `FILE`, in order: 0-based, half-open."""
        self._mark_inline()
        self._paint()

    def forget(self) -> None:
        """Forget the definitions; do not use the object afterwards.

        They refer to their file: the cycle would keep its text in memory.
        """
        for definitions in (self.definitions, self.by_symbol, self._inline):
            definitions.clear()

    def inline_in(self, at: int) -> list[Definition]:
        """Return the direct inner definitions that share a line with another."""
        return self._inline.get(at, [])

    def children(self, definition: Definition) -> Iterable[Definition]:
        """Return all definitions inside one."""
        for place in range(self._position[definition.at] + 1, len(self.definitions)):
            other = self.definitions[place]
            if other.symbol.start_byte >= definition.symbol.end_byte:
                return
            yield other

    @cached_property
    def names_left_out(self) -> frozenset[str]:
        """Return the qualified names of the untouched symbols."""
        return frozenset(self.text.symbols[at].qualified for at in self.left_out)

    @cached_property
    def owners(self) -> list[int]:
        """Return the innermost symbol of each line, `FILE` if none."""
        owner_ordinals: list[int] = []
        for start, stop, at in self.runs:
            owner_ordinals += [at] * (stop - start)
        return owner_ordinals

    @cached_property
    def outside(self) -> list[int]:
        """Return the lines outside of definitions, 0-based."""
        return [line for start, stop, at in self.runs if at == FILE for line in range(start, stop)]

    def _mark_inline(self) -> None:
        last: dict[int, Definition] = {}
        for definition in self.definitions:
            symbol = definition.symbol
            parent = self.by_symbol.get(symbol.parent)
            if parent is not None and parent.symbol.start_line == symbol.start_line:
                definition.inline = True
            before = last.get(symbol.parent)
            if before is not None and before.symbol.end_line >= symbol.start_line:
                definition.inline = before.inline = True
            last[symbol.parent] = definition
        for definition in self.definitions:
            if definition.inline:
                self._inline.setdefault(definition.symbol.parent, []).append(definition)

    def _paint(self) -> None:
        position, stack = 0, list[tuple[int, int]]()
        runs = self.runs
        lines, language = self.lines, self.language

        def emit(upto: int) -> None:
            nonlocal position
            if upto > position:
                runs.append((position, upto, stack[-1][0] if stack else FILE))
                position = upto

        for definition in sorted(
            (definition for definition in self.definitions if not definition.inline),
            key=lambda definition: (definition.start, -definition.stop, definition.at),
        ):
            while stack and stack[-1][1] <= definition.start:
                emit(stack[-1][1])
                stack.pop()
            floor = position
            start = max(definition.start, floor)
            while start > floor and is_comment_line(lines[start - 1], language):
                start -= 1
            if start == 0 and definition.start > 0 and lines[0][:2] == b"#!":
                start = 1
            definition.start = start
            emit(start)
            stop = min(definition.stop, stack[-1][1]) if stack else definition.stop
            stack.append((definition.at, max(stop, start)))
        while stack:
            emit(stack[-1][1])
            stack.pop()
        emit(len(lines))
        for start, stop, at in runs:
            if at != FILE:
                self.by_symbol[at].runs.append((start, stop))


def squeezed(text: bytes) -> bytes:
    """Remove blanks from a text."""
    return text.translate(None, _BLANKS)


def renamed(text: bytes, name: str, new: str) -> bytes:
    """Replace each word of a text that is a name."""
    old = name.encode("utf-8", "replace")
    if not old or old not in text:
        return text
    new_name = new.encode("utf-8", "replace")
    if _WORD.fullmatch(old) and len(text) < _SHORT:
        # Compiling a pattern per name costs a millisecond; most texts are short.
        return _WORD.sub(lambda match: new_name if match[0] == old else match[0], text)
    return re.sub(rb"(?<!\w)" + re.escape(old) + rb"(?!\w)", lambda _: new_name, text)


def alike(counts: Counter[bytes], other: Counter[bytes]) -> float:
    """Return the number of common words divided by the larger number of words: 0 to 1."""
    larger = max(counts.total(), other.total())
    return (counts & other).total() / larger if larger else 1.0
