"""Finds the worktree and the session of a call from the call, the host and the client."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, cast

from codelens.engine.contexts.asking_session import Session, of_host
from codelens.engine.worktree_paths import refuse_link_out, root_of
from codelens.errors import NoSuchPath, RefusedFolder, ScopeError, SettingError, UnclearWorktree

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

    from codelens.serve.client_workspaces import ClientRoots


class SessionOfProcess:
    """The session of the client that started the server: its host's, or else the connection.

    Args:
        environ: the environment, in which the host may name its session.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        # Use a new id, because other servers have other clients.
        self._connection = f"connection-{secrets.token_hex(8)}"

    def of_call(self, meta: Mapping[str, object]) -> Session:
        """The session of a call; its host may send the session in `meta`."""
        session_id = of_host(self._environ, meta)
        if session_id:
            return Session(session_id, "host", remembers=True)
        return Session(self._connection, "connection", remembers=True)


# Chooses the worktree of a call, again at every call because agents switch worktrees within a
# session.
#
# The sources, in this order: the call's `path`, `--root`, the workspaces that Codex sends with a
# call, the folder that the host names in the environment, the client's roots, the working
# directory. A folder that does not exist, is never indexed or was left unexpanded (`${...}`) is
# skipped, unless it is the call's `path`. If a source names several worktrees, the one that the
# server runs in is used; if it is not among them, the call is rejected with the names to choose
# from.

_CODEX_META = "x-codex-turn-metadata"
HOST_VARIABLES = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR")


class WorktreeChoice(Protocol):
    """Chooses the worktree of a call."""

    @property
    def may_mean_all(self) -> bool:
        """Whether a call without `path` may be about all indexed repositories."""
        ...

    async def chosen(self, path: str, context: Context) -> str:
        """A path inside the worktree of a call; `path` is the call's and may be empty."""
        ...


class Worktrees:
    """Chooses the worktree of a call, for the client that started the server.

    Args:
        root: the server's `--root`.
        environ: the environment, in which the host may name its project.
        known: worktrees to offer a client that must choose.
    """

    def __init__(
        self,
        root: str | None,
        environ: Mapping[str, str],
        known: Callable[[], Sequence[str]] = tuple[str, ...],
    ) -> None:
        self._fixed = root
        self._environ = environ
        self._known = known
        self._client_roots: ClientRoots | None = None

    may_mean_all = True

    def named(self, path: str, meta: Mapping[str, object], passed: list[str]) -> str | None:
        """A path inside the worktree that the call or the host names; None if neither does.

        Args:
            path: the path of the call, which may be empty.
            meta: the metadata that the host sends with the call.
            passed: collects why folders that the host names cannot be used.

        Raises:
            SettingError: `path` is not absolute.
            UnclearWorktree: several are named, or a link of a worktree leads out of it.
        """
        if path:
            refuse_relative(path)
            refuse_link_out(path, self._own)
            return path
        named = [("--root", [self._fixed or ""])]
        named.append(("the workspace of Codex", codex_workspaces(meta)))
        named += [(name, [self._environ.get(name, "")]) for name in HOST_VARIABLES]
        for source, paths in named:
            if only_root := self._only_one(source, paths, passed):
                return only_root
        return None

    async def chosen(self, path: str, context: Context) -> str:
        """A path inside the worktree of the call.

        Raises:
            SettingError: `path` is not absolute.
            UnclearWorktree: no source names a worktree, one names several, or a link of a
                worktree leads out of it.
        """
        passed: list[str] = []
        if named := self.named(path, context.request_context.meta or {}, passed):
            return named
        if self._client_roots is None:
            # Imported late: a client without roots does not need the SDK.
            from codelens.serve.client_workspaces import ClientRoots

            self._client_roots = ClientRoots()
        roots = await self._client_roots.named(context)
        if only_root := self._only_one("the client's roots", roots, passed):
            return only_root
        import anyio.to_thread

        return await anyio.to_thread.run_sync(self.here, passed)

    def worktree_at_start(self) -> str | None:
        """The worktree of calls without a path, if it can be found without asking the client.

        A folder without git only counts if it is named.
        """
        sources = [("--root", self._fixed)]
        sources += [(name, self._environ.get(name)) for name in HOST_VARIABLES]
        with suppress(UnclearWorktree):
            for source, path in sources:
                if only_root := self._only_one(source, [path or ""], []):
                    return only_root
        here = _root_here()
        return here if here and os.path.lexists(os.path.join(here, ".git")) else None

    def _own(self) -> set[str]:
        """The worktrees that this server was started for."""
        roots = {_root_here()}
        for path in (self._fixed, *(self._environ.get(name) for name in HOST_VARIABLES)):
            with suppress(ScopeError):
                roots.add(worktree_of(path) if path else None)
        return {root for root in roots if root}

    def _only_one(self, source: str, paths: Iterable[str], passed: list[str]) -> str | None:
        """The worktree that a source names; reasons against unusable ones are added to `passed`."""
        roots: list[str] = []
        for path in filter(None, paths):
            try:
                roots.append(worktree_of(path))
            except ScopeError as error:
                passed.append(f"{source}: {why_passed(error)}")
        roots = list(dict.fromkeys(roots))
        if len(roots) > 1:
            here = _root_here()
            if here not in roots:
                raise UnclearWorktree(f"{source}: several worktrees", roots)
            return here
        return roots[0] if roots else None

    def here(self, passed: Sequence[str]) -> str:
        """The worktree of the working directory.

        Args:
            passed: why other named folders cannot be used.

        Raises:
            UnclearWorktree: the working directory is not in a worktree.
        """
        try:
            return worktree_of(os.getcwd())
        except ScopeError as error:
            why = why_passed(error)
        except FileNotFoundError:
            why = "it was deleted"
        reasons = [*passed, f"the working directory: {why}"]
        raise UnclearWorktree("; ".join(reasons), self._known())


def worktree_of(path: str) -> str:
    """The worktree that a host or a client names.

    Raises:
        ScopeError: it does not exist, was left unexpanded, or is never indexed.
    """
    if "${" in path:
        raise NoSuchPath(path)
    return root_of(os.path.abspath(os.path.expanduser(path)))


def codex_workspaces(meta: Mapping[str, object]) -> list[str]:
    """The workspaces in the metadata that Codex (0.169) sends with each call."""
    return list(_object(_object(meta.get(_CODEX_META)).get("workspaces")))


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def refuse_relative(path: str) -> None:
    """Reject a call's `path` if it is relative: the client does not know the working directory.

    Raises:
        SettingError: `path` is relative.
    """
    if not os.path.isabs(os.path.expanduser(path)):
        raise SettingError(
            f"path must be absolute, not {path[:200]!r}: pass any absolute path inside the worktree"
        )


def _root_here() -> str | None:
    try:
        return worktree_of(os.getcwd())
    except (ScopeError, FileNotFoundError):
        return None


def why_passed(error: ScopeError) -> str:
    """Why a folder that the call did not name cannot be used."""
    if isinstance(error, RefusedFolder):
        return f"{error.path} is {error.why}"
    return f"{error.path} does not exist" if isinstance(error, NoSuchPath) else str(error)
