"""Questions about several repositories at once: methods of `Engine`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.methods.reading_methods import DEFAULT_LIMIT
from codelens.engine.usage.usage_counter import counted
from codelens.engine.view_request import ViewRequest
from codelens.index.progress import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.joint_answers import JointAnswer
    from codelens.errors import CodelensError


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
    from codelens.engine.reading.search_telemetry import SearchFigures, search_told
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
