"""Determines which definitions belong to which, and which are exported, by places and names.

A definition belongs to its container: a type, a namespace, a function, or its file. One outside of
its type (`void A::f()`, a method of Go, an `impl` in another file) belongs to the type in its
qualified name, if only one type in the view, or in its folder, has that name; otherwise to its
file. `defines` is the inverse. A file exports its visible top-level definitions, and definitions of
other files that it re-exports (`export { a }`, `__all__`); a type exports its visible members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from codelens.resolve.file_model import TYPES
from codelens.resolve.graph import Graph
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.path_tree import folder_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.relation_walk import RelatedNode
from codelens.store.facts import contents
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.types import Symbol

_NO_CODE = frozenset({"heading", "key"})
_MOST_NODES = 3_000


class Ownership:
    """Finds the types that own methods, in one state of a view.

    The database must be in a read transaction.

    Args:
        snapshot: the view.
        graph: its graph.
        naming: returns the files that use a name.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        graph: Graph,
        naming: Callable[[str], Iterable[bytes]] = lambda _: (),
    ) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._naming = naming
        self._named: dict[str, list[Node]] = {}
        self._last: tuple[bytes, dict[str, list[int]]] = (b"", {})
        """The qualified names of the last file that was read."""

    def related(self, relation: str, nodes: Sequence[Node], depth: int) -> list[RelatedNode]:
        """Nodes in one of these relations to some nodes, up to a distance, by place."""
        related: dict[Node, RelatedNode] = {}
        frontier = list(dict.fromkeys(nodes))
        for distance in range(1, depth + 1):
            reached: list[Node] = []
            for node in frontier:
                for member in self._steps(relation, node):
                    if member in related or member in nodes or len(related) >= _MOST_NODES:
                        continue
                    via = node if distance > 1 else None
                    related[member] = RelatedNode(
                        relation, member, distance, (self._place(member),), via
                    )
                    reached.append(member)
            frontier = reached
        return sorted(related.values(), key=lambda row: (row.distance, row.node))

    def _steps(self, relation: str, node: Node) -> Iterator[Node]:
        if relation == "exports":
            yield from self.exports(node)
        elif relation == "defines":
            yield from self.members(node)
        elif node.symbol != MODULE:
            yield self.owner(node)

    def _place(self, node: Node) -> tuple[bytes, int]:
        symbols = self._graph.symbols(node.path)
        return node.path, symbols[node.symbol].name_line if node.symbol != MODULE else 1

    def owner(self, node: Node) -> Node:
        """The owner of a definition."""
        symbols = self._graph.symbols(node.path)
        definition = symbols[node.symbol]
        owner_name = definition.qualified.removesuffix(definition.name).rstrip(".")
        around = symbols[definition.parent].qualified if definition.parent >= 0 else ""
        if not owner_name or owner_name == around:
            return Node(node.path, definition.parent)
        near = self._qualified(node.path).get(owner_name)
        if near:
            types = [at for at in near if symbols[at].kind in TYPES]
            return Node(node.path, (types or near)[0])
        far = self._elsewhere(node.path, owner_name)
        return far if far is not None else Node(node.path, definition.parent)

    def _qualified(self, path: bytes) -> dict[str, list[int]]:
        if self._last[0] != path or not self._last[1]:
            names: dict[str, list[int]] = {}
            for at, symbol in enumerate(self._graph.symbols(path)):
                names.setdefault(symbol.qualified, []).append(at)
            self._last = (path, names)
        return self._last[1]

    def _elsewhere(self, path: bytes, qualified: str) -> Node | None:
        """The type of this name in another file, if it is unambiguous."""
        nodes = self._named.get(qualified)
        if nodes is None:
            rows = self._snapshot.symbols_with_key(key_of(qualified.rpartition(".")[2]))
            nodes = self._named[qualified] = [
                Node(file.path, at)
                for file, at, symbol in rows
                if symbol.qualified == qualified and symbol.kind in TYPES
            ]
        language = self._family(path)
        types = [node for node in nodes if self._family(node.path) == language]
        near = [node for node in types if folder_of(node.path) == folder_of(path)]
        for owners in (near, types):
            if len(owners) == 1:
                return owners[0]
        return None

    def members(self, node: Node) -> Iterator[Node]:
        """The members of a definition or a file, by place."""
        symbols = self._graph.symbols(node.path)
        members = {
            Node(node.path, at)
            for at in range(len(symbols))
            if self.owner(Node(node.path, at)) == node
        }
        if node.symbol != MODULE and symbols[node.symbol].kind in TYPES:
            declared = {symbols[member.symbol].name for member in members}
            members.update(self._outside(node, symbols[node.symbol], declared))
        yield from sorted(members)

    def _outside(self, node: Node, definition: Symbol, declared: Iterable[str]) -> Iterator[Node]:
        """Members of a type in other files of its language.

        Only files that use the type's name, or define what it declares (`void A::f() {}`), can have
        any.
        """
        prefix, language = f"{definition.qualified}.", self._family(node.path)
        snapshot = self._snapshot
        naming = {
            file.content
            for path in self._naming(definition.name)
            if (file := snapshot.by_path.get(path)) is not None and file.content is not None
        }
        holding = contents.qualified_by(snapshot.db, prefix, map(key_of, declared), naming)
        paths = sorted(file.path for each in holding for file in snapshot.by_content.get(each, ()))
        for path in paths:
            if path == node.path or self._family(path) != language:
                continue
            for at, other in enumerate(self._graph.symbols(path)):
                member = Node(path, at)
                if other.qualified.startswith(prefix) and self.owner(member) == node:
                    yield member

    def exports(self, node: Node) -> Iterator[Node]:
        """What a file or a type exports."""
        if node.symbol != MODULE:
            yield from (member for member in self.members(node) if self._is_exported(member))
            return
        symbols = self._graph.symbols(node.path)
        spaces = {MODULE}
        for at, symbol in enumerate(symbols):
            if symbol.kind == "module" and symbol.parent in spaces:
                spaces.add(at)
        exported: dict[Node, None] = {}
        for at, symbol in enumerate(symbols):
            here = Node(node.path, at)
            owner = self.owner(here) if symbol.parent in spaces else here
            if owner.path == node.path and owner.symbol in spaces and self._is_exported(here):
                exported[here] = None
        for hit in self._graph.explicit_exports(node.path):
            if hit.path != node.path:
                exported[Node(hit.path, hit.symbol)] = None
        yield from exported

    def _is_exported(self, node: Node) -> bool:
        symbol = self._graph.symbols(node.path)[node.symbol]
        return symbol.exported and symbol.kind not in _NO_CODE

    def _family(self, path: bytes) -> str:
        language = self._graph.languages.get(path, "")
        return spec_of(language).shares_types_with or language
