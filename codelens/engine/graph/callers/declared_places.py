"""The other places of one definition: declarations, overload signatures, and stub files.

A function of C and C++ is declared in one place and defined in another; the overloads of Python
and TypeScript are signatures before the one function that runs; in TypeScript a type and a value
may share a name; a stub file (`.pyi`, `.d.ts`) declares what the code next to it defines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelens.handles.declarations import is_same, may_be_apart
from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.graph import Graph
from codelens.resolve.languages.language_spec import LanguageSpec
from codelens.resolve.languages.registry import spec_of
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
        """Where a function of C or C++ is also declared or defined; in order."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._apart(node)
        return known

    def alternatives(self, node: Node) -> Sequence[Node]:
        """What else a definition's name may mean where it stands, as a build takes one of them."""
        spec = self._spec(node)
        if spec.prototypes or spec.overloads or not spec.overloads_apart:
            return self.others(node)
        namesakes = self._graph.namesakes(*node)
        return [Node(node.path, at) for at in namesakes if at != node.symbol]

    def same(self, node: Node) -> list[Node]:
        """All places of the definition that a node is one of; of overloads the body first."""
        merged = self._merged(node) or [node]
        stubs = [stub for place in merged for stub in self._in_stubs(place)]
        body = self.body_of(node)
        return list(dict.fromkeys([body, *merged, *stubs, *self.others(node)]))

    def body_of(self, node: Node) -> Node:
        """Of declared overloads the one that runs, where edges to any of them end."""
        overloads = self.overloads(node)
        return overloads[-1] if overloads else node

    def overloads(self, node: Node) -> Sequence[Node]:
        """The signatures of an overloaded function and, last, its body; empty for any other."""
        if not self._spec(node).overload_declarations:
            return ()
        same = self._graph.namesakes(*node)
        symbols = self._graph.symbols(node.path)
        if len(same) < 2 or any(symbols[at].kind not in CALLABLE for at in same):
            return ()
        return [Node(node.path, at) for at in same]

    def _merged(self, node: Node) -> Sequence[Node]:
        """A type and a value that one name means, which others import and rename as one."""
        if not self._spec(node).spaces:
            return self.overloads(node)
        return [Node(node.path, at) for at in self._graph.namesakes(*node)]

    def _spec(self, node: Node) -> LanguageSpec:
        return spec_of(self._graph.languages.get(node.path, ""))

    def _in_stubs(self, node: Node) -> Iterator[Node]:
        """The same name in the stub next to a file of code, or in the code next to a stub."""
        symbols = self._graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return
        name = symbols[node.symbol].qualified
        for stub, code in self._spec(node).stubs:
            pairs = [(stub, ending) for ending in code] + [(ending, stub) for ending in code]
            for ending, other in pairs:
                twin = node.path.removesuffix(ending) + other
                if not node.path.endswith(ending) or twin not in self._graph.languages:
                    continue
                named = enumerate(self._graph.symbols(twin))
                yield from (Node(twin, at) for at, symbol in named if symbol.qualified == name)

    def _apart(self, node: Node) -> Sequence[Node]:
        """Where a function of C or C++ is declared or defined as well."""
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
