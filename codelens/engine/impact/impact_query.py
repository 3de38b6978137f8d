"""Answers `impact`: what a change can affect, by distance, and which tests to run."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from codelens.answers.graph_answers import (
    AffectedNode,
    Changed,
    Fit,
    GraphNode,
    ImpactAnswer,
    PossibleUse,
)
from codelens.engine.contexts.notes_here import ShownPlace, notes_on
from codelens.engine.current_view import CurrentView, OpenRepository, ViewRequest, current_view
from codelens.engine.graph import candidate_files
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.possible_uses import (
    Unresolved,
    ambiguous_sites,
    grouped,
    hidden_notes,
    interface_notes,
    left_behind,
    oversized_notes,
    unexplained,
    unresolved,
)
from codelens.engine.graph.targets import Named, Targets
from codelens.engine.graph.text_uses import TextTargets, asked_of, text_uses, together
from codelens.engine.impact.call_fit import (
    BaseGraph,
    BaseNode,
    BaseUsers,
    CallJudge,
    Redeclared,
    contracts_of,
    count_by_fit,
    promised,
)
from codelens.engine.impact.called_tests import TestFiles, is_inline_test
from codelens.engine.impact.symbol_diff import (
    Change,
    Changes,
    changed_files,
    changes_of,
    commit_of,
)
from codelens.engine.index_pool import IndexPool, seconds_left
from codelens.errors import IndexLocked, InvalidArgument, ReadError, SettingError
from codelens.handles.handle_grammar import file_handle, symbol_handle
from codelens.index.view_update import FEW_FILES
from codelens.paths import printed
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.reach import (
    DEEPEST,
    Reach,
    Reached,
    changed_file,
    changed_symbol,
    reach,
    without_imports,
)
from codelens.types import Receipt

_OF_USERS = 0.5
"""Weight of notes on direct users, relative to notes on what changes."""
# What a change affects, by distance.

MOST_TARGETS = 100
_NOTHING = BaseUsers((), {}, {}, False)


@dataclass(slots=True)
class _Seeds:
    """The changed nodes."""

    nodes: dict[Node, None] = field(default_factory=dict[Node, None])
    changed: list[Changed] = field(default_factory=list[Changed])
    paths: dict[bytes, None] = field(default_factory=dict[bytes, None])
    """Changed files, for finding the tests named for them."""
    notes: list[str] = field(default_factory=list[str])
    base_nodes: list[BaseNode] = field(default_factory=list[BaseNode])
    """Nodes of the commit that were changed or deleted."""
    redeclared: list[Redeclared] = field(default_factory=list[Redeclared])
    gone: list[str] = field(default_factory=list[str])
    """Qualified names that no longer exist."""
    added_names: set[str] = field(default_factory=set[str])
    """Names of new definitions."""
    moves: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    text_targets: list[TextTargets] = field(default_factory=list[TextTargets])
    """Templates and settings, which strings name."""
    owners: list[tuple[GraphNode, Sequence[Node]]] = field(
        default_factory=list[tuple[GraphNode, Sequence[Node]]]
    )
    """If the only target is a name of several definitions: each of them, with the nodes that change
    with it."""


class Base(NamedTuple):
    """The commit that a diff compares with."""

    name: str
    """The text of the caller."""
    view: CurrentView | None
    """View of its files; None if it is not needed or not available."""
    lacking: str = ""
    """Why it is not available."""


class _Question(NamedTuple):
    view: CurrentView
    graph: LazyGraph
    targets: Targets
    depth: int
    limit: int
    deadline: float


def impact(
    view: CurrentView, targets: Sequence[str], depth: int, limit: int, seconds: float
) -> ImpactAnswer:
    """What uses the targets, directly or indirectly.

    Raises:
        SettingError: `depth` or the number of targets is out of range.
        HandleError: a target cannot be followed, or has several owners.
    """
    _check_depth(depth)
    if not 1 <= len(targets) <= MOST_TARGETS:
        raise SettingError(f"give 1 to {MOST_TARGETS} targets, not {len(targets)}")
    question = _question(view, depth, limit, seconds)
    seeds, handles = _Seeds(), set[str]()
    for target in dict.fromkeys(targets):
        named = question.targets.find(target)
        if named.node.handle in handles:
            continue
        handles.add(named.node.handle)
        if len(targets) == 1:
            seeds.owners = [(part.node, _changing(question, part)) for part in named.parts]
        seeds.notes += [named.moved] if named.moved and not seeds.owners else []
        seeds.nodes |= dict.fromkeys(_changing(question, named))
        seeds.changed += [
            Changed(node_asked, "asked") for node_asked in named.owners or (named.node,)
        ]
        seeds.paths |= dict.fromkeys(named.paths)
        seeds.text_targets.append(asked_of(question.targets, named))
    return _answer(question, seeds, None, "")


def _changing(question: _Question, named: Named) -> Sequence[Node]:
    """The nodes that change with a target."""
    graph = question.graph
    changing: dict[Node, None] = {}
    for node in named.nodes:
        whole = changed_file(graph, node.path) if named.whole else []
        members = question.targets.without_namespaces(whole) or changed_symbol(graph, node)
        changing |= dict.fromkeys(members)
    return list(changing)


def _asks_base(diff: Changes) -> bool:
    """Whether something was changed or deleted whose users only the commit knows.

    If other files cannot see a difference, each use still has the same target.
    """
    return diff.seen_outside and any(change.how != "added" for change in diff.changes)


def _of_diff(
    view: CurrentView, diff: Changes, base: Base, depth: int, *, limit: int, seconds: float
) -> ImpactAnswer:
    """What uses the definitions that differ between a commit and the current files.

    Args:
        view: of the current files.
        diff: the differences.
        base: the commit, with a view if `_asks_base` is true.
        depth: maximum number of steps.
        limit: maximum number of results.
        seconds: time limit for resolving files.
    """
    question = _question(view, depth, limit, seconds)
    seeds = _Seeds(notes=list(diff.notes))
    for change in diff.changes:
        _take(question, change, seeds, base.name)
    seeds.notes += left_behind(question.graph, seeds.gone)
    seeds.text_targets.append(TextTargets(tuple(seeds.paths), diff.keys))
    return _answer(question, seeds, base, f"{base.name}@{diff.commit[:7]}", diff.new_positions)


def changes_since(
    pool: IndexPool, request: ViewRequest, diff: str, depth: int, *, limit: int, now_s: float
) -> ImpactAnswer:
    """What the changes since the commit `diff` can affect, with the saved notes on it."""
    _check_depth(depth)
    started = time.monotonic()
    with _view_of_changes(pool, request, diff) as view:
        with view.reading():
            changes = changes_of(view, diff)
        base = Base(diff, None)
        if _asks_base(changes):
            base = _base(view.opened, diff, request)
        with view.reading():
            left = seconds_left(request.budget_ms, started)
            answer = _of_diff(view, changes, base, depth, limit=limit, seconds=left)
        for walked in (view, base.view):
            if walked is not None:
                candidate_files.keep(walked)
        return with_notes(view, answer, now_s)


@contextmanager
def _view_of_changes(pool: IndexPool, request: ViewRequest, diff: str) -> Generator[CurrentView]:
    """A view of the changed files; files that a partial view lacks are read first."""
    with pool.view(request) as view:
        unread: list[bytes] = []
        if view.refreshed.status != "fresh":
            with view.reading():
                unread = changed_files(view, commit_of(view, diff)).unread
        if not unread:
            yield view
            return
    targets = tuple(map(os.fsdecode, unread[:FEW_FILES]))
    with pool.view(request._replace(targets=targets)) as view:
        yield view


def _base(opened: OpenRepository, diff: str, request: ViewRequest) -> Base:
    """The commit to compare with, and its view if it can be indexed."""
    at = opened.at(diff)
    try:
        return Base(diff, current_view(at, request))
    except (IndexLocked, ReadError) as error:
        return Base(diff, None, str(error))


def with_notes(view: CurrentView, answer: ImpactAnswer, now_s: float) -> ImpactAnswer:
    """Add the saved notes on what changes and on its direct users."""
    nodes = [(change.node, 1.0) for change in answer.changed]
    nodes += [(result.node, _OF_USERS) for result in answer.results if result.distance == 1]
    places = [
        ShownPlace(node.path, node.start_line, node.end_line, nearness)
        for node, nearness in nodes
        if node.end_line
    ]
    here = notes_on(view, places, "", now_s)
    return replace(answer, contexts=here.notes, notes=(*answer.notes, *here.warnings))


def _check_depth(depth: int) -> None:
    """Check the depth of a call.

    Raises:
        SettingError: it is out of range.
    """
    if not 1 <= depth <= DEEPEST:
        raise InvalidArgument("depth", f"must be between 1 and {DEEPEST}, not {depth}")


def _question(view: CurrentView, depth: int, limit: int, seconds: float) -> _Question:
    graph = LazyGraph(view, seconds)
    return _Question(view, graph, Targets(view, graph), depth, limit, time.monotonic() + seconds)


def _take(question: _Question, change: Change, seeds: _Seeds, base: str) -> None:
    path = printed(change.path)
    test = question.graph.is_test(change.path)
    seeds.paths[change.path] = None
    if change.how == "removed":
        handle = (
            symbol_handle(change.path, change.name, change.number, base)
            if change.name
            else file_handle(change.path, base)
        )
        gone = GraphNode(handle, path, 0, 0, change.name, change.kind or "file", "", test)
        seeds.changed.append(Changed(gone, "removed"))
        seeds.base_nodes.append(BaseNode(change.path, change.old_symbol))
        if change.old_symbol is not None:
            seeds.redeclared.append(Redeclared(Node(change.path, change.old_symbol), None))
            if all(
                symbol.qualified != change.name for symbol in question.targets.symbols(change.path)
            ):
                seeds.gone.append(change.name)
        return
    node = Node(change.path, change.symbol)
    before = ""
    if change.before:
        before = printed(change.before)
        seeds.base_nodes.append(BaseNode(change.before, None))
        seeds.moves[change.before] = change.path
        seeds.paths[change.before] = None
    if not change.harmless:
        # Changed lines in a type outside of its members belong to the type only.
        seeds.nodes |= dict.fromkeys((node, question.graph.body_of(node)))
    if change.how == "added" and node.symbol != MODULE:
        seeds.added_names.add(question.targets.symbols(node.path)[node.symbol].name)
    elif change.old_symbol is not None:
        seeds.base_nodes.append(BaseNode(change.path, change.old_symbol))
        seeds.redeclared.append(Redeclared(Node(change.path, change.old_symbol), node))
    if not change.listed:
        return
    seeds.changed.append(Changed(question.targets.node(node), change.how, change.lines, before))


def _answer(
    question: _Question, seeds: _Seeds, base: Base | None, against: str,
    new_positions: Mapping[bytes, Mapping[int, int]] | None = None,
) -> ImpactAnswer:  # fmt: skip
    graph, targets = question.graph, question.targets
    nodes = list(seeds.nodes)
    reached, by_owner = _reached(question, seeds, base)
    receipt, notes = graph.receipt(), list(seeds.notes)
    base_users, base_notes = _NOTHING, list[str]()
    if seeds.base_nodes and base is not None and (base.view is not None or base.lacking):
        base_users, base_notes, receipt = _users_at_base(
            question, seeds, base, new_positions or {}, receipt
        )
    every, only_import = without_imports(_merged(reached.users, base_users, seeds))
    files = TestFiles(question.view, graph, targets)
    tests = files.called_for(nodes, seeds.paths, every)
    hit = _outside_tests(question, every, {test.path for test in tests})
    parts = _parts(question, by_owner, {test.path for test in tests}) or [("", hit)]
    shown = _shared(parts, question.limit)
    targets.fetch(
        [user.node for _, user in shown]
        + [user.via for _, user in shown if user.node not in base_users.via]
    )
    # Callers of indirect users may be unresolved, too.
    between = [user.node for user in hit if user.distance < question.depth]
    named = [node for node in nodes if not files.is_fixture(node)]
    unresolved_uses = unresolved(graph, targets, named, inside=seeds.nodes)
    hidden = [
        *hidden_notes(graph, unresolved_uses, between),
        *interface_notes(graph, targets, nodes),
        *(oversized_notes(question.view) if nodes else ()),
        *base_notes,
    ]
    cut = reached.cut or base_users.cut
    notes += hidden
    if cut:
        notes.append("at least: more is affected than could be followed")
    may, may_count, unread = _possible(question, seeds, unresolved_uses)
    return ImpactAnswer(
        receipt=receipt,
        changed=tuple(seeds.changed),
        results=tuple(
            replace(_hit(targets, user, base_users), owner=owner) for owner, user in shown
        ),
        totals=_totals(hit),
        files=len({user.node.path for user in hit} - seeds.paths.keys()),
        tests=tuple(tests[: question.limit]),
        test_count=len(tests),
        at_least=bool(hidden or unread or may) or cut or receipt.status != "fresh",
        base=against,
        fits=count_by_fit(_fit(user, base_users) for user in hit),
        top_levels=sum(user.node.symbol == MODULE for user in hit),
        only_import=only_import,
        may=may,
        may_count=may_count,
        notes=tuple(dict.fromkeys([*notes, *unread])),
        owners=tuple(owner for owner, _ in seeds.owners),
        owner_totals=tuple(_totals(users) for _, users in parts) if seeds.owners else (),
    )


def _totals(users: Iterable[Reached]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(Counter(user.distance for user in users).items()))


def _reached(
    question: _Question, seeds: _Seeds, base: Base | None
) -> tuple[Reach, list[tuple[str, Reach]]]:
    """What is affected, and what each of several definitions of a name affects."""
    graph, nodes = question.graph, list(seeds.nodes)
    if not seeds.owners:
        graph.combine(nodes)
        return reach(graph, nodes, question.depth, {} if base else promised(graph, nodes)), []
    by_owner = [
        (owner.handle, reach(graph, changing, question.depth, promised(graph, changing)))
        for owner, changing in seeds.owners
    ]
    nearest: dict[Node, Reached] = {}
    for user in (user for _, part in by_owner for user in part.users):
        earlier = nearest.get(user.node)
        if earlier is None or user.distance < earlier.distance:
            nearest[user.node] = user
        elif user.distance == earlier.distance == 1 and user.how == earlier.how:
            lines = tuple(sorted({*earlier.lines, *user.lines}))
            nearest[user.node] = earlier._replace(lines=lines)
    users = sorted(nearest.values(), key=lambda user: user.distance)
    return Reach(tuple(users), any(part.cut for _, part in by_owner)), by_owner


def _parts(
    question: _Question, by_owner: Sequence[tuple[str, Reach]], run: Collection[str]
) -> list[tuple[str, list[Reached]]]:
    """The affected nodes of each definition of a name, without tests to run."""
    return [
        (owner, _outside_tests(question, without_imports(part.users)[0], run))
        for owner, part in by_owner
    ]


def _shared(
    parts: Sequence[tuple[str, Sequence[Reached]]], limit: int
) -> list[tuple[str, Reached]]:
    """The nodes to list: an equal share for each definition, plus what others leave unused."""
    shares: dict[int, int] = {}
    places_left = limit
    for done, at in enumerate(sorted(range(len(parts)), key=lambda at: len(parts[at][1]))):
        shares[at] = min(places_left // (len(parts) - done), len(parts[at][1]))
        places_left -= shares[at]
    return [
        (owner, user) for at, (owner, users) in enumerate(parts) for user in users[: shares[at]]
    ]


def _outside_tests(
    question: _Question, users: Sequence[Reached], run: Collection[str]
) -> list[Reached]:
    """The affected nodes except for the tests to run, which have their own list.

    Test helpers, which no test runner runs, are listed like other code.
    """
    is_test = question.graph.is_test
    return [
        user
        for user in users
        if not (is_test(user.node.path) and printed(user.node.path) in run)
        and not is_inline_test(question.targets, user.node)
    ]


def _possible(
    question: _Question, seeds: _Seeds, hidden: Unresolved
) -> tuple[tuple[PossibleUse, ...], int, list[str]]:
    """What may use the change, the number of all such uses, and what was not searched."""
    graph, targets = question.graph, question.targets
    several = ambiguous_sites(graph, targets, list(seeds.nodes))
    texts = text_uses(question.view, graph, targets, together(seeds.text_targets), question.depth)
    bare = unexplained(hidden.sites, texts.sites)
    may, count = grouped(graph, targets, [*several, *bare, *texts.sites], question.limit)
    return may, count, list(texts.notes)


def _users_at_base(
    question: _Question, seeds: _Seeds, base: Base,
    new_positions: Mapping[bytes, Mapping[int, int]], receipt: Receipt,
) -> tuple[BaseUsers, list[str], Receipt]:  # fmt: skip
    """Users of what was changed or deleted; open issues; the receipt of both sides."""
    if base.view is None:
        note = f"users at {base.name} of changed or deleted code are unknown: {base.lacking}"
        return _NOTHING, [f"at least: {note}"], receipt
    seconds_left = max(question.deadline - time.monotonic(), 0.0)
    base_graph = BaseGraph(base.view, question.targets, seeds.moves, new_positions, seconds_left)
    nodes = base_graph.nodes(seeds.base_nodes)
    judge = CallJudge(question.targets, base_graph, seeds.added_names)
    redeclared = [change.old for change in seeds.redeclared if judge.is_redeclared(change)]
    base_users = base_graph.hit(nodes, question.depth, contracts_of(base_graph.graph, redeclared))
    base_users = base_users._replace(fits=judge.fits(seeds.redeclared))
    where = f" at {base.name}"
    hidden = unresolved(base_graph.graph, base_graph.targets, nodes, listed=False)
    notes = hidden_notes(base_graph.graph, hidden, where=where)
    base_receipt = base_graph.graph.receipt()
    if base_receipt.status != "fresh":
        note = "; ".join(
            filter(None, (receipt.note, f"{base.name}: {base_receipt.note or base_receipt.status}"))
        )
        receipt = replace(receipt, status="partial", note=note)
    return base_users, notes, receipt


def _merged(users: Sequence[Reached], base_users: BaseUsers, seeds: _Seeds) -> list[Reached]:
    """What is affected now, and what was at the commit, without the change itself."""
    if not base_users.users:
        return list(users)
    every = {user.node: user for user in base_users.users if user.node not in seeds.nodes}
    for user in users:
        earlier = every.get(user.node)
        if earlier is None or user.distance < earlier.distance:
            every[user.node] = user
        elif user.distance == earlier.distance == 1 and user.via in seeds.nodes:
            # In both graphs: the current place counts.
            every[user.node] = user
    order = ("breaks", "uncertain", "fits", None)
    return sorted(
        every.values(), key=lambda user: (user.distance, order.index(_fit(user, base_users)))
    )


def _fit(user: Reached, base_users: BaseUsers) -> Fit | None:
    return base_users.fits.get(user.node) if user.distance == 1 else None


def _hit(targets: Targets, user: Reached, base_users: BaseUsers) -> AffectedNode:
    # A call of an inherited method has its line in the base class: there is no line to show.
    sites = tuple(f"{printed(user.node.path)}:{line}" for line in user.lines)
    used_at_base = user in base_users.users
    via = base_users.via[user.node] if used_at_base else targets.handle(user.via)
    return AffectedNode(
        targets.node(user.node), user.distance, user.how, via, sites, _fit(user, base_users)
    )
