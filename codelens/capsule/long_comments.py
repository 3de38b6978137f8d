"""The lines of long comments that a capsule leaves out: code is what a task is done in.

Of a comment above a definition, or in it, of a docstring and of an Elixir `@doc` the first lines
say what the rest explains. What is left out is one `expand` away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

KEPT = 2
"""Lines of a long comment that are shown: `/**` or `/// <summary>` is one, the summary another."""
_LONG = 5
"""Lines from which on a comment is long: a shorter one costs less than the sign of its gap."""
_LINE_COMMENT = re.compile(
    r"\s*(//|--(?=[\s\-\[]|$)|;;|%%?(?=\s)|#(?=[\s#]|$)"
    r"(?!\s*(?:define|undef|if|ifdef|ifndef|el\w+|endif|include|pragma|error|warning|line)\b))"
)
"""A line of comment, and its marker; directives of C's preprocessor are none."""
_BLOCKS = (("/*", "*/"), ("{-", "-}"), ("<!--", "-->"), ("=begin", "=end"))
_QUOTES = re.compile(r'\s*(?:@(?:module|type)?doc\s+(?:~[sS])?)?[rRbBuU]{0,2}("""|\'\'\')')
_DOCUMENTS = re.compile(r"\s*@(?:module|type)?doc\b")


def beyond_first(lines: Sequence[str], start: int, end: int) -> frozenset[int]:
    """Numbers of the lines of long comments among some lines, less the first of each.

    Args:
        lines: of the file.
        start: first line that is looked at, 1-based.
        end: last line that is looked at.
    """
    left_out: list[int] = []
    number = start
    last = min(end, len(lines))
    while number <= last:
        stop = _last_line(lines, number, last)
        if stop - number + 1 >= _LONG:
            left_out += range(number + KEPT, stop + 1)
        number = max(stop, number) + 1
    return frozenset(left_out)


def _last_line(lines: Sequence[str], first: int, last: int) -> int:
    """The last line of the comment that begins with a line; the line before where none does."""
    text = lines[first - 1]
    line_comment = _LINE_COMMENT.match(text)
    if line_comment:
        number = first
        while number < last:
            after = _LINE_COMMENT.match(lines[number])
            if after is None or after[1][0] != line_comment[1][0]:
                break
            number += 1
        return number
    opening = text.lstrip()
    for begins, ends in _BLOCKS:
        if opening.startswith(begins):
            return _closed(lines, first, last, ends, opening[len(begins) :])
    quotes = _QUOTES.match(text)
    if quotes and (_DOCUMENTS.match(text) or _opens_body(lines, first)):
        return _closed(lines, first, last, quotes[1], text[quotes.end() :])
    return first - 1


def _closed(lines: Sequence[str], first: int, last: int, ends: str, rest: str) -> int:
    """The line that ends a block; none of it is a comment that never ends or has code behind."""
    if ends in rest:
        return first - 1
    for number in range(first + 1, last + 1):
        _, closing, behind = lines[number - 1].partition(ends)
        if closing:
            return number if not behind.strip() else first - 1
    return first - 1


def _opens_body(lines: Sequence[str], number: int) -> bool:
    """Whether a text in quotes is the first thing in a body of Python: then it is its docstring."""
    before = number - 1
    while before > 0 and not lines[before - 1].strip():
        before -= 1
    return before > 0 and lines[before - 1].split("#")[0].rstrip().endswith(":")
