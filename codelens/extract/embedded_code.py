"""Cuts a text into chunks of about 1,500 bytes, and extracts the parts in other languages.

A seam is the start of a line where a node begins, or where the comments above the node begin. Its
price grows with the depth of the node, and a chunk ends at the cheapest seam near its target size.
So symbols that fit stay whole, and small neighbors are joined. This is the split-then-merge of cAST
(Zhang et al. 2025), with prices that decide what to merge.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import repeat
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.language_detection import all_traits
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures, Span, overlap
from codelens.extract.source_text import Source, as_code, before_blanks, cells_of, regex
from codelens.extract.symbols.comments import Comments
from codelens.types import Binding, Chunk, Import, Reference, Scope, Symbol

TARGET = 1_500
"""Target size of a chunk in bytes. The retrieval recipe was measured with this size."""
_LARGEST = 1_900
_DEPTH_PRICE = 350
"""A seam one level deeper costs as much as this many bytes of distance from the target."""
_DEEPEST = 200
"""Nodes below this depth are cut by lines. Only generated text nests so deeply."""

Seam = tuple[int, int]
"""The byte where a line starts, and the depth of its seam."""


class Root(NamedTuple):
    """A syntax tree of a text or a part of it."""

    node: Node
    end: int
    """The end of the part, in bytes."""
    depth: int
    """The depth of the seams between the root's children."""


def chunks_of(
    roots: list[Root], source: Source, comments: Comments, symbols: list[Symbol]
) -> list[Chunk]:
    """Returns the chunks of a parsed text. They cover everything but blank lines."""
    return _cut(source, _node_seams(roots, source, comments), symbols)


def text_chunks(source: Source) -> list[Chunk]:
    """Returns the chunks of a text without syntax, cut between paragraphs."""
    return _cut(source, _line_seams(source), [])


def _node_seams(roots: list[Root], source: Source, comments: Comments) -> list[Seam]:
    """Returns the lines where a child of a node begins, for nodes too large for one chunk."""
    text, line_starts = source.text, source.line_starts
    seams: dict[int, int] = {}
    pending = [(root.node, root.end, root.depth) for root in roots]
    while pending:
        node, end, depth = pending.pop()
        source.check()
        children = node.children
        if children and children[-1].start_byte >= end:
            # The script of a template follows the text.
            children = [child for child in children if child.start_byte < end]
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


def _line_seams(source: Source) -> list[Seam]:
    """Returns the lines of a text; best after a blank line, then by the least indentation."""
    text = source.text
    seams: list[Seam] = []
    starts = source.line_starts
    blank_above = True
    for begin, finish in zip(starts, [*starts[1:], source.size], strict=True):
        if begin >= source.size:
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
            # Blank lines at either end belong to no chunk.
            first = source.line(start + len(part) - len(part.lstrip()))
            last = source.line(start + len(part) - 1)
            begin = source.line_starts[first - 1]
            finish = source.line_starts[last] if last < len(source.line_starts) else source.size
            chunks.append(Chunk(first, last, begin, finish, about.symbol(begin, finish)))
        start = end
    return chunks


def _end_of(source: Source, seams: list[Seam], positions: list[int], start: int) -> int:
    """Returns the cheapest end of the chunk that starts here."""
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
    # A long leaf is cut at lines, and a longer line is a chunk of its own.
    starts = source.line_starts
    line = max(bisect_right(starts, start + TARGET) - 1, bisect_right(starts, start))
    return starts[line] if line < len(starts) else source.size


class _About:
    """Finds the symbol that a chunk is mostly about. Queries must be in text order."""

    def __init__(self, symbols: list[Symbol]) -> None:
        self._symbols = symbols
        self._starts = [symbol.start_byte for symbol in symbols]

    def symbol(self, start: int, end: int) -> int:
        """Returns the index of the symbol that a span is mostly about.

        It is the first symbol that starts in the span and fills at least half of it; if there is
        none, the innermost symbol around the span's start that fills half of it; failing that, the
        symbol that starts in the span and fills the most.
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


# Parts in other languages: scripts in pages, code in prose, cells of notebooks.
#
# The query of the host language captures the parts as `@embedded`. Each part is parsed by its own
# grammar and query, at its position in the whole text. Its facts are merged with those of the host
# in order of position.

DEEPEST = 2
"""Levels of embedding: a page in prose may contain scripts, but nothing nests deeper."""
_MOST_PARTS = 200
_SHORTEST = 8
"""In bytes. A shorter part cannot define or call anything."""
_WEAK = frozenset({"key", "heading", "variable", "constant"})
"""Kinds that nobody searches for in quoted code."""
_HINT = re.compile(r"[\s{.=]*([\w+#.-]*[\w+#])")
"""The language in the info string of fenced code: `py`, `{r, echo=FALSE}`, `{.python #id}`."""


class EmbeddedPart(NamedTuple):
    """A part of a text in one language."""

    language: str
    spans: list[Span]
    """The spans of the text that belong to the part, in order."""
    depth: int
    """The depth of the part in the host's tree."""
    is_quoted: bool = True
    """In prose: whether the part is an example, rather than code of the page itself."""


class PartFacts(NamedTuple):
    """The facts from one parse of a text or a part of it."""

    roots: list[Root]
    comments: Comments
    symbols: list[Symbol]
    references: list[Reference]
    imports: list[Import]
    scopes: list[Scope]
    bindings: list[Binding]


def parts_of(
    captures: Captures, info: LanguageInfo, source: Source, within: Sequence[Span]
) -> list[EmbeddedPart]:
    """Returns the parts of a text in supported languages, at most 200.

    Args:
        captures: the captures of the host.
        info: the host's language.
        source: the whole text.
        within: the spans of the text that belong to the host; empty for all.
    """
    if info.cells:
        return [EmbeddedPart(*part) for part in _supported(cells_of(captures, source))]
    nodes = [
        (node.start_byte, node.end_byte, capture.partition(".")[2], node)
        for capture in captures
        if capture == "embedded" or (capture[:9] == "embedded." and capture not in _MARKS)
        for node in captures[capture]
    ]
    if not nodes:
        return []
    nodes.sort(key=lambda part: part[:3])
    hints = _positions(captures, "embedded.language")
    skipped = _positions(captures, "embedded.skip")
    pattern = regex(info.embedded_hint) if info.embedded_hint else _HINT
    parts: list[EmbeddedPart] = []
    at = reached = 0
    for start, end, language, node in nodes:
        if start < reached or len(parts) == _MOST_PARTS:
            continue
        language_name = ""
        while at < len(hints) and hints[at][0] < start:
            match = pattern.match(source.slice(*hints[at])) if hints[at][0] >= reached else None
            language_name = language_name or (match[1] if match else "")
            at += 1
        reached = end
        chosen = language_named(language_name.lower()) if language_name else language
        if chosen and chosen != info.name and end - start >= _SHORTEST:
            spans = _without(start, end, skipped)
            parts.append(
                EmbeddedPart(chosen, overlap(spans, within) if within else spans, _depth(node))
            )
    return parts


_MARKS = frozenset({"embedded.language", "embedded.skip"})


_INDEXED = frozenset({"def", "io", "member", "prop"})
"""Values of `Binding.how` whose text is the index of a symbol."""

Inner = list[tuple[EmbeddedPart, PartFacts]]
"""The parts with their facts."""


def joined(host: PartFacts, inner: Inner, info: LanguageInfo, source: Source) -> PartFacts:
    """Merges the facts of the host and its parts, in text order.

    A top-level symbol of a part gets the host's innermost symbol there as its parent, but not as
    its qualifier. In prose no symbol is exported, and keys and headings of quoted code are left
    out.
    """
    around = _Around(host.symbols)
    symbols, places = _symbols(host, inner, info, around, source)
    nodes = [node for _, part_structure in inner for node in part_structure.comments.nodes]
    scopes, bounds, firsts = _scopes(host, inner, places)
    imports, bounds = _imports(host, inner, bounds)
    return PartFacts(
        host.roots + [root for _, part_structure in inner for root in part_structure.roots],
        Comments(source, [*host.comments.nodes, *nodes]),
        symbols,
        _references(host, inner, places, firsts, around=around, source=source),
        imports,
        scopes,
        [row for rows in bounds for row in rows],
    )


def _scopes(
    host: PartFacts, inner: Inner, places: list[list[int]]
) -> tuple[list[Scope], list[list[Binding]], list[int]]:
    """Returns all scopes, the bindings of each part, and the offset of each part's scopes.

    The outermost scope of a part is the host's.
    """
    scopes: list[Scope] = []
    bounds: list[list[Binding]] = []
    firsts: list[int] = []
    for number, part_structure in enumerate(
        (host, *(part_structure for _, part_structure in inner))
    ):
        first = len(scopes) - 1 if number else 0
        firsts.append(first)
        for inner_scope in part_structure.scopes[1:] if number else part_structure.scopes:
            parent = inner_scope.parent + first if inner_scope.parent > 0 else inner_scope.parent
            symbol = places[number][inner_scope.symbol] if inner_scope.symbol >= 0 else -1
            scopes.append(Scope(parent, symbol, inner_scope.kind))
        rows: list[Binding] = []
        for row in part_structure.bindings:
            text = str(places[number][int(row.text)]) if row.how in _INDEXED else row.text
            if text != "-1":
                scope = row.scope + first if row.scope else 0
                rows.append(row._replace(scope=scope, text=text))
        bounds.append(rows)
    return scopes, bounds, firsts


def _imports(
    host: PartFacts, inner: Inner, bounds: list[list[Binding]]
) -> tuple[list[Import], list[list[Binding]]]:
    """Returns all imports in order, and the bindings with renumbered imports."""
    every = [host.imports, *(part_structure.imports for _, part_structure in inner)]
    rows = sorted(
        (
            (imported.line, number, at)
            for number, imports in enumerate(every)
            for at, imported in enumerate(imports)
        )
    )
    new = {(number, at): place for place, (_, number, at) in enumerate(rows)}
    return [every[number][at] for _, number, at in rows], [
        [
            row._replace(text=str(new[number, int(row.text)])) if row.how == "import" else row
            for row in part_bindings
        ]
        for number, part_bindings in enumerate(bounds)
    ]


def bindings(inner: Inner) -> list[Import]:
    """Returns what the parts import or define at their top level, which the host may use."""
    return [
        *(imported for _, part_structure in inner for imported in part_structure.imports),
        *(
            Import("", symbol.name, "", symbol.name_line)
            for _, part_structure in inner
            for symbol in part_structure.symbols
            if symbol.parent < 0 and symbol.kind not in {"key", "heading"}
        ),
    ]


def _symbols(
    host: PartFacts, inner: Inner, info: LanguageInfo, around: _Around, source: Source
) -> tuple[list[Symbol], list[list[int]]]:
    """Returns all symbols, and the new index of each old symbol per part; -1 if left out."""
    every = [host.symbols, *(part_structure.symbols for _, part_structure in inner)]
    rows = sorted(
        (symbol.start_byte, number, at)
        for number, symbols in enumerate(every)
        for at, symbol in enumerate(symbols)
    )
    joint: list[Symbol] = []
    places = [[-1] * len(symbols) for symbols in every]
    for _, number, at in rows:
        symbol = every[number][at]
        parent = _new_parent(symbol.parent, places[number], every[number])
        is_quoted = info.prose and number > 0 and inner[number - 1][0].is_quoted
        if number:
            if is_quoted and symbol.kind in _WEAK:
                continue
            symbol = _clipped(symbol, inner[number - 1][0], source)
            if info.cells:
                signature, doc = as_code(symbol.signature), as_code(symbol.doc).strip(' "\\')
                symbol = symbol._replace(signature=signature, doc=doc)
            if is_quoted:
                symbol = symbol._replace(exported=False)
            if parent < 0 and (is_quoted or not info.prose):
                outer = around.symbol(symbol.start_byte, symbol.end_byte)
                parent = places[0][outer] if outer >= 0 else -1
        places[number][at] = len(joint)
        joint.append(symbol._replace(parent=parent))
    return joint, places


def language_named(name: str) -> str:
    """Returns the language with this name, title, extension or alias; empty if unknown."""
    return _names().get(name, "")


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    traits = all_traits().values()
    for info in traits:
        if info.parsed:
            keys = (
                *(extension[1:] for extension in info.extensions),
                *info.interpreters,
                *(name.lower() for name in info.filenames),
            )
            for key in keys:
                names.setdefault(key, info.name)
    for info in traits:
        for key in (info.title.lower(), *info.aliases, info.name):
            names[key] = info.name if info.parsed else ""
    return names


def _supported(parts: list[tuple[str, list[Span], int]]) -> list[tuple[str, list[Span], int]]:
    named = [(language_named(name.lower()), spans, depth) for name, spans, depth in parts]
    return [part for part in named if part[0]]


def _positions(captures: Captures, capture: str) -> list[Span]:
    return sorted((node.start_byte, node.end_byte) for node in captures.get(capture, ()))


def _without(start: int, end: int, skipped: list[Span]) -> list[Span]:
    """Returns the rest of a span without the skipped spans in it."""
    spans: list[Span] = []
    at = bisect_right(skipped, (start, -1))
    while at < len(skipped) and skipped[at][0] < end:
        if skipped[at][0] > start:
            spans.append((start, skipped[at][0]))
        start = max(start, skipped[at][1])
        at += 1
    if start < end:
        spans.append((start, end))
    return spans


def _depth(node: Node) -> int:
    depth = -1
    outer = node.parent
    while outer is not None:
        depth += 1
        outer = outer.parent
    return max(depth, 0)


class _Around:
    """Finds the innermost symbol around a span."""

    def __init__(self, symbols: list[Symbol]) -> None:
        self._symbols = symbols
        self._starts = [symbol.start_byte for symbol in symbols]

    def symbol(self, start: int, end: int) -> int:
        at = bisect_right(self._starts, start) - 1
        while at >= 0 and self._symbols[at].end_byte < end:
            at = self._symbols[at].parent
        return at


def _new_parent(parent: int, places: list[int], symbols: list[Symbol]) -> int:
    """Returns the new index of the innermost remaining symbol around another symbol."""
    while parent >= 0 and places[parent] < 0:
        parent = symbols[parent].parent
    return places[parent] if parent >= 0 else -1


def _clipped(symbol: Symbol, part: EmbeddedPart, source: Source) -> Symbol:
    """Ends a section at the end of its part rather than of the whole text."""
    end = part.spans[-1][1]
    if symbol.end_byte <= end:
        return symbol
    end = before_blanks(source.text, end)
    return symbol._replace(end_byte=end, end_line=source.line(end - 1))


def _references(
    host: PartFacts,
    inner: Inner,
    places: list[list[int]],
    firsts: list[int],
    *,
    around: _Around,
    source: Source,
) -> list[Reference]:
    references = [
        reference._replace(symbol=places[0][reference.symbol])
        if reference.symbol >= 0
        else reference
        for reference in host.references
    ]
    for number, (_, part) in enumerate(inner, 1):
        for reference in part.references:
            symbol = _new_parent(reference.symbol, places[number], part.symbols)
            if symbol < 0:
                byte = source.line_starts[reference.line - 1] + reference.column
                outer = around.symbol(byte, byte)
                symbol = places[0][outer] if outer >= 0 else -1
            scope = reference.scope + firsts[number] if reference.scope else 0
            references.append(reference._replace(symbol=symbol, scope=scope))
    references.sort(key=lambda part: (part.line, part.column))
    return references
