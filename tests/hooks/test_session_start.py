"""The text for a session at its start, and after a compaction."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hook_agent import ID, Agent

from codelens.focus.checkout import checkout_at
from codelens.hooks import prompt_hooks
from codelens.trail.sent_log import SentBody, SentLog
from codelens.trail.trail_log import worktree_key


@pytest.mark.slow
def test_a_collision_with_another_worktree_is_reported(repo: GitRepo, tmp_path: Path) -> None:
    agent = Agent(tmp_path / "home", repo.root, patient=True)
    second = repo.worktree(tmp_path / "second", branch="second")
    second.write("till.py", "def charge():\n    return 'two'\n")
    repo.write("till.py", "def charge():\n    return 'one'\n")
    assert "collides" not in agent.hook("session-start", "SessionStart", source="startup")
    assert agent.codelens("index").returncode == 0
    repo.worktree(tmp_path / "broken", branch="broken")
    (repo.root / ".git" / "worktrees" / "broken" / "HEAD").write_bytes(b"0" * 100_000)
    context = agent.hook("session-start", "SessionStart", source="startup")
    assert f"conflicts with {second.root} (second): " in context
    assert "broken" in agent.log()


@pytest.mark.slow
def test_a_session_learns_its_worktree_and_the_changes(agent: Agent, repo: GitRepo) -> None:
    first = agent.hook("session-start", "SessionStart", source="startup")
    assert first.startswith(f"codelens: worktree {repo.root} (branch main at ")
    assert "since" not in first
    repo.commit("charge twice", {"till.py": "def charge():\n    return 2\n"})
    again = agent.hook("session-start", "SessionStart", source="resume")
    assert "1 commit (charge twice), 1 file changed\n  body: till.py#charge" in again
    assert "since this session began at " in again
    other = agent.hook("session-start", "SessionStart", source="startup", session_id="x")
    assert "since the last session here" not in other  # which was on this very commit
    repo.commit("and thrice", {"till.py": "def charge():\n    return 3\n"})
    new = agent.hook("session-start", "SessionStart", source="startup", session_id="y")
    assert "since the last session here: 1 commit (and thrice); files: till.py" in new


@pytest.mark.slow
def test_after_a_compaction_the_session_gets_its_thread_back(agent: Agent, repo: GitRepo) -> None:
    agent.hook("session-start", "SessionStart", source="startup")
    agent.prompt("charge the card twice")
    agent.edit(repo.root / "till.py")
    context = agent.hook("session-start", "SessionStart", source="compact")
    assert "this session so far:\n  edited 1x, last: till.py" in context
    assert "code that was sent before is sent in full again" in context
    assert "    - charge the card twice" in context


def compacted(agent: Agent, **fields: object) -> None:
    """As Copilot reports it."""
    event = {"sessionId": ID, "cwd": str(agent.folder), "trigger": "auto", **fields}
    assert not agent.run("before-compact", json.dumps(event).encode()).stdout


@pytest.mark.slow
def test_without_a_session_start_the_next_prompt_brings_the_recovery(
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
    context = agent.prompt("charge fails")
    assert context.startswith(f"codelens: worktree {repo.root} (branch main at ")
    assert "this session so far:\n  edited 1x, last: till.py" in context
    assert context.count("[Focus |") == 1 and context.endswith("[/Focus]")
    assert agent.prompt("charge fails again").startswith("[Focus |")


@pytest.mark.slow
def test_a_new_session_gets_no_recovery(agent: Agent) -> None:
    agent.prompt("charge the card twice")
    compacted(agent)
    assert list((agent.home / "trails").glob("*.recovery"))
    agent.hook("session-start", "SessionStart", source="clear")
    assert agent.prompt("charge fails").startswith("[Focus |")
    for session in ("../../x", "a\0b", "", "\ud800"):
        compacted(agent, sessionId=session)
    assert {one.parent.name for one in agent.home.rglob("*.recovery")} == {"trails"}


@pytest.mark.slow
def test_a_session_resumed_after_a_compaction_learns_of_it(agent: Agent) -> None:
    again = "code that was sent before is sent in full again"
    compacted(agent)
    for is_reported in (True, False):
        context = agent.hook("session-start", "SessionStart", source="resume")
        assert (again in context) is is_reported
    assert again not in agent.prompt("charge fails")


def test_an_old_recovery_is_dropped(agent: Agent) -> None:
    place = checkout_at(str(agent.folder))
    for session, days in (("a", 2), ("b", 0)):
        prompt_hooks.put_recovery(str(agent.home), place.repository, session, f"text for {session}")
        (file,) = (agent.home / "trails").glob("*.recovery")
        at = file.stat().st_mtime - days * 86_400
        os.utime(file, (at, at))
        said = prompt_hooks.take_recovery(str(agent.home), place.repository, session)
        assert said == ("" if days else "text for b")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["resume", "compact", "fork"])
def test_a_session_that_goes_on_is_given_the_block_again(agent: Agent, source: str) -> None:
    agent.prompt("charge the card twice")
    context = agent.hook("session-start", "SessionStart", source=source)
    assert "    - charge the card twice" in context


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "ends"), [("compact", True), ("clear", True), ("resume", False)]
)
def test_a_compaction_resets_the_sent_texts(
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
    for name, handle in (("cards", "till.py#charge"), ("pages", "web.py")):
        assert agent.codelens("save", name, handle, "--note", "x").returncode == 0
    repo.write("web.py", "quite = 'another'\n")
    context = agent.hook("session-start", "SessionStart", source="startup")
    assert "saved notes that are still valid: cards (1 more changed since)" in context
