"""Against whom: the other worktrees of the repository, and branches with recent commits."""

from __future__ import annotations

import difflib
import os
import time
from typing import NamedTuple

from codelens.engine.current_view import CurrentView
from codelens.engine.versions.chosen_sides import worktree_named
from codelens.errors import CodelensError, NoSuchRef
from codelens.scope.commits.recent_branches import recent_branches
from codelens.scope.repository import Repository

RECENT_DAYS = 14
MOST_RIVALS = 50
_DAY_S = 86_400


class RivalName(NamedTuple):
    """A worktree by its root, or a ref."""

    root: str
    """Empty for a ref."""
    ref: str


class Rivals(NamedTuple):
    """Whom to compare with."""

    chosen: list[RivalName]
    left_out: list[str]
    """Those that are too many."""
    old_branches: int
    """Branches without a recent commit."""


def rivals_of(view: CurrentView, named: tuple[str, ...]) -> Rivals:
    """Whom to compare with, and how many are not compared with.

    Args:
        view: at the files here.
        named: worktrees by path or branch, and refs; none: all worktrees and recent branches.

    Raises:
        NoSuchRef: a name is none of them.
    """
    if named:
        return Rivals([_named(view, name) for name in dict.fromkeys(named)], [], 0)
    repository = view.repository
    rival_names = [RivalName(root, "") for root in repository.worktrees()]
    since = int(time.time()) - RECENT_DAYS * _DAY_S
    taken = {view.scope.branch} | {_branch_at(rival_name.root) for rival_name in rival_names}
    recent, old = recent_branches(repository, since)
    rival_names += [RivalName("", name) for name in recent if name not in taken]
    rest = [rival_name.root or rival_name.ref for rival_name in rival_names[MOST_RIVALS:]]
    return Rivals(rival_names[:MOST_RIVALS], rest, len({*old} - taken))


def _branch_at(root: str) -> str:
    try:
        return Repository.at(root).scope().branch
    except CodelensError:
        return ""  # told when it is compared


def _named(view: CurrentView, name: str) -> RivalName:
    root = worktree_named(view, name)
    if root is not None:
        return RivalName(root, "")
    worktree_names: list[str] = []
    for other in view.repository.worktrees():
        names = [_branch_at(other), os.path.basename(other)]
        if name in names:
            return RivalName(other, "")
        worktree_names += filter(None, names)
    try:
        view.repository.scope(name)
    except NoSuchRef as error:
        like_it = difflib.get_close_matches(name, worktree_names, n=3)
        near = list(dict.fromkeys([*error.near, *like_it]))
        raise NoSuchRef(name, view.scope.root, near, or_worktree=True) from error
    return RivalName("", name)
