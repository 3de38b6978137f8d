"""Tools that need more than one method of the engine: `cl_search` and the upkeep tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from codelens.errors import InvalidArgument, SettingError
from codelens.serve.tool_row import FORMAT, PATH, REF, Argument, ToolRow, size_argument

if TYPE_CHECKING:
    from codelens.answers.branch_answers import ConflictsAnswer, DiffAnswer, HistoryAnswer
    from codelens.answers.reading_answers import JointAnswer, SearchAnswer, StatusAnswer
    from codelens.answers.upkeep_answers import Dropped, PruneAnswer, RepositoryLife
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
    """Search the named repositories, or else the worktree of `path`.

    Args:
        engine: the engine to ask.
        query: the query.
        path: the worktree to search if no repository is named.
        repositories: the named repositories that this server may search.
        rerank: `on`, `off`, or `auto`: as the reranker's profile says.
        refused: the named repositories that it may not search, with the reasons.
        filters: the filters of both methods.

    Raises:
        InvalidArgument: `rerank` is `on` and repositories are named.
    """
    if repositories or refused:
        if rerank == "on":
            raise InvalidArgument("rerank", "cannot be used with `repositories`; omit it")
        return engine.search_repositories(query, repositories, refused=refused, **filters)
    return engine.search(query, path=path, rerank=_RERANKS[rerank], **filters)


def nobody_answered(answer: SearchAnswer | JointAnswer) -> bool:
    """Whether several repositories were searched, and all of them failed."""
    parts = getattr(answer, "repositories", ())
    return bool(parts) and all(part.error for part in parts)


def branches_asked(
    engine: Engine,
    *,
    question: str,
    spec: str,
    target: str,
    path: str,
    budget_ms: float | None,
) -> DiffAnswer | ConflictsAnswer | HistoryAnswer:
    """`cl_branches`: one of the questions about branches.

    Raises:
        InvalidArgument: a question lacks its argument, or has one of another question.
    """
    if question == "history":
        if spec:
            raise InvalidArgument("spec", "belongs to diff and conflicts; pass only target")
        if not target:
            raise InvalidArgument("target", "must name a definition or file for a history")
        return engine.history(target, path=path, budget_ms=budget_ms)
    if question == "conflicts":
        if target:
            raise InvalidArgument("target", "belongs to diff and history; omit it")
        return engine.conflicts(others=[spec] if spec else [], path=path, budget_ms=budget_ms)
    globs = [target.partition("#")[0]] if target else []
    return engine.diff(spec, globs=globs, path=path, budget_ms=budget_ms)


# The upkeep tools.


def index(
    engine: Engine, *, action: str, path: str, ref: str | None,
    progress: Callable[[str, int, int], None],
) -> StatusAnswer | list[RepositoryLife]:  # fmt: skip
    """`cl_index`: update a view; with `status`, list every index, or that of `path`."""
    if action == "status":
        return engine.overview(only=path or None)
    return engine.bring(path=path, ref=ref, rebuild=action == "rebuild", progress=progress)


def prune(engine: Engine, *, dry_run: bool, path: str) -> PruneAnswer:
    """`cl_prune`: prune every repository, or that of `path`."""
    return engine.prune(dry_run=dry_run, only=path or None)


def drop(engine: Engine, *, view: str, repository: bool, force: bool, path: str) -> Dropped:
    """`cl_drop`: drop a view, or the whole index.

    Raises:
        SettingError: the arguments name neither, or both.
    """
    if view and repository:
        raise SettingError("view and repository cannot be combined; pass one of them")
    if not view and not repository:
        raise SettingError(
            "nothing to drop; pass view (a branch, ref, worktree folder, or an id of cl_index with "
            "action status), or repository: true for the whole index"
        )
    if view:
        return engine.drop(view, path=path, force=force)
    return engine.drop_repository(path=path, force=force)


UPKEEP = (
    ToolRow(
        "cl_index", "upkeep",
        "Is the whole index up to date, and what is in it?",
        "Every other tool updates it automatically; call this to wait until a large or new tree "
        "is indexed (progress is reported), to list every index and view, or to rebuild one.",
        "waits until a tree is indexed",
        (
            Argument(
                "action",
                "sync: update it completely; create: the same, for a first index; rebuild: "
                "delete the repository's index and build it again; status: every index and "
                "view, its size, age, last use, and why it would be pruned or kept.",
                default="sync", choices=("sync", "create", "rebuild", "status"),
            ),
            PATH, REF, FORMAT, size_argument(3000),
        ),
        index, "index", "writes", budgets=0,
        is_everywhere=lambda arguments: arguments["action"] == "status", tells_progress=True,
    ),
    ToolRow(
        "cl_prune", "upkeep",
        "Which views of branches and worktrees have not been used for a long time?",
        "Shows what would be removed, and with dry_run false removes it, in all repositories or "
        "(with path) in one. Never removes views that are checked out, pinned or used recently.",
        "",
        (
            Argument("dry_run", "Only show what would be removed.", "truth", True),
            PATH, FORMAT, size_argument(3000),
        ),
        prune, "prune", "removes", budgets=0,
        is_everywhere=lambda _: True,
    ),
    ToolRow(
        "cl_drop", "upkeep",
        "Remove one view, or a repository's whole index, now.",
        "Refuses active or pinned views unless force is set; saved contexts are kept, and a view "
        "is rebuilt when needed.",
        "",
        (
            Argument(
                "view", "A branch, ref, worktree folder, or an id of cl_index status.",
                default="", example='"main"',
            ),
            Argument(
                "repository", "Instead of a view, the repository's whole index.", "truth", False
            ),
            Argument("force", "Also remove active or pinned views.", "truth", False),
            PATH, FORMAT,
        ),
        drop, "drop", "removes", budgets=0,
    ),
)  # fmt: skip
