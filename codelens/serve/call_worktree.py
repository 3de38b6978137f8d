"""Which worktree a call is about, worked out at every call: agents enter others in mid-session.

An explicit `path`; else `--root`, the workspaces that Codex sends along with a call, the folder
that the host names in the environment, the client's roots, the working directory. What a host left
unexpanded (`${...}`), what is not there and what is never indexed is passed over; a `path` given
in the call never is. Where one source names several worktrees, the one that the server runs in is
meant, or none: the call is refused with the names to choose from.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

from codelens.engine.worktree_paths import refuse_link_out, root_of
from codelens.errors import NoSuchPath, RefusedFolder, ScopeError, SettingError, UnclearWorktree

logger = logging.getLogger(__name__)

HOST_VARIABLES = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR")
_CODEX_META = "x-codex-turn-metadata"
_ROOTS_TIMEOUT_S = 1.0
_ROOTS_PAUSE_S = 60.0


class Worktrees:
    """Chooses the path that a call is about.

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
        self._roots_asked_again = 0.0

    async def chosen(self, path: str, context: Context) -> str:
        """A path inside the worktree that is meant.

        Raises:
            SettingError: `path` is not absolute.
            UnclearWorktree: nothing says which one is meant, several are named, or a link of a
                worktree leads out of it.
        """
        if path:
            if not os.path.isabs(os.path.expanduser(path)):
                raise SettingError(
                    f"path must be absolute, not {path[:200]!r}: give any absolute path "
                    "inside the worktree that is meant"
                )
            refuse_link_out(path, self._own)
            return path
        passed: list[str] = []
        named = [("--root", [self._fixed or ""]), ("the workspace of Codex", _codex(context))]
        named += [(name, [self._environ.get(name, "")]) for name in HOST_VARIABLES]
        for source, paths in named:
            if only_root := self._only_one(source, paths, passed):
                return only_root
        roots = await self._client_roots(context)
        if only_root := self._only_one("the client's roots", roots, passed):
            return only_root
        return await self._here(passed)

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
                roots.add(_root(path) if path else None)
        return {root for root in roots if root}

    def _only_one(self, source: str, paths: Iterable[str], passed: list[str]) -> str | None:
        """The worktree that a source names; what it names in vain is said in `passed`."""
        roots: list[str] = []
        for path in filter(None, paths):
            try:
                roots.append(_root(path))
            except ScopeError as error:
                passed.append(f"{source}: {_why(error)}")
        roots = list(dict.fromkeys(roots))
        if len(roots) > 1:
            here = _root_here()
            if here not in roots:
                raise UnclearWorktree(f"{source}: several worktrees", roots)
            return here
        return roots[0] if roots else None

    async def _here(self, passed: Sequence[str]) -> str:
        try:
            return _root(os.getcwd())
        except ScopeError as error:
            why = _why(error)
        except FileNotFoundError:
            why = "it was deleted"
        reasons = [*passed, f"the working directory: {why}"]
        known = await anyio.to_thread.run_sync(self._known)
        raise UnclearWorktree("; ".join(reasons), known)

    async def _client_roots(self, context: Context) -> list[str]:
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return []
        # Newer protocol versions have no way to ask; a client that did not answer is left alone.
        if not context.session.can_send_request or time.monotonic() < self._roots_asked_again:
            return []
        try:
            answer = await context.session.send_request(
                ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=_ROOTS_TIMEOUT_S
            )
        except (MCPError, ValidationError) as error:
            logger.warning("the client did not report its roots: %s", error)
            self._roots_asked_again = time.monotonic() + _ROOTS_PAUSE_S
            return []
        return [path for root in answer.roots if (path := _local(str(root.uri)))]


def _root(path: str) -> str:
    if "${" in path:
        raise NoSuchPath(path)
    return root_of(os.path.abspath(os.path.expanduser(path)))


def _root_here() -> str | None:
    try:
        return _root(os.getcwd())
    except (ScopeError, FileNotFoundError):
        return None


def _why(error: ScopeError) -> str:
    """What was wrong with a folder that was not asked for by name."""
    if isinstance(error, RefusedFolder):
        return f"{error.path} is {error.why}"
    return f"{error.path} is not there" if isinstance(error, NoSuchPath) else str(error)


def _codex(context: Context) -> list[str]:
    """The workspaces in what Codex (0.169) sends with each call."""
    meta = cast("Mapping[str, object]", context.request_context.meta or {})
    turn = _object(meta.get(_CODEX_META))
    return list(_object(turn.get("workspaces")))


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _local(uri: str) -> str | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        return None
    return url2pathname(parts.path)
