"""Answers `related`: the relations of a target, and the paths from it to another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from codelens.answers.graph_answers import (
    PathStep,
    RelatedAnswer,
    Relative,
)
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph, WorkLimit
from codelens.engine.graph.ownership import Ownership
from codelens.engine.graph.possible_uses import (
    PossibleSite,
    Unresolved,
    ambiguous_sites,
    grouped,
    hidden_notes,
    interface_notes,
    oversized_notes,
    unexplained,
    unresolved,
)
from codelens.engine.graph.relation_choice import relations
from codelens.engine.graph.targets import Named, Targets
from codelens.engine.graph.text_uses import asked_of, text_uses
from codelens.engine.impact.call_fit import called_as
from codelens.engine.impact.called_tests import Fixtures
from codelens.errors import InvalidArgument, SettingError
from codelens.paths import printed
from codelens.resolve.relations import STRUCTURE
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.named_tests import to_run
from codelens.resolve.walk.reach import MOST_STEPS, Step, routes
from codelens.resolve.walk.relation_walk import (
    RelatedNode,
    Target,
    Walk,
    file_target,
    symbol_target,
)

# The relations of a definition or a file, and the paths from one to another.

MOST_DEPTH = 3
MOST_PATHS = 20
_TEST_DEPTH = 2
_TESTS_SHOWN = 3
"""Tests listed next to other relations, unless the call asks for relations by name."""
_TEST_REASONS = {"callers": "calls it", "users": "uses it", "importers": "imports it"}
_WEIGHTS = {"callers": 6, "callees": 4, "users": 3, "uses": 1, "imports": 2, "tests": 2}
"""Shares of the limit if not all relations fit."""
_OWN_FILES = 3
"""If the target has at most this many files, they are resolved first: what it uses needs no
others."""
_SHARE_OF_TESTS = 0.3
"""Share of the time for tests, which come last: callers of callers take the most time and matter
least."""
_HIDDEN_RELATIONS = frozenset({"callers", "users"})


def related(
    view: CurrentView, target: str, kinds: Sequence[str], direction: str, *, depth: int, limit: int,
    seconds: float,
) -> RelatedAnswer:  # fmt: skip
    """The definitions and files related to `target`.

    Raises:
        SettingError: `kinds`, `direction` or `depth` is invalid.
        HandleError: `target` cannot be followed, or has several owners.
    """
    chosen = relations(kinds, direction)
    if not 1 <= depth <= MOST_DEPTH:
        raise InvalidArgument("depth", f"must be between 1 and {MOST_DEPTH}, not {depth}")
    work = WorkLimit(seconds)
    seconds_for_tests = work.reserve(_SHARE_OF_TESTS) if "tests" in chosen else 0.0
    graph = LazyGraph(view, work)
    targets = Targets(view, graph)
    named = targets.find(target)
    graph.resolve(named.paths[:_OWN_FILES])
    start = target_of(targets, named) if named.parts else combined(targets, named)
    starts = [(part, target_of(targets, part)) for part in named.parts] or [(named, start)]
    groups = [_walked(targets, *part, chosen, depth) for part in starts]
    possible = possible_of(view, targets, named, start) if _HIDDEN_RELATIONS & set(chosen) else None
    if "tests" in chosen:
        work.extend(seconds_for_tests)
        groups = [_with_tests(targets, group, depth) for group in groups]
    groups = [group.without_empty() for group in groups]
    shown = _shared(groups, limit, has_few_tests=not kinds)
    targets.fetch([row.node for rows in shown for row in rows])
    notes = [named.moved] if named.moved and not named.owners else []
    if cut := {relation for group in groups for relation in group.walk.cut}:
        notes.append(f"more {', '.join(sorted(cut))} than could be followed")
    may, may_count = (), 0
    if possible is not None:
        may, may_count = grouped(graph, targets, possible.sites, limit)
        notes += [*possible.text_notes, *hidden_notes(graph, possible.hidden)]
        notes += possible.unseen_notes
    totals = [group.totals() for group in groups]
    return RelatedAnswer(
        receipt=graph.receipt(),
        target=named.node,
        places=targets.places(named),
        results=tuple(
            _relative(targets, row, group.why, group.named.node.handle if named.parts else "")
            for group, rows in zip(groups, shown, strict=True)
            for row in rows
        ),
        totals=_summed(totals),
        may=may,
        may_count=may_count,
        notes=tuple(notes),
        owners=named.owners,
        owner_totals=tuple(totals) if named.parts else (),
    )


_Totals = tuple[tuple[str, int], ...]


class _Relatives(NamedTuple):
    """The relatives of one definition."""

    named: Named
    start: Target
    walk: Walk
    related_by: dict[str, list[RelatedNode]]
    why: Mapping[Node, str] = {}
    """Why a node counts as a test."""

    def totals(self) -> _Totals:
        return tuple((relation, len(rows)) for relation, rows in self.related_by.items())

    def without_empty(self) -> _Relatives:
        return self._replace(
            related_by={relation: rows for relation, rows in self.related_by.items() if rows}
        )


def _walked(
    targets: Targets, named: Named, start: Target, chosen: Sequence[str], depth: int
) -> _Relatives:
    """The relatives of a definition; `_with_tests` adds the tests."""
    graph = targets.graph
    walk = Walk(graph, start)
    related_by: dict[str, list[RelatedNode]] = {relation: [] for relation in chosen}
    for relation in chosen:
        if relation in STRUCTURE:
            structure = Ownership(targets.view.snapshot, graph.resolved, graph.naming)
            related_by[relation] = structure.related(relation, named.nodes, depth)
        elif relation != "tests":
            related_by[relation] = walk.related(relation, depth)
    return _Relatives(named, start, walk, related_by)


def _with_tests(targets: Targets, group: _Relatives, depth: int) -> _Relatives:
    """Add the tests, which other relations then leave out."""
    rows, why = _tests(
        targets.view, targets.graph, targets, group.walk,
        start=group.start, paths=group.named.paths, depth=depth,
    )  # fmt: skip
    tests = {row.node for row in rows}
    related_by = {
        relation: _without(tests, others) if relation in _TEST_REASONS else others
        for relation, others in group.related_by.items()
    }
    return group._replace(related_by={**related_by, "tests": rows}, why=why)


def _summed(totals: Sequence[_Totals]) -> _Totals:
    sums: dict[str, int] = {}
    for relation, count in (row for rows in totals for row in rows):
        sums[relation] = sums.get(relation, 0) + count
    return tuple(sums.items())


def _shared(
    groups: Sequence[_Relatives], limit: int, *, has_few_tests: bool
) -> list[list[RelatedNode]]:
    """The rows to list of each group; those of groups with few rows leave room to others."""
    shown: dict[int, list[RelatedNode]] = {}
    sizes = [sum(map(len, group.related_by.values())) for group in groups]
    places_left = limit
    for done, at in enumerate(sorted(range(len(groups)), key=sizes.__getitem__)):
        share = places_left // (len(groups) - done)
        rows = _shown(groups[at].related_by, share, has_few_tests=has_few_tests)
        shown[at] = rows[:share]
        places_left -= len(shown[at])
    return [shown[at] for at in range(len(groups))]


class Possible(NamedTuple):
    """The possible uses of a target, and notes on what was not searched."""

    sites: list[PossibleSite]
    hidden: Unresolved
    """Those of the sites for which only the name is evidence."""
    text_notes: tuple[str, ...]
    unseen_notes: list[str]
    """On calls through interfaces, and on files that are too large."""


def possible_of(view: CurrentView, targets: Targets, named: Named, start: Target) -> Possible:
    """Everything that may use the target of a handle, of every basis."""
    graph = targets.graph
    fixtures = Fixtures(view, graph, targets)
    nodes = [node for node in start.nodes if not fixtures.is_fixture(node)]
    texts = text_uses(view, graph, targets, asked_of(targets, named))
    inside = start.inside if start.whole else frozenset[Node]()
    hidden = unresolved(graph, targets, nodes, inside=inside)
    ambiguous = ambiguous_sites(graph, targets, start.nodes)
    sites = [site for site in (*ambiguous, *texts.sites) if site.node not in inside]
    sites += unexplained(hidden.sites, texts.sites)
    unseen = [*interface_notes(graph, targets, start.nodes), *oversized_notes(view)]
    return Possible(sites, hidden, texts.notes, unseen)


def paths_between(
    view: CurrentView, target: str, goal: str, most: int, seconds: float
) -> RelatedAnswer:
    """Paths along which `target` uses `goal`; if there are none, those in reverse.

    Raises:
        SettingError: `most` is out of range.
        HandleError: `target` or `goal` cannot be followed, or has several owners.
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
    """The target of a handle, as nodes at which edges end."""
    graph = targets.graph
    implementing = [method for node in named.nodes for method in called_as(graph, node)]
    several = [
        _file_target(targets, node.path) if named.whole else symbol_target(graph, node)
        for node in named.nodes
    ]
    nodes = dict.fromkeys([*(node for part in several for node in part.nodes), *implementing])
    inside = frozenset(node for part in several for node in part.inside)
    return Target(tuple(nodes), inside, whole=named.whole)


def combined(targets: Targets, named: Named) -> Target:
    """The target of a handle; what uses any of its definitions certainly uses the target."""
    start = target_of(targets, named)
    if not start.whole:
        targets.graph.combine(start.nodes)
    return start


def _file_target(targets: Targets, path: bytes) -> Target:
    whole = file_target(targets.graph, path)
    return whole._replace(nodes=tuple(targets.without_namespaces(whole.nodes)))


def _tests(
    view: CurrentView, graph: LazyGraph, targets: Targets, walk: Walk, *, start: Target,
    paths: Sequence[bytes], depth: int,
) -> tuple[list[RelatedNode], dict[Node, str]]:  # fmt: skip
    """Tests that reach the target, and test files named for its files; with the reasons."""
    tests, why = _reaching(graph, walk, start, depth)
    reached = [*((node, 0) for node in start.nodes), *((node, 1) for node in tests)]
    for user in Fixtures(view, graph, targets).through(reached):
        if user.node not in tests and user.node not in start.inside:
            where = tuple((user.node.path, line) for line in user.lines)
            tests[user.node] = RelatedNode("tests", user.node, user.distance, where, None)
            why[user.node] = f"uses the fixture {targets.handle(user.via)}"
    by_path = {node.path for node in tests}
    named_for = {test: path for path in paths for test in graph.tests_named_for(path)}
    run = to_run(graph.test_files()) if named_for else ()
    for test, path in named_for.items():
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
    """Tests that use the target, directly or through callers, with the lines of all uses."""
    tests: dict[Node, RelatedNode] = {}
    why: dict[Node, str] = {}
    for relation, words in _TEST_REASONS.items():
        deep = relation == "callers" and not start.whole
        for row in walk.related(relation, max(depth, _TEST_DEPTH) if deep else depth):
            if not graph.is_test(row.node.path):
                continue
            earlier = tests.get(row.node)
            if earlier is None or row.distance < earlier.distance:
                tests[row.node] = row._replace(relation="tests")
                why[row.node] = words if row.distance == 1 else "calls a caller of it"
            elif row.distance == earlier.distance:
                sites = tuple(sorted({*earlier.sites, *row.sites}))
                tests[row.node] = earlier._replace(sites=sites)
    files_of_tests = {node.path for node in tests if node.symbol != MODULE}
    for node in [node for node in tests if why[node] == _TEST_REASONS["importers"]]:
        if node.path in files_of_tests:
            del tests[node]  # It is an importer whose own tests are listed.
    return tests, why


def _without(tests: Collection[Node], rows: list[RelatedNode]) -> list[RelatedNode]:
    """The rows that are not listed under `tests`."""
    return [row for row in rows if row.node not in tests]


def _shown(
    related_by: dict[str, list[RelatedNode]], limit: int, *, has_few_tests: bool
) -> list[RelatedNode]:
    """The rows to list. With few tests, these become the last relation: code comes first."""
    tests = related_by.pop("tests", []) if has_few_tests and len(related_by) > 1 else []
    few = tests[: min(_TESTS_SHOWN, limit // 2)]
    shown = [row for rows in _shares(related_by, limit - len(few)) for row in rows]
    if tests:
        related_by["tests"] = tests
    return [*shown, *few]


def _shares(related_by: dict[str, list[RelatedNode]], limit: int) -> list[list[RelatedNode]]:
    """Split the limit among relations: those with few rows leave room to others."""
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


def _relative(
    targets: Targets, row: RelatedNode, reasons: Mapping[Node, str], owner: str
) -> Relative:
    why = reasons.get(row.node, "") if row.relation == "tests" else ""
    sites = tuple(f"{printed(path)}:{line}" for path, line in row.sites)
    via = targets.handle(row.via) if row.via is not None else ""
    target = targets.node(row.node)
    return Relative(row.relation, target, row.distance, sites, len(row.sites), via, why, owner)


def _path(targets: Targets, steps: Sequence[Step]) -> tuple[PathStep, ...]:
    rows = [PathStep(targets.node(steps[0].source), "", "")]
    for step in steps:
        site = f"{printed(step.source.path)}:{step.line}"
        rows.append(PathStep(targets.node(step.target), step.kind, site))
    return tuple(rows)
