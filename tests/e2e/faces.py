"""The two faces of codelens, asked the same way: the command line, and a real MCP client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

from anyio.from_thread import start_blocking_portal
from gitrepo import git_environment
from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from sdk_client import text_of

from codelens.cli.main import main

COMMAND = [sys.executable, "-P", "-m", "codelens"]


class CommandLine:
    """`codelens search --json`; each question has an engine of its own, as in a new process."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {**os.environ, "CODELENS_HOME": str(home), **_git_blank()}

    def search(self, root: Path, query: str, ref: str | None = None) -> list[dict]:
        """The results of a fresh answer."""
        extra = ["--ref", ref] if ref else []
        out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with patch.dict(os.environ, self.env), redirect_stdout(out), redirect_stderr(err):
            code = main(["search", query, "--json", "-C", str(root), *extra])
        for stream in (out, err):
            stream.seek(0)
        assert code in (0, 1), err.read()
        answer = json.loads(out.read())
        assert answer["receipt"]["status"] == "fresh"
        return answer["results"]

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        """A process that runs a command."""
        return subprocess.Popen(
            [*COMMAND, *args], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def close(self) -> None:
        """Nothing to close."""


class McpClient:
    """`cl_search` through the SDK's own client, one server for many questions."""

    BUDGET_MS = 60_000

    def __init__(self, home: Path) -> None:
        self.home = home
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

    def search(self, root: Path, query: str, ref: str | None = None) -> list[dict]:
        """The results of a fresh answer."""
        answer = self._answer(root, query, ref)
        assert answer["receipt"]["status"] == "fresh"
        return answer["results"]

    def _answer(self, root: Path, query: str, ref: str | None) -> dict:
        arguments = {"query": query, "path": str(root), "format": "json"}
        answer = self.call("cl_search", **arguments, **({"ref": ref} if ref else {}))
        assert not answer.is_error, answer
        return json.loads(text_of(answer))

    def close(self) -> None:
        self._stack.close()


class HurriedMcpClient(McpClient):
    """A server with a budget of 50 ms per question.

    A partial answer may lack results, on a busy machine any, but shows nothing that is gone.
    """

    BUDGET_MS = 50

    def search(self, root: Path, query: str, ref: str | None = None) -> list[dict]:
        """The results of the first fresh answer, and of the partial ones before it."""
        results: list[dict] = []
        for _ in range(200):
            answer = self._answer(root, query, ref)
            results[:0] = answer["results"]
            if answer["receipt"]["status"] == "fresh":
                return results
            assert answer["receipt"]["status"] == "partial"
        raise AssertionError(f"never fresh for {query!r}: {answer['receipt']}")


def _git_blank() -> dict[str, str]:
    blank = git_environment()
    return {name: blank[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")}
