"""The other places of a function of C or C++: where it is declared, and where it is defined."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.handles.declarations import is_same, may_be_apart
from codelens.resolve.graph import Graph
from codelens.resolve.walk.edge_table import Node
from codelens.store.facts.symbol_keys import key_of
from codelens.store.views.snapshot import Snapshot

_MOST_PLACES = 20
"""A name with more is of many functions."""


class DeclaredPlaces:
    """Answers for one state of a view; its database must be in a read transaction."""

    def __init__(self, snapshot: Snapshot, graph: Graph) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._known: dict[Node, Sequence[Node]] = {}

    def others(self, node: Node) -> Sequence[Node]:
        """Where the function of a node is declared or defined beside it; in order."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._look_up(node)
        return known

    def _look_up(self, node: Node) -> Sequence[Node]:
        symbols = self._graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return ()
        language = self._graph.languages.get(node.path, "")
        if not may_be_apart(symbols[node.symbol], language):
            return ()
        name = symbols[node.symbol].qualified
        named = {
            Node(file.path, at): symbol
            for file, at, symbol in self._snapshot.symbols_with_key(
                key_of(symbols[node.symbol].name)
            )
            if symbol.qualified == name
        }
        own = named.pop(node, None)
        if own is None or len(named) > _MOST_PLACES:
            return ()
        return [
            other
            for other, symbol in named.items()
            if is_same(symbol, own)
            and (symbol.exported or other.path == node.path)
            and may_be_apart(symbol, self._graph.languages.get(other.path, ""))
        ]
