"""`codelens session` and `codelens recover`, as an agent runs them in its shell."""

from __future__ import annotations

import json

import pytest
from gitrepo import GitRepo
from shop_repository import Run


def test_commands_belong_to_the_session_that_the_host_names(
    repo: GitRepo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COPILOT_AGENT_SESSION_ID", raising=False)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "aaaa-bbbb-agent-one")
    assert run("search", "price").code == 0
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "aaaa-bbbb-agent-two")
    assert run("explore", "total price").code == 0
    shown = run("session")
    assert shown.code == 0 and "explored 'total price'" in shown.out
    assert "searched" not in shown.out
    other = json.loads(run("session", "aaaa-bbbb-agent-one", "--json").out)
    assert [line["tool"] for line in other["results"]] == ["searched"]
    assert len(run("session", "--all").out.splitlines()) == 2
    result = run("recover")
    assert result.code == 0 and "explored 1x, last: 'total price'" in result.out
    assert json.loads(run("recover", "--json").out)["calls"] == 1


def test_without_a_trail_or_a_note_there_is_nothing(
    repo: GitRepo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    for command in ("session", "recover"):
        ran = run(command)
        assert ran.code == 1 and "no session has left a trail in this worktree" in ran.err
