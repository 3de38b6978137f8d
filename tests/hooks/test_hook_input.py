"""Any input: exit code 0, and stdout holds a whole answer or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hook_agent import Agent


@pytest.mark.slow
@pytest.mark.parametrize("event", ["prompt", "session-start", "stop", "before-edit", "after-tool"])
@pytest.mark.parametrize(
    "data",
    [b"", b"no json", b"[]", b"{}", b'{"prompt": 3, "cwd": 5}', b"\x00\xff", b"[" * 100_000,
     b'{"cwd": "/nowhere/at/all", "prompt": "x", "tool_name": "Edit", "source": "compact"}',
     b'{"prompt": "a\\u0000b \\ud800 c", "last_assistant_message": "\\ud800."}'],
    ids=range(9),
)  # fmt: skip
def test_bad_input_prints_only_answers(agent: Agent, event: str, data: bytes) -> None:
    out = agent.run(event, data).stdout
    assert not out or (event == "session-start" and json.loads(out))


def test_no_event_and_an_unknown_one(agent: Agent) -> None:
    assert agent.run("dance", b"{}").stdout == b"" and "unknown event 'dance'" in agent.log()
    assert b"usage" in agent.run("--help", b"").stdout


def test_a_prompt_of_a_megabyte_and_other_scripts(agent: Agent) -> None:
    agent.prompt("トークンを追加 🚀")
    agent.prompt("rotate the token " * 60_000)
    assert "トークンを追加 🚀" in agent.prompt("トークンを回転")


def test_a_home_that_cannot_be_made(agent: Agent) -> None:
    agent.home.write_text("a file")
    assert agent.run("prompt", b'{"prompt": "add a token"}').stdout == b""


def test_a_bad_setting_is_logged_and_the_prompt_goes_on(agent: Agent) -> None:
    agent.home.mkdir()
    (agent.home / "config.toml").write_text("[focus]\nmemory = 1\n")
    assert agent.prompt("add a token") == ""
    assert "prompt: unknown setting focus.memory" in agent.log()


@pytest.mark.parametrize("closed", [(0,), (1,), (0, 1, 2)])
def test_closed_streams(agent: Agent, closed: tuple[int, ...]) -> None:
    shut = " ".join(f"{number}>&-" if number else "0<&-" for number in closed)
    line = f"'{sys.executable}' -m codelens hook prompt {shut}"
    env = {**os.environ, "CODELENS_HOME": str(agent.home)}
    assert subprocess.run(["sh", "-c", line], cwd=agent.folder, env=env).returncode == 0


def test_an_empty_home_counts_as_unset(agent: Agent) -> None:
    assert agent.codelens("hook", "no-such-event", "--home", "").returncode == 0
    assert "unknown event" in agent.log()
    assert not (agent.folder / "logs").exists()


def test_shapes_of_other_hosts(agent: Agent) -> None:
    said = {"sessionId": "s", "cwd": str(agent.folder), "prompt": "add a token"}
    agent.run("prompt", json.dumps(said).encode())
    answer = json.loads(agent.run("prompt", json.dumps(said).encode()).stdout)
    assert answer["additionalContext"].startswith("[Focus | 2 prompts")
    cursor = {"conversation_id": "c", "workspace_roots": [str(agent.folder)],
              "hook_event_name": "sessionStart"}  # fmt: skip
    answer = json.loads(agent.run("session-start", json.dumps(cursor).encode()).stdout)
    assert answer["continue"] is True and "[Focus | 2 prompts" in answer["additional_context"]
    cursor |= {"hook_event_name": "beforeSubmitPrompt", "prompt": "add a token"}
    assert agent.run("prompt", json.dumps(cursor).encode()).stdout == b""


SECRETS = [
    ("ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "push with {} please"),
    ("hunter2-is-it", "the password: {} of the till"),
    ("p@ss/w0rd-x", "open postgres://app:{}@db.example.com:5432/till"),
    ("MIIEowIBAAKCAQEA" * 3, "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"),
    ("d41d8cd98f00b204" + "e9800998ecf8427e", "till.py#charge {}"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("secret", "text"), SECRETS, ids=range(len(SECRETS)))
def test_no_event_writes_a_secret_anywhere(agent: Agent, secret: str, text: str) -> None:
    said = text.format(secret)
    expand = {"tool_name": "mcp__codelens__cl_expand", "tool_input": {"handles": [said]}}
    explore = {"tool_name": "mcp__codelens__cl_explore", "tool_input": {"task": said}}
    for _ in range(2):
        agent.prompt(f"charge the card; {said}")
        agent.hook("stop", "Stop", last_assistant_message=f"{said} works. Next.")
        agent.hook("stop", "Stop", last_assistant_message=f"Used it:\n{said}")
        agent.hook("after-tool", "PostToolUse", **expand, tool_response=said)
        agent.hook("after-tool", "PostToolUse", **explore, tool_response=f"1. {said}#x\n{said}")
        agent.hook("session-start", "SessionStart", source="compact", prompt=said)
    agent.run(said[:40], b"{}")
    agent.run("prompt", said.encode())
    part = secret[-10:].lower().encode()
    files = [file for file in agent.home.rglob("*") if file.is_file()]
    assert len(files) > 3
    assert [file for file in files if part in file.read_bytes().lower()] == []


@pytest.mark.slow
@pytest.mark.parametrize("place", ["focus", "trails", "logs"])
def test_a_folder_that_is_a_file_stops_nothing_else(agent: Agent, place: str) -> None:
    agent.home.mkdir()
    (agent.home / place).write_text("a file")
    agent.prompt("add refresh token rotation")
    agent.hook("stop", "Stop", last_assistant_message="The token rotates. Next?")
    block = agent.prompt("token rotation fails")
    assert ("The token rotates" in block) is (place != "focus")
    context = agent.hook("session-start", "SessionStart", source="startup")
    assert context.startswith("codelens: worktree ")


def test_a_pipe_in_place_of_the_first_output_does_not_block(agent: Agent) -> None:
    agent.prompt("add refresh token rotation")
    (state,) = (agent.home / "focus").glob("*.jsonl")
    os.mkfifo(f"{state}.new")
    assert agent.prompt("token rotation fails").startswith("[Focus | 2 prompts")
    assert "3 prompts" in agent.prompt("token rotation again")


@pytest.mark.parametrize("jump_s", [-(10**9), -3600, 3600, 10**9])
def test_a_clock_that_jumps_loses_nothing(agent: Agent, jump_s: int) -> None:
    agent.prompt("add refresh token rotation")
    (state,) = (agent.home / "focus").glob("*.jsonl")
    at = json.loads(state.read_text().splitlines()[1])["touched"]
    state.write_text(state.read_text().replace(str(at), str(at + jump_s)))
    block = agent.prompt("token rotation fails")
    assert "- add refresh token rotation" in block and agent.log() == ""


@pytest.mark.parametrize("data", [b"{}", b'{"prompt": 5}', b'{"prompt": ""}'])
def test_an_input_without_the_events_subject_logs_one_line(agent: Agent, data: bytes) -> None:
    assert agent.run("prompt", data).stdout == b""
    (line,) = agent.log().splitlines()
    assert "prompt: the input has no prompt" in line
    assert agent.run("stop", data).stdout == b""
    (_, line) = agent.log().splitlines()
    assert "stop: the input has neither an answer nor the path of a transcript" in line


def test_an_agent_that_names_no_event_gets_no_usage(agent: Agent) -> None:
    done = agent.codelens("hook", given=b"{}")
    assert (done.returncode, done.stdout) == (0, b"")
    assert "hook: no event was named; the events are prompt, " in agent.log()
