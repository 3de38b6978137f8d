"""Branches, commits and worktrees: methods of `Engine`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.sessions import trail_lines
from codelens.engine.sessions.trail_lines import trailed
from codelens.engine.usage.usage_counter import counted
from codelens.engine.view_request import ViewRequest
from codelens.index.progress import Progress, silent

# What answers are made of is imported with the capability that makes them.
if TYPE_CHECKING:
    from codelens.answers.branch_answers import (
        ConflictsAnswer,
        DiffAnswer,
        Elsewhere,
        HistoryAnswer,
    )


@counted
@trailed(trail_lines.of_diff)
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
@trailed(trail_lines.of_history)
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
