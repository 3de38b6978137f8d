"""Cutting a text into chunks of about 1,500 bytes, at the seams of its syntax.

A seam is the start of a line where a node begins, comments above it included, with the depth of
that node below the top level. A chunk ends at the cheapest seam near its target size: shallow
seams first, so whole symbols stay together where they fit and small neighbours are joined. This
is the split-then-merge of cAST (Zhang et al. 2025) with the merge done by price.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import repeat
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.source_text import Source
from codelens.extract.symbols.comments import Comments
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


class Root(NamedTuple):
    """A tree over a text or a part of it."""

    node: Node
    end: int
    """Where the part ends."""
    depth: int
    """Depth of the seams between the root's children."""


def chunks_of(
    roots: list[Root], source: Source, comments: Comments, symbols: list[Symbol]
) -> list[Chunk]:
    """Chunks of a parsed text: they tile it but for blank lines."""
    return _cut(source, _node_seams(roots, source, comments), symbols)


def text_chunks(source: Source) -> list[Chunk]:
    """Chunks of a text without syntax, cut between paragraphs."""
    return _cut(source, _line_seams(source, 0, source.size), [])


def _node_seams(roots: list[Root], source: Source, comments: Comments) -> list[Seam]:
    """Lines on which a node begins that is part of a node too large for one chunk."""
    text, line_starts = source.text, source.line_starts
    seams: dict[int, int] = {}
    pending = [(root.node, root.end, root.depth) for root in roots]
    while pending:
        node, end, depth = pending.pop()
        source.check()
        children = node.children
        starts = [child.start_byte for child in children]
        lines = list(map(bisect_right, repeat(line_starts), starts))
        starts.append(end)
        last_line = 0
        for at, line in enumerate(lines):
            start = starts[at]
            if starts[at + 1] - start > _LARGEST and depth < _DEEPEST:
                pending.append((children[at], children[at].end_byte, depth + 1))
            if line == last_line:
                continue
            last_line = line
            line_start = line_starts[line - 1]
            if line_start == start or text[line_start:start].isspace():
                seam = comments.line_with_comment(line_start, line)
                if seams.get(seam, _DEEPEST) > depth:
                    seams[seam] = depth
    return sorted(seams.items())


def _line_seams(source: Source, start: int, end: int) -> list[Seam]:
    """Lines of a span, by what stands above them: nothing, then the less indented the better."""
    text = source.text
    seams: list[Seam] = []
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
        seams.append((begin, indented if blank_above else 2 + indented))
        blank_above = False
    return seams


def _cut(source: Source, seams: list[Seam], symbols: list[Symbol]) -> list[Chunk]:
    chunks: list[Chunk] = []
    positions = [seam[0] for seam in seams]
    about = _About(symbols)
    text = source.text
    start = 0
    while start < source.size:
        end = _end_of(source, seams, positions, start)
        part = text[start:end].rstrip()
        if part:
            # Blank lines at both ends belong to no chunk.
            first = source.line(start + len(part) - len(part.lstrip()))
            last = source.line(start + len(part) - 1)
            begin = source.line_starts[first - 1]
            finish = source.line_starts[last] if last < len(source.line_starts) else source.size
            chunks.append(Chunk(first, last, begin, finish, about.symbol(begin, finish)))
        start = end
    return chunks


def _end_of(source: Source, seams: list[Seam], positions: list[int], start: int) -> int:
    """Where the chunk that starts here ends best."""
    if source.size - start <= _LARGEST:
        return source.size
    first = bisect_right(positions, start)
    last = bisect_right(positions, start + _LARGEST)
    if first < last:
        target_end = start + TARGET
        return min(
            [
                (depth * _DEPTH_PRICE + abs(target_end - position), position)
                for position, depth in seams[first:last]
            ]
        )[1]
    # A long leaf: whole lines, and a line that is longer by itself.
    starts = source.line_starts
    line = max(bisect_right(starts, start + TARGET) - 1, bisect_right(starts, start))
    return starts[line] if line < len(starts) else source.size


class _About:
    """Tells what a chunk is mostly about; asked in order of the text."""

    def __init__(self, symbols: list[Symbol]) -> None:
        self._symbols = symbols
        self._starts = [symbol.start_byte for symbol in symbols]

    def symbol(self, start: int, end: int) -> int:
        """Position of the symbol that fills most of a span.

        The first that starts in it and fills half of it, else the innermost around it that
        does, else the one that starts in it and fills most.
        """
        symbols = self._symbols
        half = (end - start) / 2
        first = bisect_left(self._starts, start)
        best, most = -1, 0
        for at in range(first, bisect_left(self._starts, end)):
            overlap = min(symbols[at].end_byte, end) - symbols[at].start_byte
            if overlap >= half:
                return at
            if overlap > most:
                best, most = at, overlap
        around = first - 1
        while around >= 0 and min(symbols[around].end_byte, end) - start < half:
            around = symbols[around].parent
        return around if around >= 0 else best
