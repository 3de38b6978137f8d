"""Exports the edges of a view, line by line: `Engine.export_edges`."""

from __future__ import annotations

from collections.abc import Iterator, Set

from codelens.answers.reading_answers import EdgeLine
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.ownership import Ownership
from codelens.engine.graph.template_edges import TemplateEdges
from codelens.paths import printed
from codelens.resolve.edges import CERTAIN
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph, graph_of
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.precise_edges import PreciseEdges
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.store.facts.resolution_facts import references_named
from codelens.types import PROTOCOL

_NO_CODE = frozenset({"heading", "key"})


def graph(view: CurrentView) -> Graph:
    """The graph of a view."""
    return graph_of(view.snapshot, view.read_path)


def edge_lines(view: CurrentView, *, possible: bool) -> Iterator[EdgeLine]:
    """Every edge of the view, once for each pair of definitions, kind and line.

    With `possible`, includes uses that may mean one of several definitions.
    """
    edges = graph(view)
    precise = PreciseEdges(view.snapshot.db, edges)
    structure = Ownership(view.snapshot, edges)
    templates = TemplateEdges(view.snapshot, view.read_path, edges.symbols, {})
    for path in sorted(edges.languages.keys() | view.snapshot.by_path.keys()):
        lines: dict[EdgeLine, None] = {}
        resolved = edges.all_edges(path) if path in edges.languages else ()
        file_edges = [*precise.merged(path, resolved), *templates.of(path)]
        if not possible:
            file_edges = [edge for edge in file_edges if edge.is_certain]
        special = _special_kinds(edges, path, {edge.name for edge in file_edges})
        for edge in file_edges:
            target = Node(edge.target, edge.target_symbol)
            source = Node(path, edge.symbol)
            lines[
                _line(
                    edges,
                    source,
                    target,
                    special.get((edge.line, edge.name), edge.kind),
                    name=edge.name,
                    line=edge.line,
                    confidence=edge.confidence,
                )
            ] = None
        lines.update(dict.fromkeys(_structure_lines(edges, structure, path)))
        yield from sorted(lines, key=lambda line: line.line)


def _special_kinds(edges: Graph, path: bytes, names: Set[str]) -> dict[tuple[int, str], str]:
    """The kinds of special uses, by line and name.

    `protocol`: a method that is called implicitly, as `len(a)` calls `__len__`. `export`: a name in
    a list of exports (`__all__`, `export { a }`).
    """
    kinds: dict[tuple[int, str], str] = {}
    for reference in references_named(edges.references(path), names) if names else ():
        kind = "protocol" if reference.arguments == PROTOCOL else ""
        kind = "export" if reference.kind == "export" else kind
        place = (reference.line, reference.name)
        kinds[place] = kind if kinds.get(place, kind) == kind else ""
    return {place: kind for place, kind in kinds.items() if kind}


def _structure_lines(edges: Graph, structure: Ownership, path: bytes) -> Iterator[EdgeLine]:
    """Ownership and exports of a file; only definitions of code."""
    for at, symbol in enumerate(edges.symbols(path)):
        if symbol.kind not in _NO_CODE:
            member = Node(path, at)
            owner = structure.owner(member)
            yield _line(edges, member, owner, "belongs_to", name=symbol.name, line=symbol.name_line)
            yield _line(edges, owner, member, "defines", name=symbol.name, line=symbol.name_line)
    for shown in structure.exports(Node(path, MODULE)):
        name = edges.symbols(shown.path)[shown.symbol].name
        line = edges.symbols(path)[shown.symbol].name_line if shown.path == path else 1
        yield _line(edges, Node(path, MODULE), shown, "exports", name=name, line=line)


def _line(
    edges: Graph, source: Node, target: Node, kind: str, *, name: str, line: int,
    confidence: float = CERTAIN,
) -> EdgeLine:  # fmt: skip
    symbols, there = edges.symbols(source.path), edges.symbols(target.path)
    return EdgeLine(
        printed(source.path),
        symbols[source.symbol].name_line if _has_name(edges, *source) else 0,
        printed(target.path),
        there[target.symbol].name_line if target.symbol >= 0 else 1,
        kind,
        name,
        line,
        confidence,
    )


def _has_name(edges: Graph, path: bytes, symbol: int) -> bool:
    """Whether its name is in the text; `export default function () {}` exports without one."""
    if symbol < 0:
        return False
    definition = edges.symbols(path)[symbol]
    has_spaces = spec_of(edges.languages.get(path, "")).spaces
    is_unnamed = (
        definition.name == "default"
        and definition.parent < 0
        and definition.kind in CALLABLE | TYPES
    )
    return not (has_spaces and is_unnamed)
