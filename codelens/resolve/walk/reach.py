"""Who can be hit by a change: reverse reach of definitions and files, by distance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from codelens.resolve.facts.file_model import TYPES
from codelens.resolve.walk.edge_table import MODULE, Net, Node, subtree
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

    found: tuple[Reached, ...]
    """By distance; within one those outside of tests first, then by how many they hit in turn."""
    cut: bool
    """There can be more: the search ended at `MOST_NODES`, or when time ran out."""


def changed_symbol(net: Net, node: Node) -> list[Node]:
    """What changes with a definition: a type with all that it holds."""
    symbols = net.symbols(node.path)
    if node.symbol < 0 or symbols[node.symbol].kind not in TYPES:
        return [node]
    return [Node(node.path, at) for at in sorted(subtree(symbols, node.symbol))]


def changed_file(net: Net, path: bytes) -> list[Node]:
    """What changes with a file: all of it."""
    return [Node(path, at) for at in range(-1, len(net.symbols(path)))]


def reach(net: Net, seeds: Iterable[Node], depth: int) -> Reach:
    """Everything that leads to one of `seeds` in at most `depth` steps.

    A module is hit by what it imports or uses at its top level, and passes it on only where it is
    a seed itself: that a file imports another does not make it use all that the other uses.
    """
    changing = dict.fromkeys(seeds)
    found: dict[Node, Reached] = {}
    cut = False
    frontier = list(changing)
    for distance in range(1, depth + 1):
        following: list[Node] = []
        net.prepare(frontier)
        for node in frontier:
            if cut or net.spent():
                cut = True
                break
            for one in _hit_by(net, node, distance):
                if one.node in found or one.node in changing:
                    continue
                if len(found) >= MOST_NODES:
                    cut = True
                    break
                found[one.node] = one
                if one.node.symbol != MODULE and one.how != "overrides":
                    following.append(one.node)
        frontier = following
    passed_on: dict[Node, int] = {}
    for one in found.values():
        passed_on[one.via] = passed_on.get(one.via, 0) + 1

    def weight(one: Reached) -> tuple[object, ...]:
        test = net.is_test(one.node.path)
        return (one.distance, test, -passed_on.get(one.node, 0), one.node)

    return Reach(tuple(sorted(_without_modules(found.values()), key=weight)), cut)


def _hit_by(net: Net, node: Node, distance: int) -> Iterator[Reached]:
    for edge in net.edges_to(*node):
        source = Node(edge.source, edge.symbol)
        if source != node and edge.kind != "override":
            yield Reached(source, distance, edge.kind, edge.line, node)
    yield from _dispatched(net, node, distance)


def _dispatched(net: Net, node: Node, distance: int) -> Iterator[Reached]:
    """Methods in other types that share the name: of bases, and for a seed of subtypes."""
    for one in overrides(net, node):
        line = net.symbols(one.path)[one.symbol].name_line
        yield Reached(one, distance, "overridden", line, node)
    if distance == 1:
        for one in overridden_by(net, node):
            line = net.symbols(one.path)[one.symbol].name_line
            yield Reached(one, distance, "overrides", line, node)


def _without_modules(found: Iterable[Reached]) -> Iterator[Reached]:
    """A file that only imports is told by what in it uses the import, where something does."""
    every = list(found)
    nearest: dict[bytes, int] = {}
    for one in every:
        if one.node.symbol != MODULE:
            known = nearest.get(one.node.path, one.distance)
            nearest[one.node.path] = min(known, one.distance)
    for one in every:
        if one.node.symbol == MODULE and one.how == "import" and one.node.path in nearest:
            continue
        yield one
