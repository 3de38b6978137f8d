"""Who can be affected by a change, by distance, and which tests to run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from codelens.answers.graph_answers import AffectedNode, Changed, GraphNode, ImpactAnswer
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyNet
from codelens.engine.graph.possible_uses import may_hit
from codelens.engine.graph.targets import Targets
from codelens.engine.graph.unresolved_uses import hidden_notes, interface_notes, left_behind
from codelens.engine.impact.base_commit import Before, Formerly, Gone
from codelens.engine.impact.symbol_diff import Change, Changes
from codelens.engine.impact.tests_to_run import TestFiles, is_inline_test
from codelens.errors import SettingError
from codelens.handles.handle_grammar import file_handle, symbol_handle
from codelens.paths import printed
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.reach import DEEPEST, Reached, changed_file, changed_symbol, reach
from codelens.types import Receipt

MOST_TARGETS = 100
_NOTHING = Formerly((), {}, False)


@dataclass(slots=True)
class _Seeds:
    """What changes."""

    nodes: dict[Node, None] = field(default_factory=dict[Node, None])
    changed: list[Changed] = field(default_factory=list[Changed])
    paths: dict[bytes, None] = field(default_factory=dict[bytes, None])
    """Files that change, to find the tests named for them."""
    notes: list[str] = field(default_factory=list[str])
    gone: list[Gone] = field(default_factory=list[Gone])
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
    net: LazyNet
    things: Targets
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
        named = asked.things.find(target)
        if named.node.handle in told:
            continue
        told.add(named.node.handle)
        seeds.notes += [named.moved] if named.moved else []
        for node in named.nodes:
            of = changed_file(asked.net, node.path) if named.whole else None
            of = asked.things.without_namespaces(of) if of else changed_symbol(asked.net, node)
            seeds.nodes |= dict.fromkeys(of)
        seeds.changed += [Changed(one, "asked") for one in named.owners or (named.node,)]
        seeds.paths |= dict.fromkeys(named.paths)
    return _answer(asked, seeds, None, "")


def takes_away(found: Changes) -> bool:
    """Something stands no more where it stood: who used it is known to the commit alone."""
    return any(one.how in {"removed", "moved"} for one in found.changes)


def impact_of_diff(
    view: CurrentView, found: Changes, base: Base, depth: int, limit: int, seconds: float
) -> ImpactAnswer:
    """What uses the definitions that differ between a commit and the files as they are now.

    Args:
        view: the files as they are now.
        found: what differs.
        base: the commit, looked at if something of it is gone (`takes_away`).
        depth: steps at most.
        limit: results at most.
        seconds: how long files may be resolved for.
    """
    asked = _asked(view, depth, limit, seconds)
    seeds = _Seeds(notes=list(found.notes))
    for change in found.changes:
        _take(asked, change, seeds, base.name)
    seeds.notes += left_behind(asked.net, [one.name for one in seeds.gone if one.name])
    return _answer(asked, seeds, base, f"{base.name}@{found.commit[:7]}")


def check_depth(depth: int) -> None:
    """Refuse a depth that no question takes.

    Raises:
        SettingError: always when it refuses.
    """
    if not 1 <= depth <= DEEPEST:
        raise SettingError(f"depth must be between 1 and {DEEPEST}, not {depth}")


def _asked(view: CurrentView, depth: int, limit: int, seconds: float) -> _Asked:
    net = LazyNet(view, seconds)
    return _Asked(view, net, Targets(view, net), depth, limit, time.monotonic() + seconds)


def _take(asked: _Asked, change: Change, seeds: _Seeds, base: str) -> None:
    path = printed(change.path)
    test = asked.net.is_test(change.path)
    seeds.paths[change.path] = None
    if change.how == "removed":
        handle = (
            symbol_handle(change.path, change.name, 1, base)
            if change.name
            else file_handle(change.path, base)
        )
        gone = GraphNode(handle, path, 0, 0, change.name, change.kind or "file", "", test)
        seeds.changed.append(Changed(gone, "removed"))
        seeds.gone.append(Gone(change.path, change.name))
        return
    node = Node(change.path, change.symbol)
    before = ""
    if change.before:
        before = printed(change.before)
        seeds.gone.append(Gone(change.before, ""))
        seeds.moves[change.before] = change.path
        seeds.paths[change.before] = None
    if not change.harmless:
        # Lines that changed inside a type and in none of its members are of the type alone.
        seeds.nodes[node] = None
    if not change.told:
        return
    seeds.changed.append(Changed(asked.things.node(node), change.how, change.lines, before))


def _answer(asked: _Asked, seeds: _Seeds, base: Base | None, against: str) -> ImpactAnswer:
    net, things = asked.net, asked.things
    nodes = list(seeds.nodes)
    found = reach(net, nodes, asked.depth)
    receipt, notes = net.receipt(), list(seeds.notes)
    formerly, before = _NOTHING, list[str]()
    if seeds.gone and base is not None:
        formerly, before, receipt = _formerly(asked, seeds, base, receipt)
    every = _merged(found.found, formerly, seeds)
    files = TestFiles(asked.view, net, things)
    tests = files.called_for(nodes, seeds.paths, every)
    # Tests have a list of their own.
    hit = [
        one
        for one in every
        if not net.is_test(one.node.path) and not is_inline_test(things, one.node)
    ]
    shown = hit[: asked.limit]
    things.fetch(
        [one.node for one in shown] + [one.via for one in shown if one.node not in formerly.via]
    )
    # What is hit only through others has callers that hide as well.
    between = [one.node for one in hit if one.distance < asked.depth]
    open_to = [node for node in nodes if not files.is_fixture(node)]
    hidden = [*hidden_notes(net, open_to, between), *interface_notes(net, things, nodes), *before]
    cut = found.cut or formerly.cut
    notes += hidden
    if cut:
        notes.append("at least: more is affected than could be followed")
    may, may_count = may_hit(net, things, nodes, asked.limit)
    totals: dict[int, int] = {}
    for one in hit:
        totals[one.distance] = totals.get(one.distance, 0) + 1
    return ImpactAnswer(
        receipt=receipt,
        changed=tuple(seeds.changed),
        results=tuple(_hit(things, one, formerly) for one in shown),
        totals=tuple(sorted(totals.items())),
        files=len({one.node.path for one in hit} - seeds.paths.keys()),
        tests=tuple(tests[: asked.limit]),
        test_count=len(tests),
        at_least=bool(hidden) or bool(may) or cut or receipt.status != "fresh",
        base=against,
        may=may,
        may_count=may_count,
        notes=tuple(dict.fromkeys(notes)),
    )


def _formerly(
    asked: _Asked, seeds: _Seeds, base: Base, receipt: Receipt
) -> tuple[Formerly, list[str], Receipt]:
    """Who used what is gone; sentences on what that leaves open; the receipt of both graphs."""
    if base.view is None:
        note = f"users of deleted definitions are unknown: {base.lacking}"
        return _NOTHING, [f"at least: {note}"], receipt
    left = max(asked.deadline - time.monotonic(), 0.0)
    then = Before(base.view, asked.things, seeds.moves, left)
    nodes = then.nodes(seeds.gone)
    formerly = then.hit(nodes, asked.depth)
    where = f" at {base.name}"
    notes = hidden_notes(then.net, nodes, where=where)
    other = then.net.receipt()
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
    named = {node.path for node in every if node.symbol != MODULE}
    # A file that only imports is told by what in it uses the import, where something does.
    kept = (
        one
        for one in every.values()
        if one.node.symbol != MODULE or one.how != "import" or one.node.path not in named
    )
    return sorted(kept, key=lambda one: one.distance)


def _hit(things: Targets, one: Reached, formerly: Formerly) -> AffectedNode:
    # A call of a base's method stands at the base's definition: there is no place to point to.
    site = f"{printed(one.node.path)}:{one.line}"
    mine = one in formerly.found
    via = formerly.via[one.node] if mine else things.handle(one.via)
    return AffectedNode(things.node(one.node), one.distance, one.how, via, site)
