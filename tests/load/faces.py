"""The faces that the crowd asks: a process per question, an MCP server, and clients over HTTP."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from contextlib import closing

import forked_servers
from http_server import JSON, HttpServer
from load.trees import Tree
from mcp_lines import HELLO

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

    def references(self, tree: Tree, target: str) -> dict:
        return self._ask("-C", str(tree.repo.root), "references", target, "--json")

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


class Tools:
    """Calls of tools; a subclass sends them."""

    def search(self, tree: Tree, query: str, mode: str, ref: str) -> dict:
        return self._tool(
            "cl_search", query=query, mode=mode, limit=LIMIT, ref=ref, max_tokens=100_000,
            path=str(tree.repo.root), format="json",
        )  # fmt: skip

    def expand(self, tree: Tree, handle: str) -> dict:
        return self._tool("cl_expand", handles=[handle], path=str(tree.repo.root), format="json")

    def references(self, tree: Tree, target: str) -> dict:
        return self._tool("cl_references", target=target, path=str(tree.repo.root), format="json")

    def _tool(self, name: str, **arguments: object) -> dict:
        found = self._call("tools/call", {"name": name, "arguments": arguments})
        text = found["content"][0]["text"]
        if found.get("isError"):
            raise RuntimeError(f"{name} {arguments}: {text}")
        return json.loads(text)

    def _call(self, method: str, params: dict) -> dict:
        raise NotImplementedError


class Server(Tools):
    """An MCP server that answers one question after another."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            SERVER, env=env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/",
        )  # fmt: skip
        self._id = 0
        self._call("initialize", dict(HELLO))
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(120)
        self.process.stdout.close()

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


class HttpClient(Tools):
    """A client of a server over HTTP, in a session of its own."""

    def __init__(self, server: HttpServer) -> None:
        self._port = server.port
        self._headers = {**JSON, **server.bearer}
        self._id = 0
        self._call("initialize", dict(HELLO))
        self._send("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})

    def close(self) -> None:
        self._send("DELETE", None)

    def _call(self, method: str, params: dict) -> dict:
        self._id += 1
        text = self._send(
            "POST", {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        )
        # One message, as JSON or as the only event of a stream.
        for line in text.splitlines():
            data = line.removeprefix("data:").strip()
            if data.startswith("{") and json.loads(data).get("id") == self._id:
                return json.loads(data)["result"]
        raise RuntimeError(f"{method} was answered {text!r}")

    def _send(self, how: str, message: dict | None) -> str:
        # A connection of its own: the server closes one that is idle.
        wire = http.client.HTTPConnection("127.0.0.1", self._port, timeout=300)
        with closing(wire):
            wire.request(how, "/mcp", message and json.dumps(message), self._headers)
            answer = wire.getresponse()
            text = answer.read().decode()
        if answer.status >= 400:
            raise RuntimeError(f"{answer.status}: {text}")
        if session := answer.headers.get("Mcp-Session-Id"):
            self._headers["Mcp-Session-Id"] = session
        return text


Face = CommandLine | Server | HttpClient
