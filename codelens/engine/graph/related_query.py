"""What is related to a definition or a file, and the paths from one to another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from codelens.answers.graph_answers import PathStep, RelatedAnswer, Relative
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.ownership import Ownership
from codelens.engine.graph.possible_uses import (
    PossibleSite,
    Unresolved,
    grouped,
    several_meant,
    unresolved,
)
from codelens.engine.graph.relation_choice import relations
from codelens.engine.graph.targets import Named, Targets
from codelens.engine.graph.text_uses.text_uses import asked_of, text_uses
from codelens.engine.graph.unresolved_uses import (
    hidden_notes,
    interface_notes,
    oversized_notes,
)
from codelens.engine.impact.contracts import called_as
from codelens.engine.impact.pytest_fixtures import Fixtures
from codelens.errors import InvalidArgument, SettingError
from codelens.paths import printed
from codelens.resolve.relations import STRUCTURE
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.relation_walk import (
    RelatedNode,
    Target,
    Walk,
    file_target,
    symbol_target,
)
from codelens.resolve.walk.routes import MOST_STEPS, Step, routes
from codelens.resolve.walk.test_conventions import to_run

MOST_DEPTH = 3
MOST_PATHS = 20
_TEST_DEPTH = 2
_TEST_REASONS = {"callers": "calls it", "users": "uses it", "importers": "imports it"}
_WEIGHTS = {"callers": 6, "callees": 4, "users": 3, "uses": 1, "imports": 2, "tests": 2}
"""Shares of the limit where not all can be shown."""
_HIDDEN_RELATIONS = frozenset({"callers", "users"})


def related(
    view: CurrentView, target: str, kinds: Sequence[str], direction: str, *, depth: int, limit: int,
    seconds: float,
) -> RelatedAnswer:  # fmt: skip
    """The definitions and files related to `target`.

    Raises:
        SettingError: `kinds`, `direction` or `depth` is none that there is.
        HandleError: `target` cannot be followed, or has several owners.
    """
    chosen = relations(kinds, direction)
    if not 1 <= depth <= MOST_DEPTH:
        raise InvalidArgument("depth", f"must be between 1 and {MOST_DEPTH}, not {depth}")
    graph = LazyGraph(view, seconds)
    targets = Targets(view, graph)
    named = targets.find(target)
    start = target_of(targets, named)
    walk = Walk(graph, start)
    related_by: dict[str, list[RelatedNode]] = {}
    why: dict[Node, str] = {}
    for relation in chosen:
        if relation == "tests":
            related_by[relation], why = _tests(
                view, graph, targets, walk, start=start, paths=named.paths, depth=depth
            )
        elif relation in STRUCTURE:
            structure = Ownership(view.snapshot, graph.resolved, graph.naming)
            related_by[relation] = structure.related(relation, named.nodes, depth)
        else:
            related_by[relation] = walk.related(relation, depth)
    if "tests" in related_by:
        tests = {row.node for row in related_by["tests"]}
        related_by = {
            relation: _without(tests, rows) if relation in _TEST_REASONS else rows
            for relation, rows in related_by.items()
        }
    related_by = {relation: rows for relation, rows in related_by.items() if rows}
    shown = [row for rows in _shares(related_by, limit) for row in rows]
    targets.fetch([row.node for row in shown])
    notes = [named.moved] if named.moved else []
    notes += _cut_notes(walk.cut)
    may, may_count = (), 0
    if _HIDDEN_RELATIONS & set(chosen):
        possible = possible_of(view, targets, named, start)
        may, may_count = grouped(graph, targets, possible.sites, limit)
        notes += [*possible.text_notes, *hidden_notes(graph, possible.hidden)]
        notes += possible.unseen_notes
    return RelatedAnswer(
        receipt=graph.receipt(),
        target=named.node,
        results=tuple(_relative(targets, row, why) for row in shown),
        totals=tuple((relation, len(rows)) for relation, rows in related_by.items()),
        may=may,
        may_count=may_count,
        notes=tuple(notes),
    )


class Possible(NamedTuple):
    """What may use a target, and what was not looked at."""

    sites: list[PossibleSite]
    hidden: Unresolved
    """Those of the sites that only the name speaks for."""
    text_notes: tuple[str, ...]
    unseen_notes: list[str]
    """On calls through interfaces, and on files that are too large."""


def possible_of(view: CurrentView, targets: Targets, named: Named, start: Target) -> Possible:
    """Everything that may use what a handle names, of every basis."""
    graph = targets.graph
    fixtures = Fixtures(view, graph, targets)
    nodes = [node for node in start.nodes if not fixtures.is_fixture(node)]
    texts = text_uses(view, graph, targets, asked_of(targets, named))
    inside = start.inside if start.whole else frozenset[Node]()
    hidden = unresolved(graph, targets, nodes, inside=inside)
    meant = several_meant(graph, targets, start.nodes)
    sites = [site for site in (*meant, *texts.sites) if site.node not in inside]
    sites += hidden.sites
    unseen = [*interface_notes(graph, targets, start.nodes), *oversized_notes(view)]
    return Possible(sites, hidden, texts.notes, unseen)


def paths_between(
    view: CurrentView, target: str, goal: str, most: int, seconds: float
) -> RelatedAnswer:
    """Paths along which `target` uses `goal`; if there is none, those the other way round.

    Raises:
        SettingError: `most` is out of range.
        HandleError: one of them cannot be followed, or has several owners.
    """
    if not 1 <= most <= MOST_PATHS:
        raise InvalidArgument("paths", f"must be between 1 and {MOST_PATHS}, not {most}")
    graph = LazyGraph(view, seconds)
    targets = Targets(view, graph)
    first, last = targets.find(target), targets.find(goal)
    notes = [end_point.moved for end_point in (first, last) if end_point.moved]
    start, end = target_of(targets, first), target_of(targets, last)
    if start.inside & end.inside:
        raise SettingError(
            f"{target!r} and {goal!r} are the same, or one contains the other; give two "
            "separate definitions"
        )
    routes_found, turned = routes(graph, start, end, most), False
    complete = routes_found.complete
    if not routes_found.paths:
        routes_found = routes(graph, end, start, most)
        turned, complete = bool(routes_found.paths), complete and routes_found.complete
    if not complete:
        notes.append("the search was cut short; there may be more and shorter paths")
    if not routes_found.paths:
        notes.append(f"no path of at most {MOST_STEPS} certain steps in either direction")
    elif turned:
        notes.append(f"{target} does not lead to {goal}; these paths lead from {goal} to {target}")
    return RelatedAnswer(
        receipt=graph.receipt(),
        target=first.node,
        results=(),
        totals=(("paths", len(routes_found.paths)),),
        paths=tuple(_path(targets, steps) for steps in routes_found.paths),
        goal=last.node,
        reversed=turned,
        notes=tuple(notes),
    )


def target_of(targets: Targets, named: Named) -> Target:
    """What a handle names, as the nodes that edges end at."""
    graph = targets.graph
    implementing = [method for node in named.nodes for method in called_as(graph, node)]
    several = [
        _file_target(targets, node.path) if named.whole else symbol_target(graph, node)
        for node in named.nodes
    ]
    nodes = dict.fromkeys([*(node for part in several for node in part.nodes), *implementing])
    inside = frozenset(node for part in several for node in part.inside)
    return Target(tuple(nodes), inside, whole=named.whole)


def _file_target(targets: Targets, path: bytes) -> Target:
    whole = file_target(targets.graph, path)
    return whole._replace(nodes=tuple(targets.without_namespaces(whole.nodes)))


def _tests(
    view: CurrentView, graph: LazyGraph, targets: Targets, walk: Walk, *, start: Target,
    paths: Sequence[bytes], depth: int,
) -> tuple[list[RelatedNode], dict[Node, str]]:  # fmt: skip
    """Tests that reach the target, and test files named for its files; why each is one."""
    tests, why = _reaching(graph, walk, start, depth)
    reached = [*((node, 0) for node in start.nodes), *((node, 1) for node in tests)]
    for user in Fixtures(view, graph, targets).through(reached):
        if user.node not in tests and user.node not in start.inside:
            where = tuple((user.node.path, line) for line in user.lines)
            tests[user.node] = RelatedNode("tests", user.node, user.distance, where, None)
            why[user.node] = f"uses the fixture {targets.handle(user.via)}"
    by_path = {node.path for node in tests}
    files = graph.test_files()
    run = to_run(files)
    for path in paths:
        for test in graph.tests_named_for(path):
            if test in run and test not in by_path and test not in paths:
                node = Node(test, MODULE)
                tests[node] = RelatedNode("tests", node, 1, (), None)
                why[node] = f"named for {printed(path)}"

    def interest(row: RelatedNode) -> tuple[object, ...]:
        only_imports = why[row.node] == _TEST_REASONS["importers"]
        return (row.distance, only_imports, -len(row.sites), row.node)

    return sorted(tests.values(), key=interest), why


def _reaching(
    graph: LazyGraph, walk: Walk, start: Target, depth: int
) -> tuple[dict[Node, RelatedNode], dict[Node, str]]:
    """Tests that use the target, each with the lines of all its uses; callers of callers too."""
    tests: dict[Node, RelatedNode] = {}
    why: dict[Node, str] = {}
    for relation, words in _TEST_REASONS.items():
        deep = relation == "callers" and not start.whole
        for row in walk.related(relation, max(depth, _TEST_DEPTH) if deep else depth):
            if not graph.is_test(row.node.path):
                continue
            known = tests.get(row.node)
            if known is None or row.distance < known.distance:
                tests[row.node] = row._replace(relation="tests")
                why[row.node] = words if row.distance == 1 else "calls a caller of it"
            elif row.distance == known.distance:
                sites = tuple(sorted({*known.sites, *row.sites}))
                tests[row.node] = known._replace(sites=sites)
    files_of_tests = {node.path for node in tests if node.symbol != MODULE}
    for node in [node for node in tests if why[node] == _TEST_REASONS["importers"]]:
        if node.path in files_of_tests:
            del tests[node]  # it is an importer, and the tests in it are listed
    return tests, why


def _without(tests: Collection[Node], rows: list[RelatedNode]) -> list[RelatedNode]:
    """Without what is listed under `tests`."""
    return [row for row in rows if row.node not in tests]


def _shares(related_by: dict[str, list[RelatedNode]], limit: int) -> list[list[RelatedNode]]:
    """Of each relation as many as the limit has room for: what few need is left to the others."""
    places_left = limit
    weights = {relation: _WEIGHTS.get(relation, 2) for relation in related_by}
    left = sum(weights.values())
    taken: dict[str, list[RelatedNode]] = {}
    for relation, rows in sorted(
        related_by.items(), key=lambda item: len(item[1]) / weights[item[0]]
    ):
        share = max(places_left * weights[relation] // left, 1) if places_left > 0 else 0
        taken[relation] = rows[:share]
        places_left -= len(taken[relation])
        left -= weights[relation]
    return [taken[relation] for relation in related_by]


def _cut_notes(cut: Collection[str]) -> list[str]:
    return [f"more {', '.join(sorted(cut))} than could be followed"] if cut else []


def _relative(targets: Targets, row: RelatedNode, reasons: Mapping[Node, str]) -> Relative:
    why = reasons.get(row.node, "") if row.relation == "tests" else ""
    sites = tuple(f"{printed(path)}:{line}" for path, line in row.sites)
    via = targets.handle(row.via) if row.via is not None else ""
    target = targets.node(row.node)
    return Relative(row.relation, target, row.distance, sites, len(row.sites), via, why)


def _path(targets: Targets, steps: Sequence[Step]) -> tuple[PathStep, ...]:
    rows = [PathStep(targets.node(steps[0].source), "", "")]
    for step in steps:
        site = f"{printed(step.source.path)}:{step.line}"
        rows.append(PathStep(targets.node(step.target), step.kind, site))
    return tuple(rows)
