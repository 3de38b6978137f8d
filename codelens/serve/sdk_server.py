"""The MCP server of the SDK, with the tools of a profile, on streams of our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, InputRequiredResult

from codelens import __version__
from codelens.engine.engine import Engine
from codelens.serve import prompts
from codelens.serve.calls.client_calls import ClientCalls
from codelens.serve.client_streams import Lines, Replies
from codelens.serve.tool_profiles import ALL
from codelens.serve.tools.server_instructions import instructions
from codelens.serve.tools.tool_call import ToolCalls, tool
from codelens.serve.tools.tool_table import ROWS


class _Server(MCPServer[Any]):
    """Tells how to have a tool of codelens that this server does not list."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        listed = {list_tool.name for list_tool in await self.list_tools()}
        if name in ALL and name not in listed:
            raise ToolError(
                f"{name} is not a tool of this server; to enable it, set CODELENS_TOOLS=all "
                f'in the env of the MCP entry (or tools = "all" in ~/.codelens/config.toml) and '
                "restart the server; the command line has it too: `codelens help`"
            )
        return await super().call_tool(name, arguments, context)


def make_server(
    engine: Engine, root: str | None, budget_ms: float, names: Sequence[str]
) -> MCPServer[Any]:
    """A server for the one client that started it, with the tools of these names; not yet running.

    Args:
        engine: what answers.
        root: the server's `--root`.
        budget_ms: how long a look at the files may take.
        names: of tools.
    """
    return server_beside(ClientCalls.of_process(engine, root, budget_ms), names)


def server_beside(client_calls: ClientCalls, names: Sequence[str]) -> MCPServer[Any]:
    """A server that answers as those calls are answered that need no SDK, and in the same room."""
    sessions = client_calls.sessions
    calls = ToolCalls(
        client_calls.answers,
        client_calls.worktrees,
        lambda context: sessions.of_call(context.request_context.meta or {}),
        client_calls.slots,
    )
    return server_of(calls, names)


def server_of(calls: ToolCalls, names: Sequence[str]) -> MCPServer[Any]:
    """A server with the tools of these names and the prompts, not yet running."""
    server: MCPServer[Any] = _Server(
        "codelens",
        version=__version__,
        instructions=instructions(names),
        tools=[tool(ROWS[name], calls) for name in names if name in ROWS],
        log_level="WARNING",
    )
    for prompt in prompts.listed():
        server.add_prompt(prompt)
    return server


def run(server: MCPServer[Any], lines: Lines, replies: Replies) -> None:
    """Serve a client whose lines are these, until they end."""
    anyio.run(_run, server, lines, replies)


async def _run(server: MCPServer[Any], lines: Lines, replies: Replies) -> None:
    # The SDK has no public door for streams of one's own.
    lowlevel = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    options = lowlevel.create_initialization_options()
    source, sink = (
        anyio.wrap_file(cast("IO[str]", lines)),
        anyio.wrap_file(cast("IO[str]", replies)),
    )
    async with stdio_server(source, sink) as (read, write):
        await lowlevel.run(read, write, options)
