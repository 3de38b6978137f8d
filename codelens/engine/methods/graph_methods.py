"""The methods of `Engine` for the graph (who uses what) and for branches and commits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.contexts import session_trail
from codelens.engine.contexts.session_trail import trailed
from codelens.engine.current_view import ViewRequest, at_own_ref
from codelens.engine.engine_core import EngineCore
from codelens.engine.index_pool import check_limit, seconds_left, seconds_to_read
from codelens.engine.masked_answers import masking
from codelens.engine.upkeep.usage_counter import counted
from codelens.errors import SettingError
from codelens.index.ingestion import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.branch_answers import (
        ConflictsAnswer,
        DiffAnswer,
        Elsewhere,
        HistoryAnswer,
    )
    from codelens.answers.graph_answers import (
        ImpactAnswer,
        MapAnswer,
        ReferencesAnswer,
        RelatedAnswer,
    )
    from codelens.answers.reading_answers import EdgeLine

_PATHS = 3
"""Default number of paths between two definitions."""
_MOST_LINES = 100_000
_OVERVIEW_S = 0.6
"""CPU time of `related` without a budget and without kinds. With kinds, the usual limit applies."""


@counted
@trailed(session_trail.of_related)
@masking
def related(
    engine: EngineCore,
    target: str,
    *,
    to: str | None = None,
    path: str | Path = ".",
    ref: str | None = None,
    kinds: Sequence[str] = (),
    direction: str = "both",
    depth: int = 1,
    paths: int = _PATHS,
    limit: int = 40,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> RelatedAnswer:
    """What is related to a definition or file; with `to`, the paths from it to another.

    Args:
        target: a handle, a file, a folder, or a name that only one definition has.
        to: where paths must lead.
        kinds: only these relations, of `codelens.engine.graph.related_query.RELATIONS`.
        direction: `in` (who uses it), `out` (what it uses) or `both`.
        depth: maximum number of steps, 1 to 3.
        paths: maximum number of distinct paths, with `to`.

    Raises:
        HandleError: `target` or `to` cannot be followed, or has several owners.
    """
    from codelens.engine.graph import related_query
    from codelens.engine.graph.lazy_graph import walked_view

    check_limit(limit)
    if to is None and paths != _PATHS:
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
    handles = (target,) if to is None else (target, to)
    request = ViewRequest(path, ref, budget_ms, progress, targets=handles)
    with walked_view(engine.pool, at_own_ref(request, target)) as (view, seconds):
        if to is not None:
            return related_query.paths_between(view, target, to, paths, seconds)
        return related_query.related(
            view, target, kinds, direction, depth=depth, limit=limit,
            seconds=_OVERVIEW_S if budget_ms is None and not kinds else seconds,
        )  # fmt: skip


@counted
@trailed(session_trail.of_references)
@masking
def references(
    engine: EngineCore,
    target: str,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    limit: int = 100,
    cursor: str = "",
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ReferencesAnswer:
    """Every line that uses a definition or file: all lines that a rename must change.

    Args:
        target: a handle, a file, a folder, or a name.
        limit: maximum number of lines; `left` of the answer counts the rest.
        cursor: the `cursor` of the previous answer, for the lines after it. It stays valid when
            other files change in between.

    Raises:
        HandleError: `target` cannot be followed.
        InvalidArgument: `cursor` does not come from an answer.
    """
    from codelens.engine.graph import references_query
    from codelens.engine.graph.lazy_graph import walked_view

    check_limit(limit, _MOST_LINES)
    request = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
    with walked_view(engine.pool, at_own_ref(request, target)) as (view, seconds):
        return references_query.references(
            view, target, limit=limit, cursor=cursor, seconds=seconds
        )


@counted
@trailed(session_trail.of_impact)
@masking
def impact(
    engine: EngineCore,
    targets: Sequence[str] = (),
    *,
    diff: str | None = None,
    path: str | Path = ".",
    ref: str | None = None,
    depth: int = 3,
    limit: int = 60,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ImpactAnswer:
    """What a change of the targets, or the difference from a commit, can affect.

    Args:
        targets: handles, files, folders or bare names.
        diff: instead of targets, everything that differs between this commit and the files now.
        depth: maximum number of steps, 1 to 5.

    Raises:
        HandleError: a target cannot be followed, or has several owners.
        NoSuchRef: `diff` does not name a commit.
    """
    from codelens.engine.graph.lazy_graph import walked_view
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
    request = ViewRequest(path, ref, budget_ms, progress, targets=tuple(targets))
    if diff is not None:
        return impact_query.changes_since(
            engine.pool, request, diff, depth, limit=limit, now_s=engine.now_s()
        )
    with walked_view(engine.pool, at_own_ref(request, targets[0])) as (view, seconds):
        answer = impact_query.impact(view, targets, depth, limit, seconds)
        return impact_query.with_notes(view, answer, engine.now_s())


@counted
@masking
def map(
    engine: EngineCore,
    focus: Sequence[str] = (),
    *,
    query: str = "",
    path: str | Path = ".",
    ref: str | None = None,
    max_tokens: int = 2000,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> MapAnswer:
    """An overview of the repository: files by how much others use them, folded, in a budget.

    Args:
        focus: handles, files or folders; the map prefers what is near them.
        query: words that shift the map as a focus does.
        max_tokens: maximum cost of the map's text.
        budget_ms: the ranking gets what the freshness check leaves of it, and at least 2 s;
            None: 30 s.

    Raises:
        HandleError: a focus names nothing, or several things.
    """
    from codelens.engine.graph import candidate_files
    from codelens.engine.map.map_query import map_

    started = time.monotonic()
    with engine.pool.view(ViewRequest(path, ref, budget_ms, progress, query)) as view:
        # With a long budget, the ranking gets all the time that the freshness check leaves.
        seconds = max(seconds_to_read(budget_ms), seconds_left(budget_ms, started))
        with view.reading():
            answer = map_(view, focus, query.strip(), max_tokens, seconds)
        candidate_files.keep(view)
        return answer


def export_edges(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    possible: bool = False,
    progress: Progress = silent,
) -> Iterator[EdgeLine]:
    """Every certain edge of the view, by path and line.

    With `possible`, also edges of uses that may mean one of several definitions: one edge for
    each of them, with a `confidence` below 1.
    """
    from codelens.engine.graph.edge_export import edge_lines

    with engine.pool.view(ViewRequest(path, ref, None, progress)) as view, view.reading():
        lines = list(edge_lines(view, possible=possible))
    yield from lines


# Branches, commits and worktrees.


@counted
@trailed(session_trail.of_diff)
@masking
def diff(
    engine: EngineCore,
    spec: str = "",
    *,
    path: str | Path = ".",
    other: str = "",
    staged: bool = False,
    globs: Sequence[str] = (),
    kinds: Sequence[str] = (),
    uses: bool = True,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> DiffAnswer:
    """The definitions that differ between two sides, and the uses that this breaks.

    Args:
        spec: empty (HEAD to the current files), `REF` (to the files), `A..B`, or `A...B`
            (from the merge base to B).
        other: the path of a worktree, or a ref, in place of the files here.
        staged: compare with git's index instead of the files.
        globs: only these paths, folders or globs; `!glob` leaves out.
        kinds: only these kinds of definitions or of differences.
        uses: find the uses that the change breaks, and the tests to run.

    Raises:
        SettingError: the sides cannot be combined.
        NotInGit: the folder is not in a git repository.
        NoSuchRef: a side does not exist here.
        ReadError: an object of git cannot be read.
    """
    from codelens.engine.versions import version_queries

    view = ViewRequest(path, None, budget_ms, progress)
    return version_queries.diff(
        engine.pool, view, spec, other=other, staged=staged, globs=globs, kinds=kinds, uses=uses
    )


@counted
@masking
def conflicts(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    others: Sequence[str] = (),
    base: str = "",
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ConflictsAnswer:
    """What will conflict when the files here are merged with the work of others.

    Args:
        others: worktrees by path, folder name or branch, and refs; empty: all worktrees with
            their uncommitted edits, and branches with commits in the last 14 days.
        base: a ref in place of the merge base; then only definitions are compared.
        budget_ms: limit for the freshness check of each view.

    Raises:
        NotInGit: the folder is not in a git repository.
        NoSuchRef: one of `others` does not exist here.
    """
    from codelens.engine.versions import version_queries

    view = ViewRequest(path, None, budget_ms, progress)
    return version_queries.conflicts(engine.pool, view, others, base)


@counted
@trailed(session_trail.of_history)
@masking
def history(
    engine: EngineCore,
    target: str,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    limit: int = 20,
    since: str = "",
    first_parent: bool = False,
    patch: bool = False,
    together: bool = False,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> HistoryAnswer:
    """The commits that changed a definition; for a file, when each definition last changed.

    Args:
        target: a handle, or a file.
        limit: maximum number of changes.
        since: only changes after a date, or within `14d`, `6 weeks`.
        first_parent: follow only the first parent of merges.
        patch: add the definition's own diff to each change.
        together: count what else the same commits changed.

    Raises:
        HandleError: the target cannot be followed, or has several owners.
        NotInGit: the folder is not in a git repository.
        InvalidArgument: an argument is out of range.
    """
    from codelens.engine.versions import history_query
    from codelens.engine.versions.diff_query import facts_of

    check_limit(limit)
    request = history_query.HistoryRequest(target, limit, since, first_parent, patch, together)
    view_request = at_own_ref(ViewRequest(path, ref, budget_ms, progress), target)
    view_request = history_query.of_one_file(engine.pool, view_request, target)
    with engine.pool.view(view_request) as view:
        return history_query.history(view, request, facts_of(view.index.db, view.settings))


def changed_elsewhere(
    engine: EngineCore, files: Sequence[str], *, path: str | Path = ".", quiet: bool = False
) -> tuple[Elsewhere, ...]:
    """Definitions of some files that other worktrees changed; call it before an edit.

    Reads only these files in each other worktree; updates no view.

    Args:
        files: paths in the worktree, relative to its top or absolute.
        path: any path inside the worktree.
        quiet: include definitions of which only the documentation or the formatting changed.

    Raises:
        OutsideWorktree: an absolute path is not inside the worktree.
    """
    from codelens.engine.versions import version_queries

    return version_queries.changed_elsewhere(engine.pool, path, files, quiet=quiet)
