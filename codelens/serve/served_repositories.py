"""Which worktree a call over HTTP is about: several clients ask one server about several.

The call's `path`; else what its client says, Codex's workspaces and the client's roots; else the
server's `--root`, if it has one alone and its repository no other worktree: a client that says
nothing may be at work in any of them. The server's own environment and working directory count for
nothing: they are of whoever started it.

A server that was started with roots answers about their repositories, with all worktrees of each,
and about no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import anyio.to_thread
from mcp.server.mcpserver import Context

from codelens.engine.worktree_paths import refuse_link_out, repository_of, root_of, worktrees_of
from codelens.errors import ScopeError, UnclearWorktree
from codelens.serve.call_worktree import codex_workspaces, refuse_relative, why_passed, worktree_of
from codelens.serve.client_workspaces import ClientRoots

_PATIENCE_S = 10.0
"""For a client's roots: nothing else says what it means, and a busy client needs seconds."""


class NotServed(ScopeError):
    """A call is about a repository that the server was not started for.

    Args:
        path: that the call named.
        roots: of the server.
    """

    def __init__(self, path: str, roots: Sequence[str]) -> None:
        self.path = path
        super().__init__(
            f"{path!r} is in none of the repositories of this server ({', '.join(roots)}); ask "
            "about one of those, or ask the user to start the server with this root as well"
        )


class ServedRepositories:
    """Chooses the path that a call is about, for all clients of a server over HTTP.

    Args:
        roots: the server's `--root`s; none: all repositories of its user are served.
        known: worktrees to name to a client that must choose, where there are no roots.

    Raises:
        ScopeError: one of the roots is not there, or is never indexed.
    """

    def __init__(self, roots: Iterable[str], known: Callable[[], Sequence[str]]) -> None:
        self.roots = tuple(dict.fromkeys(root_of(root) for root in roots))
        self._repositories = {repository_of(root) for root in self.roots}
        self._known = known
        self._client_roots = ClientRoots(may_ask_back=True, patience_s=_PATIENCE_S)

    @property
    def may_mean_all(self) -> bool:
        """Whether a call without `path` may be about all repositories that codelens knows."""
        return not self.roots

    async def chosen(self, path: str, context: Context) -> str:
        """A path inside the worktree that is meant.

        Raises:
            SettingError: `path` is not absolute.
            NotServed: it is in a repository of no root.
            UnclearWorktree: nothing says which one is meant, several are named, what the client
                names is not served, or a link of a worktree leads out of it.
            RootsWanted: the client has to bring its roots.
        """
        if path:
            refuse_relative(path)
            refuse_link_out(path, lambda: set(self.roots))
            if not self._is_served(path):
                raise NotServed(path, self.roots)
            return path
        passed: list[str] = []
        if root := self._only_one(
            "the workspace of Codex", codex_workspaces(context.request_context.meta or {}), passed
        ):
            return root
        named = await self._client_roots.named(context)
        if root := self._only_one("the client's roots", named, passed):
            return root
        if len(self.roots) != 1:
            choices = self.roots or await anyio.to_thread.run_sync(self._known)
            why = "the server has several --root" if self.roots else "the server has no --root"
            raise UnclearWorktree("; ".join([*passed, why]), choices)
        worktrees = await anyio.to_thread.run_sync(_worktrees_of, self.roots[0])
        if len(worktrees) > 1:
            why = "the repository of --root has several worktrees, and the client named none"
            raise UnclearWorktree("; ".join([*passed, why]), worktrees)
        return self.roots[0]

    def _only_one(self, source: str, paths: Iterable[str], passed: list[str]) -> str | None:
        """The worktree that a client names; what it names in vain is noted in `passed`.

        Where none of those is served that are there, no other repository answers in their place.
        """
        there: list[str] = []
        for path in paths:
            try:
                there.append(worktree_of(path))
            except ScopeError as error:
                passed.append(f"{source}: {why_passed(error)}")
        served = [root for root in dict.fromkeys(there) if self._is_served(root)]
        if len(served) > 1:
            raise UnclearWorktree(f"{source}: several worktrees", served)
        if there and not served:
            raise UnclearWorktree(f"{source}: {there[0]} is not served here", self.roots)
        return served[0] if served else None

    def _is_served(self, path: str) -> bool:
        return not self.roots or repository_of(path) in self._repositories


def _worktrees_of(root: str) -> list[str]:
    try:
        return worktrees_of(root)
    except OSError:
        # Whatever is wrong with git's files there is told by the answer itself.
        return [root]
