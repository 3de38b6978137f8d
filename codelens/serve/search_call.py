"""`cl_search`: of one worktree, or of several repositories at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from codelens.errors import InvalidArgument

if TYPE_CHECKING:
    from codelens.answers.joint_answers import JointAnswer
    from codelens.answers.search_answers import SearchAnswer
    from codelens.engine.engine import Engine
    from codelens.errors import CodelensError

_RERANKS = {"auto": None, "on": True, "off": False}


def search_asked(
    engine: Engine,
    *,
    query: str,
    path: str,
    repositories: Sequence[str],
    rerank: str,
    refused: Mapping[str, CodelensError] | None = None,
    **filters: Any,  # noqa: ANN401 - the arguments that both have
) -> SearchAnswer | JointAnswer:
    """Ask about the repositories that are named, else about the worktree of `path`.

    Args:
        engine: that is asked.
        query: what is looked for.
        path: of the worktree that is meant where no repository is named.
        repositories: of which this server may answer.
        rerank: `on`, `off`, or `auto`: as the reranker's profile says.
        refused: those of which it may not, and why.
        filters: what both are asked with.

    Raises:
        InvalidArgument: several repositories are to be reranked together.
    """
    if repositories or refused:
        if rerank == "on":
            raise InvalidArgument("rerank", "cannot be used with `repositories`; leave it out")
        return engine.search_repositories(query, repositories, refused=refused, **filters)
    return engine.search(query, path=path, rerank=_RERANKS[rerank], **filters)


def nobody_answered(answer: SearchAnswer | JointAnswer) -> bool:
    """Whether several repositories were asked, and each of them failed."""
    parts = getattr(answer, "repositories", ())
    return bool(parts) and all(part.error for part in parts)
