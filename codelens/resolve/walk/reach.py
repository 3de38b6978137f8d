"""Who can be hit by a change: reverse reach of definitions and files, by distance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from codelens.resolve.edges import Edge
from codelens.resolve.file_model import TYPES
from codelens.resolve.walk.edge_table import MODULE, EdgeReader, Node, subtree
from codelens.resolve.walk.relation_walk import Target, overridden_by, overrides, own_symbols

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


# Distinct paths from one place of the graph to another, shortest first, in bounded work.

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
