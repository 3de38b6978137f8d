"""Cutting a text into chunks of about 1,500 bytes, at the seams of its syntax.

A seam is the start of a line where a node begins, comments above it included, with the depth of
that node below the top level. A chunk ends at the cheapest seam near its target size: shallow
seams first, so whole symbols stay together where they fit and small neighbours are joined. This
is the split-then-merge of cAST (Zhang et al. 2025) with the merge done by price.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from tree_sitter import Node

from codelens.extract.comments import Comments
from codelens.extract.source import Source
from codelens.types import Chunk, Symbol

TARGET = 1_500
"""Size of a chunk, in bytes; the retrieval recipe was measured with it."""
_LARGEST = 1_900
_DEPTH_PRICE = 350
"""A seam one level deeper is worth so many bytes of distance from the target."""
_DEEPEST = 200
"""Nodes below this depth are cut by lines: only generated text nests so deep."""

Seam = tuple[int, int]
"""Byte where a line starts, and its depth."""


def chunks_of(
    root: Node, source: Source, comments: Comments, symbols: list[Symbol]
) -> list[Chunk]:
    """Chunks of a parsed text: they tile it but for blank lines."""
    seams: dict[int, int] = {}
    for start, depth in _node_seams(root, source):
        begin = comments.start_with_comment(start)
        seam = source.line_start(begin)
        if seams.get(seam, _DEEPEST) > depth:
            seams[seam] = depth
    return _cut(source, sorted(seams.items()), symbols)


def text_chunks(source: Source) -> list[Chunk]:
    """Chunks of a text without syntax, cut between paragraphs."""
    return _cut(source, _line_seams(source, 0, source.size), [])


def _node_seams(root: Node, source: Source) -> Iterator[Seam]:
    """Starts of all nodes that begin a line inside nodes too large for one chunk."""
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        for child in node.children:
            start = child.start_byte
            large = child.end_byte - start > _LARGEST
            if source.begins_line(start):
                yield start, depth
            if large:
                pending.append((child, depth + 1))


def _line_seams(source: Source, start: int, end: int) -> list[Seam]:
    """Lines of a span, by what stands above them: nothing, then the less indented the better."""
    text = source.text
    found: list[Seam] = []
    starts = source.line_starts
    first = bisect_left(starts, start)
    blank_above = True
    for begin, finish in zip(starts[first:], [*starts[first + 1 :], source.size], strict=True):
        if begin >= end:
            break
        line = text[begin:finish]
        if not line or line.isspace():
            blank_above = True
            continue
        indented = line[:1].isspace()
        found.append((begin, indented if blank_above else 2 + indented))
        blank_above = False
    return found
