"""Generated arguments to every MCP tool, and lines that are not JSON-RPC: the server survives."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from fuzz.conftest import HANG_S
from fuzz.inputs import INPUTS, SECRET, a_handle, a_path, a_query, a_ref, a_value
from gitrepo import GitRepo, git_environment


class Server:
    """A server over stdin and stdout, spoken to in plain lines."""

    def __init__(self, root: Path, home: Path) -> None:
        env = git_environment() | {
            "CODELENS_HOME": str(home), "HOME": str(home), "CODELENS_TOOLS": "all",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }  # fmt: skip
        self.errors = (home / "stderr").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "codelens", "serve"], cwd=root, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0,
        )  # fmt: skip
        self._buffer = b""
        self._number = 0
        self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "fuzz", "version": "1"},
        })  # fmt: skip
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.replace(b"\n", b" ") + b"\n")

    def ask(self, method: str, params: object) -> dict:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        while True:
            answer = json.loads(self._line())
            if answer.get("id") == self._number:
                return answer

    def _line(self) -> bytes:
        """The next line; every byte on stdout must be JSON-RPC."""
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], HANG_S)
            assert ready, "the server hangs"
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            assert part, "the server is gone"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(HANG_S) == 0
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(repo: GitRepo, home: Path) -> Iterator[Server]:
    made = Server(repo.root, home)
    yield made
    made.close()


def arguments(pick: Random, schema: dict, root: Path) -> dict[str, object]:
    """Arguments for a tool: mostly those it has, mostly of a type that it accepts."""
    found: dict[str, object] = {}
    for name, about in schema["properties"].items():
        if name not in schema.get("required", ()) and pick.random() < 0.6:
            continue
        found[name] = _of_kind(pick, about) if pick.random() < 0.85 else a_value(pick)
    if pick.random() < 0.05:
        found[a_query(pick)[:30]] = a_value(pick)
    # Other folders belong to whoever runs the test.
    if "path" in schema["properties"]:
        found["path"] = pick.choice((str(root), f"{root}/src", f"{root}/none", a_value(pick)))
        if isinstance(found["path"], str) and not found["path"].startswith(str(root)):
            found["path"] = f"{root}/{found['path'].replace('..', '')}"
    return found


def _of_kind(pick: Random, about: dict) -> object:
    if "enum" in about and pick.random() < 0.9:
        return pick.choice(about["enum"])
    kind = about.get("type") or pick.choice([one.get("type") for one in about.get("anyOf", [{}])])
    match kind:
        case "integer":
            return pick.choice((1, 2, 5, 50, 1000, 0, -1, 10**12))
        case "boolean":
            return pick.random() < 0.5
        case "array":
            return [
                pick.choice((a_handle, a_query, a_path))(pick) for _ in range(pick.randrange(4))
            ]
        case _:
            return pick.choice((a_query, a_handle, a_handle, a_path, a_ref))(pick)


def test_any_arguments_get_an_answer(repo: GitRepo, home: Path, server: Server) -> None:
    pick = Random(5)
    tools = server.ask("tools/list", {})["result"]["tools"]
    answered, faults = 0, {}
    for _ in range(INPUTS * 2 // 10):
        tool = pick.choice(tools)
        given = arguments(pick, tool["inputSchema"], repo.root)
        answer = server.ask("tools/call", {"name": tool["name"], "arguments": given})
        text = json.dumps(answer)
        assert SECRET not in text
        if "bug in codelens" in text or "Traceback" in text:
            faults.setdefault(f"{tool['name']}: {text[60:160]}", given)
        answered += "result" in answer
    assert answered > 0
    assert faults == {}
    said = (home / "stderr").read_text(errors="replace")
    assert "Traceback" not in said, said[-3000:]
    assert SECRET not in said


LINES = (
    b"", b"no json", b"[]", b"{}", b"null", b'"text"', b"{", b'{"jsonrpc":"2.0"}', b"\xff\xfe\x00",
    b'{"jsonrpc":"2.0","id":"x","method":"tools/call"}', b"[" * 100_000, b'{"a":' * 5000,
    b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    b'{"jsonrpc":"2.0","id":7,"method":"no/such"}', b'{"jsonrpc":"1.0","id":8,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"\\ud800","arguments":{}}}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"cl_search","arguments":5}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99999}}',
    b'{"jsonrpc":"2.0","id":10,"result":{}}', b"x" * 1_000_000,
)  # fmt: skip


def test_lines_that_are_not_calls_do_not_end_the_server(repo: GitRepo, server: Server) -> None:
    for line in LINES:
        server.send(line)
        call = {"name": "cl_search", "arguments": {"query": "login", "path": str(repo.root)}}
        assert "auth.py" in json.dumps(server.ask("tools/call", call)), line[:60]
