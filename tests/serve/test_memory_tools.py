"""Saved contexts over MCP, asked by the SDK's own client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from sdk_client import Asker, client

CODE = "def kindle(lamp):\n    return lamp\n\n\ndef snuff(lamp):\n    return None\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"lamp.py": CODE})
    return made


@pytest.fixture(scope="module")
def running(env: dict[str, str]) -> Iterator[Asker]:
    with client({**env, "CODELENS_TOOLS": "all"}, "--budget", "60000") as asker:
        yield asker


@pytest.mark.slow
def test_saved_contexts_are_loaded_and_judged_in_the_current_worktree(
    asker: Asker, repo: GitRepo
) -> None:
    said = asker.text(
        "cl_save", name="lamps", note="Lamps burn.", handles="kindle", category="decision"
    )
    assert "saved lamps  decision" in said and "current  lamp.py#kindle  1-2" in said
    repo.git("mv", "lamp.py", "light.py")
    moved = "moved    light.py#kindle  1-2  (was lamp.py#kindle)"
    assert moved in asker.text("cl_load", query="burning")
    assert asker.text("cl_load").splitlines()[1].startswith("lamps\tdecision · 1 handle: 1 moved")
    answer = json.loads(asker.text("cl_load", query="lamps", format="json"))
    assert answer["exact"] and answer["results"][0]["items"][0]["handle"] == "light.py#kindle"


@pytest.mark.slow
def test_a_handle_that_is_not_there_is_named_and_nothing_is_saved(asker: Asker) -> None:
    said = asker.error("cl_save", name="x", handles=["kindle", "lamp.py#kindel"])
    assert "1 of 2 handles" in said
    assert "lamp.py#kindle" in said.rpartition("nearest")[2]
    assert "nothing is saved" in asker.text("cl_load")


@pytest.mark.slow
def test_a_name_that_is_taken_is_refused_unless_replaced(asker: Asker) -> None:
    asker.text("cl_save", name="a", note="one")
    assert "replace: true" in asker.error("cl_save", name="a", note="two")
    assert asker.text("cl_save", name="a", note="two", replace=True).splitlines()[-1] == "  two"


@pytest.mark.slow
def test_forgetting_takes_the_names_alone(asker: Asker) -> None:
    asker.text("cl_save", name="lamps", note="one")
    assert "lamps" in asker.error("cl_forget", names=["lamp"])
    assert asker.text("cl_forget", names="lamps") == "forgot lamps"
    assert "nothing is saved" in asker.text("cl_load")


@pytest.mark.slow
def test_expired_contexts_are_deleted_only_on_request(asker: Asker) -> None:
    asker.text("cl_save", name="brief", note="once", ttl="1m")
    assert asker.text("cl_forget", expired=True) == "nothing has expired"
    assert "brief" in asker.text("cl_load")
    for wrong in ({}, {"names": ["brief"], "expired": True}):
        assert "expired: true" in asker.error("cl_forget", **wrong)


def test_the_tools_say_which_of_them_write(running: Asker) -> None:
    tools = {name: tool.annotations for name, tool in running.tools().items()}
    assert not tools["cl_save"].read_only_hint and not tools["cl_save"].destructive_hint
    assert tools["cl_load"].read_only_hint
    assert tools["cl_forget"].destructive_hint
    assert "cl_load" in running.instructions


@pytest.mark.slow
def test_a_moved_repository_learns_what_to_ask(asker: Asker, repo: GitRepo, tmp_path: Path) -> None:
    asker.text("cl_save", name="lamps", note="one", path=str(repo.root))
    there = tmp_path / "elsewhere"
    repo.root.rename(there)
    said = asker.error("cl_load", path=str(there))
    assert "1 context saved when this repository was at" in said
    assert "`codelens load --adopt`" in said


@pytest.mark.slow
def test_an_error_that_quotes_a_note_escapes_control_characters(asker: Asker) -> None:
    asker.text("cl_save", name="red", note="a \x1b[31mred\x1b[0m note")
    said = asker.error("cl_save", name="red", note="another")
    assert "red" in said and "is taken" in said and "\x1b" not in said
