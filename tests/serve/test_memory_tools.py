"""Saved contexts over MCP, asked by the SDK's own client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from gitrepo import GitRepo
from mcp import StdioServerParameters, stdio_client
from mcp.client import Client

CODE = "def kindle(lamp):\n    return lamp\n\n\ndef snuff(lamp):\n    return None\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"lamp.py": CODE})
    return made


@pytest.fixture
def call(tmp_path: Path, repo: GitRepo) -> Iterator:
    env = {
        "CODELENS_HOME": str(tmp_path / "home"),
        "CODELENS_TOOLS": "all",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        server = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "codelens", "serve", "--budget", "60000"],
            env=env
            | ({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
            cwd=str(repo.root),
        )
        client = stack.enter_context(
            portal.wrap_async_context_manager(Client(stdio_client(server)))
        )

        def ask(tool: str, **arguments: object):
            async def go():
                if tool == "tools":
                    return await client.list_tools()
                return await client.call_tool(tool, arguments)

            return portal.call(go)

        ask.instructions = client.instructions
        yield ask


def text(found) -> str:
    assert not found.is_error, found
    return found.content[0].text


@pytest.mark.slow
def test_saved_contexts_are_loaded_and_judged_in_the_current_worktree(call, repo: GitRepo) -> None:
    said = text(
        call("cl_save", name="lamps", note="Lamps burn.", handles="kindle", category="decision")
    )
    assert "saved lamps  decision" in said and "current  lamp.py#kindle  1-2" in said
    repo.git("mv", "lamp.py", "light.py")
    assert "moved    light.py#kindle  1-2  (was lamp.py#kindle)" in text(
        call("cl_load", query="burning")
    )
    assert text(call("cl_load")).splitlines()[1].startswith("lamps\tdecision · 1 handle: 1 moved")
    answer = json.loads(text(call("cl_load", query="lamps", format="json")))
    assert answer["exact"] and answer["results"][0]["items"][0]["handle"] == "light.py#kindle"


@pytest.mark.slow
def test_a_handle_that_is_not_there_is_named_and_nothing_is_saved(call) -> None:
    found = call("cl_save", name="x", handles=["kindle", "lamp.py#kindel"])
    assert found.is_error and "1 of 2 handles" in found.content[0].text
    assert "lamp.py#kindle" in found.content[0].text.rpartition("nearest")[2]
    assert "nothing is saved" in text(call("cl_load"))


@pytest.mark.slow
def test_a_name_that_is_taken_is_refused_unless_replaced(call) -> None:
    text(call("cl_save", name="a", note="one"))
    found = call("cl_save", name="a", note="two")
    assert found.is_error and "replace: true" in found.content[0].text
    assert text(call("cl_save", name="a", note="two", replace=True)).splitlines()[-1] == "  two"


@pytest.mark.slow
def test_forgetting_takes_the_names_alone(call) -> None:
    text(call("cl_save", name="lamps", note="one"))
    assert "lamps" in call("cl_forget", names=["lamp"]).content[0].text
    assert text(call("cl_forget", names="lamps")) == "forgot lamps"
    assert "nothing is saved" in text(call("cl_load"))


@pytest.mark.slow
def test_expired_contexts_are_deleted_only_on_request(call) -> None:
    text(call("cl_save", name="brief", note="once", ttl="1m"))
    assert text(call("cl_forget", expired=True)) == "nothing has expired"
    assert "brief" in text(call("cl_load"))
    for wrong in ({}, {"names": ["brief"], "expired": True}):
        refused = call("cl_forget", **wrong)
        assert refused.is_error and "expired: true" in refused.content[0].text


def test_the_tools_say_which_of_them_write(call) -> None:
    tools = {tool.name: tool.annotations for tool in call("tools").tools}
    assert not tools["cl_save"].read_only_hint and not tools["cl_save"].destructive_hint
    assert tools["cl_load"].read_only_hint
    assert tools["cl_forget"].destructive_hint
    assert "cl_load" in call.instructions


@pytest.mark.slow
def test_a_moved_repository_learns_what_to_ask(call, repo: GitRepo, tmp_path: Path) -> None:
    text(call("cl_save", name="lamps", note="one", path=str(repo.root)))
    there = tmp_path / "elsewhere"
    repo.root.rename(there)
    found = call("cl_load", path=str(there))
    assert found.is_error
    assert "1 context saved when this repository was at" in found.content[0].text
    assert "`codelens load --adopt`" in found.content[0].text
