"""Which worktree a call is about, worked out at every call: agents enter others in mid-session.

An explicit `path`, else `--root`, else the folder that the host names in the environment, else
the client's first root, else the working directory. What a host left unexpanded (`${...}`) or
what is not there is passed over; a `path` given in the call never is.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

from codelens.errors import SettingError

logger = logging.getLogger(__name__)

HOST_VARIABLES = ("CLAUDE_PROJECT_DIR",)
_ROOTS_TIMEOUT_S = 1.0
_ROOTS_PAUSE_S = 60.0


class Worktrees:
    """Chooses the path that a call is about.

    Args:
        root: the server's `--root`.
        environ: where the host may name its project.
    """

    def __init__(self, root: str | None, environ: Mapping[str, str]) -> None:
        self._fixed = root
        self._environ = environ
        self._roots_asked_again = 0.0

    async def chosen(self, path: str, context: Context) -> str:
        """A path inside the worktree that is meant.

        Raises:
            SettingError: `path` is not absolute.
        """
        if path:
            if not os.path.isabs(os.path.expanduser(path)):
                raise SettingError(
                    f"path must be absolute, not {path[:200]!r}: it says which worktree is meant, "
                    "by any path inside it"
                )
            return path
        for named in (self._fixed, *(self._environ.get(name) for name in HOST_VARIABLES)):
            if named and "${" not in named and os.path.exists(os.path.expanduser(named)):
                return os.path.abspath(os.path.expanduser(named))
        return await self._client_root(context) or os.getcwd()

    async def _client_root(self, context: Context) -> str | None:
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return None
        # Newer protocol versions have no way to ask; a client that did not answer is left alone.
        if not context.session.can_send_request or time.monotonic() < self._roots_asked_again:
            return None
        try:
            answer = await context.session.send_request(
                ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=_ROOTS_TIMEOUT_S
            )
        except (MCPError, ValidationError) as error:
            logger.warning("the client did not tell its roots: %s", error)
            self._roots_asked_again = time.monotonic() + _ROOTS_PAUSE_S
            return None
        found = (_local(str(root.uri)) for root in answer.roots)
        return next((path for path in found if path and os.path.exists(path)), None)


def _local(uri: str) -> str | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        return None
    return url2pathname(parts.path)
