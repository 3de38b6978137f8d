"""One text with its lines, shared by all steps of an extraction; and the code in notebooks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from tree_sitter import Node

from codelens.extract.parse.captures import Captures, Span

# One text and its lines, shared by all steps of an extraction.

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


# Code in the cells of a notebook, which is JSON: each line of code is a string on a line.
#
# The strings are taken without their quotes and without the backslashes of their escapes, and each
# with the newline of the file behind it: so a parser sees the code, at its places in the file.

_DEFAULT = "python"
_LANGUAGE = re.compile(
    rb'"(?:language_info"\s*:\s*\{[^]]*?"name|kernelspec"\s*:\s*\{[^}]*?"language)"\s*:\s*"([^"]+)"'
)
_MAGIC = re.compile(rb"[ ]*(?:[%!?]|\w+\?)")
"""Lines that are for the notebook itself."""
_RUNNING = re.compile(rb"([ ]*)%(?:time|timeit|prun|lprun|memit|mprun)[ ]+(?=[^ %-])")
"""Before code that runs as it stands; not with options, as their values would be code."""
_RUNNING_CELL = re.compile(rb'"%%(?:time|timeit|capture|prun|memit|debug|python3?)\b')
"""The first line of a cell whose other lines are code."""
_LINE_END = re.compile(rb'"[ \t]*,?[ \t]*\r?(?=\n)')
_BETWEEN_LINES = re.compile(r'(?:\\n)?",?\s+"')
_LAST_END = re.compile(r'(?:\\n",?|(?<!\\)",?)\s*"?\Z')
_ESCAPED = re.compile(r'\\(["\\/])')
_METADATA = 20_000
"""The language stands in the last bytes of a notebook, or in the first."""

Cells = list[tuple[str, list[Span], int]]


def cells_of(captures: Captures, source: Source) -> Cells:
    """The code of a notebook as one part: language, spans, depth; none if it cannot be read so."""
    nodes = sorted(captures.get("embedded.cell", ()), key=lambda node: node.start_byte)
    spans: list[Span] = []
    for node in nodes:
        lines = _lines(node, source.text)
        for start, end in lines:
            line_spans = _line_spans(source.text, start, end)
            if line_spans is None:
                return []
            spans += line_spans
    if not spans:
        return []
    return [(_language(source.text), spans, 4)]


def as_code(quoted: str) -> str:
    """A signature or doc without what the strings of the file put between its lines."""
    text = _BETWEEN_LINES.sub(" ", quoted)
    return " ".join(_ESCAPED.sub(r"\1", _LAST_END.sub("", text)).split()).rstrip(" :")


def _lines(cell: Node, text: bytes) -> list[Span]:
    """The strings of a code cell's source, quotes included."""
    source: Node | None = None
    for pair in cell.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is None or value is None:
            continue
        name = text[key.start_byte : key.end_byte]
        if name == b'"cell_type"' and text[value.start_byte : value.end_byte] != b'"code"':
            return []
        if name == b'"source"' and value.type == "array":
            source = value
    if source is None:
        return []
    lines = [child.byte_range for child in source.named_children]
    if lines and text.startswith(b"%%", lines[0][0] + 1):
        return lines[1:] if _RUNNING_CELL.match(text, lines[0][0]) else []
    return lines


def _line_spans(text: bytes, start: int, end: int) -> list[Span] | None:
    """What of a string is code, its line's own newline included; None if others share the line."""
    finish = _LINE_END.match(text, end - 1)
    if finish is None:
        return None
    newline = finish.end()
    begin, last = start + 1, end - 1
    if text.endswith(b"\\n", begin, last):
        last -= 2
    spans: list[Span] = []
    running = _RUNNING.match(text, begin, last)
    if running is not None:
        spans += [running.span(1)] if running[1] else []
        begin = running.end()
    elif _MAGIC.match(text, begin, last):
        return []
    at = begin
    while at < last:
        cut = text.find(b"\\", at, last)
        if cut < 0:
            break
        if cut > begin:
            spans.append((begin, cut))
        # Of an escaped quote or backslash the character itself is code.
        is_escaped = text[cut + 1 : cut + 2] in b'"\\/'
        begin = cut + 1 if is_escaped else cut + 2
        at = cut + 2
    if begin < last:
        spans.append((begin, last))
    spans.append((newline, newline + 1))
    return spans


def _language(text: bytes) -> str:
    match = _LANGUAGE.search(text, max(0, len(text) - _METADATA)) or _LANGUAGE.search(
        text, 0, _METADATA
    )
    return match[1].decode("utf-8", "replace") if match else _DEFAULT
