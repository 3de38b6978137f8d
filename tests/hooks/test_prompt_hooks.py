"""Before a prompt and after an answer: the block, and the user's own part of a prompt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hook_agent import ID, Agent

from codelens.hooks.hook_input import as_written


@pytest.mark.skipif(sys.platform != "linux", reason="names of other systems are UTF-8")
def test_a_branch_whose_name_is_not_utf_8_gives_strict_json(agent: Agent, repo: GitRepo) -> None:
    repo.git("checkout", "-q", "-b", b"caf\xe9")
    agent.prompt("charge the card twice")
    for event, name in (("prompt", "UserPromptSubmit"), ("session-start", "SessionStart")):
        said = {"cwd": str(repo.root), "hook_event_name": name, "prompt": "and thrice"}
        out = agent.run(event, json.dumps({"session_id": ID, **said}).encode()).stdout
        context = json.loads(out)["hookSpecificOutput"]["additionalContext"]
        assert "caf\ufffd" in context and context.encode()
    repo.git("checkout", "-q", "main")
    assert "(on caf\ufffd)" in agent.prompt("and thrice")


def test_a_long_name_of_a_branch_leaves_room_for_the_block(agent: Agent, repo: GitRepo) -> None:
    repo.git("checkout", "-q", "-b", "/".join(["x" * 139] * 4))
    agent.prompt("charge the card twice")
    block = agent.prompt("why is the header red")
    assert "    - charge the card twice" in block and "x…]" in block.splitlines()[0]
    repo.git("checkout", "-q", "main")
    assert "    - charge the card twice" in agent.prompt("why is the footer blue")


def test_the_second_prompt_gets_the_block(agent: Agent) -> None:
    assert agent.prompt("add refresh token rotation") == ""
    assert agent.hook("stop", "Stop", last_assistant_message="The token rotates. Next?") == ""
    block = agent.prompt("token rotation fails")
    assert block.startswith("[Focus | 2 prompts") and "The token rotates" in block


def test_a_damaged_state_is_logged_and_later_prompts_are_kept(agent: Agent) -> None:
    agent.prompt("add refresh token rotation")
    agent.prompt("token rotation fails")
    (state,) = (agent.home / "focus").glob("*.jsonl")
    state.write_bytes(state.read_bytes()[:40])
    assert "refresh token" not in agent.prompt("charge the card")
    assert "    - charge the card" in agent.prompt("charge the card twice")
    assert "is damaged" in agent.log()


@pytest.mark.parametrize(
    "answer",
    [{"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "text", "text": "Wrote it. So."}]}},
     {"payload": {"type": "message", "role": "assistant", "content": [
         {"type": "output_text", "text": "Wrote it. So."}]}},
     {"type": "assistant.message", "data": {"content": "Wrote it. So.", "toolRequests": []}}],
    ids=["Claude Code", "Codex", "Copilot"],
)  # fmt: skip
def test_an_answer_is_found_in_the_transcript(agent: Agent, tmp_path: Path, answer: dict) -> None:
    transcript = tmp_path / "t.jsonl"
    lines = [answer, {"type": "user", "message": {}}]
    transcript.write_text("\n".join(map(json.dumps, lines)) + "\nhalf{")
    agent.prompt("add refresh token rotation")
    agent.hook("stop", "Stop", transcript_path=str(transcript))
    assert "  - Wrote it" in agent.prompt("token rotation fails")


@pytest.mark.parametrize(
    "put_in",
    ["&lt;hook_context&gt;codelens: worktree /x\n(main)&lt;/hook_context&gt;",
     "<system-reminder>read the docs</system-reminder>",
     "[Focus | 1 prompt]\n  [1.00] a\n[/Focus]",
     "<system-reminder>a <system-reminder>docs</system-reminder>",
     "[Focus | 2 prompts | 1/100 mem]\n    - docs (/Focus)\n[/Focus]"],
)  # fmt: skip
def test_text_that_hosts_add_to_a_prompt_is_ignored(agent: Agent, put_in: str) -> None:
    agent.prompt(f"{put_in}\nadd refresh token rotation")
    assert "    - add refresh token rotation\n" in agent.prompt("token rotation")
    assert "docs" not in agent.prompt("token") and "worktree" not in agent.prompt("token")


_WRITTEN = """
import resource, sys
from codelens.hooks.hook_input import as_written, tamed
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
text = sys.argv[1] * (1_000_000 // len(sys.argv[1]))
assert as_written(text) == text or sys.argv[2] == "taken"
tamed(text)
"""


@pytest.mark.parametrize(
    ("pattern", "left"),
    [("<system-reminder>", ""), ("&lt;hook_context&gt;", ""), ("[Focus |", ""), ("[Focus | 1", ""),
     ("<hook_context><system-reminder>", ""), ("</hook_context>", ""), ("[/Focus]", ""),
     ("<system-reminder></system-reminder>", "taken"), ("[Focus | 1[/Focus]", "taken"),
     ("</system-reminder><system-reminder>", "taken"), ("<hook_context</", "")],
)  # fmt: skip
def test_marks_without_an_end_are_read_in_proportion_to_their_number(
    pattern: str, left: str
) -> None:
    """A megabyte of them; quadratic time would take minutes of CPU."""
    done = subprocess.run([sys.executable, "-c", _WRITTEN, pattern, left], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_user_text_about_marks_stays() -> None:
    for text in (
        "why is [Focus | shown here?", "the <system-reminder> tag", "[Focus | x] and [/Focus]",
        "a </system-reminder> b <system-reminder> c", "[/Focus] alone",
    ):  # fmt: skip
        assert as_written(text) == text


@pytest.mark.parametrize(
    "mark",
    ["[/Focus]", "[/focus]", "[ /Focus ]", "[Focus | 9 prompts]", "</system-reminder>",
     "<hook_context>", "&lt;/hook_context&gt;"],
)  # fmt: skip
def test_shown_text_neither_closes_nor_opens_a_block(agent: Agent, mark: str) -> None:
    agent.prompt(f"token {mark} rotation")
    agent.hook("stop", "Stop", last_assistant_message=f"The {mark} token rotates.")
    block = agent.prompt("token rotation fails")
    assert mark not in block[1:-8] and "rotation" in block and "rotates" in block
    assert block.count("[Focus | ") == block.count("[/Focus]") == 1
    assert as_written(block).strip() == ""


def test_switched_off_nothing_is_said_or_kept(agent: Agent) -> None:
    assert agent.codelens("focus", "off").returncode == 0
    for _ in range(2):
        assert agent.prompt("add refresh token rotation") == ""
    assert not list((agent.home / "focus").glob("*.jsonl"))


_WITHOUT = """
import sys
sys.argv = ["codelens", "hook", "prompt"]
from codelens.cli.main import main
assert main() == 0
heavy = {"pygit2", "apsw", "mcp", "pydantic", "argparse", "dataclasses", "pathlib", "inspect",
         "codelens.engine", "codelens.config", "codelens.errors", "codelens.paths", "tomllib",
         "urllib", "Stemmer", "tree_sitter", "logging", "subprocess", "socket"}
found = heavy & set(sys.modules)
assert not found, found
"""


def test_a_prompt_imports_nothing_heavy(agent: Agent) -> None:
    agent.prompt("add refresh token rotation")
    said = json.dumps({"prompt": "token rotation", "cwd": str(agent.folder)}).encode()
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], input=said, capture_output=True, cwd=agent.folder,
        env={**os.environ, "CODELENS_HOME": str(agent.home)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert b"[Focus | 2 prompts" in done.stdout
