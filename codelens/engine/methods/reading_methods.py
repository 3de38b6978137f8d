"""Finding and reading code, and bringing a view up to date: methods of `Engine`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.contexts import session_trail
from codelens.engine.contexts.session_trail import trailed
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine_core import EngineCore
from codelens.engine.upkeep.usage_counter import counted
from codelens.engine.worktree_paths import root_of
from codelens.index.ingestion import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.reading_answers import (
        ExpandAnswer,
        ExploreAnswer,
        JointAnswer,
        OutlineAnswer,
        RefsAnswer,
        SearchAnswer,
        SourceAnswer,
        StatusAnswer,
        SymbolLine,
    )
    from codelens.errors import CodelensError
    from codelens.types import Receipt

DEFAULT_LIMIT = 10
"""Results of a search."""
DEFAULT_TOKENS = 8_000
"""Of `explore`: what a search and the expansion of its first places cost; docs/explore.md."""


@counted
@trailed(session_trail.of_search)
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
    """Places that answer `query`, best first, true for the worktree that `path` lies in.

    Args:
        query: words, an identifier, a path, a sentence; by `mode` a text or a regex.
        mode: `auto`, `symbol`, `text`, `regex`, `path`, or `meaning`: by what files mean alone.
        languages: only these.
        globs: only paths that match one; `!glob` leaves out.
        kinds: only these kinds of symbol.
        content: `code`, `prose` or `all`.
        limit: 1 to 1,000; None: 10, and in mode `meaning` what the provider's profile has, which
            is also the most (docs/providers.md).
        explain: give each feature's share of the score.
        meaning: rank words by what they mean, too (docs/meaning.md); None: as the settings say.
        rerank: let a reranker order the first results (docs/providers.md); None: if the settings
            allow it, there is one, and its profile says so.
        max_tokens: leave out results, and count them in `more`, so that the answer's short
            text (`codelens.render.search_text`) costs no more, by the estimate of
            `codelens.render.token_budget`.

    Raises:
        QueryError: the query or a filter cannot be understood.
        NoReranker: `rerank` is true, and there is none on this machine or by a provider.
    """
    from codelens.engine.reading.search_hits import SearchFigures, search_told
    from codelens.rank.search_request import Request

    request = Request(
        query, mode, tuple(languages), tuple(globs), tuple(kinds), content,
        DEFAULT_LIMIT if limit is None else limit, explain,
        meaning=engine.settings.meaning if meaning is None else meaning,
    )  # fmt: skip
    view = ViewRequest(path, ref, budget_ms, progress, query)
    numbers = SearchFigures("search", len(query), len(query.split()), max_tokens)
    with search_told(engine.settings, numbers) as figures:
        return engine.reader.search(
            view, request, max_tokens, any_limit=limit is None, figures=figures,
            rerank=False if rerank is None and not engine.settings.rerank else rerank,
        )  # fmt: skip


@counted
@trailed(session_trail.of_explore)
def explore(
    engine: EngineCore,
    task: str,
    *,
    max_tokens: int = DEFAULT_TOKENS,
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
    """The code that a task needs, whole where it fits, in a number of tokens.

    Args:
        task: what is to be done or understood, in as many words as there are; handles, paths,
            names, stack traces and messages in it come first.
        max_tokens: what the answer's text may cost, as `codelens.render.token_budget` counts.
        intent: `debug`, `refactor`, `modify` or `explore`; None: told by the task's words.
        languages: only these.
        globs: only paths that match one; `!glob` leaves out.
        kinds: only these kinds of definition are looked for; neighbours may be of any.
        again: give code that was sent in this session, too (see `as_session`).

    Raises:
        QueryError: the task is empty, or a filter cannot be understood.
    """
    return engine.explorer.explore(
        ViewRequest(path, ref, budget_ms, progress, task), max_tokens, intent,
        languages=languages, globs=globs, kinds=kinds, again=again,
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
) -> ExpandAnswer:
    """The text each handle names, read from the disk or the git object now.

    A handle whose symbol moved is followed and says so; one that cannot be followed carries
    its error, and the others are answered all the same.

    Args:
        handles: as `search` gives them; a handle may name its own ref (`ref:path#name`).
        context: number of lines to add before and after.
        max_lines: lines of one handle at most.
        signatures: declarations alone, without bodies, as `outline` has them.
        again: give text that was sent in this session, too (see `as_session`).
    """
    view = ViewRequest(path, ref, budget_ms, targets=tuple(handles))
    return engine.reader.expand(
        view, handles, context, max_lines, again=again, signatures=signatures
    )


@counted
@trailed(session_trail.of_outline)
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
        detail: `names` of definitions alone, `signatures` (and imports) too, or `docs` too.

    Raises:
        HandleNotFound: there is no such file or folder in the view.
    """
    view = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
    return engine.reader.outline(view, target, detail)


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
    """A file to be shown to people: its text, what its words are, and where its names lead.

    Args:
        target: a file, or a handle in it, whose lines are then among those given.
        max_lines: lines at most.

    Raises:
        HandleError: `target` cannot be followed, or has several owners.
        ReadError: the file cannot be read, or is no text.
    """
    view = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
    return engine.graph.source(view, target, max_lines)


def refs(engine: EngineCore, *, limit: int = 2_000, path: str | Path = ".") -> RefsAnswer:
    """Worktrees, branches and tags of a repository, by name; nothing is indexed.

    Args:
        limit: branches and tags at most.
    """
    return engine.reader.refs(path, limit)


def look(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> Receipt:
    """Bring the view up to date and say so; what every other method does first."""
    return engine.reader.refresh(ViewRequest(path, ref, budget_ms, progress))


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
    """Where `path` stands, how fresh its view is, what is in it and what was left out.

    Args:
        detail: also what `codelens doctor` finds wrong on this machine, coding agents left out.
    """
    answer = engine.reader.status(ViewRequest(path, ref, budget_ms, progress))
    if not detail:
        return answer
    from dataclasses import replace

    from codelens.answers.reading_answers import HealthFinding
    from codelens.engine.upkeep.diagnosis import examine

    findings = (
        HealthFinding(result.check, result.state, result.about, result.found, result.done)
        for result in examine(engine.settings)
        if result.state != "ok"
    )
    return replace(answer, findings=tuple(findings))


def begin(engine: EngineCore, path: str | Path) -> None:
    """Start to index a worktree in the background; nothing without `keep_going`."""
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
    """Bring the view up to date, to the end; `rebuild` starts the repository's index anew."""
    if rebuild:
        engine.reader.rebuild(path, ref)
    return engine.reader.index(ViewRequest(path, ref, None, progress))


def bring(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    rebuild: bool = False,
    progress: Progress = silent,
) -> StatusAnswer:
    """As `index`, beside other questions: they do not wait for it."""
    if rebuild:
        engine.reader.rebuild(path, ref)
    return engine.reader.status_beside(ViewRequest(path, ref, None, progress))


def export_symbols(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    progress: Progress = silent,
) -> Iterator[SymbolLine]:
    """Every definition of the view, by path and line."""
    return engine.reader.symbols(ViewRequest(path, ref, None, progress))


# Questions about several repositories at once: methods of `Engine`.


@counted
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
    """Places of several repositories that answer `query`, in one order, best first.

    Scores are on one scale, as if the repositories were one (docs/search.md). Each has its own
    receipt; one that cannot be asked has its error, and the others are answered all the same.
    Vectors of a provider are not used: not every repository has them.

    Args:
        query: as in `search`; `mode`, `languages` and the other filters, too.
        repositories: any path inside each worktree that is asked, 1 to 20.
        ref: a branch, tag or commit, looked at in each of them.
        limit: results of all together; None: 10.
        budget_ms: how long the freshness checks of all may take together.
        refused: repositories that may not be asked, and why: they are named in the answer.

    Raises:
        QueryError: the query or a filter cannot be understood.
    """
    from codelens.engine.reading.search_hits import SearchFigures, search_told
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
    with search_told(engine.settings, numbers) as figures:
        return engine.joint_reader.search(
            request, view_request, repositories, refused or {}, max_tokens, figures=figures
        )
