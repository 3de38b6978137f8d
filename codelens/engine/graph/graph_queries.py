"""Who uses what: related, impact, map, and all edges."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from codelens.answers.graph_answers import ImpactAnswer, MapAnswer, ReferencesAnswer, RelatedAnswer
from codelens.answers.reading_answers import EdgeLine, SourceAnswer
from codelens.engine.contexts.notes_beside import notes_beside
from codelens.engine.contexts.shown_places import ShownPlace
from codelens.engine.current_view import CurrentView, OpenRepository, current_view
from codelens.engine.graph.graph_walk import walked_view
from codelens.engine.index_pool import IndexPool
from codelens.engine.question_limits import check_limit, seconds_left, seconds_to_read
from codelens.engine.view_request import ViewRequest, at_own_ref
from codelens.errors import IndexLocked, InvalidArgument, ReadError, SettingError
from codelens.index.refresh_budget import FEW_FILES

if TYPE_CHECKING:
    from codelens.engine.impact.impact_query import Base

PATHS = 3
"""Paths from one thing to another, where nothing is said."""
_MOST_LINES = 100_000
_TILTED_BY = 12
_BESIDE = 0.5
"""What notes on direct users count, beside those on what changes."""


class GraphQueries:
    """Answers `Engine`'s questions of this kind; see there for what each takes and raises.

    Args:
        pool: opens repositories.
        now_s: seconds since 1970; for the age of saved notes.
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
            return related_query.related(
                view, target, kinds, direction, depth=depth, limit=limit, seconds=seconds
            )

    def references(
        self, view_request: ViewRequest, target: str, *, limit: int, cursor: str
    ) -> ReferencesAnswer:
        """See `Engine.references`."""
        from codelens.engine.graph.references_query import references

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
        from codelens.engine.graph import edge_cache
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
                    edge_cache.keep(walked)
            return self._with_notes(view, answer)

    @contextmanager
    def _view_of_changes(self, view_request: ViewRequest, diff: str) -> Generator[CurrentView]:
        """A look at what changed: files that a partial view has not read yet are asked for."""
        from codelens.engine.impact.changed_files import changed_files, commit_of

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
        """The answer with the saved notes on what changes and on its direct users."""
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
        from codelens.engine.graph import edge_cache
        from codelens.engine.map.map_query import map_
        from codelens.rank.search_pipeline import Request, search
        from codelens.resolve.walk.edge_table import Node

        started = time.monotonic()
        budget_ms = view_request.budget_ms
        with self._pool.view(view_request) as view:
            # What the refresh left of a long budget is for the ranking.
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
            edge_cache.keep(view)
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
        from codelens.engine.graph.edge_export import edge_lines

        with self._pool.view(view_request) as view, view.reading():
            lines = list(edge_lines(view, possible=possible))
        yield from lines


def _base(opened: OpenRepository, diff: str, view_request: ViewRequest) -> Base:
    """The commit that a diff is against, with its view if that can be had."""
    from codelens.engine.impact.impact_query import Base

    at = opened.at(diff)
    try:
        return Base(diff, current_view(at, view_request))
    except (IndexLocked, ReadError) as error:
        return Base(diff, None, str(error))
