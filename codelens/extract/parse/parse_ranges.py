"""Parts of a text, as the parser takes them."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Point, Range

Span = tuple[int, int]
"""Bytes from, to."""


def ranges(text: bytes, spans: Sequence[Span]) -> list[Range]:
    """Ranges of spans; empty ones, and what is out of order, are left out."""
    ranges_: list[Range] = []
    line = at = 0
    for start, end in spans:
        if start >= end or start < at:
            continue
        line += text.count(b"\n", at, start)
        begin = Point(line, start - text.rfind(b"\n", 0, start) - 1)
        line += text.count(b"\n", start, end)
        finish = Point(line, end - text.rfind(b"\n", 0, end) - 1)
        ranges_.append(Range(begin, finish, start, end))
        at = end
    return ranges_


def overlap(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What is in both of two rows of spans that are in order."""
    shared: list[Span] = []
    at = 0
    for start, end in spans:
        while at < len(others) and others[at][1] <= start:
            at += 1
        on = at
        while on < len(others) and others[on][0] < end:
            shared.append((max(start, others[on][0]), min(end, others[on][1])))
            on += 1
    return shared
