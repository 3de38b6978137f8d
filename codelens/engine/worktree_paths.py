"""Which worktree a path lies in, for the faces, which do not import `scope`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from codelens.errors import UnclearWorktree
from codelens.scope.location import link_out, locate, shared_dir
from codelens.scope.repository import listed_worktrees


def root_of(path: str | Path) -> str:
    """The top of the worktree, or the plain folder, that `path` lies in.

    Raises:
        ScopeError: there is no such path, or it is never indexed.
    """
    return locate(path).root


def common_worktree(handles: Sequence[str]) -> str:
    """See `codelens.handles.handle_grammar.common_worktree`, which few questions need."""
    from codelens.handles import handle_grammar

    return handle_grammar.common_worktree(handles)


def repository_of(path: str | Path) -> str:
    """What all worktrees of the repository have in common that `path` lies in.

    That is git's common folder; of a plain folder its top.

    Raises:
        ScopeError: there is no such path, or it is never indexed.
    """
    place = locate(path)
    return os.path.realpath(shared_dir(place.git_dir) if place.git_dir else place.root)


def worktrees_of(path: str | Path) -> list[str]:
    """The worktrees of the repository that `path` lies in, as far as they are there; sorted.

    Raises:
        ScopeError: there is no such path, or it is never indexed.
        OSError: git's list of them cannot be read.
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
    """Refuse a path that leaves its worktree by a link of that worktree.

    Args:
        path: any path.
        own: tells the worktrees that are meant anyway; a link may lead to those.

    Raises:
        UnclearWorktree: always when it refuses.
    """
    out = link_out(path)
    if out is not None and root_of(path) not in own():
        why = f"{path} leaves {out.worktree} through the link {out.link} to {out.target}"
        raise UnclearWorktree(why, [out.worktree, out.target])
