"""Computes the impact of a change by reverse reach, and paths between two definitions."""

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
"""The most indirect users; direct users are all listed."""
_STRONGER = {("import", how) for how in ("call", "ref", "inherit", "satisfy")} | {("ref", "call")}
"""(weaker, stronger) pairs of relations: for a node with both, only the stronger one is
reported."""


class Reached(NamedTuple):
    """A definition or file that directly or indirectly uses something that changes."""

    node: Node
    distance: int
    how: str
    """`call`, `ref`, `inherit`, `import`, `include`, `overrides` (it overrides what changes) or
    `overridden` (a call of it may run what changes)."""
    lines: tuple[int, ...]
    """The lines of the uses, in its own file; complete at distance 1. Lines of imports are listed
    only if there is no other use."""
    via: Node
    """The next node on the path to the change; at distance 1, the node that changes."""


class Reach(NamedTuple):
    """The result of a reverse reach."""

    users: tuple[Reached, ...]
    """By distance; within one, non-test users first, then by how many users they reach."""
    cut: bool
    """Whether users may be missing: the search hit `MOST_NODES`, or time ran out."""


def changed_symbol(graph: EdgeReader, node: Node) -> list[Node]:
    """Return what changes with a definition; a type changes with all its members."""
    symbols = graph.symbols(node.path)
    if node.symbol < 0 or symbols[node.symbol].kind not in TYPES:
        return [node]
    return [Node(node.path, at) for at in sorted(subtree(symbols, node.symbol))]


def changed_file(graph: EdgeReader, path: bytes) -> list[Node]:
    """Return what changes with a file: all of it."""
    return [Node(path, at) for at in range(-1, len(graph.symbols(path)))]


def reach(
    graph: EdgeReader, seeds: Iterable[Node], depth: int,
    contracts: Mapping[Node, Sequence[Node]] | None = None, *, lists_direct: bool = True,
) -> Reach:  # fmt: skip
    """Return everything that leads to one of `seeds` in at most `depth` steps.

    A module is affected by what it imports or uses at its top level, but passes the change on only
    if it is a seed itself: importing a file does not mean using all that the file uses. A template
    passes on what it includes.

    An override of a seed passes the change on only if the seed is one of `contracts`: methods whose
    declaration changes, so that all overrides must follow. `contracts` maps each to the methods
    whose calls count as calls of it (in Rust, the methods in trait blocks).

    If `lists_direct`, all direct users are listed even after time ran out.
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
            if cut and (distance > 1 or not lists_direct):
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
    """The nodes reached so far, each by its shortest path, with the lines of all direct uses."""

    def __init__(self) -> None:
        self.first: dict[Node, Reached] = {}
        self._lines: dict[tuple[Node, bool], set[int]] = {}
        """Import lines are separate: `calls f at :1` would be wrong for an import."""

    def is_new(self, hit: Reached) -> bool:
        """Record a hit; returns whether its node is new.

        The line of a direct hit is always recorded.
        """
        first_hit = self.first.get(hit.node)
        if hit.distance == 1:
            self._lines.setdefault((hit.node, hit.how == "import"), set()).update(hit.lines)
            if first_hit is not None and (first_hit.how, hit.how) in _STRONGER:
                self.first[hit.node] = hit
        return first_hit is None

    def in_order(self, graph: EdgeReader) -> tuple[Reached, ...]:
        """Return the hits by distance, non-test users first, then by how many users they reach."""
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
    """Whether the change propagates beyond a hit.

    It passes through an override only if a contract binds the override, which then binds its own
    overrides, too.
    """
    if hit.node.symbol == MODULE:
        # A template consists of everything that it includes.
        return hit.how == "include"
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
                    # A file passes no change on, but an alias of the changed definition does.
                    yield Reached(alias, distance, edge.kind, (edge.line,), node)
                is_template = source.symbol == MODULE and source.path.endswith(_TEMPLATE)
                if is_template and edge.kind != "include":
                    yield from _rendering(graph, source, distance)
    for place in places:
        yield from _dispatched(graph, place, distance, downward=distance == 1 or node in binding)


def _rendering(graph: EdgeReader, template: Node, distance: int) -> Iterator[Reached]:
    """Yield the components whose template a file is: a template is a part of its component."""
    for edge in graph.edges_to(*template):
        if edge.kind == "ref" and edge.symbol != MODULE:
            component = Node(edge.source, edge.symbol)
            yield Reached(component, distance, edge.kind, (edge.line,), template)


def _dispatched(
    graph: EdgeReader, node: Node, distance: int, *, downward: bool
) -> Iterator[Reached]:
    """Yield the same-named methods of the base types, and for a seed those of the subtypes."""
    for base_method in overrides(graph, node):
        line = graph.symbols(base_method.path)[base_method.symbol].name_line
        yield Reached(base_method, distance, "overridden", (line,), node)
    if downward:
        for method in overridden_by(graph, node):
            line = graph.symbols(method.path)[method.symbol].name_line
            yield Reached(method, distance, "overrides", (line,), node)


def without_imports(users: Iterable[Reached]) -> tuple[list[Reached], int]:
    """Drop files that only import and contain another user; returns the rest and their number.

    The users inside such a file are more informative than its import.
    """
    every = list(users)
    hit_inside = {user.node.path for user in every if user.node.symbol != MODULE}
    listed = [
        user
        for user in every
        if user.node.symbol != MODULE or user.how != "import" or user.node.path not in hit_inside
    ]
    return listed, len(every) - len(listed)


# Distinct paths between two nodes of the graph, shortest first, in bounded time.

_TEMPLATE = b".html"
MOST_STEPS = 10
_MOST_NODES = 4_000
_MOST_TRIES = 20_000


class Step(NamedTuple):
    """One edge of a path, or `override`: a call of a method may run its override."""

    source: Node
    target: Node
    kind: str
    line: int
    """In the source's file."""


class Routes(NamedTuple):
    """The paths found."""

    paths: tuple[tuple[Step, ...], ...]
    complete: bool
    """False if the search stopped before it had tried everything."""


def routes(graph: EdgeReader, start: Target, goal: Target, most: int) -> Routes:
    """Return up to `most` acyclic paths along which `start` uses `goal`."""
    seen = _Search(graph, start, goal)
    seen.spread()
    if not seen.reached:
        return Routes((), seen.complete)
    return Routes(tuple(seen.paths(most)), seen.complete)


class _Search:
    """Searches forward by distance, then backward through the visited nodes by path length."""

    def __init__(self, graph: EdgeReader, start: Target, goal: Target) -> None:
        self._graph = graph
        self._goal = goal.inside
        self._files = start.whole
        self._distance: dict[Node, int] = dict.fromkeys(sorted(start.inside), 0)
        self._before: dict[Node, list[Step]] = {}
        self.reached: list[Node] = []
        self.complete = True

    def spread(self) -> None:
        """Search breadth-first from the start."""
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
        # Longer paths are out of bounds.

    def _take(self, step: Step, distance: int, following: list[Node]) -> None:
        node = step.target
        known_distance = self._distance.get(node)
        if known_distance == 0:
            return
        if known_distance is None:
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
        """Return the steps from a node, one per target."""
        graph = self._graph
        own = {node.symbol} if first else own_symbols(graph, node)
        steps: dict[Node, Step] = {}
        for edge in (edge_ for at in sorted(own) for edge_ in graph.edges_of(node.path, at)):
            target = Node(edge.target, edge.target_symbol)
            if edge.kind == "override" or (edge.kind == "import" and node.symbol != MODULE):
                continue
            # A definition that names a module does not use what the module imports.
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
        """Return the paths by length; a partial path ranks by its minimum possible length."""
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
                    # On a tie, prefer the path nearest to its end; otherwise all short prefixes
                    # would come first.
                    near = self._distance[before]
                    heappush(queue, (length, near, tries, (step, *steps), before))
        return paths

    def _origin(self, step: Step) -> Node | None:
        """Return the visited node that a step starts from: a type stands for its constructor."""
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
