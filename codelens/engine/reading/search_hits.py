"""Converts ranked results to hits, searches several repositories, and writes search telemetry.

Telemetry is one line of JSON on stderr for each search, if the setting `telemetry` is on. It has
only numbers and codelens' own names, nothing from the query, the filters or the repository.
Errors are reported by class only, since a message may quote the query.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from codelens.answers.reading_answers import Hit, JointAnswer, RepositoryAnswer, SymbolLine
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.index_pool import IndexPool, check_limit, seconds_to_read
from codelens.errors import CodelensError, QueryError
from codelens.handles.handle_grammar import (
    file_handle,
    handle_of_lines,
    in_worktree,
    shown_name,
    symbol_handle,
)
from codelens.paths import printed
from codelens.rank import joint_search
from codelens.rank.joint_search import View
from codelens.rank.search_request import Filters, Outcome, Ranked, Request
from codelens.render.text_pieces import first_doc_line
from codelens.scope.repository import Scope
from codelens.store.facts import ranking_reads
from codelens.store.facts.ranking_reads import Shown

if TYPE_CHECKING:
    from codelens.config import Settings
    from codelens.store.views.snapshot import Snapshot


@dataclass(slots=True)
class SearchFigures:
    """Figures of one search, filled in during the search."""

    tool: str
    """The method of `Engine`."""
    query_chars: int
    query_words: int
    """Parts between spaces."""
    max_tokens: int | None
    repositories: int = 1
    mode: str = ""
    """The mode used, one of `codelens.rank.search_request.MODES`; for several repositories, that
    of the last one; empty if the search failed."""
    provider: str = ""
    """The provider for ranking; empty if none is enabled for the repository, or none is needed."""
    profile: str = ""
    """The provider's capability profile; empty if it returned no vector of the query."""
    limit: int = 0
    """Maximum results, after the profile's limits."""
    files_before_filters: int = 0
    """Files of the views that were searched."""
    files_after_filters: int = 0
    """Those that pass the filters for languages, globs and content."""
    reranked: int = 0
    """Results that a reranker scored."""
    results: int = 0
    ms: float = 0.0
    error: str = ""
    """The class of the error that ended the search."""

    def count_files(self, view: Snapshot, request: Request) -> None:
        """Count the files of a view before and after the filters of a request."""
        filters = Filters(view, request)
        files = list(view.files)
        self.files_before_filters += len(files)
        self.files_after_filters += len(filters.keep(files) if filters.active else files)


@contextmanager
def search_logged(settings: Settings, figures: SearchFigures) -> Generator[SearchFigures | None]:
    """Write the figures of the search in the block, if the setting is on; otherwise yield None."""
    if not settings.telemetry:
        yield None
        return
    started = time.perf_counter()
    try:
        yield figures
    except BaseException as error:
        figures.error = type(error).__name__
        raise
    finally:
        figures.ms = round((time.perf_counter() - started) * 1000, 1)
        _write(figures)


def _write(figures: SearchFigures) -> None:
    if sys.stderr is None:
        return
    try:
        # One write: a server's concurrent searches write there, too.
        sys.stderr.write(f"{json.dumps(asdict(figures))}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        # The file is full or closed: the search still succeeds, and there is no other place to
        # report this.
        return


# From ranked results to hits: handles, signatures, printed paths.

_LINE_SHOWN = 200


def hits(view: CurrentView, outcome: Outcome, scope: Scope, *, explain: bool) -> tuple[Hit, ...]:
    """The results as callers get them, in order."""
    snapshot = view.snapshot
    ids = {result.file.content for result in outcome.results if result.file.content is not None}
    about = snapshot.about(ids)
    ref = scope.ref if scope.kind == "ref" else ""
    best: list[Hit] = []
    for result in outcome.results:
        content = result.file.content
        content_facts = about.get(content) if content is not None else None
        symbol = _shown(view, result)
        best.append(
            Hit(
                handle=_handle(result, symbol, ref),
                path=printed(result.file.path),
                start_line=result.start_line,
                end_line=result.end_line,
                symbol=shown_name(result.file.path, symbol.qualified) if symbol else "",
                kind=symbol.kind if symbol else result.kind,
                language=content_facts.language if content_facts else "",
                score=round(result.score, 4),
                signature=(symbol.signature if symbol else "") or result.line[:_LINE_SHOWN],
                why=result.why,
                stale=result.file.path in snapshot.stale,
                alike=tuple(_handle(place, _shown(view, place), ref) for place in result.alike),
                also=tuple(_handle(place, _shown(view, place), ref) for place in result.also),
                explain=dict(result.explain) if explain else None,
                doc=first_doc_line(symbol.doc) if symbol else "",
            )
        )
    return tuple(best)


def _shown(view: CurrentView, ranked: Ranked) -> Shown | None:
    if ranked.symbol < 0 or ranked.file.content is None:
        return None
    return ranking_reads.shown(view.snapshot.db, ranked.file.content, ranked.symbol)


def _handle(ranked: Ranked, symbol: Shown | None, ref: str) -> str:
    if symbol is not None:
        return symbol_handle(ranked.file.path, symbol.qualified, symbol.number, ref)
    if ranked.kind == "file":
        # An empty or binary file has no readable line 1.
        return file_handle(ranked.file.path, ref)
    return handle_of_lines(ranked.file.path, ranked.start_line, ranked.end_line, ref)


def symbol_lines(view: CurrentView) -> Iterator[SymbolLine]:
    """Every definition of the view, by path, line and order in the text."""
    snapshot = view.snapshot
    files = sorted(
        (file for file in snapshot.files if file.content is not None), key=lambda file: file.path
    )
    for start in range(0, len(files), 500):
        group = files[start : start + 500]
        ids = {file.content for file in group if file.content is not None}
        symbols = snapshot.symbols(ids)
        about = snapshot.about(ids)
        for file in group:
            assert file.content is not None
            for symbol in sorted(
                symbols.get(file.content, ()),
                key=lambda symbol: (symbol.start_line, symbol.start_byte),
            ):
                yield SymbolLine(
                    path=printed(file.path),
                    name=shown_name(file.path, symbol.name),
                    qualified_name=shown_name(file.path, symbol.qualified),
                    kind=symbol.kind,
                    start_line=symbol.start_line,
                    end_line=symbol.end_line,
                    line=symbol.name_line,
                    exported=symbol.exported,
                    language=about[file.content].language,
                )


# Search over several repositories: each view is refreshed, and results are ranked together.

MOST_REPOSITORIES = 20


@dataclass(slots=True)
class _Repository:
    """One repository of the search, with its view or its error."""

    path: str
    root: str = ""
    index: str = ""
    view: CurrentView | None = None
    error: CodelensError | None = None


def search_repositories(
    pool: IndexPool,
    request: Request,
    view_request: ViewRequest,
    repositories: Sequence[str],
    refused: Mapping[str, CodelensError],
    *,
    max_tokens: int | None,
    figures: SearchFigures | None,
) -> JointAnswer:
    """See `Engine.search_repositories`."""
    check_limit(request.limit)
    count = len({*repositories, *refused})
    if not 1 <= count <= MOST_REPOSITORIES:
        raise QueryError(f"name 1 to {MOST_REPOSITORIES} repositories, not {count}")
    if request.languages:
        from codelens.engine.reading.language_list import called

        request = request._replace(languages=called(request.languages))
    request = request._replace(seconds=seconds_to_read(view_request.budget_ms))
    searched = [_located(pool, path, view_request) for path in repositories]
    searched = list(
        {repository.root or repository.path: repository for repository in searched}.values()
    )
    with ExitStack() as open_views:
        _refresh_views(pool, searched, view_request, open_views)
        answer = _answer(searched, request, refused, figures)
    if max_tokens is None:
        return answer
    from codelens.render.search_text import joint_kept_within

    return joint_kept_within(answer, max_tokens)


def _located(pool: IndexPool, path: str, view_request: ViewRequest) -> _Repository:
    try:
        opened = pool.open(path, view_request.ref)
    except CodelensError as error:
        return _Repository(path, error=error)
    return _Repository(path, opened.scope.root, str(opened.index.path))


def _refresh_views(
    pool: IndexPool,
    searched: Sequence[_Repository],
    view_request: ViewRequest,
    open_views: ExitStack,
) -> None:
    """Bring all views up to date and hold them open, so that they are ranked together.

    Opens indexes in a fixed order, not in that of the arguments, so that two searches of the
    same repositories cannot deadlock. All views share the budget; time that one does not
    need is left for the next.
    """
    ends = (
        None
        if view_request.budget_ms is None
        else (time.monotonic() + view_request.budget_ms / 1000)
    )
    there = sorted(
        (repository for repository in searched if repository.error is None),
        key=lambda repository: (repository.index, repository.root),
    )
    for number, repository in enumerate(there):
        budget_ms = view_request.budget_ms
        if ends is not None:
            left_ms = max(ends - time.monotonic(), 0.0) * 1000
            budget_ms = left_ms / (len(there) - number)
        try:
            repository.view = open_views.enter_context(
                pool.view(view_request._replace(path=repository.path, budget_ms=budget_ms))
            )
        except CodelensError as error:
            repository.error = error


def _answer(
    searched: Sequence[_Repository],
    request: Request,
    refused: Mapping[str, CodelensError],
    figures: SearchFigures | None,
) -> JointAnswer:
    views = [repository.view for repository in searched if repository.view is not None]
    with ExitStack() as reading:
        # Worktrees of one repository share a database.
        for view in {id(view.index): view for view in views}.values():
            reading.enter_context(view.reading())
        outcomes = joint_search.search([View(view.snapshot, view.read) for view in views], request)
        answered = {
            number: outcome
            for number, outcome in enumerate(outcomes)
            if isinstance(outcome, Outcome)
        }
        hits = {
            number: _hits(views[number], outcome, request) for number, outcome in answered.items()
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
        parts[id(repository.view)]
        if repository.view is not None
        else _failed(repository.root or repository.path, repository.error)
        for repository in searched
    ]
    every += [_failed(path, error) for path, error in refused.items()]
    results = tuple(hits[number][at] for number, at in order)
    left = sum(outcome.left + len(outcome.results) for outcome in answered.values())
    return JointAnswer(request.query, results, tuple(every), left=left - len(results))


def _hits(view: CurrentView, outcome: Outcome, request: Request) -> list[Hit]:
    """The results of one view, with its root in the handles."""
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
            hits(view, outcome, view.scope, explain=request.explain),
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
    assert error is not None, "a repository without a view has an error"
    return RepositoryAnswer(root, error.receipt, error=str(error), error_in_call=error.in_call)
