"""Finds the worktree and repository of a path, for the interfaces, which do not import `scope`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from codelens.errors import UnclearWorktree
from codelens.scope.location import link_out, locate, shared_dir
from codelens.scope.repository import listed_worktrees


def root_of(path: str | Path) -> str:
    """The top of the worktree, or the plain folder, that contains `path`.

    Raises:
        ScopeError: the path does not exist, or is never indexed.
    """
    return locate(path).root


def common_worktree(handles: Sequence[str]) -> str:
    """See `codelens.handles.handle_grammar.common_worktree`; lazy, as few calls need it."""
    from codelens.handles import handle_grammar

    return handle_grammar.common_worktree(handles)


def repository_of(path: str | Path) -> str:
    """The common identifier of all worktrees of the repository that contains `path`.

    This is git's common folder; for a plain folder, its top.

    Raises:
        ScopeError: the path does not exist, or is never indexed.
    """
    place = locate(path)
    return os.path.realpath(shared_dir(place.git_dir) if place.git_dir else place.root)


def worktrees_of(path: str | Path) -> list[str]:
    """The existing worktrees of the repository that contains `path`, sorted.

    Raises:
        ScopeError: the path does not exist, or is never indexed.
        OSError: git's list of worktrees cannot be read.
    """
    place = locate(path)
    if not place.git_dir:
        return [place.root]
    roots = {place.root, *listed_worktrees(shared_dir(place.git_dir))}
    main, name = os.path.split(repository_of(path))
    if name == ".git":
        roots.add(main)
    return sorted(filter(os.path.isdir, roots))


def refuse_link_out(path: str | Path, own: Callable[[], set[str]]) -> None:
    """Reject a path that leaves its worktree through a link in that worktree.

    Args:
        path: any path.
        own: returns the worktrees of the session, to which a link may lead.

    Raises:
        UnclearWorktree: the path leaves its worktree.
    """
    out = link_out(path)
    if out is not None and root_of(path) not in own():
        why = f"{path} leaves {out.worktree} through the link {out.link} to {out.target}"
        raise UnclearWorktree(why, [out.worktree, out.target])
