"""Which worktree a call is about, and which session it belongs to, if it does not say so."""

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
    """Of the one client that started the server: as its host names it, else the connection.

    Args:
        environ: where the host may name its session.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        # Whoever else is served has another one.
        self._connection = f"connection-{secrets.token_hex(8)}"

    def of_call(self, meta: Mapping[str, object]) -> Session:
        """The session of a call, by what its host sends along with it."""
        session_id = of_host(self._environ, meta)
        if session_id:
            return Session(session_id, "host", remembers=True)
        return Session(self._connection, "connection", remembers=True)


# Which worktree a call is about, worked out at every call: agents enter others in mid-session.
#
# An explicit `path`; else `--root`, the workspaces that Codex sends along with a call, the folder
# that the host names in the environment, the client's roots, the working directory. What a host
# left unexpanded (`${...}`), what is not there and what is never indexed is passed over; a `path`
# given in the call never is. Where one source names several worktrees, the one that the server runs
# in is meant, or none: the call is refused with the names to choose from.

_CODEX_META = "x-codex-turn-metadata"
HOST_VARIABLES = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR")


class WorktreeChoice(Protocol):
    """Says which worktree a call is about."""

    @property
    def may_mean_all(self) -> bool:
        """Whether a call without `path` may be about all repositories that codelens knows."""
        ...

    async def chosen(self, path: str, context: Context) -> str:
        """A path inside the worktree that is meant, by the call's `path` (may be empty)."""
        ...


class Worktrees:
    """Chooses the path that a call is about, for the one client that started the server.

    Args:
        root: the server's `--root`.
        environ: where the host may name its project.
        known: worktrees to name to a client that must choose.
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
        """A path inside the worktree that a call or the host names; None: neither does.

        Args:
            path: of the call, may be empty.
            meta: what the host sends along with the call.
            passed: is told what the host names in vain.

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
        """A path inside the worktree that is meant.

        Raises:
            SettingError: `path` is not absolute.
            UnclearWorktree: nothing says which one is meant, several are named, or a link of a
                worktree leads out of it.
        """
        passed: list[str] = []
        if named := self.named(path, context.request_context.meta or {}, passed):
            return named
        if self._client_roots is None:
            # Late: a client that has no roots to ask for needs nothing of the SDK.

            self._client_roots = ClientRoots()
        roots = await self._client_roots.named(context)
        if only_root := self._only_one("the client's roots", roots, passed):
            return only_root
        import anyio.to_thread

        return await anyio.to_thread.run_sync(self.here, passed)

    def meant_at_start(self) -> str | None:
        """The worktree that calls without a path will be about, as far as that is plain already.

        What a client would have to be asked is not. A folder without git is meant only if it was
        named.
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
        """Worktrees that this server was started for."""
        roots = {_root_here()}
        for path in (self._fixed, *(self._environ.get(name) for name in HOST_VARIABLES)):
            with suppress(ScopeError):
                roots.add(worktree_of(path) if path else None)
        return {root for root in roots if root}

    def _only_one(self, source: str, paths: Iterable[str], passed: list[str]) -> str | None:
        """The worktree that a source names; what it names in vain is said in `passed`."""
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
            passed: what was named before, in vain.

        Raises:
            UnclearWorktree: it is in none.
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
        ScopeError: it is not there, was left unexpanded, or is never indexed.
    """
    if "${" in path:
        raise NoSuchPath(path)
    return root_of(os.path.abspath(os.path.expanduser(path)))


def codex_workspaces(meta: Mapping[str, object]) -> list[str]:
    """The workspaces in what Codex (0.169) sends with each call."""
    return list(_object(_object(meta.get(_CODEX_META)).get("workspaces")))


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def refuse_relative(path: str) -> None:
    """Refuse a call's `path` that is not absolute: a server's working directory means nothing.

    Raises:
        SettingError: it is relative.
    """
    if not os.path.isabs(os.path.expanduser(path)):
        raise SettingError(
            f"path must be absolute, not {path[:200]!r}: give any absolute path inside the "
            "worktree that is meant"
        )


def _root_here() -> str | None:
    try:
        return worktree_of(os.getcwd())
    except (ScopeError, FileNotFoundError):
        return None


def why_passed(error: ScopeError) -> str:
    """What was wrong with a folder that was not asked for by name."""
    if isinstance(error, RefusedFolder):
        return f"{error.path} is {error.why}"
    return f"{error.path} is not there" if isinstance(error, NoSuchPath) else str(error)
