"""Determines the two sides of a comparison: refs, git's index, or files of a worktree."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from codelens.branches.sides import AnySide, CommitSide, StagedSide
from codelens.engine.current_view import CurrentView
from codelens.engine.versions.diff_query import files_side
from codelens.errors import CodelensError, NoSuchRef, NotInGit, SettingError
from codelens.paths import can_be_named
from codelens.scope.repository import Repository
from codelens.scope.tree_changes import merge_base
from codelens.types import CommitId

ViewAt = Callable[[str], CurrentView]
"""Returns a view of the worktree with this root."""


class Sides(NamedTuple):
    """The old and new side of a comparison."""

    old: AnySide
    new: AnySide
    new_view: CurrentView | None
    """View of the new side, if it consists of files on disk."""
    old_view: CurrentView | None = None
    """View of the old side, likewise."""


def chosen_sides(
    view: CurrentView, spec: str, other: str, view_at: ViewAt, *, staged: bool
) -> Sides:
    """The requested sides.

    Args:
        view: of the files here.
        spec: empty, `REF`, `A..B`, `A B` or `A...B`; A and B may be worktrees.
        other: a worktree by path or branch, or a ref, in place of the files here; may be empty.
        view_at: opens a view of another worktree.
        staged: compare with git's index.

    Raises:
        SettingError: they cannot be combined.
        NotInGit: the folder is not in a git repository.
        NoSuchRef: a name is neither a ref nor a worktree.
        ReadError: the sides have no common history.
    """
    if ".." not in spec and len(spec.split()) == 2 and not _exists(view, spec):
        # `A B` as git accepts it; no ref has a blank in its name.
        spec = "..".join(spec.split())
    _refuse(view, spec, other, staged=staged)
    if staged:
        old = _side(view, spec or "HEAD", view_at)[0]
        return Sides(old, StagedSide(view.repository, view.scope), None)
    if ".." in spec:
        return _range(view, spec, view_at)
    files = files_side(view, "files"), view
    if other:
        old = _side(view, spec, view_at) if spec else files
        return Sides(old[0], *_side(view, other, view_at), old[1])
    return Sides(_side(view, spec or "HEAD", view_at)[0], *files)


def _exists(view: CurrentView, name: str) -> bool:
    """Whether a text with a blank is the path of a worktree."""
    return os.path.isdir(os.path.join(view.scope.root, os.path.expanduser(name)))


def _refuse(view: CurrentView, spec: str, other: str, *, staged: bool) -> None:
    if not view.repository.is_git:
        raise NotInGit(view.scope.root, "there is nothing to compare with")
    if staged and (other or ".." in spec):
        raise SettingError(
            "what is staged is compared with one ref",
            typed="omit --with, and give one ref and no range",
            called="omit other, and pass one ref and no range",
        )
    if other and ".." in spec:
        raise SettingError(
            f"the range {spec} already has both sides",
            typed="omit --with, or give one ref",
            called="omit other, or pass one ref",
        )


def _range(view: CurrentView, spec: str, view_at: ViewAt) -> Sides:
    left, dots, right = spec.partition("..")
    if right.startswith("."):
        dots, right = "...", right[1:]
    left, right = left or "HEAD", right or "HEAD"
    if ".." in right:
        raise SettingError(f"{spec!r} has several ranges; write A..B or A...B")
    if dots == "..":
        old = _side(view, left, view_at)
        return Sides(old[0], *_side(view, right, view_at), old[1])
    repository = view.repository
    new, new_view = _side(view, right, view_at)
    head = new_view.scope.head if new_view is not None else CommitId(_commit(new))
    base = merge_base(repository, repository.scope(left).head, head)
    if not base:
        raise SettingError(
            f"{left} and {right} have no history in common: compare them with {left}..{right}"
        )
    name = f"the merge base {base[:7]} of {left} and {right}"
    return Sides(CommitSide(repository, base, name), new, new_view)


def _commit(side: AnySide) -> str:
    assert isinstance(side, CommitSide)
    return side.commit


def _side(view: CurrentView, name: str, view_at: ViewAt) -> tuple[AnySide, CurrentView | None]:
    """A ref, or a worktree by its path or branch."""
    if name == "HEAD" and not view.scope.head:
        return CommitSide(view.repository, CommitId(""), "HEAD (no commit yet)"), None
    root = worktree_named(view, name)
    if root is not None:
        there = view_at(root)
        return files_side(there, name), there
    return CommitSide(view.repository, view.repository.scope(name).head, name), None


def worktree_named(view: CurrentView, name: str) -> str | None:
    """The root of the worktree that a path names; None if none matches."""
    written = "/" in name or os.sep in name or name in {".", ".."}
    if not written or not can_be_named(name):
        return None
    full = os.path.realpath(os.path.join(view.scope.root, os.path.expanduser(name)))
    if not os.path.isdir(full):
        return None
    try:
        view.repository.scope(name)
    except NoSuchRef:
        pass
    else:
        return None
    try:
        there = Repository.at(full)
    except CodelensError as error:
        raise SettingError(f"{name!r} cannot be compared: {error}") from error
    if there.common_dir != view.repository.common_dir:
        raise SettingError(
            f"{name!r} is in another repository ({there.place.root}); only worktrees and "
            "refs of one repository can be compared"
        )
    return there.place.root
