"""Who can be hit by a change: reverse reach of definitions and files, by distance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.resolve.facts.file_model import TYPES
from codelens.resolve.walk.edge_table import MODULE, EdgeReader, Node, subtree
from codelens.resolve.walk.relation_walk import overridden_by, overrides

DEEPEST = 5
MOST_NODES = 5_000


class Reached(NamedTuple):
    """A definition or file that uses, through others or not, something that changes."""

    node: Node
    distance: int
    how: str
    """`call`, `ref`, `inherit`, `import`, `overrides` (it overrides what changes) or `overridden`
    (a call of it may run what changes)."""
    line: int
    """Where it uses `via`, in its own file."""
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
    reached: dict[Node, Reached] = {}
    cut = False
    frontier = list(changing)
    for distance in range(1, depth + 1):
        following: list[Node] = []
        graph.prepare(frontier)
        for node in frontier:
            cut = cut or graph.spent()
            # What is known already of what changes is told in any case.
            if cut and distance > 1:
                break
            for hit in _hit_by(graph, node, distance, binding):
                if hit.node in reached or hit.node in changing:
                    continue
                if len(reached) >= MOST_NODES:
                    cut = True
                    break
                reached[hit.node] = hit
                if _passes_on(hit, binding):
                    following.append(hit.node)
        frontier = following
    passed_on: dict[Node, int] = {}
    for hit in reached.values():
        passed_on[hit.via] = passed_on.get(hit.via, 0) + 1

    def weight(hit: Reached) -> tuple[object, ...]:
        test = graph.is_test(hit.node.path)
        return (hit.distance, test, -passed_on.get(hit.node, 0), hit.node)

    return Reach(tuple(sorted(_without_modules(reached.values()), key=weight)), cut)


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
                yield Reached(source, distance, edge.kind, edge.line, node)
    for place in places:
        yield from _dispatched(graph, place, distance, downward=distance == 1 or node in binding)


def _dispatched(
    graph: EdgeReader, node: Node, distance: int, *, downward: bool
) -> Iterator[Reached]:
    """Methods in other types that share the name: of bases, and for a seed of subtypes."""
    for base_method in overrides(graph, node):
        line = graph.symbols(base_method.path)[base_method.symbol].name_line
        yield Reached(base_method, distance, "overridden", line, node)
    if downward:
        for method in overridden_by(graph, node):
            line = graph.symbols(method.path)[method.symbol].name_line
            yield Reached(method, distance, "overrides", line, node)


def _without_modules(reached: Iterable[Reached]) -> Iterator[Reached]:
    """A file that only imports is told by what in it uses the import, where something does."""
    every = list(reached)
    nearest: dict[bytes, int] = {}
    for hit in every:
        if hit.node.symbol != MODULE:
            known = nearest.get(hit.node.path, hit.distance)
            nearest[hit.node.path] = min(known, hit.distance)
    for hit in every:
        if hit.node.symbol == MODULE and hit.how == "import" and hit.node.path in nearest:
            continue
        yield hit
