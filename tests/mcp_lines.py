"""A server driven by lines, and a client's first messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

COMMAND = [sys.executable, "-P", "-m", "codelens", "serve"]

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(number: int, method: str, params: dict | None = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return json.dumps(message if params is None else {**message, "params": params}).encode()


def call(number: int, tool: str, **arguments: object) -> bytes:
    return request(number, "tools/call", {"name": tool, "arguments": arguments})


class Lines:
    """A server; every byte of its stdout must be JSON-RPC.

    `start` begins its command line; `forked_servers.command()` starts it without imports.
    """

    def __init__(
        self, env: dict[str, str], cwd: Path, *args: str, start: Sequence[str] = COMMAND[:-1]
    ) -> None:
        self.process = subprocess.Popen(
            [*start, "serve", *args], env={**os.environ, **env}, cwd=cwd,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def send(self, *lines: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def ask(self, number: int, method: str, params: dict | None = None) -> dict:
        self.send(request(number, method, params or {}))
        return self.next()

    def call(self, number: int, tool: str, **arguments: object) -> dict:
        self.send(call(number, tool, **arguments))
        return self.next()

    def next(self) -> dict:
        assert self.process.stdout
        found = json.loads(self.process.stdout.readline())
        assert found["jsonrpc"] == "2.0"
        return found

    def end(self) -> tuple[int, bytes]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(timeout=120), rest
