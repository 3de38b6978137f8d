"""Hooks around an edit: who changed the same elsewhere, and the entries in the trail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hook_agent import ID, Agent

from codelens.hooks.hook_input import edited_paths, parsed
from codelens.trail.trail_log import entries


@pytest.mark.slow
def test_an_edit_of_code_edited_in_another_worktree_warns(
    agent: Agent, repo: GitRepo, tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second", branch="second")
    other = Agent(agent.home, second.root)
    assert other.edit(second.root / "till.py") == ""
    warning = agent.edit(repo.root / "till.py")
    assert f"till.py was edited 1 min ago in the worktree {second.root} (second)" in warning
    assert agent.edit(repo.root / "web.py") == ""
    context = agent.hook("session-start", "SessionStart", source="startup")
    assert f"also edited in the worktree {second.root} (second): till.py" in context
    second.write("till.py", (repo.root / "till.py").read_text())
    fields = {"tool_name": "Edit", "tool_input": {"file_path": str(repo.root / "till.py")}}
    assert agent.hook("before-edit", "PreToolUse", **fields) == ""


@pytest.mark.slow
def test_an_edit_is_warned_of_by_definition_where_there_is_an_index(
    repo: GitRepo, tmp_path: Path
) -> None:
    agent = Agent(tmp_path / "home", repo.root, patient=True)
    text = "def charge():\n    return 1\n\n\ndef refund():\n    return 2\n"
    repo.commit("two", {"till.py": text})
    second = repo.worktree(tmp_path / "second", branch="second")
    assert agent.codelens("index").returncode == 0
    # By hand: no hook ran there.
    second.write("till.py", text.replace("return 2", "return 3"))

    def warned(**more: object) -> str:
        fields = {"file_path": str(repo.root / "till.py"), **more}
        return agent.hook("before-edit", "PreToolUse", tool_name="Edit", tool_input=fields)

    expected = (
        f"codelens: till.py#refund was changed (body) in the worktree {second.root} (second): "
        "your edit may collide with it."
    )
    assert warned(old_string="    return 2\n", new_string="") == expected
    assert warned(old_string="    return 1\n", new_string="") == ""
    assert warned(edits=[{"old_string": "return 1"}, {"old_string": "return 2"}]) == expected
    assert warned(content="x = 1\n") == expected
    # The hook's own engine queries do not count as calls of the agent.
    assert not list((agent.home / "trails").glob("*.jsonl"))


def test_edits_and_calls_of_codelens_leave_one_line_each(agent: Agent, repo: GitRepo) -> None:
    agent.edit(repo.root / "till.py")
    fields = {
        "tool_name": "mcp__codelens__cl_expand", "tool_input": {"handles": ["till.py#charge"]},
    }  # fmt: skip
    for _ in range(2):
        agent.hook("after-tool", "PostToolUse", **fields, tool_response="...")
    agent.hook(
        "after-tool", "PostToolUse", tool_name="mcp_codelens_cl_explore",
        tool_input={"task": "charge"}, tool_response="1. web.py#page\n2. till.py#charge",
    )  # fmt: skip
    agent.hook("after-tool", "PostToolUse", tool_name="Read", tool_input={"file_path": "till.py"})
    from codelens.scope.repository import Repository

    found = entries(agent.home, Repository.at(repo.root).scope().repo_id, session=ID)
    assert [(one.tool, one.handles) for one in found] == [
        ("edited", ("till.py",)), ("expanded", ("till.py#charge",)),
        ("explored", ("web.py#page", "till.py#charge")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "response",
    [
        {"isError": True, "content": [{"type": "text", "text": "no"}]},
        "ERROR 'till.py#Session.logout' was not found (till.py does not define it)",
        [{"type": "text", "text": "ERROR 'till.py#Session.logout' was not found"}],
        {"error": {"message": "no such handle"}}, {"success": False}, {"resultType": "failure"},
    ],
)  # fmt: skip
def test_a_call_that_found_nothing_leaves_no_line(
    agent: Agent, repo: GitRepo, response: object
) -> None:
    from codelens.scope.repository import Repository

    event = {"tool_input": {"handles": ["till.py#Session.logout"]}, "tool_response": response}
    agent.hook("after-tool", "PostToolUse", tool_name="mcp__codelens__cl_expand", **event)
    assert entries(agent.home, Repository.at(repo.root).scope().repo_id) == []


def test_two_sessions_that_edit_one_file_leave_a_line_each(agent: Agent, repo: GitRepo) -> None:
    from codelens.scope.repository import Repository

    fields = {"tool_name": "Edit", "tool_input": {"file_path": str(repo.root / "till.py")}}
    for session in ("one", "two", "one"):
        agent.hook("after-tool", "PostToolUse", **fields, session_id=session)
    found = entries(agent.home, Repository.at(repo.root).scope().repo_id)
    assert [entry.session for entry in found] == ["one", "two"]


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"tool_input": {"file_path": "/r/a.py"}}, ["/r/a.py"]),
        ({"tool_input": {"file_path": "b/../a.py"}}, ["/r/a.py"]),
        ({"tool_input": {"command": "*** Begin Patch\n*** Update File: a.py\n@@\n+x\n"
                                    "*** Add File: b.py\n+y\n*** End Patch"}},
         ["/r/a.py", "/r/b.py"]),
        ({"toolArgs": '{"path": "a.py"}'}, ["/r/a.py"]),
        ({"file_path": "/r/a.py", "edits": []}, ["/r/a.py"]),
        ({"tool_input": {"command": "ls a.py"}}, []),
        ({"tool_input": {"file_path": "a\0"}}, []),
    ],
)  # fmt: skip
def test_the_files_of_an_edit_in_the_shapes_of_hosts(fields: dict, paths: list[str]) -> None:
    event = parsed(json.dumps({"cwd": "/r", **fields}).encode())
    assert event is not None and edited_paths(event) == paths
