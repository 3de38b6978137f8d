"""`codelens hook` as hosts call it: JSON in, JSON out, exit code 0 whatever comes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.focus.checkout import checkout_at
from codelens.hooks import pending_recovery
from codelens.hooks.hook_input import edited_paths, parsed
from codelens.hooks.written_prompt import as_written
from codelens.trail.sent_log import SentBody, SentLog
from codelens.trail.trail_log import entries, worktree_key

ID = "6fa459ea-ee8a-3ca4-894e-db77e160355e"


_PATIENT = """
import sys
from codelens.hooks import definitions_elsewhere, hook_run, work_elsewhere
definitions_elsewhere._LONGEST_S = work_elsewhere._LONGEST_S = 100
sys.exit(hook_run.run(sys.argv[1:]))
"""
"""A hook that waits for the engine as long as a busy machine takes."""


class Agent:
    """A host in a worktree; a patient one asks for what may take seconds."""

    def __init__(self, home: Path, folder: Path, *, patient: bool = False) -> None:
        self.home, self.folder = home, folder
        self.program = ["-c", _PATIENT] if patient else ["-m", "codelens", "hook"]

    def run(self, event: str, data: bytes, **env: str) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [sys.executable, *self.program, event], cwd=self.folder, input=data,
            env={**os.environ, "CODELENS_HOME": str(self.home), **env}, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0
        return done

    def hook(self, event: str, name: str, **fields: object) -> str:
        """What the model reads."""
        said = {"session_id": ID, "cwd": str(self.folder), "hook_event_name": name, **fields}
        out = self.run(event, json.dumps(said).encode()).stdout
        if not out:
            return ""
        answer = json.loads(out)["hookSpecificOutput"]
        assert answer["hookEventName"] == name
        return answer["additionalContext"]

    def prompt(self, text: str) -> str:
        return self.hook("prompt", "UserPromptSubmit", prompt=text)

    def edit(self, path: Path, tool: str = "Edit") -> str:
        fields = {"tool_name": tool, "tool_input": {"file_path": str(path)}}
        warning = self.hook("before-edit", "PreToolUse", **fields)
        path.write_text(path.read_text() + f"# by {self.folder.name}\n")
        assert self.hook("after-tool", "PostToolUse", **fields, tool_response={"ok": True}) == ""
        return warning

    def log(self) -> str:
        file = self.home / "logs" / "hooks.log"
        return file.read_text() if file.exists() else ""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "shop")
    made.commit("first", {"till.py": "def charge():\n    return 1\n", "web.py": "w = 1\n"})
    return made


@pytest.fixture
def agent(tmp_path: Path, repo: GitRepo) -> Agent:
    return Agent(tmp_path / "home", repo.root)


def test_the_second_prompt_gets_the_block(agent: Agent) -> None:
    assert agent.prompt("add refresh token rotation") == ""
    assert agent.hook("stop", "Stop", last_assistant_message="The token rotates. Next?") == ""
    block = agent.prompt("token rotation fails")
    assert block.startswith("[Focus | 2 prompts") and "The token rotates" in block


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
def test_what_hosts_put_into_a_prompt_is_not_the_persons(agent: Agent, put_in: str) -> None:
    agent.prompt(f"{put_in}\nadd refresh token rotation")
    assert "    - add refresh token rotation\n" in agent.prompt("token rotation")
    assert "docs" not in agent.prompt("token") and "worktree" not in agent.prompt("token")


_WRITTEN = """
import resource, sys
from codelens.hooks.written_prompt import as_written, tamed
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
    """A megabyte of them; the square of their number would take minutes of CPU."""
    done = subprocess.run([sys.executable, "-c", _WRITTEN, pattern, left], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_what_a_person_writes_about_marks_stays() -> None:
    for text in (
        "why is [Focus | told here?", "the <system-reminder> tag", "[Focus | x] and [/Focus]",
        "a </system-reminder> b <system-reminder> c", "[/Focus] alone",
    ):  # fmt: skip
        assert as_written(text) == text


@pytest.mark.parametrize(
    "mark",
    ["[/Focus]", "[/focus]", "[ /Focus ]", "[Focus | 9 prompts]", "</system-reminder>",
     "<hook_context>", "&lt;/hook_context&gt;"],
)  # fmt: skip
def test_what_is_shown_neither_ends_nor_begins_a_block(agent: Agent, mark: str) -> None:
    agent.prompt(f"token {mark} rotation")
    agent.hook("stop", "Stop", last_assistant_message=f"The {mark} token rotates.")
    block = agent.prompt("token rotation fails")
    assert mark not in block[1:-8] and "rotation" in block and "rotates" in block
    assert block.count("[Focus | ") == block.count("[/Focus]") == 1
    assert as_written(block).strip() == ""


@pytest.mark.slow
def test_a_collision_with_another_worktree_is_told(repo: GitRepo, tmp_path: Path) -> None:
    agent = Agent(tmp_path / "home", repo.root, patient=True)
    second = repo.worktree(tmp_path / "second", branch="second")
    second.write("till.py", "def charge():\n    return 'two'\n")
    repo.write("till.py", "def charge():\n    return 'one'\n")
    assert "collides" not in agent.hook("session-start", "SessionStart", source="startup")
    run = [sys.executable, "-m", "codelens", "index"]
    env = {**os.environ, "CODELENS_HOME": str(agent.home)}
    subprocess.run(run, cwd=repo.root, env=env, check=True, capture_output=True)
    repo.worktree(tmp_path / "broken", branch="broken")
    (repo.root / ".git" / "worktrees" / "broken" / "HEAD").write_bytes(b"0" * 100_000)
    told = agent.hook("session-start", "SessionStart", source="startup")
    assert f"collides with {second.root} (second): " in told
    assert "broken" in agent.log()


def test_switched_off_nothing_is_said_or_kept(agent: Agent) -> None:
    run = [sys.executable, "-m", "codelens", "focus", "off"]
    env = {**os.environ, "CODELENS_HOME": str(agent.home)}
    subprocess.run(run, cwd=agent.folder, env=env, check=True, capture_output=True)
    for _ in range(2):
        assert agent.prompt("add refresh token rotation") == ""
    assert not list((agent.home / "focus").glob("*.jsonl"))


@pytest.mark.slow
def test_a_session_is_told_where_it_stands_and_what_changed(agent: Agent, repo: GitRepo) -> None:
    first = agent.hook("session-start", "SessionStart", source="startup")
    assert first.startswith(f"codelens: worktree {repo.root} (branch main at ")
    assert "since" not in first
    repo.commit("charge twice", {"till.py": "def charge():\n    return 2\n"})
    again = agent.hook("session-start", "SessionStart", source="resume")
    assert "1 commit (charge twice), 1 file changed\n  body: till.py#charge" in again
    assert "since this session began at " in again
    other = agent.hook("session-start", "SessionStart", source="startup", session_id="x")
    assert "since the last session here" not in other  # which stood on this very commit
    repo.commit("and thrice", {"till.py": "def charge():\n    return 3\n"})
    new = agent.hook("session-start", "SessionStart", source="startup", session_id="y")
    assert "since the last session here: 1 commit (and thrice); files: till.py" in new


@pytest.mark.slow
def test_after_a_compaction_the_session_gets_its_thread_back(agent: Agent, repo: GitRepo) -> None:
    agent.hook("session-start", "SessionStart", source="startup")
    agent.prompt("charge the card twice")
    agent.edit(repo.root / "till.py")
    told = agent.hook("session-start", "SessionStart", source="compact")
    assert "this session so far:\n  edited 1x, last: till.py" in told
    assert "code that was sent before is sent in full again" in told
    assert "    - charge the card twice" in told


def compacted(agent: Agent, **fields: object) -> None:
    """As Copilot tells of it."""
    event = {"sessionId": ID, "cwd": str(agent.folder), "trigger": "auto", **fields}
    assert not agent.run("before-compact", json.dumps(event).encode()).stdout


@pytest.mark.slow
def test_where_no_session_starts_after_a_compaction_the_next_prompt_brings_the_recovery(
    agent: Agent, repo: GitRepo
) -> None:
    place = checkout_at(str(repo.root))
    log = SentLog(agent.home, place.repository, worktree_key(place.root), "of the server")
    log.add([SentBody("till.py", "till.py#charge", ((1, "def charge():"),))])
    agent.prompt("charge the card twice")
    agent.edit(repo.root / "till.py")
    compacted(agent)
    assert not log.read()
    assert agent.hook("prompt", "UserPromptSubmit", prompt="x", session_id="y").startswith("[Focus")
    told = agent.prompt("charge fails")
    assert told.startswith(f"codelens: worktree {repo.root} (branch main at ")
    assert "this session so far:\n  edited 1x, last: till.py" in told
    assert told.count("[Focus |") == 1 and told.endswith("[/Focus]")
    assert agent.prompt("charge fails again").startswith("[Focus |")


@pytest.mark.slow
def test_a_recovery_is_not_given_to_a_session_that_begins_anew(agent: Agent) -> None:
    agent.prompt("charge the card twice")
    compacted(agent)
    assert list((agent.home / "trails").glob("*.recovery"))
    agent.hook("session-start", "SessionStart", source="clear")
    assert agent.prompt("charge fails").startswith("[Focus |")
    for session in ("../../x", "a\0b", "", "\ud800"):
        compacted(agent, sessionId=session)
    assert {one.parent.name for one in agent.home.rglob("*.recovery")} == {"trails"}


@pytest.mark.slow
def test_a_session_that_is_resumed_after_a_compaction_is_told_of_it(agent: Agent) -> None:
    again = "code that was sent before is sent in full again"
    compacted(agent)
    for is_told in (True, False):
        told = agent.hook("session-start", "SessionStart", source="resume")
        assert (again in told) is is_told
    assert again not in agent.prompt("charge fails")


def test_an_old_recovery_is_dropped(agent: Agent) -> None:
    place = checkout_at(str(agent.folder))
    for session, days in (("a", 2), ("b", 0)):
        pending_recovery.put(str(agent.home), place.repository, session, f"told to {session}")
        (file,) = (agent.home / "trails").glob("*.recovery")
        at = file.stat().st_mtime - days * 86_400
        os.utime(file, (at, at))
        said = pending_recovery.take(str(agent.home), place.repository, session)
        assert said == ("" if days else "told to b")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["resume", "compact", "fork"])
def test_a_session_that_goes_on_is_given_the_block_again(agent: Agent, source: str) -> None:
    agent.prompt("charge the card twice")
    told = agent.hook("session-start", "SessionStart", source=source)
    assert "    - charge the card twice" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "ends"), [("compact", True), ("clear", True), ("resume", False)]
)
def test_a_compaction_ends_what_was_sent(
    agent: Agent, repo: GitRepo, source: str, ends: bool
) -> None:
    place = checkout_at(str(repo.root))
    log = SentLog(agent.home, place.repository, worktree_key(place.root), "of the server")
    log.add([SentBody("till.py", "till.py#charge", ((1, "def charge():"),))])
    assert log.read()
    agent.hook("session-start", "SessionStart", source=source)
    assert bool(log.read()) is not ends


@pytest.mark.slow
def test_notes_that_hold_are_named(agent: Agent, repo: GitRepo) -> None:
    env = {**os.environ, "CODELENS_HOME": str(agent.home)}
    for name, handle in (("cards", "till.py#charge"), ("pages", "web.py")):
        run = [sys.executable, "-m", "codelens", "save", name, handle, "--note", "x"]
        subprocess.run(run, cwd=repo.root, env=env, check=True, capture_output=True)
    repo.write("web.py", "quite = 'another'\n")
    told = agent.hook("session-start", "SessionStart", source="startup")
    assert "saved notes that are still valid: cards (1 more changed since)" in told


@pytest.mark.slow
def test_an_edit_of_what_another_worktree_edits_is_warned_of(
    agent: Agent, repo: GitRepo, tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second", branch="second")
    other = Agent(agent.home, second.root)
    assert other.edit(second.root / "till.py") == ""
    warning = agent.edit(repo.root / "till.py")
    assert f"till.py was edited 1 min ago in the worktree {second.root} (second)" in warning
    assert agent.edit(repo.root / "web.py") == ""
    told = agent.hook("session-start", "SessionStart", source="startup")
    assert f"also edited in the worktree {second.root} (second): till.py" in told
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
    run = [sys.executable, "-m", "codelens", "index"]
    env = {**os.environ, "CODELENS_HOME": str(agent.home)}
    subprocess.run(run, cwd=repo.root, env=env, check=True, capture_output=True)
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


@pytest.mark.slow
@pytest.mark.parametrize("event", ["prompt", "session-start", "stop", "before-edit", "after-tool"])
@pytest.mark.parametrize(
    "data",
    [b"", b"no json", b"[]", b"{}", b'{"prompt": 3, "cwd": 5}', b"\x00\xff", b"[" * 100_000,
     b'{"cwd": "/nowhere/at/all", "prompt": "x", "tool_name": "Edit", "source": "compact"}',
     b'{"prompt": "a\\u0000b \\ud800 c", "last_assistant_message": "\\ud800."}'],
    ids=range(9),
)  # fmt: skip
def test_bad_input_prints_nothing_that_is_no_answer(agent: Agent, event: str, data: bytes) -> None:
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


def test_an_empty_home_is_none(agent: Agent) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codelens", "hook", "no-such-event", "--home", ""],
        cwd=agent.folder, env={**os.environ, "CODELENS_HOME": str(agent.home)},
    )  # fmt: skip
    assert done.returncode == 0
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


_WITHOUT = """
import sys
sys.argv = ["codelens", "hook", "prompt"]
from codelens.cli.main import main
assert main() == 0
heavy = {"pygit2", "apsw", "mcp", "pydantic", "argparse", "dataclasses", "pathlib", "inspect",
         "codelens.engine", "codelens.config", "codelens.errors", "codelens.paths", "tomllib",
         "urllib", "Stemmer", "tree_sitter", "logging", "subprocess", "socket", "typing", "json",
         "re", "enum", "functools", "collections", "contextlib", "hashlib", "warnings"}
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
