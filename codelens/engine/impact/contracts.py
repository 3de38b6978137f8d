"""Methods that bind what overrides them: if their declaration changes, all of these must follow.

Of a diff the commit's graph knows which declarations changed; of a target that is asked about
nobody knows how it changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.resolve.facts.file_model import TYPES
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import Node

_PROMISES = frozenset({"interface", "trait"})
"""Kinds of types that are there to be implemented."""
_METHODS = frozenset({"method", "function"})


def promised(graph: LazyGraph, nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """Of these the methods of interfaces and traits: how they change is not known."""
    methods = [node for node in nodes if _owner_kind(graph, node) in _PROMISES]
    return contracts_of(graph, methods)


def contracts_of(graph: LazyGraph, nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """The methods among these, each with those whose calls are calls of it."""
    return {node: called_as(graph, node) for node in nodes if _owner_kind(graph, node) in TYPES}


def _owner_kind(graph: LazyGraph, node: Node) -> str:
    symbols = graph.symbols(node.path)
    if not 0 <= node.symbol < len(symbols) or symbols[node.symbol].kind not in _METHODS:
        return ""
    owner = symbols[node.symbol].parent
    return symbols[owner].kind if owner >= 0 else ""


def called_as(graph: LazyGraph, node: Node) -> list[Node]:
    """In Rust, the methods in blocks for a trait whose calls are calls of a method of the trait."""
    language = graph.resolved.languages.get(node.path, "")
    if not spec_of(language).trait_blocks:
        return []
    return [
        Node(edge.source, edge.symbol) for edge in graph.edges_to(*node) if edge.kind == "override"
    ]
