"""Who can be hit by a change, by distance, and which tests to run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.engine.as_text import count_of
from codelens.engine.changes import Change, changes_of
from codelens.engine.graph_answers import Changed, Hit, ImpactAnswer, TestFile, Thing
from codelens.engine.graphs import LazyNet
from codelens.engine.look import Look
from codelens.engine.related import hidden_notes
from codelens.engine.things import Things
from codelens.errors import SettingError
from codelens.handles.grammar import file_handle
from codelens.paths import printed
from codelens.resolve.conventions import named_for
from codelens.resolve.net import MODULE, Node
from codelens.resolve.reach import DEEPEST, Reach, Reached, changed_file, changed_symbol, reach

MOST_TARGETS = 100
_HANDLES_SHOWN = 5
_LEFT_SHOWN = 3


class _Seeds(NamedTuple):
    nodes: list[Node]
    changed: list[Changed]
    paths: list[bytes]
    """Files that change, to find the tests named for them."""
    notes: list[str]


def impact(
    look: Look, targets: Sequence[str], depth: int, limit: int, seconds: float
) -> ImpactAnswer:
    """What uses the targets, through others or not.

    Raises:
        SettingError: `depth` is out of range, or there are no or too many targets.
        HandleError: a target cannot be followed, or has several owners.
    """
    _check(depth)
    if not 1 <= len(targets) <= MOST_TARGETS:
        raise SettingError(f"give 1 to {MOST_TARGETS} targets, not {len(targets)}")
    net = LazyNet(look, seconds)
    things = Things(look, net)
    seeds = _Seeds([], [], [], [])
    for target in targets:
        place, nodes = things.find(target)
        seeds.notes.extend([place.moved] if place.moved else [])
        for node in nodes:
            whole = node.symbol == MODULE and place.lines is None
            seeds.nodes.extend(changed_file(net, node.path) if whole else changed_symbol(net, node))
            seeds.changed.append(Changed(things.thing(node), "asked"))
            seeds.paths.append(node.path)
    return _answer(look, net, things, seeds, depth, limit, "")


def impact_of_diff(look: Look, base: str, depth: int, limit: int, seconds: float) -> ImpactAnswer:
    """What uses the definitions that differ between a commit and the files as they are now.

    Raises:
        SettingError: `depth` is out of range.
        NoSuchRef: `base` names no commit, or there is none yet.
        ReadError: what git has cannot be read.
    """
    _check(depth)
    net = LazyNet(look, seconds)
    things = Things(look, net)
    found = changes_of(look, base)
    seeds = _Seeds([], [], [], list(found.notes))
    for change in found.changes:
        _take(net, things, change, seeds)
    return _answer(look, net, things, seeds, depth, limit, f"{base}@{found.commit[:7]}")


def _check(depth: int) -> None:
    if not 1 <= depth <= DEEPEST:
        raise SettingError(f"depth must be between 1 and {DEEPEST}, not {depth}")


def _take(net: LazyNet, things: Things, change: Change, seeds: _Seeds) -> None:
    path = printed(change.path)
    test = net.is_test(change.path)
    if change.path not in seeds.paths:
        seeds.paths.append(change.path)
    if change.how == "removed" and not change.name:
        gone = Thing(file_handle(change.path, things.ref), path, 0, 0, "", "file", "", test)
        seeds.changed.append(Changed(gone, "removed"))
        return
    if change.how == "removed":
        gone = Thing(f"{path}#{change.name}", path, 0, 0, change.name, change.kind, "", test)
        seeds.changed.append(Changed(gone, "removed"))
        seeds.notes.extend(_left_behind(net, change.name))
        return
    node = Node(change.path, change.symbol)
    # Lines that changed inside a type and in none of its members are of the type alone.
    seeds.nodes.append(node)
    seeds.changed.append(Changed(things.thing(node), change.how, change.lines))


def _left_behind(net: LazyNet, qualified: str) -> list[str]:
    """Uses of a name whose definition is gone, that lead nowhere now."""
    name = qualified.rpartition(".")[2]
    table = net.table()
    sites: list[tuple[bytes, int]] = []
    for path, places in net.holding({name}):
        if not places:
            continue
        net.resolve([path])
        if path in table:
            told = table.lines(path, name)
            sites += [(path, one.line) for one in places if one.line not in told]
    if not sites:
        return []
    shown = ", ".join(f"{printed(path)}:{line}" for path, line in sites[:_LEFT_SHOWN])
    more = ", ..." if len(sites) > _LEFT_SHOWN else ""
    left = count_of(len(sites), "use")
    return [f"{qualified} is gone; {left} of its name lead nowhere now: {shown}{more}"]


def _answer(
    look: Look, net: LazyNet, things: Things, seeds: _Seeds, depth: int, limit: int, base: str
) -> ImpactAnswer:  # fmt: skip
    nodes = list(dict.fromkeys(seeds.nodes))
    found = reach(net, nodes, depth)
    tests = _tests(look, net, things, found, seeds)
    # Tests have a list of their own.
    hit = [one for one in found.found if not net.is_test(one.node.path)]
    shown = hit[:limit]
    things.fetch([one.node for one in shown] + [one.via for one in shown])
    hidden = hidden_notes(net, nodes)
    # What is hit only through others has callers that hide as well.
    between = [one.node for one in hit if one.distance < depth]
    hidden += hidden_notes(net, between, "of what is hit ")
    notes = [*seeds.notes, *hidden]
    if found.cut:
        notes.append("at least: more is hit than could be followed")
    outside = {one.node.path for one in hit}
    totals: dict[int, int] = {}
    for one in hit:
        totals[one.distance] = totals.get(one.distance, 0) + 1
    receipt = net.receipt()
    return ImpactAnswer(
        receipt=receipt,
        changed=tuple(seeds.changed),
        results=tuple(_hit(things, one) for one in shown),
        totals=tuple(sorted(totals.items())),
        files=len(outside - set(seeds.paths)),
        tests=tuple(tests[:limit]),
        test_count=len(tests),
        at_least=bool(hidden) or found.cut or receipt.status != "fresh",
        base=base,
        notes=tuple(dict.fromkeys(notes)),
    )


def _hit(things: Things, one: Reached) -> Hit:
    # A call of a base's method stands at the base's definition: there is no place to point to.
    site = f"{printed(one.node.path)}:{one.line}"
    return Hit(things.thing(one.node), one.distance, one.how, things.handle(one.via), site)


def _tests(look: Look, net: LazyNet, things: Things, found: Reach, seeds: _Seeds) -> list[TestFile]:
    """Test files that change, are named for what changes, or reach it; nearest first."""
    rows: dict[bytes, TestFile] = {}
    files = [file.path for file in look.snapshot.files if net.is_test(file.path)]
    present = set(files)
    for path in seeds.paths:
        if path in present:
            rows.setdefault(path, TestFile(printed(path), 0, "changes itself", ()))
        for test in named_for(path, files):
            why = f"named for {printed(path)}"
            rows.setdefault(test, TestFile(printed(test), 0, why, ()))
    reached: dict[bytes, list[Reached]] = {}
    for one in found.found:
        if one.node.path in present:
            reached.setdefault(one.node.path, []).append(one)
    for path, ones in reached.items():
        handles = _handles(things, ones)
        nearest = min(one.distance for one in ones)
        why = f"reaches it in {count_of(nearest, 'step')}"
        known = rows.get(path)
        if known is not None:
            rows[path] = TestFile(known.path, 0, f"{known.why}; {why}", handles)
        else:
            rows[path] = TestFile(printed(path), nearest, why, handles)
    return sorted(rows.values(), key=lambda row: (row.distance, -len(row.handles), row.path))


def _handles(things: Things, ones: Iterable[Reached]) -> tuple[str, ...]:
    nodes = [one.node for one in sorted(ones, key=lambda one: (one.distance, one.node))]
    named = [node for node in nodes if node.symbol != MODULE]
    return tuple(things.handle(node) for node in named[:_HANDLES_SHOWN])
