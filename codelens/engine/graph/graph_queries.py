"""Answers the graph methods of `Engine`, and exports the edges of a view line by line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from codelens.answers.graph_answers import ImpactAnswer, MapAnswer, ReferencesAnswer, RelatedAnswer
from codelens.answers.reading_answers import EdgeLine, SourceAnswer
from codelens.engine.contexts.notes_here import ShownPlace, notes_beside
from codelens.engine.current_view import (
    CurrentView,
    OpenRepository,
    ViewRequest,
    at_own_ref,
    current_view,
)
from codelens.engine.graph.lazy_graph import walked_view
from codelens.engine.graph.ownership import Ownership
from codelens.engine.index_pool import (
    ANSWER_S,
    IndexPool,
    check_limit,
    seconds_left,
    seconds_to_read,
)
from codelens.errors import IndexLocked, InvalidArgument, ReadError, SettingError
from codelens.index.view_update import FEW_FILES
from codelens.paths import printed
from codelens.resolve.edges import CERTAIN
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph, graph_of
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.store.facts.resolution_facts import references_named
from codelens.types import PROTOCOL

if TYPE_CHECKING:
    from codelens.engine.impact.impact_query import Base

_NO_CODE = frozenset({"heading", "key"})


def graph(view: CurrentView) -> Graph:
    """The graph of a view."""
    by_path = view.snapshot.by_path

    def read(path: bytes) -> bytes | None:
        file = by_path.get(path)
        return view.read(file) if file is not None else None

    return graph_of(view.snapshot, read)


def edge_lines(view: CurrentView, *, possible: bool) -> Iterator[EdgeLine]:
    """Every edge of the view, once for each pair of definitions, kind and line.

    With `possible`, includes uses that may mean one of several definitions.
    """
    edges = graph(view)
    structure = Ownership(view.snapshot, edges)
    for path in sorted(edges.languages):
        lines: dict[EdgeLine, None] = {}
        file_edges = edges.all_edges(path) if possible else edges.edges(path)
        unwritten = _unwritten(edges, path, {edge.name for edge in file_edges})
        for edge in file_edges:
            target = Node(edge.target, edge.target_symbol)
            source = Node(path, edge.symbol)
            lines[
                _line(
                    edges,
                    source,
                    target,
                    "protocol" if (edge.line, edge.name) in unwritten else edge.kind,
                    name=edge.name,
                    line=edge.line,
                    confidence=edge.confidence,
                )
            ] = None
        lines.update(dict.fromkeys(_structure_lines(edges, structure, path)))
        yield from sorted(lines, key=lambda line: line.line)


def _unwritten(edges: Graph, path: bytes, names: Set[str]) -> set[tuple[int, str]]:
    """Lines and names of methods that are called implicitly: `len(a)` calls `__len__`."""
    references = references_named(edges.references(path), names) if names else []
    places: dict[bool, set[tuple[int, str]]] = {True: set(), False: set()}
    for reference in references:
        is_unwritten = reference.arguments == PROTOCOL
        places[is_unwritten].add((reference.line, reference.name))
    return places[True] - places[False]


def _structure_lines(edges: Graph, structure: Ownership, path: bytes) -> Iterator[EdgeLine]:
    """Ownership and exports of a file; only definitions of code."""
    for at, symbol in enumerate(edges.symbols(path)):
        if symbol.kind not in _NO_CODE:
            member = Node(path, at)
            owner = structure.owner(member)
            yield _line(edges, member, owner, "belongs_to", name=symbol.name, line=symbol.name_line)
            yield _line(edges, owner, member, "defines", name=symbol.name, line=symbol.name_line)
    for shown in structure.exports(Node(path, MODULE)):
        name = edges.symbols(shown.path)[shown.symbol].name
        line = edges.symbols(path)[shown.symbol].name_line if shown.path == path else 1
        yield _line(edges, Node(path, MODULE), shown, "exports", name=name, line=line)


def _line(
    edges: Graph, source: Node, target: Node, kind: str, *, name: str, line: int,
    confidence: float = CERTAIN,
) -> EdgeLine:  # fmt: skip
    symbols, there = edges.symbols(source.path), edges.symbols(target.path)
    return EdgeLine(
        printed(source.path),
        symbols[source.symbol].name_line if _has_name(edges, *source) else 0,
        printed(target.path),
        there[target.symbol].name_line if target.symbol >= 0 else 1,
        kind,
        name,
        line,
        confidence,
    )


def _has_name(edges: Graph, path: bytes, symbol: int) -> bool:
    """Whether its name is in the text; `export default function () {}` exports without one."""
    if symbol < 0:
        return False
    definition = edges.symbols(path)[symbol]
    has_spaces = spec_of(edges.languages.get(path, "")).spaces
    is_unnamed = (
        definition.name == "default"
        and definition.parent < 0
        and definition.kind in CALLABLE | TYPES
    )
    return not (has_spaces and is_unnamed)


# The queries: related, references, impact, map, source and all edges.

PATHS = 3
"""Default number of paths between two definitions."""
_MOST_LINES = 100_000
_TILTED_BY = 12
_BESIDE = 0.5
"""Weight of notes on direct users, relative to notes on what changes."""


class GraphQueries:
    """Implements the graph methods of `Engine`, which document arguments and errors.

    Args:
        pool: opens repositories.
        now_s: seconds since 1970; dates saved notes.
    """

    def __init__(self, pool: IndexPool, now_s: Callable[[], float] = time.time) -> None:
        self._pool = pool
        self._now_s = now_s

    def related(
        self,
        view_request: ViewRequest,
        target: str,
        *,
        to: str | None,
        kinds: Sequence[str],
        direction: str,
        depth: int,
        paths: int,
        limit: int,
    ) -> RelatedAnswer:
        """See `Engine.related`."""
        from codelens.engine.graph import related_query

        check_limit(limit)
        if to is None and paths != PATHS:
            raise SettingError(
                "a number of paths needs a second definition",
                typed="also give --to GOAL",
                called="also pass to",
            )
        if to is not None and (kinds or depth != 1 or direction != "both"):
            raise SettingError(
                "paths between two definitions follow every kind of use, in one direction",
                typed="omit --kind, --direction and --depth, or --to",
                called="omit kinds, direction and depth, or to",
            )
        with walked_view(self._pool, at_own_ref(view_request, target)) as (view, seconds):
            if to is not None:
                return related_query.paths_between(view, target, to, paths, seconds)
            most = ANSWER_S if view_request.budget_ms is None else seconds
            return related_query.related(
                view, target, kinds, direction, depth=depth, limit=limit, seconds=most
            )

    def references(
        self, view_request: ViewRequest, target: str, *, limit: int, cursor: str
    ) -> ReferencesAnswer:
        """See `Engine.references`."""
        from codelens.engine.graph.related_query import references

        check_limit(limit, _MOST_LINES)
        with walked_view(self._pool, at_own_ref(view_request, target)) as (view, seconds):
            return references(view, target, limit=limit, cursor=cursor, seconds=seconds)

    def impact(
        self,
        view_request: ViewRequest,
        targets: Sequence[str],
        *,
        diff: str | None,
        depth: int,
        limit: int,
    ) -> ImpactAnswer:
        """See `Engine.impact`."""
        from codelens.engine.impact import impact_query

        check_limit(limit)
        if diff is None and not targets:
            raise SettingError(
                "nothing to look up",
                typed="name handles, files, folders or names, or give --diff",
                called="give targets (handles, files, folders or names), or diff",
            )
        if diff is not None and targets:
            raise SettingError(
                "targets and a diff cannot be combined",
                typed="give either TARGETS or --diff",
                called="give either targets or diff",
            )
        if diff is not None:
            return self._impact_of_diff(view_request, diff, depth, limit)
        with walked_view(self._pool, at_own_ref(view_request, targets[0])) as (view, seconds):
            answer = impact_query.impact(view, targets, depth, limit, seconds)
            return self._with_notes(view, answer)

    def _impact_of_diff(
        self, view_request: ViewRequest, diff: str, depth: int, limit: int
    ) -> ImpactAnswer:
        from codelens.engine.graph import candidate_files
        from codelens.engine.impact import impact_query
        from codelens.engine.impact.symbol_diff import changes_of

        impact_query.check_depth(depth)
        started = time.monotonic()
        with self._view_of_changes(view_request, diff) as view:
            with view.reading():
                changes = changes_of(view, diff)
            base = impact_query.Base(diff, None)
            if impact_query.asks_base(changes):
                base = _base(view.opened, diff, view_request)
            with view.reading():
                left = seconds_left(view_request.budget_ms, started)
                answer = impact_query.impact_of_diff(
                    view, changes, base, depth, limit=limit, seconds=left
                )
            for walked in (view, base.view):
                if walked is not None:
                    candidate_files.keep(walked)
            return self._with_notes(view, answer)

    @contextmanager
    def _view_of_changes(self, view_request: ViewRequest, diff: str) -> Generator[CurrentView]:
        """A view of the changed files; files that a partial view lacks are read first."""
        from codelens.engine.impact.symbol_diff import changed_files, commit_of

        with self._pool.view(view_request) as view:
            unread: list[bytes] = []
            if view.refreshed.status != "fresh":
                with view.reading():
                    unread = changed_files(view, commit_of(view, diff)).unread
            if not unread:
                yield view
                return
        targets = tuple(map(os.fsdecode, unread[:FEW_FILES]))
        with self._pool.view(view_request._replace(targets=targets)) as view:
            yield view

    def _with_notes(self, view: CurrentView, answer: ImpactAnswer) -> ImpactAnswer:
        """Add the saved notes on what changes and on its direct users."""
        nodes = [(change.node, 1.0) for change in answer.changed]
        nodes += [(result.node, _BESIDE) for result in answer.results if result.distance == 1]
        places = [
            ShownPlace(node.path, node.start_line, node.end_line, nearness)
            for node, nearness in nodes
            if node.end_line
        ]
        here = notes_beside(view, places, "", self._now_s())
        return replace(answer, contexts=here.notes, notes=(*answer.notes, *here.warnings))

    def map(self, view_request: ViewRequest, focus: Sequence[str], max_tokens: int) -> MapAnswer:
        """See `Engine.map`."""
        from codelens.engine.graph import candidate_files
        from codelens.engine.map.map_query import map_
        from codelens.rank.search_pipeline import Request, search

        started = time.monotonic()
        budget_ms = view_request.budget_ms
        with self._pool.view(view_request) as view:
            # The time that the freshness check leaves of a long budget is for the ranking.
            seconds = max(seconds_to_read(budget_ms), seconds_left(budget_ms, started))

            def places_for(words: str) -> list[Node]:
                request = Request(
                    words, "auto", content="code", limit=_TILTED_BY, seconds=seconds,
                    meaning=view.settings.meaning,
                )  # fmt: skip
                ranked = search(view.snapshot, request, view.read)
                return [Node(place.file.path, place.symbol) for place in ranked.results]

            with view.reading():
                query = view_request.words.strip()
                answer = map_(view, focus, places_for, query, max_tokens, seconds)
            candidate_files.keep(view)
            return answer

    def source(self, view_request: ViewRequest, target: str, max_lines: int) -> SourceAnswer:
        """See `Engine.source`."""
        from codelens.engine.reading.source_query import source

        if max_lines < 1:
            raise InvalidArgument("max_lines", "must be at least 1")
        with walked_view(self._pool, at_own_ref(view_request, target)) as (view, seconds):
            return source(view, target, max_lines, seconds)

    def edges(self, view_request: ViewRequest, *, possible: bool) -> Iterator[EdgeLine]:
        """See `Engine.export_edges`."""
        with self._pool.view(view_request) as view, view.reading():
            lines = list(edge_lines(view, possible=possible))
        yield from lines


def _base(opened: OpenRepository, diff: str, view_request: ViewRequest) -> Base:
    """The commit to compare with, and its view if it can be indexed."""
    from codelens.engine.impact.impact_query import Base

    at = opened.at(diff)
    try:
        return Base(diff, current_view(at, view_request))
    except (IndexLocked, ReadError) as error:
        return Base(diff, None, str(error))
