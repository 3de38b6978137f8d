"""One text and its lines, shared by all steps of an extraction."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from tree_sitter import Node

_PIECES_BETWEEN = 64


class Source:
    """A UTF-8 text with the byte offsets of its lines; parts of it are decoded on demand.

    Args:
        text: the text.
        check: raises where its extraction took too long; called every 64 pieces.
    """

    __slots__ = ("_chars", "_pieces", "check", "line_starts", "size", "text")

    def __init__(self, text: bytes, check: Callable[[], None] = lambda: None) -> None:
        self.check = check
        self._pieces = 0
        self.text = text
        self.size = len(text)
        starts = [0, *accumulate([len(line) + 1 for line in text.split(b"\n")])]
        del starts[-1]
        self.line_starts = starts
        """Byte offset of each line; what follows a last newline is a line too."""
        # One character is one byte in ASCII: then slices of the decoded text are cheaper.
        self._chars = text.decode("ascii") if text.isascii() else None

    def slice(self, start: int, end: int) -> str:
        """Text of a span of bytes; bytes that are no UTF-8 become U+FFFD."""
        self._pieces += 1
        if not self._pieces % _PIECES_BETWEEN:
            self.check()
        if self._chars is not None:
            return self._chars[start:end]
        return self.text[start:end].decode("utf-8", "replace")

    def texts(self, nodes: Iterable[Node]) -> list[str]:
        """Text of each node; `Node.text` costs three times as much."""
        chars = self._chars
        if chars is not None:
            return [chars[node.start_byte : node.end_byte] for node in nodes]
        text = self.text
        return [text[node.start_byte : node.end_byte].decode("utf-8", "replace") for node in nodes]

    def line(self, byte: int) -> int:
        """1-based line of a byte."""
        return bisect_right(self.line_starts, byte)

    def line_start(self, byte: int) -> int:
        """Offset where the line of a byte begins."""
        return self.text.rfind(b"\n", 0, byte) + 1

    def line_start_of(self, line: int) -> int:
        """Offset where a 1-based line begins; the size of the text behind its last line."""
        return self.line_starts[line - 1] if line <= len(self.line_starts) else self.size

    def begins_line(self, byte: int, line: int) -> bool:
        """Nothing but blanks stands before the byte on its line."""
        before = self.text[self.line_starts[line - 1] : byte]
        return not before or before.isspace()


def before_blanks(text: bytes, end: int) -> int:
    """Where the blanks before a position begin."""
    while text[end - 1 : end].isspace():
        end -= 1
    return end
