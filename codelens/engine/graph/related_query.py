"""What is related to a definition or a file, and the paths from one to another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from codelens.answers.graph_answers import PathStep, RelatedAnswer, Relative
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyNet
from codelens.engine.graph.ownership import Ownership
from codelens.engine.graph.possible_uses import may_hit
from codelens.engine.graph.relation_choice import relations
from codelens.engine.graph.targets import Named, Targets
from codelens.engine.graph.unresolved_uses import hidden_notes, interface_notes
from codelens.engine.impact.pytest_fixtures import Fixtures
from codelens.errors import SettingError
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
_SITES_SHOWN = 3
_TEST_DEPTH = 2
_ALSO_TESTS = frozenset({"callers", "users", "importers"})
_WEIGHTS = {"callers": 6, "callees": 4, "users": 3, "uses": 1, "imports": 2, "tests": 2}
"""Shares of the limit where not all can be shown."""
_HIDDEN_RELATIONS = frozenset({"callers", "users"})


def related(
    view: CurrentView, target: str, kinds: Sequence[str], direction: str, depth: int, limit: int,
    seconds: float,
) -> RelatedAnswer:  # fmt: skip
    """The definitions and files related to `target`.

    Raises:
        SettingError: `kinds`, `direction` or `depth` is none that there is.
        HandleError: `target` cannot be followed, or has several owners.
    """
    wanted = relations(kinds, direction)
    if not 1 <= depth <= MOST_DEPTH:
        raise SettingError(f"depth must be between 1 and {MOST_DEPTH}, not {depth}")
    net = LazyNet(view, seconds)
    things = Targets(view, net)
    named = things.find(target)
    asked = _target(things, named)
    walk = Walk(net, asked)
    found: dict[str, list[RelatedNode]] = {}
    why: dict[Node, str] = {}
    for relation in wanted:
        if relation == "tests":
            found[relation], why = _tests(view, net, things, walk, asked, named.paths)
        elif relation in STRUCTURE:
            structure = Ownership(view.snapshot, net.graph, net.naming)
            found[relation] = structure.related(relation, named.nodes, depth)
        else:
            found[relation] = walk.related(relation, depth)
    if "tests" in found:
        found = {one: _outside_tests(net, one, rows) for one, rows in found.items()}
    found = {relation: _telling(rows) for relation, rows in found.items() if rows}
    shown = [one for rows in _shares(found, limit) for one in rows]
    things.fetch([one.node for one in shown])
    notes = [named.moved] if named.moved else []
    notes += _cut_notes(walk.cut)
    may, may_count = (), 0
    if _HIDDEN_RELATIONS & set(wanted):
        may, may_count = may_hit(net, things, asked.nodes, limit)
        fixtures = Fixtures(view, net, things)
        notes += hidden_notes(net, [one for one in asked.nodes if not fixtures.is_one(one)])
        notes += interface_notes(net, things, asked.nodes)
    return RelatedAnswer(
        receipt=net.receipt(),
        target=named.node,
        results=tuple(_relative(things, one, why) for one in shown),
        totals=tuple((relation, len(rows)) for relation, rows in found.items()),
        may=may,
        may_count=may_count,
        notes=tuple(notes),
    )


def paths_between(
    view: CurrentView, target: str, goal: str, most: int, seconds: float
) -> RelatedAnswer:
    """Paths along which `target` uses `goal`; if there is none, those the other way round.

    Raises:
        SettingError: `most` is out of range.
        HandleError: one of them cannot be followed, or has several owners.
    """
    if not 1 <= most <= MOST_PATHS:
        raise SettingError(f"paths must be between 1 and {MOST_PATHS}, not {most}")
    net = LazyNet(view, seconds)
    things = Targets(view, net)
    first, last = things.find(target), things.find(goal)
    notes = [one.moved for one in (first, last) if one.moved]
    start, end = _target(things, first), _target(things, last)
    if start.inside & end.inside:
        raise SettingError(
            f"{target!r} and {goal!r} are the same, or one contains the other; give two "
            "separate definitions"
        )
    found, turned = routes(net, start, end, most), False
    complete = found.complete
    if not found.paths:
        found = routes(net, end, start, most)
        turned, complete = bool(found.paths), complete and found.complete
    if not complete:
        notes.append("the search was cut short; there may be more and shorter paths")
    if not found.paths:
        notes.append(f"no path of at most {MOST_STEPS} certain steps in either direction")
    elif turned:
        notes.append(f"{target} does not lead to {goal}; these paths lead from {goal} to {target}")
    return RelatedAnswer(
        receipt=net.receipt(),
        target=first.node,
        results=(),
        totals=(("paths", len(found.paths)),),
        paths=tuple(_path(things, steps) for steps in found.paths),
        goal=last.node,
        reversed=turned,
        notes=tuple(notes),
    )


def _target(things: Targets, named: Named) -> Target:
    net = things.net
    several = [
        _file_target(things, one.path) if named.whole else symbol_target(net, one)
        for one in named.nodes
    ]
    if len(several) == 1:
        return several[0]
    nodes = named.nodes
    if named.whole:
        nodes = [node for one in several for node in one.nodes]
    inside = frozenset(node for one in several for node in one.inside)
    return Target(tuple(nodes), inside, whole=named.whole)


def _file_target(things: Targets, path: bytes) -> Target:
    whole = file_target(things.net, path)
    return whole._replace(nodes=tuple(things.without_namespaces(whole.nodes)))


def _tests(
    view: CurrentView, net: LazyNet, things: Targets, walk: Walk, asked: Target,
    paths: Sequence[bytes],
) -> tuple[list[RelatedNode], dict[Node, str]]:  # fmt: skip
    """Tests that reach the target in two steps, and test files named for its files."""
    found: dict[Node, RelatedNode] = {}
    why: dict[Node, str] = {}
    said = {"callers": "calls it", "users": "uses it", "importers": "imports it"}
    for relation, words in said.items():
        deep = relation == "callers" and not asked.whole
        for one in walk.related(relation, _TEST_DEPTH if deep else 1):
            if net.is_test(one.node.path) and one.node not in found:
                found[one.node] = one._replace(relation="tests")
                why[one.node] = words if one.distance == 1 else "calls a caller of it"
    reached = [*((node, 0) for node in asked.nodes), *((node, 1) for node in found)]
    for one in Fixtures(view, net, things).through(reached):
        if one.node not in found and one.node not in asked.inside:
            where = ((one.node.path, one.line),)
            found[one.node] = RelatedNode("tests", one.node, one.distance, where, None)
            why[one.node] = f"uses the fixture {things.handle(one.via)}"
    by_path = {node.path for node in found}
    files = net.test_files()
    run = to_run(files)
    for path in paths:
        for test in net.tests_named_for(path):
            if test in run and test not in by_path and test not in paths:
                node = Node(test, MODULE)
                found[node] = RelatedNode("tests", node, 1, (), None)
                why[node] = f"named for {printed(path)}"
    # A file that is only imported is told by the tests in it, where there are some.
    inner = {node.path for node in found if node.symbol != MODULE}
    kept = [one for node, one in found.items() if node.symbol != MODULE or node.path not in inner]
    return sorted(kept, key=lambda one: (one.distance, -len(one.sites), one.node)), why


def _outside_tests(net: LazyNet, relation: str, rows: list[RelatedNode]) -> list[RelatedNode]:
    """Without what is told under `tests`."""
    if relation not in _ALSO_TESTS:
        return rows
    return [one for one in rows if not net.is_test(one.node.path)]


def _telling(rows: list[RelatedNode]) -> list[RelatedNode]:
    """Without a file of which something is listed as well, where definitions are meant."""
    if rows[0].relation not in {"users", "uses", "callees", "callers"}:
        return rows
    named = {one.node.path for one in rows if one.node.symbol != MODULE}
    return [one for one in rows if one.node.symbol != MODULE or one.node.path not in named]


def _shares(found: dict[str, list[RelatedNode]], limit: int) -> list[list[RelatedNode]]:
    """Of each relation as many as the limit has room for: what few need is left to the others."""
    room = limit
    weights = {relation: _WEIGHTS.get(relation, 2) for relation in found}
    left = sum(weights.values())
    taken: dict[str, list[RelatedNode]] = {}
    for relation, rows in sorted(found.items(), key=lambda item: len(item[1]) / weights[item[0]]):
        share = max(room * weights[relation] // left, 1) if room > 0 else 0
        taken[relation] = rows[:share]
        room -= len(taken[relation])
        left -= weights[relation]
    return [taken[relation] for relation in found]


def _cut_notes(cut: Collection[str]) -> list[str]:
    return [f"more {', '.join(sorted(cut))} than could be followed"] if cut else []


def _relative(things: Targets, one: RelatedNode, reasons: Mapping[Node, str]) -> Relative:
    why = reasons.get(one.node, "") if one.relation == "tests" else ""
    sites = tuple(f"{printed(path)}:{line}" for path, line in one.sites[:_SITES_SHOWN])
    via = things.handle(one.via) if one.via is not None else ""
    thing = things.node(one.node)
    return Relative(one.relation, thing, one.distance, sites, len(one.sites), via, why)


def _path(things: Targets, steps: Sequence[Step]) -> tuple[PathStep, ...]:
    rows = [PathStep(things.node(steps[0].source), "", "")]
    for step in steps:
        site = f"{printed(step.source.path)}:{step.line}"
        rows.append(PathStep(things.node(step.target), step.kind, site))
    return tuple(rows)
