"""The two faces of codelens, asked the same way: the command line, and a real MCP client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from gitrepo import git_environment
from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from sdk_client import text_of

COMMAND = [sys.executable, "-P", "-m", "codelens"]


class CommandLine:
    """`codelens search --json`, one process per question."""

    STATUSES = ("fresh",)

    def __init__(self, home: Path) -> None:
        self.env = {**os.environ, "CODELENS_HOME": str(home), **_git_blank()}

    def search(self, root: Path, query: str, ref: str | None = None) -> dict:
        extra = ["--ref", ref] if ref else []
        done = self.run("search", query, "--json", "-C", str(root), *extra)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    def run(self, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *args], env=self.env, cwd=cwd, capture_output=True, text=True
        )

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *args], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def close(self) -> None:
        """Nothing to close."""


class McpClient:
    """`cl_search` through the SDK's own client, one server for many questions."""

    BUDGET_MS = 60_000
    STATUSES = ("fresh",)

    def __init__(self, home: Path) -> None:
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        server = StdioServerParameters(
            command=COMMAND[0],
            args=[*COMMAND[1:], "serve", "--budget", str(self.BUDGET_MS)],
            env={"CODELENS_HOME": str(home), **_git_blank()},
            cwd="/",
        )
        self._client = self._stack.enter_context(
            self._portal.wrap_async_context_manager(Client(stdio_client(server)))
        )

    def call(self, tool: str, **arguments: object):
        async def ask():
            return await self._client.call_tool(tool, arguments)

        return self._portal.call(ask)

    def search(self, root: Path, query: str, ref: str | None = None) -> dict:
        arguments = {"query": query, "path": str(root), "format": "json"}
        answer = self.call("cl_search", **arguments, **({"ref": ref} if ref else {}))
        assert not answer.is_error, answer
        return json.loads(text_of(answer))

    def close(self) -> None:
        self._stack.close()


class HurriedMcpClient(McpClient):
    """A server with a budget of 50 ms per question: it answers correctly even if it is not done."""

    BUDGET_MS = 50
    STATUSES = ("fresh", "partial")


def _git_blank() -> dict[str, str]:
    blank = git_environment()
    return {name: blank[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")}
