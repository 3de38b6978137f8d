"""What else can be looked at in a repository: its worktrees, branches and tags."""

from __future__ import annotations

from codelens.answers.reading_answers import RefsAnswer, WorktreeLine
from codelens.engine.current_view import OpenRepository
from codelens.errors import CodelensError
from codelens.scope.commits.ref_names import ref_names
from codelens.scope.repository import Repository


def refs(opened: OpenRepository, limit: int) -> RefsAnswer:
    """The worktrees of a repository, the one of the question first, and its branches and tags."""
    repository = opened.repository
    if not repository.is_git:
        return RefsAnswer((WorktreeLine(opened.scope.worktree, ""),), ())
    roots = [] if repository.place.kind == "bare" else [repository.place.root]
    roots += repository.worktrees()
    names = ref_names(repository.common_dir)
    return RefsAnswer(
        worktrees=tuple(WorktreeLine(root, _branch_at(root)) for root in roots),
        refs=tuple(names[:limit]),
        more=max(len(names) - limit, 0),
    )


def _branch_at(root: str) -> str:
    try:
        return Repository.at(root).scope().branch
    except CodelensError:
        return ""  # What is wrong with it is told when it is asked.
