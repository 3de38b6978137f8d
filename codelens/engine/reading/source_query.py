"""Prepares code for display: text, syntax marks, and links from names to definitions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from codelens.answers.reading_answers import (
    Snippet,
    SnippetsAnswer,
    SourceAnswer,
    SourceLink,
    SourceMark,
)
from codelens.engine.current_view import CurrentView, reader_of
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.engine.masked_answers import without_secrets
from codelens.errors import HandleError, ReadError
from codelens.extract.file_kinds import decode
from codelens.extract.parse.syntax_marks import SyntaxMark, syntax_marks
from codelens.handles.handle_grammar import handles_of, typed_handle
from codelens.handles.handle_lookup import Finder, Place
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.types import Symbol

_ABOVE = 40
"""Lines above the target in a file that is shown in part."""
_NAMES = frozenset({"name", "type", "constant"})
_NOT_WRITTEN = frozenset({"override", "satisfy"})
"""Edges without a name in the text."""


class _Span(NamedTuple):
    """A range in a line, in bytes from its start."""

    line: int
    start_column: int
    end_column: int


class _Lines:
    """Some lines of a text, with a lookup from byte to line."""

    def __init__(self, data: bytes, first: int, most: int) -> None:
        every_line = data.split(b"\n")
        if not every_line[-1]:
            every_line.pop()
        self.count = len(every_line)
        self.first = first
        self._shown = every_line[first - 1 : first - 1 + most]
        start = sum(len(line) + 1 for line in every_line[: first - 1])
        self._starts = list(accumulate((len(line) + 1 for line in self._shown), initial=start))

    @property
    def last(self) -> int:
        """The last line; 0 in an empty file."""
        return self.first + len(self._shown) - 1

    @property
    def text(self) -> str:
        """The lines."""
        return "".join(f"{line.decode()}\n" for line in self._shown)

    @property
    def span(self) -> tuple[int, int]:
        """The first byte of the lines, and the one after their end."""
        return self._starts[0], self._starts[-1]

    def spans(self, mark: SyntaxMark) -> Iterator[_Span]:
        """A mark, split by lines."""
        at = max(bisect_right(self._starts, mark.start_byte) - 1, 0)
        while at < len(self._shown) and self._starts[at] < mark.end_byte:
            begin = self._starts[at]
            start = max(mark.start_byte - begin, 0)
            end = min(mark.end_byte - begin, len(self._shown[at]))
            if end > start:
                yield _Span(self.first + at, start, end)
            at += 1

    def slice(self, span: _Span) -> str:
        """The characters of a span."""
        line = self._shown[span.line - self.first]
        return line[span.start_column : span.end_column].decode()

    def shown(self, marks: Iterable[SyntaxMark]) -> tuple[SourceMark, ...]:
        """The marks of syntax that an answer has."""
        return tuple(
            SourceMark(*span, mark.kind)
            for mark in marks
            if mark.kind != "name"
            for span in self.spans(mark)
        )


def source(view: CurrentView, target: str, max_lines: int, seconds: float) -> SourceAnswer:
    """The file that a handle names; the excerpt includes the lines of the handle.

    Raises:
        HandleError: the handle cannot be followed, or has several owners.
        ReadError: the file cannot be read, or is not text.
    """
    reader = reader_of(view)
    handle = typed_handle(target, view.scope.root, view.snapshot.by_path)
    place = Finder(view.snapshot, reader.symbols, view.scope.ref, reader.data).find(handle)
    start, end = _lines_of(place)
    # Rejects files that are not text, and lines that the file does not have.
    language = reader.read(place, 0, 1).language
    # Invalid UTF-8 is replaced first, so that columns match the returned text.
    data = decode(reader.data(place.file)).decode("utf-8", "replace").encode()
    is_whole = data.count(b"\n") < max_lines
    lines = _Lines(data, 1 if is_whole else max(1, start - _ABOVE), max_lines)
    is_parsed = reader.outcome(place.file) == "parsed"
    marks = syntax_marks(data, language, *lines.span) if is_parsed else []
    graph = LazyGraph(view, seconds)
    names = _at(lines, (mark for mark in marks if mark.kind in _NAMES))
    links = _links(graph, Targets(view, graph), place, reader.symbols(place.file), names)
    return SourceAnswer(
        receipt=graph.receipt(),
        handle=place.handle,
        path=printed(place.file.path),
        language=language,
        place_start=start,
        place_end=end,
        start_line=lines.first if lines.count else 0,
        end_line=lines.last,
        file_lines=lines.count,
        text=lines.text,
        marks=lines.shown(marks),
        links=tuple(links),
        notes=(place.moved,) if place.moved else (),
    )


def snippets(view: CurrentView, handles: Sequence[str], most: int) -> SnippetsAnswer:
    """The first lines of each place that can be read, with their syntax.

    Args:
        view: the view of the handles.
        handles: places in it.
        most: maximum number of lines of each place.
    """
    reader = reader_of(view)
    finder = Finder(view.snapshot, reader.symbols, view.scope.ref, reader.data)
    shown: list[Snippet] = []
    for handle in handles:
        try:
            place = finder.find(typed_handle(handle, view.scope.root, view.snapshot.by_path))
            language = reader.read(place, 0, 1).language
        except (HandleError, ReadError):
            continue
        start, end = _lines_of(place)
        data = decode(reader.data(place.file)).decode("utf-8", "replace").encode()
        lines = _Lines(data, max(start, 1), min(most, end - start + 1 if end else most))
        is_parsed = lines.text and reader.outcome(place.file) == "parsed"
        marks = syntax_marks(data, language, *lines.span) if is_parsed else []
        path, spans = printed(place.file.path), lines.shown(marks)
        shown.append(Snippet(handle, path, lines.first, lines.text, spans))
    return SnippetsAnswer(view.receipt(), tuple(shown))


def masked_snippets(answer: SnippetsAnswer) -> SnippetsAnswer:
    """The same answer without secrets; a text that changes loses its marks, which no longer fit."""
    shown = tuple(
        after if after.text == before.text else replace(after, marks=())
        for before, after in zip(answer.snippets, without_secrets(answer).snippets, strict=True)
    )
    return replace(answer, snippets=shown)


def _lines_of(place: Place) -> tuple[int, int]:
    """First and last line of a handle's target; 0 and 0 for a whole file."""
    if place.symbol is not None:
        return place.symbol.start_line, place.symbol.end_line
    return (place.lines.start_line, place.lines.end_line) if place.lines is not None else (0, 0)


_Names = dict[tuple[int, str], list[_Span]]
"""Line and name -> its positions in the line."""


def _at(lines: _Lines, marks: Iterable[SyntaxMark]) -> _Names:
    names: _Names = {}
    for mark in marks:
        for span in lines.spans(mark):
            names.setdefault((span.line, lines.slice(span)), []).append(span)
    return names


def _links(
    graph: LazyGraph, targets: Targets, place: Place, symbols: Sequence[Symbol], names: _Names
) -> list[SourceLink]:
    """Links of names that are definitions, and of names that mean one definition for certain."""
    path = place.file.path
    links: dict[_Span, SourceLink] = {}
    for symbol, handle in zip(symbols, handles_of(path, symbols, targets.ref), strict=True):
        for span in names.get((symbol.name_line, symbol.name), ())[:1]:
            links.setdefault(span, SourceLink(*span, handle, defines=True))
    targets_by_name: dict[tuple[int, str], set[Node]] = {}
    for edge in graph.edges_from(path):
        if edge.is_certain and edge.kind not in _NOT_WRITTEN:
            targets_by_name.setdefault((edge.line, edge.name), set()).add(_target(edge))
    only_targets = {key: _only(nodes) for key, nodes in targets_by_name.items() if key in names}
    targets.fetch(list(dict.fromkeys(node for node in only_targets.values() if node is not None)))
    for key, node in only_targets.items():
        if node is not None:
            for span in names[key]:
                links.setdefault(span, SourceLink(*span, targets.handle(node), defines=False))
    return [links[span] for span in sorted(links)]


def _target(edge: Edge) -> Node:
    return Node(edge.target, edge.target_symbol)


def _only(nodes: set[Node]) -> Node | None:
    """The only definition among the nodes, or the only file; None if there are several."""
    definitions = {node for node in nodes if node.symbol != MODULE} or nodes
    return next(iter(definitions)) if len(definitions) == 1 else None
