"""The methods of `Engine` that find and read code and bring a view up to date."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.answers.reading_answers import HealthFinding
from codelens.engine.contexts import session_trail
from codelens.engine.contexts.session_trail import trailed
from codelens.engine.current_view import ViewRequest, at_own_ref
from codelens.engine.engine_core import EngineCore
from codelens.engine.index_pool import check_limit
from codelens.engine.masked_answers import masking
from codelens.engine.upkeep.usage_counter import counted
from codelens.engine.upkeep.view_survey import pinned_places
from codelens.engine.worktree_paths import root_of
from codelens.errors import CodelensError, InvalidArgument, StoreError
from codelens.index.ingestion import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.reading_answers import (
        ExpandAnswer,
        ExploreAnswer,
        JointAnswer,
        OutlineAnswer,
        RecentAnswer,
        RefsAnswer,
        SearchAnswer,
        SnippetsAnswer,
        SourceAnswer,
        StatusAnswer,
        SymbolLine,
    )
    from codelens.types import Receipt

logger = logging.getLogger(__name__)

DEFAULT_LIMIT = 10
"""Results of a search by default."""


@counted
@trailed(session_trail.of_search)
@masking
def search(
    engine: EngineCore,
    query: str,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    mode: str = "auto",
    languages: Sequence[str] = (),
    globs: Sequence[str] = (),
    kinds: Sequence[str] = (),
    content: str = "all",
    limit: int | None = None,
    explain: bool = False,
    meaning: bool | None = None,
    rerank: bool | None = None,
    max_tokens: int | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> SearchAnswer:
    """Places that match `query`, best first, current for the worktree that contains `path`.

    Args:
        query: words, an identifier, a path, a sentence; depending on `mode` a text or a regex.
        mode: `auto`, `symbol`, `text`, `regex`, `path`, or `meaning`: only by the files' meaning.
        languages: only these languages.
        globs: only matching paths; `!glob` excludes.
        kinds: only these kinds of symbol.
        content: `code`, `prose` or `all`.
        limit: 1 to 1,000; None: 10, and in mode `meaning` the value of the provider's profile,
            which is also the maximum (docs/providers.md).
        explain: include each feature's share of the score.
        meaning: also rank by the meaning of words (docs/meaning.md); None: as the settings say.
        rerank: let a reranker order the first results (docs/providers.md); None: if the settings
            allow it, a reranker is available, and its profile enables it.
        max_tokens: drop results, and count them in `more`, so that the answer's short text
            (`codelens.render.search_text`) costs no more, as estimated by
            `codelens.render.token_budget`.

    Raises:
        QueryError: the query or a filter cannot be parsed.
        NoReranker: `rerank` is true, and neither this machine nor a provider has one.
    """
    from codelens.engine.reading import code_reader
    from codelens.engine.reading.search_hits import SearchFigures, search_logged
    from codelens.rank.search_request import Request

    request = Request(
        query, mode, tuple(languages), tuple(globs), tuple(kinds), content,
        DEFAULT_LIMIT if limit is None else limit, explain,
        meaning=engine.settings.meaning if meaning is None else meaning,
    )  # fmt: skip
    view = ViewRequest(path, ref, budget_ms, progress, query)
    numbers = SearchFigures("search", len(query), len(query.split()), max_tokens)
    with search_logged(engine.settings, numbers) as figures:
        return code_reader.search(
            engine.pool, view, request, max_tokens, any_limit=limit is None, figures=figures,
            rerank=False if rerank is None and not engine.settings.rerank else rerank,
            now_s=engine.now_s(),
        )  # fmt: skip


@counted
@trailed(session_trail.of_explore)
@masking
def explore(
    engine: EngineCore,
    task: str,
    *,
    max_tokens: int | None = None,
    intent: str | None = None,
    path: str | Path = ".",
    ref: str | None = None,
    languages: Sequence[str] = (),
    globs: Sequence[str] = (),
    kinds: Sequence[str] = (),
    again: bool = False,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ExploreAnswer:
    """The code that a task needs, whole where it fits, within a number of tokens.

    Args:
        task: what to do or to understand, in as many words as you like; handles, paths, names,
            stack traces and messages in it come first.
        max_tokens: maximum cost of the answer's text, as `codelens.render.token_budget` counts; it
            is used while there is anything to show. None: the likeliest code and the names of
            more, usually about 3,000 and at most 8,000.
        intent: `debug`, `refactor`, `modify` or `explore`; None: derived from the task.
        languages: only these languages.
        globs: only matching paths; `!glob` excludes.
        kinds: search only these kinds of definition; neighbours may have any kind.
        again: include code that was already sent in this session (see `as_session`).

    Raises:
        QueryError: the task is empty, or a filter cannot be parsed.
    """
    from codelens.engine.explore_query import explore_task

    return explore_task(
        engine.pool, ViewRequest(path, ref, budget_ms, progress, task), max_tokens, intent,
        languages=languages, globs=globs, kinds=kinds, again=again, now_s=engine.now_s(),
    )  # fmt: skip


@counted
@trailed(session_trail.of_expand)
def expand(
    engine: EngineCore,
    handles: Sequence[str],
    *,
    path: str | Path = ".",
    ref: str | None = None,
    context: int = 0,
    max_lines: int = 400,
    signatures: bool = False,
    again: bool = False,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ExpandAnswer:
    """The text that each handle names, read from the disk or the git object now.

    A handle whose symbol moved is followed and marked; one that cannot be followed carries its
    error, and the others are answered anyway.

    Args:
        handles: as `search` gives them; a handle may name its own ref (`ref:path#name`).
        context: number of extra lines before and after.
        max_lines: maximum number of lines for each handle.
        signatures: only declarations, without bodies, as in `outline`.
        again: include text that was already sent in this session (see `as_session`).
    """
    from codelens.engine.reading import code_reader

    view = ViewRequest(path, ref, budget_ms, progress, targets=tuple(handles))
    return code_reader.expand(
        engine.pool, view, handles, context, max_lines, again=again, signatures=signatures,
        now_s=engine.now_s(),
    )  # fmt: skip


@counted
@trailed(session_trail.of_outline)
@masking
def outline(
    engine: EngineCore,
    target: str = ".",
    *,
    detail: str = "docs",
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> OutlineAnswer:
    """A file or folder, folded: signatures, first lines of docs, line numbers, token counts.

    Args:
        target: a file, folder or handle.
        detail: `names` of definitions, `signatures` (adds imports), or `docs`.

    Raises:
        HandleNotFound: the view has no such file or folder.
    """
    from codelens.engine.reading import excerpts

    if detail not in excerpts.DETAILS:
        details = ", ".join(excerpts.DETAILS)
        raise InvalidArgument("detail", f"must be one of {details}, not {detail[:50]!r}")
    request = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
    with engine.pool.view(at_own_ref(request, target)) as view, view.reading():
        return excerpts.with_detail(excerpts.outline(view, target), detail)


@counted
def source(
    engine: EngineCore,
    target: str,
    *,
    max_lines: int = 3_000,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> SourceAnswer:
    """A file for display to people: its text, syntax classes, and links of its names.

    Args:
        target: a file, or a handle in it; the answer then includes the lines of the handle.
        max_lines: maximum number of lines.

    Raises:
        HandleError: `target` cannot be followed, or has several owners.
        ReadError: the file cannot be read, or is not text.
    """
    from codelens.engine.graph.lazy_graph import walked_view
    from codelens.engine.reading import source_query

    if max_lines < 1:
        raise InvalidArgument("max_lines", "must be at least 1")
    request = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
    with walked_view(engine.pool, at_own_ref(request, target)) as (view, seconds):
        return source_query.source(view, target, max_lines, seconds)


@counted
def snippets(
    engine: EngineCore,
    handles: Sequence[str],
    *,
    max_lines: int = 10,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> SnippetsAnswer:
    """The first lines of places with their syntax classes, to show results of a search to people.

    Args:
        handles: as `search` gives them; those that cannot be read are left out.
        max_lines: maximum number of lines of each.
    """
    from codelens.engine.reading import source_query

    if max_lines < 1:
        raise InvalidArgument("max_lines", "must be at least 1")
    request = ViewRequest(path, ref, budget_ms, progress, targets=tuple(handles))
    with engine.pool.view(request) as view, view.reading():
        answer = source_query.snippets(view, handles, max_lines)
    return source_query.masked_snippets(answer) if engine.settings.mask_secrets else answer


@masking
def recent(
    engine: EngineCore, *, limit: int = 10, path: str | Path = ".", ref: str | None = None
) -> RecentAnswer:
    """The latest commits here, and the latest of each other worktree; indexes nothing.

    Args:
        limit: maximum number of commits.
    """
    from codelens.engine.reading import code_reader

    check_limit(limit)
    return code_reader.recent(engine.pool.open_any(path), ref, limit)


def refs(engine: EngineCore, *, limit: int = 2_000, path: str | Path = ".") -> RefsAnswer:
    """Worktrees, branches and tags of a repository, by name; indexes nothing.

    Args:
        limit: maximum number of branches and tags.
    """
    from codelens.engine.reading import code_reader

    return code_reader.refs(engine.pool.open_any(path), limit)


def look(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> Receipt:
    """Bring the view up to date and return the receipt; every other method does this first."""
    with engine.pool.view(ViewRequest(path, ref, budget_ms, progress)) as view:
        return view.receipt()


@counted
def status(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    detail: bool = False,
    progress: Progress = silent,
) -> StatusAnswer:
    """The worktree of `path`, the freshness of its view, what the view has and left out.

    Args:
        detail: add the problems that `codelens doctor` finds on this machine, except for hosts.
    """
    from codelens.engine.reading.code_reader import view_status

    with engine.pool.view(ViewRequest(path, ref, budget_ms, progress)) as view:
        answer = view_status(view)
    if not detail:
        return answer
    from codelens.engine.upkeep.diagnosis import examine

    findings = (
        HealthFinding(result.check, result.state, result.about, result.found, result.done)
        for result in examine(engine.settings)
        if result.state != "ok"
    )
    return replace(answer, findings=tuple(findings))


def begin(engine: EngineCore, path: str | Path) -> None:
    """Start to index a worktree in the background; does nothing without `keep_going`."""
    if engine.pool.background is not None:
        engine.pool.background.finish(root_of(path), None)


def index(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    rebuild: bool = False,
    progress: Progress = silent,
) -> StatusAnswer:
    """Bring the view completely up to date.

    `rebuild` first replaces the repository's index by one that has only its pinned views.
    """
    from codelens.engine.reading.code_reader import view_status

    if rebuild:
        _rebuild(engine, path, ref, progress)
    with engine.pool.view(ViewRequest(path, ref, None, progress)) as view:
        try:
            # Otherwise the size of the index would include the log, which is deleted on exit.
            view.index.db.truncate_log()
        except (StoreError, OSError) as error:
            # Nothing is lost: what was written stays in the log.
            logger.debug("could not truncate the log of %s: %s", view.index.path, error)
        return view_status(view)


def bring(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    rebuild: bool = False,
    progress: Progress = silent,
) -> StatusAnswer:
    """Like `index`, but other calls do not wait for it."""
    if rebuild:
        _rebuild(engine, path, ref, progress)
    engine.pool.refresh_separately(
        engine.pool.open(path, ref), ViewRequest(path, ref, None, progress)
    )
    return status(engine, path=path, ref=ref)


def _rebuild(engine: EngineCore, path: str | Path, ref: str | None, progress: Progress) -> None:
    """Replace the index of a repository by one that has only the views that are pinned."""
    index = engine.pool.open(path, ref).index
    with index.lock:
        places = pinned_places(index.db)
        index.rebuild()
    for place in places:
        try:
            with engine.pool.view(ViewRequest(place.worktree or path, place.ref, None, progress)):
                pass
        except CodelensError as error:
            # The pin stays, so the view is kept as soon as a query builds it again.
            logger.warning("could not rebuild a pinned view: %s", error)


def export_symbols(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    progress: Progress = silent,
) -> Iterator[SymbolLine]:
    """Every definition of the view, by path and line."""
    from codelens.engine.reading.search_hits import symbol_lines

    with engine.pool.view(ViewRequest(path, ref, None, progress)) as view, view.reading():
        lines = list(symbol_lines(view))
    yield from lines


# Searches of several repositories.


@counted
@masking
def search_repositories(
    engine: EngineCore,
    query: str,
    repositories: Sequence[str],
    *,
    ref: str | None = None,
    mode: str = "auto",
    languages: Sequence[str] = (),
    globs: Sequence[str] = (),
    kinds: Sequence[str] = (),
    content: str = "all",
    limit: int | None = None,
    explain: bool = False,
    meaning: bool | None = None,
    max_tokens: int | None = None,
    budget_ms: float | None = None,
    refused: Mapping[str, CodelensError] | None = None,
    progress: Progress = silent,
) -> JointAnswer:
    """Places of several repositories that match `query`, in one order, best first.

    Scores are comparable, as if the repositories were one (docs/search.md). Each repository has
    its own receipt; one that cannot be searched has its error, and the others are answered
    anyway. Vectors of a provider are not used: not every repository has them.

    Args:
        query: as in `search`; so are `mode`, `languages` and the other filters.
        repositories: any path inside each worktree to search, 1 to 20.
        ref: a branch, tag or commit to search in each of them.
        limit: maximum number of results in total; None: 10.
        budget_ms: limit for all freshness checks together.
        refused: repositories that may not be searched, with the reasons; the answer lists them.

    Raises:
        QueryError: the query or a filter cannot be parsed.
    """
    from codelens.engine.reading import search_hits
    from codelens.engine.reading.search_hits import SearchFigures, search_logged
    from codelens.rank.search_request import Request

    request = Request(
        query, mode, tuple(languages), tuple(globs), tuple(kinds), content,
        DEFAULT_LIMIT if limit is None else limit, explain,
        meaning=engine.settings.meaning if meaning is None else meaning,
    )  # fmt: skip
    view_request = ViewRequest(".", ref, budget_ms, progress, query)
    count = len({*repositories, *(refused or {})})
    numbers = SearchFigures(
        "search_repositories", len(query), len(query.split()), max_tokens, repositories=count
    )
    with search_logged(engine.settings, numbers) as figures:
        return search_hits.search_repositories(
            engine.pool, request, view_request, repositories, refused or {},
            max_tokens=max_tokens, figures=figures,
        )  # fmt: skip
