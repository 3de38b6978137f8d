"""Distinct paths from one place of the graph to another, shortest first, in bounded work."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

from codelens.resolve.edges import Edge
from codelens.resolve.walk.edge_table import MODULE, EdgeReader, Node
from codelens.resolve.walk.relation_walk import Target, overridden_by, own_symbols

MOST_STEPS = 10
_MOST_NODES = 4_000
_MOST_TRIES = 20_000


class Step(NamedTuple):
    """One edge of a path, or `override`: a call of a method may run what overrides it."""

    source: Node
    target: Node
    kind: str
    line: int
    """In the source's file."""


class Routes(NamedTuple):
    """Paths found."""

    paths: tuple[tuple[Step, ...], ...]
    complete: bool
    """False: the search gave up before it had seen all."""


def routes(graph: EdgeReader, start: Target, goal: Target, most: int) -> Routes:
    """Up to `most` paths without a cycle along which `start` uses `goal`."""
    seen = _Search(graph, start, goal)
    seen.spread()
    if not seen.reached:
        return Routes((), seen.complete)
    return Routes(tuple(seen.paths(most)), seen.complete)


class _Search:
    """Forward by distance; then backward along what was seen, in order of the paths' lengths."""

    def __init__(self, graph: EdgeReader, start: Target, goal: Target) -> None:
        self._graph = graph
        self._goal = goal.inside
        self._files = start.whole
        self._distance: dict[Node, int] = dict.fromkeys(sorted(start.inside), 0)
        self._before: dict[Node, list[Step]] = {}
        self.reached: list[Node] = []
        self.complete = True

    def spread(self) -> None:
        """Breadth first from the start."""
        frontier = [node for node in self._distance if node not in self._goal]
        for distance in range(1, MOST_STEPS + 1):
            following: list[Node] = []
            for node in frontier:
                if self._graph.spent():
                    self.complete = False
                    return
                for step in self._steps(node, distance == 1):
                    self._take(step, distance, following)
            if not following:
                return
            frontier = following
        # Longer paths are not asked for.

    def _take(self, step: Step, distance: int, following: list[Node]) -> None:
        node = step.target
        known = self._distance.get(node)
        if known == 0:
            return
        if known is None:
            if len(self._distance) >= _MOST_NODES:
                self.complete = False
                return
            self._distance[node] = distance
            if node in self._goal:
                self.reached.append(node)
            else:
                following.append(node)
        self._before.setdefault(node, []).append(step)

    def _steps(self, node: Node, first: bool) -> list[Step]:
        """Steps that lead on from a node, one a target."""
        graph = self._graph
        own = {node.symbol} if first else own_symbols(graph, node)
        steps: dict[Node, Step] = {}
        for edge in (edge_ for at in sorted(own) for edge_ in graph.edges_of(node.path, at)):
            target = Node(edge.target, edge.target_symbol)
            if edge.kind == "override" or (edge.kind == "import" and node.symbol != MODULE):
                continue
            # What a module imports is not what a definition that names the module uses.
            if target.symbol == MODULE and not self._files and target not in self._goal:
                continue
            if target != node and target not in steps:
                steps[target] = Step(Node(edge.source, edge.symbol), target, *_how(edge))
        if node.symbol >= 0 and not first:
            for method in overridden_by(graph, node):
                line = graph.symbols(node.path)[node.symbol].name_line
                steps.setdefault(method, Step(node, method, "override", line))
        return list(steps.values())

    def paths(self, most: int) -> list[tuple[Step, ...]]:
        """Paths in order of length; a partial one is as good as it can still become."""
        paths: list[tuple[Step, ...]] = []
        queue: list[tuple[int, int, int, tuple[Step, ...], Node]] = []
        for number, node in enumerate(self.reached):
            distance = self._distance[node]
            heappush(queue, (distance, distance, number, (), node))
        tries = len(queue)
        while queue and len(paths) < most:
            _, _, _, steps, node = heappop(queue)
            if self._distance[node] == 0:
                if steps not in paths:
                    paths.append(steps)
                continue
            if len(steps) >= MOST_STEPS:
                continue
            for step in self._before.get(node, ()):
                before = self._origin(step)
                if before is None or any(before == self._origin(taken) for taken in steps):
                    continue
                tries += 1
                if tries > _MOST_TRIES:
                    self.complete = False
                    return paths
                length = len(steps) + 1 + self._distance[before]
                if length <= MOST_STEPS:
                    # Of equals the one nearest to its end, or all beginnings would come first.
                    near = self._distance[before]
                    heappush(queue, (length, near, tries, (step, *steps), before))
        return paths

    def _origin(self, step: Step) -> Node | None:
        """The node of the search that a step left: a type stands for its constructor."""
        if step.source in self._distance:
            return step.source
        at = step.source
        symbols = self._graph.symbols(at.path)
        while at.symbol >= 0:
            at = Node(at.path, symbols[at.symbol].parent)
            if at in self._distance:
                return at
        return None


def _how(edge: Edge) -> tuple[str, int]:
    return edge.kind, edge.line
