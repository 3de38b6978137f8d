"""Asks a client for its roots, the folders that it works in."""

from __future__ import annotations

import logging
import time
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

logger = logging.getLogger(__name__)


_PATIENCE_S = 1.0


_ROOTS_PAUSE_S = 60.0


_ANSWERED_TWICE = "2026-07-28"
"""Since this protocol version, a server sends no requests; it answers that it needs input first."""


ROOTS = "roots"
"""The key of the roots in such an answer, and in the call that sends them."""


class RootsWanted(Exception):
    """The client must repeat the call with its roots."""


class ClientRoots:
    """Asks a client for its roots; does not ask again for a while if it did not answer.

    Args:
        may_ask_back: whether a client whose protocol has no server requests may be asked to repeat
            the call. A client that does not support this would get no answer at all.
        patience_s: how long to wait for the client, which may never answer.
    """

    def __init__(self, *, may_ask_back: bool = False, patience_s: float = _PATIENCE_S) -> None:
        self._may_ask_back = may_ask_back
        self._patience_s = patience_s
        self._silent: dict[str, float] = {}
        """Connection -> the time until which it is not asked again; over stdio it has no name."""

    async def named(self, context: Context) -> list[str]:
        """The local folders among the roots; empty if the client cannot be asked.

        Raises:
            RootsWanted: the client must send them.
        """
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return []
        if context.session.protocol_version >= _ANSWERED_TWICE:
            return self._answered_roots(context)
        connection = connection_id(context)
        is_silent = time.monotonic() < self._silent.get(connection, 0.0)
        if is_silent or not context.session.can_send_request:
            return []
        try:
            answer = await context.session.send_request(
                ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=self._patience_s
            )
        except (MCPError, ValidationError) as error:
            logger.warning("the client did not report its roots: %s", error)
            now = time.monotonic()
            self._silent = {name: end for name, end in self._silent.items() if end > now}
            self._silent[connection] = now + _ROOTS_PAUSE_S
            return []
        return _local_roots(answer)

    def _answered_roots(self, context: Context) -> list[str]:
        if context.input_responses is None and self._may_ask_back:
            raise RootsWanted
        answer = (context.input_responses or {}).get(ROOTS)
        return _local_roots(answer) if isinstance(answer, ListRootsResult) else []


def _local_roots(answer: ListRootsResult) -> list[str]:
    return [path for root in answer.roots if (path := _local(str(root.uri)))]


def connection_id(context: Context) -> str:
    """The SDK's id of a client's HTTP connection; empty over stdio, or if it has none."""
    return (context.headers or {}).get("mcp-session-id", "")


def _local(uri: str) -> str | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        return None
    return url2pathname(parts.path)
