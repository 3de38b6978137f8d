"""Finds docs: comment blocks before or after a definition, trailing comments and docstrings."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from tree_sitter import Node

from codelens.extract.source_text import Source, before_blanks

DOC_LIMIT = 600
"""Longest doc of a symbol, in characters."""
_RAW_LIMIT = 4 * DOC_LIMIT

_OPENING = (
    r"/\*[*!]*<?|//+[!<]*|#+[!:|']?|--+(?:\[=*\[| [|^](?=\s))?|;+|%+|\(\*+|\{-+ ?\|?|<!--+"
    r"|\*+(?=[ \t]|$)|=(?:begin|end|cut|pod|over|back|head\d|item|encoding|for)\b"
)
_MARKERS = re.compile(rf"[ \t]*(?:{_OPENING})?[ \t]?")
_CLOSING = ("*/", "-->", "-}", "*)")
_DIRECTIVE = re.compile(
    r"eslint-|@ts-|prettier-|istanbul |c8 |v8 |noqa|type:|pylint:|pragma:|nolint|go:|\+build"
    r"|rubocop:|frozen_string_literal:|shellcheck |phpcs:|luacheck:|stylua:|:nodoc:|nocov"
    r"|@flow|@format|@jsx|jshint |global |jslint |tslint:"
)
_LICENSE = re.compile(r"copyright|\blicen[sc]e|SPDX-", re.IGNORECASE)
_BETWEEN = b" \t,;)}"
_BLANKS = b" \t\r\n"
_FAR = 200
_EMPTY_LINE = re.compile(rb"[ \t\r]*\n[ \t\r]*\n")
_SPACED = b"\n=cut"
"""Perl's POD is followed by a blank line."""
_MARKS_BEFORE = b" \t\f\v\r=|,"
"""A comment after only these is on a line of its own: `= -- | doc` in Haskell."""
_BEFORE_ALL = b" \t\r\n\xef\xbb\xbf"
_BEFORE_QUOTES = re.compile(r"^\s*[~@$]?[A-Za-z]{0,3}(?=[\"'])")


class Comments:
    """The comments of one text by position."""

    def __init__(self, source: Source, nodes: list[Node]) -> None:
        self._source = source
        self.nodes = nodes
        """In their original order."""
        self._spans = sorted([(node.start_byte, node.end_byte) for node in nodes])
        self._span_starts = [start for start, _ in self._spans]
        self._starts: list[int] = []
        """Blocks: comments on lines of their own without a blank line between them."""
        self._ends: list[int] = []
        self._by_last_line: dict[int, int] = {}
        """Last line of a block -> its index."""
        self._behind: dict[int, tuple[int, int]] = {}
        """Line -> the comment after its code."""
        line_starts = source.line_starts
        text = source.text
        last_line = -1
        for start, end in self._spans:
            line = bisect_right(line_starts, start)
            before = text[line_starts[line - 1] : start]
            if before.strip(_MARKS_BEFORE):
                self._behind[line] = (start, end)
                continue
            if line <= last_line + 1 and self._starts:
                del self._by_last_line[last_line]
                self._ends[-1] = end
            else:
                self._starts.append(start)
                self._ends.append(end)
            # Some grammars include the line end.
            last_line = bisect_right(line_starts, before_blanks(text, end) - 1)
            if text[start:end].rstrip().endswith(_SPACED):
                last_line += 1
            self._by_last_line[last_line] = len(self._starts) - 1

    def line_with_comment(self, line_start: int, line: int) -> int:
        """Returns the start of the line where the comment block above begins, else of this line."""
        at = self._by_last_line.get(line - 1)
        return line_start if at is None else self._source.line_start(self._starts[at])

    def leading_doc(self, start: int, line: int) -> str:
        """Returns the comment block right above a line's first word, or before it on its line."""
        at = self._by_last_line.get(line - 1)
        if at is None:
            at = self._by_last_line.get(line)
            if at is None or self._ends[at] > start:
                return ""
        elif not self._source.begins_line(start, line):
            return ""
        begin = self._starts[at]
        if at == 0 and self._is_license(begin):
            return ""
        return plain(self._source.slice(begin, min(self._ends[at], begin + _RAW_LIMIT)))

    def following_doc(self, line: int) -> str:
        """Returns the comment block right below a line, if no code follows it there."""
        at = bisect_left(self._starts, self._source.line_start_of(line + 1))
        if at == len(self._starts):
            return ""
        begin, end = self._starts[at], self._ends[at]
        if self._source.line(begin) != line + 1:
            return ""
        rest = self._source.text[end : end + _FAR]
        if rest.strip(_BLANKS) and not _EMPTY_LINE.match(rest):
            return ""
        return plain(self._source.slice(begin, min(end, begin + _RAW_LIMIT)))

    def _is_license(self, begin: int) -> bool:
        """Whether this is the block that opens the file and states its license."""
        head = self._source.slice(begin, min(self._ends[0], begin + _RAW_LIMIT))
        before = self._source.text[:begin].strip(_BEFORE_ALL)
        return (not before or before.startswith((b"#!", b"<?"))) and (
            _LICENSE.search(head) is not None
        )

    def trailing_doc(self, end: int, line: int) -> str:
        """Returns the comment after a position on its line, with only punctuation between."""
        span = self._behind.get(line)
        if span is None or self._source.text[end : span[0]].strip(_BETWEEN) or span[0] < end:
            return ""
        return plain(self._source.slice(span[0], min(span[1], span[0] + _RAW_LIMIT)))

    def left_out(self, start: int, end: int) -> str:
        """Returns the text between two positions with a blank for each comment in it."""
        spans = self._spans
        at = bisect_left(self._span_starts, start)
        if at == len(spans) or spans[at][0] >= end:
            return self._source.slice(start, end)
        parts: list[str] = []
        while at < len(spans) and spans[at][0] < end:
            parts.append(self._source.slice(start, spans[at][0]))
            start = spans[at][1]
            at += 1
        parts.append(self._source.slice(start, max(start, end)))
        return " ".join(parts)


def plain(raw: str) -> str:
    """Returns a comment's text without its markers and without directives to tools."""
    lines: list[str] = []
    for line in raw.split("\n"):
        if line.startswith("#!"):
            continue
        text = line[_MARKERS.match(line).end() :].rstrip()  # type: ignore[union-attr]
        if text.endswith(_CLOSING) or (text.endswith("]]") and raw.startswith("--[")):
            text = text[:-2].rstrip("*- \t")
        if not _DIRECTIVE.match(text):
            lines.append(text)
    return shortened("\n".join(lines).strip().removeprefix("@doc "), DOC_LIMIT)


def plain_docstring(raw: str) -> str:
    """Returns a docstring's text without quotes and indentation."""
    text = _BEFORE_QUOTES.sub("", raw)
    if text[:1] not in "\"'":
        return plain(raw)
    quotes = text[:3] if text[:3] in {'"""', "'''"} else text[:1]
    text = text[len(quotes) :].removesuffix(quotes).strip()
    if "\n" in text:
        text = "\n".join([line.strip() for line in text.split("\n")])
    return shortened(text, DOC_LIMIT)


def shortened(text: str, limit: int) -> str:
    """Returns at most `limit` characters, cut between words if possible, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit - 60, limit - 1)
    return text[: cut if cut > 0 else limit - 1].rstrip() + "…"
