"""Who can be hit by a change: reverse reach of definitions and files, by distance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.resolve.facts.file_model import TYPES
from codelens.resolve.walk.edge_table import MODULE, EdgeReader, Node, subtree
from codelens.resolve.walk.relation_walk import overridden_by, overrides

DEEPEST = 5
MOST_NODES = 5_000
"""Nodes that are hit through others; direct ones are all listed."""
_STRONGER = {("import", how) for how in ("call", "ref", "inherit", "satisfy")} | {("ref", "call")}
"""Ways to be hit, and those that say more of a node that is hit in both."""


class Reached(NamedTuple):
    """A definition or file that uses, through others or not, something that changes."""

    node: Node
    distance: int
    how: str
    """`call`, `ref`, `inherit`, `import`, `overrides` (it overrides what changes) or `overridden`
    (a call of it may run what changes)."""
    lines: tuple[int, ...]
    """Where it uses what hits it, in its own file: at distance 1 every such line; those that
    import it only where it does no more than import."""
    via: Node
    """What it is hit through; at distance 1 what changes."""


class Reach(NamedTuple):
    """All that was reached."""

    users: tuple[Reached, ...]
    """By distance; within one those outside of tests first, then by how many they hit in turn."""
    cut: bool
    """There can be more: the search ended at `MOST_NODES`, or when time ran out."""


def changed_symbol(graph: EdgeReader, node: Node) -> list[Node]:
    """What changes with a definition: a type with all that it holds."""
    symbols = graph.symbols(node.path)
    if node.symbol < 0 or symbols[node.symbol].kind not in TYPES:
        return [node]
    return [Node(node.path, at) for at in sorted(subtree(symbols, node.symbol))]


def changed_file(graph: EdgeReader, path: bytes) -> list[Node]:
    """What changes with a file: all of it."""
    return [Node(path, at) for at in range(-1, len(graph.symbols(path)))]


def reach(
    graph: EdgeReader, seeds: Iterable[Node], depth: int,
    contracts: Mapping[Node, Sequence[Node]] | None = None,
) -> Reach:  # fmt: skip
    """Everything that leads to one of `seeds` in at most `depth` steps.

    A module is hit by what it imports or uses at its top level, and passes it on only where it is
    a seed itself: that a file imports another does not make it use all that the other uses.

    What overrides a seed passes the change on only where the seed is one of `contracts`: methods
    whose declaration changes, so that all that override them must follow. Each comes with those
    whose calls are calls of it (in Rust the methods in blocks for a trait).
    """
    changing = dict.fromkeys(seeds)
    binding = dict(contracts or {})
    hits = _Hits()
    cut = False
    frontier = list(changing)
    for distance in range(1, depth + 1):
        following: list[Node] = []
        graph.prepare(frontier)
        for node in frontier:
            cut = cut or graph.spent()
            # What is already known of what changes is listed in any case.
            if cut and distance > 1:
                break
            for hit in _hit_by(graph, node, distance, binding):
                if hit.node in changing or not hits.is_new(hit):
                    continue
                if distance > 1 and len(hits.first) >= MOST_NODES:
                    cut = True
                    break
                hits.first[hit.node] = hit
                if _passes_on(hit, binding):
                    following.append(hit.node)
        frontier = following
    return Reach(hits.in_order(graph), cut)


class _Hits:
    """What is hit: each node by its shortest way, with all lines of direct uses."""

    def __init__(self) -> None:
        self.first: dict[Node, Reached] = {}
        self._lines: dict[tuple[Node, bool], set[int]] = {}
        """Those that only import stand apart: `calls f at :1` would be wrong of an import."""

    def is_new(self, hit: Reached) -> bool:
        """Whether its node was not hit before; of a direct hit the line is kept either way."""
        known = self.first.get(hit.node)
        if hit.distance == 1:
            self._lines.setdefault((hit.node, hit.how == "import"), set()).update(hit.lines)
            if known is not None and (known.how, hit.how) in _STRONGER:
                self.first[hit.node] = hit
        return known is None

    def in_order(self, graph: EdgeReader) -> tuple[Reached, ...]:
        """By distance, those outside of tests first, then by how many they hit in turn."""
        passed_on = Counter(hit.via for hit in self.first.values())
        hits = [
            hit._replace(
                lines=tuple(sorted(self._lines.get((node, hit.how == "import"), hit.lines)))
            )
            for node, hit in self.first.items()
        ]

        def weight(hit: Reached) -> tuple[object, ...]:
            test = graph.is_test(hit.node.path)
            return (hit.distance, test, -passed_on[hit.node], hit.node)

        return tuple(sorted(hits, key=weight))


def _passes_on(hit: Reached, binding: dict[Node, Sequence[Node]]) -> bool:
    """Whether a change goes on from what it hit; what a contract binds is one itself."""
    if hit.node.symbol == MODULE:
        return False
    if hit.how == "overrides":
        if hit.via not in binding:
            return False
        binding.setdefault(hit.node, ())
    return True


def _hit_by(
    graph: EdgeReader, node: Node, distance: int, binding: Mapping[Node, Sequence[Node]]
) -> Iterator[Reached]:
    places = graph.places(node)
    for place in (*places, *binding.get(node, ())):
        for edge in graph.edges_to(*place):
            source = Node(edge.source, edge.symbol)
            if source not in places and edge.kind != "override":
                yield Reached(source, distance, edge.kind, (edge.line,), node)
                alias = graph.alias_of(edge) if source.symbol == MODULE else None
                if alias is not None:
                    # A file passes nothing on; another name of what changes does.
                    yield Reached(alias, distance, edge.kind, (edge.line,), node)
    for place in places:
        yield from _dispatched(graph, place, distance, downward=distance == 1 or node in binding)


def _dispatched(
    graph: EdgeReader, node: Node, distance: int, *, downward: bool
) -> Iterator[Reached]:
    """Methods in other types that share the name: of bases, and for a seed of subtypes."""
    for base_method in overrides(graph, node):
        line = graph.symbols(base_method.path)[base_method.symbol].name_line
        yield Reached(base_method, distance, "overridden", (line,), node)
    if downward:
        for method in overridden_by(graph, node):
            line = graph.symbols(method.path)[method.symbol].name_line
            yield Reached(method, distance, "overrides", (line,), node)


def without_imports(users: Iterable[Reached]) -> tuple[list[Reached], int]:
    """The users without files that only import, where something inside them is hit; their number.

    What uses the import says more than the import.
    """
    every = list(users)
    hit_inside = {user.node.path for user in every if user.node.symbol != MODULE}
    listed = [
        user
        for user in every
        if user.node.symbol != MODULE or user.how != "import" or user.node.path not in hit_inside
    ]
    return listed, len(every) - len(listed)
