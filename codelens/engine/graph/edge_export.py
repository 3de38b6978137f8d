"""Edges of a view for those who keep them: one line each, by path and line."""

from __future__ import annotations

from collections.abc import Iterator

from codelens.answers.reading_answers import EdgeLine
from codelens.engine.current_view import CurrentView
from codelens.paths import printed
from codelens.resolve.facts.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.stored_graph import graph_of


def graph(view: CurrentView) -> Graph:
    """The graph of a look."""
    by_path = view.snapshot.by_path

    def read(path: bytes) -> bytes | None:
        file = by_path.get(path)
        return view.read(file) if file is not None else None

    return graph_of(view.snapshot, read)


def edge_lines(view: CurrentView) -> Iterator[EdgeLine]:
    """Every edge of the view that is certain, each pair of definitions once a kind and line."""
    edges = graph(view)
    told: set[EdgeLine] = set()
    for one in edges.every():
        source = edges.symbols(one.source)
        target = edges.symbols(one.target)
        line = EdgeLine(
            printed(one.source),
            source[one.symbol].name_line if _has_name(edges, one.source, one.symbol) else 0,
            printed(one.target),
            target[one.target_symbol].name_line if one.target_symbol >= 0 else 1,
            one.kind,
            one.name,
            one.line,
            one.confidence,
        )
        if line not in told:
            told.add(line)
            yield line


def _has_name(edges: Graph, path: bytes, symbol: int) -> bool:
    """Its name stands in the text: not so of what `export default function () {}` exports."""
    if symbol < 0:
        return False
    one = edges.symbols(path)[symbol]
    has_spaces = spec_of(edges.languages.get(path, "")).spaces
    is_unnamed = one.name == "default" and one.parent < 0 and one.kind in CALLABLE | TYPES
    return not (has_spaces and is_unnamed)
