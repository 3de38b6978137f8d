"""Uses that may mean a definition, or another of its name.

One of several overloads, or of the alternatives that a build chooses from. They are listed apart,
and never walked on from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codelens.answers.graph_answers import PossibleUse
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.walk.edge_table import Node

_SITES_SHOWN = 3
_LOOKED_AT = 60
"""Definitions asked about, with all that they hold."""


def may_hit(
    graph: LazyGraph, targets: Targets, nodes: Sequence[Node], limit: int
) -> tuple[tuple[PossibleUse, ...], int]:
    """Who may use some definitions, most uses first, `limit` at most; and how many there are."""
    inside = set(nodes)
    by_source: dict[Node, list[Edge]] = {}
    for edge in _possible(graph, nodes):
        source = Node(edge.source, edge.symbol)
        if source not in inside:
            by_source.setdefault(source, []).append(edge)
    order = sorted(
        by_source, key=lambda node: (graph.is_test(node.path), -len(by_source[node]), node)
    )
    shown = order[:limit]
    targets.fetch(shown)
    return tuple(_possible_use(targets, node, by_source[node]) for node in shown), len(by_source)


def _possible(graph: LazyGraph, nodes: Iterable[Node]) -> Iterable[Edge]:
    looked_at = 0
    for node in nodes:
        symbols = graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols) or symbols[node.symbol].kind not in CALLABLE:
            continue
        looked_at += 1
        if looked_at > _LOOKED_AT:
            return
        yield from graph.possible_to(*node)


def _possible_use(targets: Targets, node: Node, edges: Sequence[Edge]) -> PossibleUse:
    lines = sorted({(edge.source, edge.line) for edge in edges})
    sites = tuple(f"{printed(path)}:{line}" for path, line in lines[:_SITES_SHOWN])
    return PossibleUse(targets.node(node), sites, len(lines), _open_choices(edges))


def _open_choices(edges: Sequence[Edge]) -> int:
    """Of how many definitions a use may mean one; 0 if those asked about are all of them."""
    meant: dict[tuple[int, str], set[Node]] = {}
    choices: dict[tuple[int, str], int] = {}
    for edge in edges:
        meant.setdefault((edge.line, edge.name), set()).add(Node(edge.target, edge.target_symbol))
        choices[edge.line, edge.name] = edge.choices
    return max((count for use, count in choices.items() if len(meant[use]) < count), default=0)
