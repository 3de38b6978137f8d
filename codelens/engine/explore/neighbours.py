"""The neighbours in the graph that a task needs beside its definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codelens.capsule.task_intent import Direction
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.resolve.walk.edge_table import Node
from codelens.resolve.walk.relation_walk import own_symbols

_USED = frozenset({"call", "ref", "inherit", "satisfy", "override"})
_MOST_CALLERS = 8


class Neighbour(NamedTuple):
    """A definition next to another in the graph."""

    node: Node
    of: int
    """Position of the pivot among those asked about."""
    inward: bool
    """It uses the pivot."""
    line: int
    """Where the use stands."""
    is_beyond: bool = False
    """It is one of more callers than are looked at."""


def neighbours(
    graph: LazyGraph, pivots: Sequence[Node], direction: Direction
) -> Iterator[Neighbour]:
    """What the pivots use, and who uses them, as far as `direction` asks and time allows."""
    ways = [_used_by] if direction != "in" else []
    if direction != "out":
        graph.prepare(pivots)
        ways.append(_users_of)
    for way in ways:
        for at, pivot in enumerate(pivots):
            if graph.spent():
                return
            yield from way(graph, at, pivot)


def _used_by(graph: LazyGraph, at: int, pivot: Node) -> Iterator[Neighbour]:
    for symbol in sorted(own_symbols(graph, pivot)):
        for edge in graph.edges_of(pivot.path, symbol):
            if edge.kind in _USED and edge.target_symbol >= 0:
                node = Node(edge.target, edge.target_symbol)
                yield Neighbour(node, at, inward=False, line=edge.line)


def _users_of(graph: LazyGraph, at: int, pivot: Node) -> Iterator[Neighbour]:
    # In an order of the code's own: the graph has them in the order in which files were resolved,
    # which depends on earlier questions.
    users = [edge for edge in graph.edges_to(*pivot) if edge.kind in _USED and edge.symbol >= 0]
    users.sort(key=lambda edge: (graph.is_test(edge.source), edge.source, edge.line, edge.symbol))
    for number, edge in enumerate(users):
        node, is_beyond = Node(edge.source, edge.symbol), number >= _MOST_CALLERS
        yield Neighbour(node, at, inward=True, line=edge.line, is_beyond=is_beyond)
