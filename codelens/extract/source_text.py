"""Gives access to one text by bytes and lines, and to the code in notebooks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate

from tree_sitter import Node

from codelens.extract.parse.captures import Captures, Span

# One text and its lines, shared by all steps of an extraction.

_PIECES_BETWEEN = 64


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """Compiles a pattern of a language's settings, once per process."""
    return re.compile(pattern)


class Source:
    """A UTF-8 text with the byte offsets of its lines. Parts of it are decoded on demand.

    Args:
        text: the text.
        check: called every 64 pieces; raises if the extraction took too long.
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
        """The byte offset of each line. The empty text after a final newline counts as a line."""
        # In ASCII a character is one byte, so slices of the decoded text are cheaper.
        self._chars = text.decode("ascii") if text.isascii() else None

    def slice(self, start: int, end: int) -> str:
        """Returns the text of a span of bytes. Invalid UTF-8 becomes U+FFFD."""
        self._pieces += 1
        if not self._pieces % _PIECES_BETWEEN:
            self.check()
        if self._chars is not None:
            return self._chars[start:end]
        return self.text[start:end].decode("utf-8", "replace")

    def texts(self, nodes: Iterable[Node]) -> list[str]:
        """Returns the text of each node. `Node.text` takes three times as long."""
        chars = self._chars
        if chars is not None:
            return [chars[node.start_byte : node.end_byte] for node in nodes]
        text = self.text
        return [text[node.start_byte : node.end_byte].decode("utf-8", "replace") for node in nodes]

    def line(self, byte: int) -> int:
        """Returns the 1-based line of a byte."""
        return bisect_right(self.line_starts, byte)

    def line_start(self, byte: int) -> int:
        """Returns the offset where the line of a byte begins."""
        return self.text.rfind(b"\n", 0, byte) + 1

    def line_start_of(self, line: int) -> int:
        """Returns the offset where a 1-based line begins; the text size after the last line."""
        return self.line_starts[line - 1] if line <= len(self.line_starts) else self.size

    def begins_line(self, byte: int, line: int) -> bool:
        """Whether only blanks precede the byte on its line."""
        before = self.text[self.line_starts[line - 1] : byte]
        return not before or before.isspace()


def before_blanks(text: bytes, end: int) -> int:
    """Returns where the blanks before a position begin."""
    while text[end - 1 : end].isspace():
        end -= 1
    return end


# Code in the cells of a notebook. A notebook is JSON with one string per line of code.
#
# The strings are taken without quotes and escaping backslashes, each with the file's newline after
# it. The parser thus sees the code at its position in the file.

_DEFAULT = "python"
_LANGUAGE = re.compile(
    rb'"(?:language_info"\s*:\s*\{[^]]*?"name|kernelspec"\s*:\s*\{[^}]*?"language)"\s*:\s*"([^"]+)"'
)
_MAGIC = re.compile(rb"[ ]*(?:[%!?]|\w+\?)")
"""Commands to the notebook itself."""
_RUNNING = re.compile(rb"([ ]*)%(?:time|timeit|prun|lprun|memit|mprun)[ ]+(?=[^ %-])")
"""A command before code that runs unchanged. Options are excluded, as their values look like code.
"""
_RUNNING_CELL = re.compile(rb'"%%(?:time|timeit|capture|prun|memit|debug|python3?)\b')
"""The first line of a cell whose other lines are code."""
_LINE_END = re.compile(rb'"[ \t]*,?[ \t]*\r?(?=\n)')
_BETWEEN_LINES = re.compile(r'(?:\\n)?",?\s+"')
_LAST_END = re.compile(r'(?:\\n",?|(?<!\\)",?)\s*"?\Z')
_ESCAPED = re.compile(r'\\(["\\/])')
_METADATA = 20_000
"""A notebook names its language in its last bytes, or in its first."""

Cells = list[tuple[str, list[Span], int]]


def cells_of(captures: Captures, source: Source) -> Cells:
    """Returns the code of a notebook as one part: language, spans, depth; empty if unreadable."""
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
    """Removes the JSON string syntax between the lines of a signature or doc."""
    text = _BETWEEN_LINES.sub(" ", quoted)
    return " ".join(_ESCAPED.sub(r"\1", _LAST_END.sub("", text)).split()).rstrip(" :")


def _lines(cell: Node, text: bytes) -> list[Span]:
    """Returns the strings of a code cell's source, including quotes."""
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
    """Returns the code spans of a string and its newline; None if its line has more text."""
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
        # Of an escaped quote or backslash only the character itself is code.
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
