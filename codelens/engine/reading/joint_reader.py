"""Search over several repositories at once: each brought up to date, one order of results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelens.answers.joint_answers import JointAnswer, RepositoryAnswer
from codelens.answers.search_answers import Hit
from codelens.engine.current_view import CurrentView
from codelens.engine.index_pool import IndexPool
from codelens.engine.question_limits import check_limit, seconds_to_read
from codelens.engine.reading import search_hits
from codelens.engine.view_request import ViewRequest
from codelens.errors import CodelensError, QueryError
from codelens.handles.absolute_handles import in_worktree
from codelens.rank import joint_search
from codelens.rank.joint_search import View
from codelens.rank.search_request import Outcome, Request

if TYPE_CHECKING:
    from codelens.engine.reading.search_telemetry import SearchFigures

MOST_REPOSITORIES = 20


@dataclass(slots=True)
class _Sought:
    """One repository of the question, and what became of it."""

    path: str
    root: str = ""
    index: str = ""
    view: CurrentView | None = None
    error: CodelensError | None = None


class JointReader:
    """Answers `Engine.search_repositories`; see there for what it takes and raises."""

    def __init__(self, pool: IndexPool) -> None:
        self._pool = pool

    def search(
        self,
        request: Request,
        view_request: ViewRequest,
        repositories: Sequence[str],
        refused: Mapping[str, CodelensError],
        max_tokens: int | None,
        *,
        figures: SearchFigures | None = None,
    ) -> JointAnswer:
        """See `Engine.search_repositories`."""
        check_limit(request.limit)
        _check_number(len({*repositories, *refused}))
        if request.languages:
            from codelens.engine.reading.language_list import called

            request = request._replace(languages=called(request.languages))
        request = request._replace(seconds=seconds_to_read(view_request.budget_ms))
        repositories_sought = [self._located(path, view_request) for path in repositories]
        repositories_sought = list(
            {sought.root or sought.path: sought for sought in repositories_sought}.values()
        )
        with ExitStack() as open_views:
            self._bring(repositories_sought, view_request, open_views)
            answer = self._answer(repositories_sought, request, refused, figures)
        if max_tokens is None:
            return answer
        from codelens.render.repositories.joint_text import kept_within

        return kept_within(answer, max_tokens)

    def _located(self, path: str, view_request: ViewRequest) -> _Sought:
        try:
            opened = self._pool.open(path, view_request.ref)
        except CodelensError as error:
            return _Sought(path, error=error)
        return _Sought(path, opened.scope.root, str(opened.index.path))

    def _bring(
        self,
        repositories_sought: Sequence[_Sought],
        view_request: ViewRequest,
        open_views: ExitStack,
    ) -> None:
        """Bring each view up to date and hold them all, so that they are ranked as one.

        In the order of their indexes, whatever order they were asked in: two questions that hold
        several must never wait for each other. The budget is for all of them together; what one
        does not need is left for the next.
        """
        ends = (
            None
            if view_request.budget_ms is None
            else (time.monotonic() + view_request.budget_ms / 1000)
        )
        there = sorted(
            (sought for sought in repositories_sought if sought.error is None),
            key=lambda sought: (sought.index, sought.root),
        )
        for number, sought in enumerate(there):
            budget_ms = view_request.budget_ms
            if ends is not None:
                left_ms = max(ends - time.monotonic(), 0.0) * 1000
                budget_ms = left_ms / (len(there) - number)
            try:
                sought.view = open_views.enter_context(
                    self._pool.view(view_request._replace(path=sought.path, budget_ms=budget_ms))
                )
            except CodelensError as error:
                sought.error = error

    def _answer(
        self,
        repositories_sought: Sequence[_Sought],
        request: Request,
        refused: Mapping[str, CodelensError],
        figures: SearchFigures | None,
    ) -> JointAnswer:
        views = [sought.view for sought in repositories_sought if sought.view is not None]
        with ExitStack() as reading:
            # Worktrees of one repository have one database.
            for view in {id(view.index): view for view in views}.values():
                reading.enter_context(view.reading())
            outcomes = joint_search.search(
                [View(view.snapshot, view.read) for view in views], request
            )
            answered = {
                number: outcome
                for number, outcome in enumerate(outcomes)
                if isinstance(outcome, Outcome)
            }
            hits = {
                number: _hits(views[number], outcome, request)
                for number, outcome in answered.items()
            }
            order = joint_search.in_order(answered, request)
            if figures is not None:
                figures.limit, figures.results = request.limit, len(order)
                for number, outcome in answered.items():
                    figures.mode = outcome.mode
                    figures.count_files(views[number].snapshot, request)
        shares = Counter(number for number, _ in order)
        parts = {
            id(view): _part(view, outcome, shares[number])
            for number, (view, outcome) in enumerate(zip(views, outcomes, strict=True))
        }
        every = [
            parts[id(sought.view)]
            if sought.view is not None
            else _failed(sought.root or sought.path, sought.error)
            for sought in repositories_sought
        ]
        every += [_failed(path, error) for path, error in refused.items()]
        results = tuple(hits[number][at] for number, at in order)
        left = sum(outcome.left + len(outcome.results) for outcome in answered.values())
        return JointAnswer(request.query, results, tuple(every), left=left - len(results))


def _hits(view: CurrentView, outcome: Outcome, request: Request) -> list[Hit]:
    """The results of one view, with handles that have its root in them."""
    root = view.scope.root
    ref = view.scope.ref if view.scope.kind == "ref" else ""
    return [
        replace(
            hit,
            handle=in_worktree(hit.handle, root, ref),
            alike=tuple(in_worktree(handle, root, ref) for handle in hit.alike),
            also=tuple(in_worktree(handle, root, ref) for handle in hit.also),
            score=round(ranked.own_score, 4),
            repository=root,
        )
        for hit, ranked in zip(
            search_hits.hits(view, outcome, view.scope, explain=request.explain),
            outcome.results,
            strict=True,
        )
    ]


def _part(view: CurrentView, outcome: Outcome | CodelensError, results: int) -> RepositoryAnswer:
    receipt = view.receipt()
    if not isinstance(outcome, Outcome):
        return replace(_failed(view.scope.root, outcome), receipt=receipt)
    if outcome.cut_short:
        receipt = replace(receipt, status="partial", note=outcome.cut_short)
    return RepositoryAnswer(view.scope.root, receipt, outcome.mode, results, tuple(outcome.notes))


def _failed(root: str, error: CodelensError | None) -> RepositoryAnswer:
    assert error is not None, "what has no view has an error"
    return RepositoryAnswer(root, error.receipt, error=str(error), error_in_call=error.in_call)


def _check_number(count: int) -> None:
    if not 1 <= count <= MOST_REPOSITORIES:
        raise QueryError(f"name 1 to {MOST_REPOSITORIES} repositories, not {count}")
