"""The two faces that the crowd asks: a process per question, and an MCP server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import forked_servers
from load.trees import Tree

SERVER = [sys.executable, "-P", "-m", "codelens", "serve"]
LIMIT = 100
"""Maximum number of places that a search returns."""


class CommandLine:
    """One process per question."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env

    def search(self, tree: Tree, query: str, mode: str, ref: str) -> dict:
        extra = ["--ref", ref] if ref else []
        return self._ask(
            "-C", str(tree.repo.root), "search", query, "--json",
            "--mode", mode, "--limit", str(LIMIT), *extra,
        )  # fmt: skip

    def expand(self, tree: Tree, handle: str) -> dict:
        return self._ask("-C", str(tree.repo.root), "expand", handle, "--json")

    def prune(self) -> None:
        self._ask("prune", "--json")

    def rebuild(self, tree: Tree) -> None:
        """Rebuilds the index, unless another process writes for very long."""
        args = ("-C", str(tree.repo.root), "index", "--rebuild")
        done = self._run(*args)
        refused = any(why in done.stderr for why in ("is being written", "took over"))
        if done.returncode and not refused:
            raise RuntimeError(f"{args} ended with {done.returncode}: {done.stderr[-600:]}")

    def _run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*forked_servers.command(), *args],
            env=self._env,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def _ask(self, *args: str) -> dict:
        done = self._run(*args)
        if "Traceback" in done.stderr or not done.stdout:
            raise RuntimeError(f"{args} ended with {done.returncode}: {done.stderr[-600:]}")
        return json.loads(done.stdout)

    def close(self) -> None:
        """Nothing to close."""


class Server:
    """An MCP server that answers one question after another."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            SERVER, env=env | {"CODELENS_TOOLS": "all"}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/",
        )  # fmt: skip
        self._id = 0
        me = {"name": "crowd", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me}
        self._call("initialize", given)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def search(self, tree: Tree, query: str, mode: str, ref: str) -> dict:
        return self._tool(
            "cl_search", query=query, mode=mode, limit=LIMIT, ref=ref, max_tokens=100_000,
            path=str(tree.repo.root), format="json",
        )  # fmt: skip

    def expand(self, tree: Tree, handle: str) -> dict:
        return self._tool("cl_expand", handles=[handle], path=str(tree.repo.root), format="json")

    def resident_kb(self) -> int:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0])

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(120)
        self.process.stdout.close()

    def _tool(self, name: str, **arguments: object) -> dict:
        found = self._call("tools/call", {"name": name, "arguments": arguments})
        text = found["content"][0]["text"]
        if found.get("isError"):
            raise RuntimeError(f"{name} {arguments}: {text}")
        return json.loads(text)

    def _call(self, method: str, params: dict) -> dict:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._id:
                return message["result"]
        raise RuntimeError("the server ended")

    def _send(self, message: dict) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


Face = CommandLine | Server
