"""Calls the server through the SDK's own client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import forked_servers
from anyio.from_thread import start_blocking_portal
from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from mcp_types import CallToolResult, TextContent


def text_of(answer: CallToolResult) -> str:
    """The text of an answer's first part."""
    part = answer.content[0]
    assert isinstance(part, TextContent), part
    return part.text


class Asker:
    """A client, asked without `await`."""

    def __init__(self, portal, client: Client, root: Path | None = None) -> None:
        self._portal, self._client = portal, client
        self._path = {"path": str(root)} if root else {}

    def at(self, root: Path) -> Asker:
        """The same client, asking about a worktree."""
        return Asker(self._portal, self._client, root)

    def result(self, tool: str, **given: object) -> CallToolResult:
        arguments = {**self._path, **given}

        async def ask() -> CallToolResult:
            return await self._client.call_tool(tool, arguments)

        return self._portal.call(ask)

    def text(self, tool: str, **arguments: object) -> str:
        found = self.result(tool, **arguments)
        assert not found.is_error, found
        assert found.structured_content is None
        return text_of(found)

    def error(self, tool: str, **arguments: object) -> str:
        found = self.result(tool, **arguments)
        assert found.is_error, found
        return text_of(found)

    def tools(self) -> dict:
        async def ask():
            return await self._client.list_tools()

        return {tool.name: tool for tool in self._portal.call(ask).tools}

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""


@contextmanager
def client(
    env: dict[str, str], *args: str, cwd: Path | str = "/", mode: str = "auto", **options
) -> Iterator[Asker]:
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        start = forked_servers.command()
        server = StdioServerParameters(
            command=start[0], args=[*start[1:], "serve", *args], env=env, cwd=cwd
        )
        connection = Client(stdio_client(server), mode=mode, **options)
        yield Asker(portal, stack.enter_context(portal.wrap_async_context_manager(connection)))
