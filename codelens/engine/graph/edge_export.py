"""Edges of a view for those who keep them: one line each, by path and line."""

from __future__ import annotations

from collections.abc import Iterator

from codelens.answers.reading_answers import EdgeLine
from codelens.engine.current_view import CurrentView
from codelens.paths import printed
from codelens.resolve.graph import Graph
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
            source[one.symbol].name_line if one.symbol >= 0 else 0,
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
