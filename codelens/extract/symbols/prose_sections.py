"""Headings of prose, each reaching to the next one of its level or above."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator

from tree_sitter import Node

from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import before_blanks

_LEVELS = tuple((f"section.{level}", level) for level in range(1, 10))


def sections(captures: Captures, text: bytes) -> Iterator[tuple[Node, int]]:
    """Nodes of the headings with the ends of their sections, blanks at the end left out."""
    headings = [(node.start_byte, level, node) for node, level in _headings(captures, text)]
    headings.sort(key=lambda heading: heading[0])
    opaque = deque(sorted((node.start_byte, node.end_byte) for node in captures.get("opaque", ())))
    reached = 0
    open_sections: list[tuple[int, Node]] = []
    for start, level, node in headings:
        while opaque and opaque[0][0] <= start:
            reached = max(reached, opaque.popleft()[1])
        if start < reached:
            continue
        while open_sections and open_sections[-1][0] >= level:
            yield open_sections.pop()[1], before_blanks(text, start)
        open_sections.append((level, node))
    for _, node in open_sections:
        yield node, before_blanks(text, len(text))


def _headings(captures: Captures, text: bytes) -> Iterator[tuple[Node, int]]:
    for capture, level in _LEVELS:
        for node in captures.get(capture, ()):
            yield node, level
    yield from _by_marks(captures, text)


def _by_marks(captures: Captures, text: bytes) -> Iterator[tuple[Node, int]]:
    """Headings whose level is the rank of their mark, in order of first appearance.

    So reStructuredText has it: a mark above and below the title is another one than the same
    character below it alone (Docutils, "reStructuredText Markup Specification", Sections).
    """
    marks = sorted((node.start_byte, node.end_byte) for node in captures.get("section.mark", ()))
    starts = [start for start, _ in marks]
    levels: dict[tuple[bytes, int], int] = {}
    for node in sorted(captures.get("section.auto", ()), key=lambda heading: heading.start_byte):
        first = bisect_left(starts, node.start_byte)
        count = bisect_left(starts, node.end_byte) - first
        if count:
            mark = text[starts[first] : starts[first] + 1], count
            yield node, levels.setdefault(mark, len(levels) + 1)
