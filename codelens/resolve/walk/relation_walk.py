"""Finds what is related to a definition or a file, by relation and distance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.relations import INWARD
from codelens.resolve.walk.edge_table import MODULE, EdgeReader, Node, subtree, symbols_inside
from codelens.types import Symbol

MOST_NODES = 3_000
"""The most indirect nodes of one relation; direct ones are all listed."""
_MOST_BASES = 200
_KINDS = {
    "callers": ("call",), "callees": ("call",),
    "users": ("ref", "include"), "uses": ("ref", "include"),
}  # fmt: skip
_FROM_INSIDE = frozenset({"callers", "users"})
"""Relations that include uses inside the target itself, because a rename must change them too."""
_DERIVING = ("inherit", "satisfy")
CONSTRUCTORS = frozenset(
    {"__init__", "__new__", "__post_init__", "constructor", "__construct", "initialize", "init"}
)


class Target(NamedTuple):
    """The subject of a query."""

    nodes: tuple[Node, ...]
    """An edge that ends at one of these is a use of the target."""
    inside: frozenset[Node]
    """An edge that starts at one of these belongs to the target."""
    whole: bool
    """Whether the target is a whole file."""


class RelatedNode(NamedTuple):
    """A node related to the target."""

    relation: str
    node: Node
    distance: int
    sites: tuple[tuple[bytes, int], ...]
    """The files and lines of the relation, in order."""
    via: Node | None
    """The intermediate node, beyond distance 1."""


def symbol_target(graph: EdgeReader, node: Node) -> Target:
    """Return a definition as target; a type uses everything that its members use."""
    inside = subtree(graph.symbols(node.path), node.symbol)
    return Target((node,), frozenset(Node(node.path, at) for at in inside), whole=False)


def file_target(graph: EdgeReader, path: bytes) -> Target:
    """Return a whole file as target."""
    nodes = tuple(Node(path, at) for at in range(-1, len(graph.symbols(path))))
    return Target(nodes, frozenset(nodes), whole=True)


class _Step(NamedTuple):
    node: Node
    path: bytes
    line: int


class Walk:
    """Walks from one target; `cut` names the relations that are incomplete."""

    def __init__(self, graph: EdgeReader, target: Target) -> None:
        self._graph = graph
        self._target = target
        self.cut: set[str] = set()
        """Relations that exceeded `MOST_NODES` or ran out of time."""

    def related(self, relation: str, depth: int) -> list[RelatedNode]:
        """Return all related nodes up to a distance, most interesting first."""
        nodes: dict[Node, RelatedNode] = {}
        sites: dict[Node, dict[tuple[bytes, int], None]] = {}
        edge_of_search: list[Node] = list(self._target.nodes)
        for distance in range(1, depth + 1):
            reached: dict[Node, None] = {}
            if relation in INWARD:
                self._graph.prepare(edge_of_search)
            for node in edge_of_search:
                if self._graph.spent():
                    self.cut.add(relation)
                    if distance > 1:
                        break
                    # What is resolved about the target itself is always listed.
                for step in self._listed_steps(relation, node, distance):
                    if step.node not in nodes:
                        if distance > 1 and len(nodes) >= MOST_NODES:
                            self.cut.add(relation)
                            continue
                        via = node if distance > 1 else None
                        nodes[step.node] = RelatedNode(relation, step.node, distance, (), via)
                        reached[step.node] = None
                    if nodes[step.node].distance == distance:
                        sites.setdefault(step.node, {})[step.path, step.line] = None
            edge_of_search = [node for node in reached if node not in self._target.inside]
        whole = [
            related._replace(sites=tuple(sorted(sites[node]))) for node, related in nodes.items()
        ]
        return sorted(whole, key=self._interest)

    def _listed_steps(self, relation: str, node: Node, distance: int) -> Iterator[_Step]:
        """Yield the steps to other nodes; for a definition also the uses inside itself."""
        own = distance == 1 and relation in _FROM_INSIDE and not self._target.whole
        for step in self._steps(relation, node, distance):
            if own or step.node not in self._target.inside:
                yield step

    def _interest(self, related: RelatedNode) -> tuple[object, ...]:
        node = related.node
        inside, test = node in self._target.inside, self._graph.is_test(node.path)
        return (related.distance, inside, test, -len(related.sites), node.path, node.symbol)

    def _steps(self, relation: str, node: Node, distance: int) -> Iterator[_Step]:
        if relation in _KINDS:
            kinds = _KINDS[relation]
            inward = relation in INWARD
            return self._inward(node, *kinds) if inward else self._outward(node, distance, kinds)
        if relation == "importers":
            return self._importers(node, distance)
        if relation == "imports":
            return self._imports(node, distance)
        if relation == "bases":
            return self._bases(node)
        if relation == "subtypes":
            return self._subtypes(node)
        return self._overriding(node, inward=relation in INWARD)

    def _inward(self, node: Node, *kinds: str) -> Iterator[_Step]:
        for edge in self._graph.edges_to(*node):
            if edge.kind in kinds:
                yield _Step(Node(edge.source, edge.symbol), edge.source, edge.line)

    def _outward(self, node: Node, distance: int, kinds: Sequence[str]) -> Iterator[_Step]:
        for symbol in sorted(self._own(node, distance)):
            for edge in self._graph.edges_of(node.path, symbol):
                if edge.kind not in kinds:
                    continue
                yield _Step(Node(edge.target, edge.target_symbol), edge.source, edge.line)

    def _own(self, node: Node, distance: int) -> set[int]:
        """Return the symbols whose edges belong to a node; in a file target, only its own."""
        if distance == 1 and self._target.whole:
            return {node.symbol}
        return own_symbols(self._graph, node)

    def _importers(self, node: Node, distance: int) -> Iterator[_Step]:
        if distance > 1 and not self._target.whole:
            # A file that imports an importer of the definition need not use the definition.
            return
        for step in self._inward(node, "import"):
            yield step._replace(node=Node(step.path, MODULE))

    def _imports(self, node: Node, distance: int) -> Iterator[_Step]:
        if node.symbol != MODULE or (distance == 1 and not self._target.whole):
            return
        for edge in self._graph.edges_of(node.path, MODULE):
            if edge.kind == "import":
                yield _Step(Node(edge.target, MODULE), edge.source, edge.line)

    def _bases(self, node: Node) -> Iterator[_Step]:
        for edge in self._graph.deriving_edges(*node):
            if edge.kind in _DERIVING:
                yield _Step(Node(edge.target, edge.target_symbol), edge.source, edge.line)

    def _subtypes(self, node: Node) -> Iterator[_Step]:
        for kind in _DERIVING:
            yield from self._inward(node, kind)

    def _overriding(self, node: Node, *, inward: bool) -> Iterator[_Step]:
        for method in overridden_by(self._graph, node) if inward else overrides(self._graph, node):
            yield _Step(
                method, method.path, self._graph.symbols(method.path)[method.symbol].name_line
            )


def own_symbols(graph: EdgeReader, node: Node) -> set[int]:
    """Return the symbols whose edges count as a node's; for a type, itself and constructors."""
    symbols = graph.symbols(node.path)
    if not 0 <= node.symbol < len(symbols):
        return {node.symbol}
    top = symbols[node.symbol]
    if top.kind not in TYPES:
        return subtree(symbols, node.symbol)
    return {node.symbol} | {
        at
        for at in symbols_inside(symbols, node.symbol)
        if symbols[at].name in CONSTRUCTORS or symbols[at].name == top.name
    }


OVERRIDING = CALLABLE | {"property"}
"""Kinds of members that override a member of a base."""


def overrides(graph: EdgeReader, node: Node, kinds: Set[str] = OVERRIDING) -> list[Node]:
    """Return the methods that a method overrides, by its type's bases or its trait block."""
    declared = [edge for edge in graph.deriving_edges(*node) if edge.kind == "override"]
    by_block = [Node(edge.target, edge.target_symbol) for edge in declared]
    return sorted({*by_block, *_of_its_name(graph, node, kinds, lambda at: bases(graph, at))})


def overridden_by(graph: EdgeReader, node: Node, kinds: Set[str] = OVERRIDING) -> list[Node]:
    """Return the methods that override a method."""
    declared = [edge for edge in graph.edges_to(*node) if edge.kind == "override"]
    by_block = [Node(edge.source, edge.symbol) for edge in declared]
    return sorted({*by_block, *_of_its_name(graph, node, kinds, lambda at: subtypes(graph, at))})


def _of_its_name(
    graph: EdgeReader, node: Node, kinds: Set[str], step: Callable[[Node], Iterable[Node]]
) -> list[Node]:
    """Return the same-named methods of the types that `step` leads to from a method's type.

    Each inheritance chain contributes only its nearest method.
    """
    symbols = graph.symbols(node.path)
    if not 0 <= node.symbol < len(symbols):
        return []
    method = symbols[node.symbol]
    if method.parent < 0 or method.kind not in kinds:
        return []
    if symbols[method.parent].kind not in TYPES or method.name in CONSTRUCTORS:
        return []
    methods: list[Node] = []
    pending, seen = [Node(node.path, method.parent)], {Node(node.path, method.parent)}
    while pending and len(seen) < _MOST_BASES:
        here = pending.pop()
        for type_ in step(here):
            if type_ in seen or type_.symbol < 0:
                continue
            seen.add(type_)
            member = _member(graph, type_, method)
            if member is None:
                pending.append(type_)
            else:
                methods.append(member)
    return methods


def _member(graph: EdgeReader, owner: Node, like: Symbol) -> Node | None:
    """Return the member of a type with the same name, preferably of the same kind."""
    symbols = graph.symbols(owner.path)
    named = [at for at in symbols_inside(symbols, owner.symbol) if symbols[at].name == like.name]
    # In PHP, Java and C#, a field and a method may share a name.
    named.sort(key=lambda at: symbols[at].kind != like.kind)
    return Node(owner.path, named[0]) if named else None


def subtypes(graph: EdgeReader, node: Node) -> Iterator[Node]:
    """Yield the types that name this one as a base."""
    for edge in graph.derived_from(*node):
        yield Node(edge.source, edge.symbol)


def bases(graph: EdgeReader, node: Node) -> Iterator[Node]:
    """Yield the types that this one names as its bases."""
    for edge in graph.deriving_edges(*node):
        if edge.kind == "inherit":
            yield Node(edge.target, edge.target_symbol)
