"""Who can be affected by a change, by distance, and which tests to run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from codelens.answers.graph_answers import AffectedNode, Changed, Fit, GraphNode, ImpactAnswer
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.possible_uses import may_hit
from codelens.engine.graph.targets import Targets
from codelens.engine.graph.unresolved_uses import hidden_notes, interface_notes, left_behind
from codelens.engine.impact.base_commit import Before, Former, Formerly
from codelens.engine.impact.call_fit import Calls, Redeclared, count_by_fit
from codelens.engine.impact.symbol_diff import Change, Changes
from codelens.engine.impact.tests_to_run import TestFiles, is_inline_test
from codelens.errors import InvalidArgument, SettingError
from codelens.handles.handle_grammar import file_handle, symbol_handle
from codelens.paths import printed
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.reach import DEEPEST, Reached, changed_file, changed_symbol, reach
from codelens.types import Receipt

MOST_TARGETS = 100
_NOTHING = Formerly((), {}, {}, False)


@dataclass(slots=True)
class _Seeds:
    """What changes."""

    nodes: dict[Node, None] = field(default_factory=dict[Node, None])
    changed: list[Changed] = field(default_factory=list[Changed])
    paths: dict[bytes, None] = field(default_factory=dict[bytes, None])
    """Files that change, to find the tests named for them."""
    notes: list[str] = field(default_factory=list[str])
    formers: list[Former] = field(default_factory=list[Former])
    """What of the commit does not stand as it stood."""
    redeclared: list[Redeclared] = field(default_factory=list[Redeclared])
    gone: list[str] = field(default_factory=list[str])
    """Qualified names that nothing has any more."""
    come: set[str] = field(default_factory=set[str])
    """Names of what is new."""
    moves: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])


class Base(NamedTuple):
    """The commit that a diff is against."""

    name: str
    """As the caller wrote it."""
    view: CurrentView | None
    """At its files; None where nothing of it is needed, or it cannot be had."""
    lacking: str = ""
    """Why it cannot be had."""


class _Asked(NamedTuple):
    view: CurrentView
    graph: LazyGraph
    targets: Targets
    depth: int
    limit: int
    deadline: float


def impact(
    view: CurrentView, targets: Sequence[str], depth: int, limit: int, seconds: float
) -> ImpactAnswer:
    """What uses the targets, through others or not.

    Raises:
        SettingError: `depth` is out of range, or there are no or too many targets.
        HandleError: a target cannot be followed, or has several owners.
    """
    check_depth(depth)
    if not 1 <= len(targets) <= MOST_TARGETS:
        raise SettingError(f"give 1 to {MOST_TARGETS} targets, not {len(targets)}")
    asked = _asked(view, depth, limit, seconds)
    seeds, told = _Seeds(), set[str]()
    for target in dict.fromkeys(targets):
        named = asked.targets.find(target)
        if named.node.handle in told:
            continue
        told.add(named.node.handle)
        seeds.notes += [named.moved] if named.moved else []
        for node in named.nodes:
            of = changed_file(asked.graph, node.path) if named.whole else None
            of = asked.targets.without_namespaces(of) if of else changed_symbol(asked.graph, node)
            seeds.nodes |= dict.fromkeys(of)
        seeds.changed += [Changed(one, "asked") for one in named.owners or (named.node,)]
        seeds.paths |= dict.fromkeys(named.paths)
    return _answer(asked, seeds, None, "")


def asks_base(found: Changes) -> bool:
    """Something does not stand as it stood: who used it is known to the commit alone.

    Where nothing can be seen to differ from other files, each use leads where it led.
    """
    return found.seen_outside and any(one.how != "added" for one in found.changes)


def impact_of_diff(
    view: CurrentView, found: Changes, base: Base, depth: int, limit: int, seconds: float
) -> ImpactAnswer:
    """What uses the definitions that differ between a commit and the files as they are now.

    Args:
        view: the files as they are now.
        found: what differs.
        base: the commit, looked at if something of it does not stand as it stood (`asks_base`).
        depth: steps at most.
        limit: results at most.
        seconds: how long files may be resolved for.
    """
    asked = _asked(view, depth, limit, seconds)
    seeds = _Seeds(notes=list(found.notes))
    for change in found.changes:
        _take(asked, change, seeds, base.name)
    seeds.notes += left_behind(asked.graph, seeds.gone)
    return _answer(asked, seeds, base, f"{base.name}@{found.commit[:7]}", found.became)


def check_depth(depth: int) -> None:
    """Refuse a depth that no question takes.

    Raises:
        SettingError: always when it refuses.
    """
    if not 1 <= depth <= DEEPEST:
        raise InvalidArgument("depth", f"must be between 1 and {DEEPEST}, not {depth}")


def _asked(view: CurrentView, depth: int, limit: int, seconds: float) -> _Asked:
    graph = LazyGraph(view, seconds)
    return _Asked(view, graph, Targets(view, graph), depth, limit, time.monotonic() + seconds)


def _take(asked: _Asked, change: Change, seeds: _Seeds, base: str) -> None:
    path = printed(change.path)
    test = asked.graph.is_test(change.path)
    seeds.paths[change.path] = None
    if change.how == "removed":
        handle = (
            symbol_handle(change.path, change.name, change.number, base)
            if change.name
            else file_handle(change.path, base)
        )
        gone = GraphNode(handle, path, 0, 0, change.name, change.kind or "file", "", test)
        seeds.changed.append(Changed(gone, "removed"))
        seeds.formers.append(Former(change.path, change.was))
        if change.was is not None:
            seeds.redeclared.append(Redeclared(Node(change.path, change.was), None))
            if all(one.qualified != change.name for one in asked.targets.symbols(change.path)):
                seeds.gone.append(change.name)
        return
    node = Node(change.path, change.symbol)
    before = ""
    if change.before:
        before = printed(change.before)
        seeds.formers.append(Former(change.before, None))
        seeds.moves[change.before] = change.path
        seeds.paths[change.before] = None
    if not change.harmless:
        # Lines that changed inside a type and in none of its members are of the type alone.
        seeds.nodes[node] = None
    if change.how == "added" and node.symbol != MODULE:
        seeds.come.add(asked.targets.symbols(node.path)[node.symbol].name)
    elif change.was is not None:
        seeds.formers.append(Former(change.path, change.was))
        seeds.redeclared.append(Redeclared(Node(change.path, change.was), node))
    if not change.told:
        return
    seeds.changed.append(Changed(asked.targets.node(node), change.how, change.lines, before))


def _answer(
    asked: _Asked, seeds: _Seeds, base: Base | None, against: str,
    became: Mapping[bytes, Mapping[int, int]] | None = None,
) -> ImpactAnswer:  # fmt: skip
    graph, targets = asked.graph, asked.targets
    nodes = list(seeds.nodes)
    found = reach(graph, nodes, asked.depth)
    receipt, notes = graph.receipt(), list(seeds.notes)
    formerly, before = _NOTHING, list[str]()
    if seeds.formers and base is not None and (base.view is not None or base.lacking):
        formerly, before, receipt = _formerly(asked, seeds, base, became or {}, receipt)
    every = _merged(found.found, formerly, seeds)
    files = TestFiles(asked.view, graph, targets)
    tests = files.called_for(nodes, seeds.paths, every)
    # Tests have a list of their own.
    hit = [
        one
        for one in every
        if not graph.is_test(one.node.path) and not is_inline_test(targets, one.node)
    ]
    shown = hit[: asked.limit]
    targets.fetch(
        [one.node for one in shown] + [one.via for one in shown if one.node not in formerly.via]
    )
    # What is hit only through others has callers that hide as well.
    between = [one.node for one in hit if one.distance < asked.depth]
    open_to = [node for node in nodes if not files.is_fixture(node)]
    hidden = [
        *hidden_notes(graph, open_to, between),
        *interface_notes(graph, targets, nodes),
        *before,
    ]
    cut = found.cut or formerly.cut
    notes += hidden
    if cut:
        notes.append("at least: more is affected than could be followed")
    may, may_count = may_hit(graph, targets, nodes, asked.limit)
    totals: dict[int, int] = {}
    for one in hit:
        totals[one.distance] = totals.get(one.distance, 0) + 1
    return ImpactAnswer(
        receipt=receipt,
        changed=tuple(seeds.changed),
        results=tuple(_hit(targets, one, formerly) for one in shown),
        totals=tuple(sorted(totals.items())),
        files=len({one.node.path for one in hit} - seeds.paths.keys()),
        tests=tuple(tests[: asked.limit]),
        test_count=len(tests),
        at_least=bool(hidden) or bool(may) or cut or receipt.status != "fresh",
        base=against,
        fits=count_by_fit(_fit(one, formerly) for one in hit),
        may=may,
        may_count=may_count,
        notes=tuple(dict.fromkeys(notes)),
    )


def _formerly(
    asked: _Asked, seeds: _Seeds, base: Base, became: Mapping[bytes, Mapping[int, int]],
    receipt: Receipt,
) -> tuple[Formerly, list[str], Receipt]:  # fmt: skip
    """Who used what stands no more as it stood; what that leaves open; the receipt of both."""
    if base.view is None:
        note = f"who used what is changed or gone at {base.name} is unknown: {base.lacking}"
        return _NOTHING, [f"at least: {note}"], receipt
    left = max(asked.deadline - time.monotonic(), 0.0)
    then = Before(base.view, asked.targets, seeds.moves, became, left)
    nodes = then.nodes(seeds.formers)
    formerly = then.hit(nodes, asked.depth)
    fits = Calls(asked.targets, then, seeds.come).fits(seeds.redeclared)
    formerly = formerly._replace(fits=fits)
    where = f" at {base.name}"
    notes = hidden_notes(then.graph, nodes, where=where)
    other = then.graph.receipt()
    if other.status != "fresh":
        note = "; ".join(filter(None, (receipt.note, f"{base.name}: {other.note or other.status}")))
        receipt = replace(receipt, status="partial", note=note)
    return formerly, notes, receipt


def _merged(found: Sequence[Reached], formerly: Formerly, seeds: _Seeds) -> list[Reached]:
    """What is hit now, and what was at the commit and is no part of the change itself."""
    if not formerly.found:
        return list(found)
    every = {one.node: one for one in formerly.found if one.node not in seeds.nodes}
    for one in found:
        known = every.get(one.node)
        if known is None or one.distance < known.distance:
            every[one.node] = one
        elif one.distance == known.distance == 1 and one.via in seeds.nodes:
            # Both graphs have it: the place of now is told.
            every[one.node] = one
    named = {node.path for node in every if node.symbol != MODULE}
    # A file that only imports is told by what in it uses the import, where something does.
    kept = (
        one
        for one in every.values()
        if one.node.symbol != MODULE or one.how != "import" or one.node.path not in named
    )
    order = ("breaks", "uncertain", "fits", None)
    return sorted(kept, key=lambda one: (one.distance, order.index(_fit(one, formerly))))


def _fit(one: Reached, formerly: Formerly) -> Fit | None:
    return formerly.fits.get(one.node) if one.distance == 1 else None


def _hit(targets: Targets, one: Reached, formerly: Formerly) -> AffectedNode:
    # A call of a base's method stands at the base's definition: there is no place to point to.
    site = f"{printed(one.node.path)}:{one.line}"
    mine = one in formerly.found
    via = formerly.via[one.node] if mine else targets.handle(one.via)
    return AffectedNode(
        targets.node(one.node), one.distance, one.how, via, site, _fit(one, formerly)
    )
