"""cl_index with progress, cl_prune and cl_drop over a real client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment

COMMAND = [sys.executable, "-P", "-m", "codelens", "serve"]


class Client:
    """JSON-RPC by lines."""

    def __init__(self, home: Path) -> None:
        env = {**git_environment(), "CODELENS_HOME": str(home), "CODELENS_TOOLS": "all"}
        self.process = subprocess.Popen(
            COMMAND, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/"
        )
        self.progress: list[dict] = []
        self._id = 0
        me = {"name": "test", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me}
        self.call("initialize", given)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name: str, **arguments: object) -> str:
        found = self.result(name, **arguments)
        assert not found.get("isError"), found
        return found["content"][0]["text"]

    def result(self, name: str, **arguments: object) -> dict:
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": 7}}
        return self.call("tools/call", params)

    def call(self, method: str, params: dict) -> dict:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "notifications/progress":
                self.progress.append(message["params"])
            if message.get("id") == self._id:
                return message["result"]
        raise AssertionError("the server ended")

    def _send(self, message: dict) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    made = Client(tmp_path / "home")
    yield made
    made.process.communicate()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    text = "".join(f"def lantern{n}(oil):\n    return oil + {n}\n\n\n" for n in range(60))
    made.commit("first", {f"src/part{n}.py": text.replace("oil", f"oil{n}") for n in range(120)})
    return made


@pytest.mark.slow
def test_index_reports_progress_and_ends_fresh(client: Client, repo: GitRepo) -> None:
    said = client.tool("cl_index", action="create", path=str(repo.root))
    assert said.startswith("fresh")
    values = [one["progress"] for one in client.progress]
    assert values == sorted(set(values)) and values
    assert all(one["progressToken"] == 7 for one in client.progress)
    # Of the whole work, not of a slice of it.
    assert {one["total"] for one in client.progress} == {120}
    assert client.progress[-1]["progress"] <= 120
    again = client.tool("cl_index", path=str(repo.root), format="json")
    assert json.loads(again)["receipt"]["indexed"] == 0
    rebuilt = client.tool("cl_index", action="rebuild", path=str(repo.root), format="json")
    assert json.loads(rebuilt)["receipt"]["status"] == "fresh"


@pytest.mark.slow
def test_status_prune_and_drop(client: Client, repo: GitRepo) -> None:
    where = str(repo.root)
    client.tool("cl_index", path=where)
    client.tool("cl_index", path=where, ref="HEAD")
    assert "keep: checked out in a worktree" in client.tool("cl_index", action="status")
    assert client.tool("cl_prune").startswith("dry run: no view in 1 index is due for removal")
    assert json.loads(client.tool("cl_prune", dry_run=False, format="json"))["results"] == []
    refused = client.result("cl_drop", view="main", path=where)
    assert refused["isError"] and "force" in refused["content"][0]["text"]
    assert client.result("cl_drop", path=where)["isError"]
    assert "dropped" in client.tool("cl_drop", view="HEAD", path=where)
    assert "dropped the index" in client.tool("cl_drop", repository=True, force=True, path=where)
    assert "lantern7" in client.tool("cl_search", query="lantern7", path=where)


def test_they_say_that_they_write_and_remove(client: Client) -> None:
    tools = {one["name"]: one["annotations"] for one in client.call("tools/list", {})["tools"]}
    assert not tools["cl_index"]["readOnlyHint"] and not tools["cl_index"]["destructiveHint"]
    assert tools["cl_prune"]["destructiveHint"] and tools["cl_drop"]["destructiveHint"]
