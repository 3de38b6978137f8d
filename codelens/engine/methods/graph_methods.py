"""Who uses what: methods of `Engine`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.contexts import session_trail
from codelens.engine.contexts.session_trail import trailed
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine_core import EngineCore
from codelens.engine.upkeep.usage_counter import counted
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


@counted
@trailed(session_trail.of_related)
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
    paths: int = 3,
    limit: int = 40,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> RelatedAnswer:
    """What is related to a definition or file; with `to`, the paths from it to another.

    Args:
        target: a handle, a file, a folder, or a bare name that one definition alone has.
        to: where paths shall lead.
        kinds: only these relations, of `codelens.engine.graph.related_query.RELATIONS`.
        direction: `in` (who uses it), `out` (what it uses) or `both`.
        depth: steps at most, 1 to 3.
        paths: distinct paths at most, with `to`.

    Raises:
        HandleError: `target` or `to` cannot be followed, or has several owners.
    """
    handles = (target,) if to is None else (target, to)
    return engine.graph.related(
        ViewRequest(path, ref, budget_ms, progress, targets=handles), target,
        to=to, kinds=kinds, direction=direction, depth=depth, paths=paths, limit=limit,
    )  # fmt: skip


@counted
@trailed(session_trail.of_references)
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
    """Every line that uses a definition or file: all that a rename has to change.

    Args:
        target: a handle, a file, a folder, or a name.
        limit: lines at most; `left` of the answer says how many follow.
        cursor: the `cursor` of the answer before, for the lines that follow it. It holds when
            other files change in between.

    Raises:
        HandleError: `target` cannot be followed.
        InvalidArgument: `cursor` is none that an answer gave.
    """
    view = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
    return engine.graph.references(view, target, limit=limit, cursor=cursor)


@counted
@trailed(session_trail.of_impact)
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
    """Who can be affected by a change of the targets, or of what differs from a commit.

    Args:
        targets: handles, files, folders or bare names.
        diff: instead of targets, all that differs between this commit and the files now.
        depth: steps at most, 1 to 5.

    Raises:
        HandleError: a target cannot be followed, or has several owners.
        NoSuchRef: `diff` names no commit.
    """
    view = ViewRequest(path, ref, budget_ms, progress, targets=tuple(targets))
    return engine.graph.impact(view, targets, diff=diff, depth=depth, limit=limit)


@counted
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
    """The repository at a glance: files by how much others use them, folded, in a budget.

    Args:
        focus: handles, files or folders near which the map is to be drawn.
        query: words that tilt it as a focus does.
        max_tokens: what the map's text may cost.
        budget_ms: what the freshness check leaves of it is for the ranking, which has 2 s in
            any case; None: 30 s.

    Raises:
        HandleError: a focus names nothing, or several things.
    """
    return engine.graph.map(ViewRequest(path, ref, budget_ms, progress, query), focus, max_tokens)


def export_edges(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    possible: bool = False,
    progress: Progress = silent,
) -> Iterator[EdgeLine]:
    """Every certain edge of the view, by path and line.

    With `possible`, those of uses too that may mean one of several definitions, one to each, with
    a `confidence` below 1.
    """
    return engine.graph.edges(ViewRequest(path, ref, None, progress), possible=possible)


# Branches, commits and worktrees: methods of `Engine`.


@counted
@trailed(session_trail.of_diff)
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
    """What differs between two sides, as definitions, and which uses that breaks.

    Args:
        spec: empty (HEAD to the files as they are), `REF` (to the files), `A..B`, or `A...B`
            (from the merge base to B).
        other: a worktree by path, or a ref, in place of the files here.
        staged: compare with git's index instead of the files.
        globs: only these paths, folders or globs; `!glob` leaves out.
        kinds: only these kinds of definitions or ways to differ.
        uses: look for uses that the change breaks, and for the tests to run.

    Raises:
        SettingError: the sides do not go together.
        NotInGit: there is no git here.
        NoSuchRef: a side names nothing here.
        ReadError: what git has cannot be read.
    """
    view = ViewRequest(path, None, budget_ms, progress)
    return engine.versions.diff(
        view, spec, other=other, staged=staged, globs=globs, kinds=kinds, uses=uses
    )


@counted
def conflicts(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    others: Sequence[str] = (),
    base: str = "",
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ConflictsAnswer:
    """What will collide when what is here is merged with the work of others.

    Args:
        others: worktrees by path, folder name or branch, and refs; none: all worktrees with
            their uncommitted edits, and branches with commits in the last 14 days.
        base: a ref in place of the merge base; then only definitions are compared.
        budget_ms: how long the freshness check of each view may take.

    Raises:
        NotInGit: there is no git here.
        NoSuchRef: one of `others` names nothing here.
    """
    view = ViewRequest(path, None, budget_ms, progress)
    return engine.versions.conflicts(view, others, base)


@counted
@trailed(session_trail.of_history)
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
    """Which commits changed a definition; of a file, when each definition last changed.

    Args:
        target: a handle, or a file.
        limit: changes at most.
        since: no older ones: a date, or `14d`, `6 weeks`.
        first_parent: follow merges to their first parent alone.
        patch: give the definition's own diff with each.
        together: count what else the same commits changed.

    Raises:
        HandleError: the target cannot be followed, or has several owners.
        NotInGit: there is no git here.
        InvalidArgument: an argument is out of range.
    """
    from codelens.engine.versions.history_query import HistoryRequest

    request = HistoryRequest(target, limit, since, first_parent, patch, together)
    return engine.versions.history(ViewRequest(path, ref, budget_ms, progress), request)


def changed_elsewhere(
    engine: EngineCore, files: Sequence[str], *, path: str | Path = ".", quiet: bool = False
) -> tuple[Elsewhere, ...]:
    """Definitions of some files that other worktrees changed: to be asked before an edit.

    Reads these files in each other worktree and nothing else: no view is brought up to date.

    Args:
        files: paths in the worktree, relative to its top or absolute.
        path: any path inside the worktree.
        quiet: also those of which only the documentation or the formatting changed.

    Raises:
        OutsideWorktree: an absolute path is not inside the worktree.
    """
    return engine.versions.changed_elsewhere(path, files, quiet=quiet)
