"""Comments of a text: blocks that stand before something, and comments behind code."""

from __future__ import annotations

import re
from bisect import bisect_right

from tree_sitter import Node

from codelens.extract.source import Source

DOC_LIMIT = 600
"""Longest doc of a symbol, in characters."""
_RAW_LIMIT = 4 * DOC_LIMIT

_OPENING = r"/\*[*!]*|//+[!<]*|#+[!:|]?|--+|;+|%+|\(\*+|\{-+\|?|<!--+|\*+(?=[ \t]|$)"
_MARKERS = re.compile(
    rf"^[ \t]*(?:{_OPENING})?[ \t]?|[ \t]*(?:\*+/|--+>|-\}}|\*\))?[ \t\r]*$", re.MULTILINE
)
_QUOTES = re.compile(r"""^[a-zA-Z]{0,3}(?:"{3}|'{3}|["'`])|(?:"{3}|'{3}|["'`])$""")
_DIRECTIVE = re.compile(
    r"^(?:eslint-|@ts-|prettier-|istanbul |c8 |v8 |noqa|type:|pylint:|pragma:|nolint|go:|\+build)"
    r"[^\n]*\n?",
    re.MULTILINE,
)


class Comments:
    """The comments of one text, by where they stand."""

    def __init__(self, source: Source, nodes: list[Node]) -> None:
        self._source = source
        self._starts: list[int] = []
        """Blocks: comments on lines of their own, with no blank line between them."""
        self._ends: list[int] = []
        self._behind: dict[int, tuple[int, int]] = {}
        """Line -> the comment behind its code."""
        text = source.text
        for start, end in sorted([(node.start_byte, node.end_byte) for node in nodes]):
            if not source.begins_line(start):
                self._behind[source.line(start)] = (start, end)
                continue
            if text[end - 1 : end] == b"\n":
                end -= 1  # noqa: PLW2901 - some grammars count the line end in
            if self._ends and is_next_line(text, self._ends[-1], start):
                self._ends[-1] = end
            else:
                self._starts.append(start)
                self._ends.append(end)

    def start_with_comment(self, start: int) -> int:
        """Where the comment block right above a position begins; else the position itself."""
        at = self._block_before(start)
        return start if at < 0 else self._starts[at]

    def leading_doc(self, start: int) -> str:
        """Text of the comment block right above a position."""
        at = self._block_before(start)
        if at < 0:
            return ""
        begin = self._starts[at]
        return plain(self._source.slice(begin, min(self._ends[at], begin + _RAW_LIMIT)))

    def trailing_doc(self, end: int) -> str:
        """Text of the comment behind a position, on its line."""
        span = self._behind.get(self._source.line(end - 1)) if self._behind else None
        if span is None or span[0] < end:
            return ""
        return plain(self._source.slice(span[0], min(span[1], span[0] + _RAW_LIMIT)))

    def any_between(self, start: int, end: int) -> bool:
        """A comment stands on a line from that of `start` up to `end`."""
        if bisect_right(self._starts, start) < bisect_right(self._starts, end):
            return True
        lines = range(self._source.line(start), self._source.line(end) + 1)
        return any(line in self._behind for line in lines)

    def _block_before(self, start: int) -> int:
        at = bisect_right(self._ends, start) - 1
        if at >= 0 and is_next_line(self._source.text, self._ends[at], start):
            return at
        return -1


def is_next_line(text: bytes, end: int, start: int) -> bool:
    """Between two positions stand blanks and at most one line end."""
    if start - end > _RAW_LIMIT:
        return False
    between = text[end:start]
    return not between or (between.isspace() and between.count(b"\n") <= 1)


def plain(raw: str) -> str:
    """Text of a comment without its markers and without directives to tools."""
    return shortened(_DIRECTIVE.sub("", _MARKERS.sub("", raw)).strip(), DOC_LIMIT)


def plain_docstring(raw: str) -> str:
    """Text of a docstring without its quotes and indentation."""
    text = _QUOTES.sub("", raw).strip()
    if "\n" in text:
        text = "\n".join([line.strip() for line in text.split("\n")])
    return shortened(text, DOC_LIMIT)


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words where there are any, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit - 60, limit - 1)
    return text[: cut if cut > 0 else limit - 1].rstrip() + "…"
