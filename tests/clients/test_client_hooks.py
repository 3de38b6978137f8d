"""Whole turns of real clients with hooks: what the model's requests hold.

The clients are those of `test_clients`, on a model that is none; Qwen Code with
`CODELENS_CLIENTS=all`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_clients import ALL, CLIENTS, MORE_CLIENTS, Home, install
from fake_model import Call, serving
from gitrepo import GitRepo

NAMES = {"claude-code", "codex", "gemini", "qwen"}
HOOKED = [one for one in [*CLIENTS, *(MORE_CLIENTS if ALL else [])] if one.name in NAMES]


@pytest.fixture(scope="session", autouse=True)
def clients() -> None:
    why = install()
    if why:
        pytest.skip(why)


class Turns:
    """A client with hooks in a repository; each turn is a process of its own."""

    def __init__(self, client, home: Home, repo: GitRepo, model) -> None:
        self.client, self.home, self.repo, self.model = client, home, repo, model
        run = home.run

        def with_prompt(*command, **more):
            # Nobody can say yes to Codex's question whether hooks are to be trusted.
            trust = ("--dangerously-bypass-hook-trust",) if command[:2] == ("codex", "exec") else ()
            words = [self.prompt if one == "where is it?" else one for one in command]
            return run(*words[:2], *trust, *words[2:], **more)

        self.prompt = ""
        home.run = with_prompt  # type: ignore[method-assign]

    def ask(self, prompt: str) -> str:
        """All that the model was sent in one turn."""
        self.prompt = prompt
        before = len(self.model.bodies)
        self.client.ask(self.home, self.model, self.repo.root)
        return json.dumps(self.model.bodies[before:])


@pytest.mark.parametrize("client", HOOKED, ids=lambda one: one.name)
def test_the_model_reads_what_was_asked_for_earlier(client, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    repo = GitRepo.init(tmp_path / "work" / "shop")
    repo.commit("first", {"till.py": "def charge_card(amount):\n    return amount\n"})
    with serving(Call("none", {})) as model:
        client.prepare(home, model, [repo.root])
        home.codelens("install", "--host", client.name, "--yes", "--hooks")
        turns = Turns(client, home, repo, model)
        first = turns.ask("add refresh token rotation")
        second = turns.ask("token rotation fails")
        state = next((home.folder / "index" / "focus").glob("*.jsonl"))
        state.write_bytes(state.read_bytes()[:40])
        third = turns.ask("charge the card")
        fourth = turns.ask("charge the card twice")
    assert "codelens: worktree" in first and "[Focus |" not in first
    assert "[Focus | 2 prompts" in second and "- add refresh token rotation" in second
    assert "charge the card" in third and "refresh token" not in third
    assert "- charge the card" in fourth
    assert "is damaged" in (home.folder / "index" / "logs" / "hooks.log").read_text()


def test_after_its_own_compaction_claude_code_sends_the_recovery(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    repo = GitRepo.init(tmp_path / "work" / "shop")
    repo.commit("first", {"till.py": "def charge_card(amount):\n    return amount\n"})
    with serving(Call("none", {})) as model:
        home.codelens("install", "--host", "claude-code", "--yes", "--hooks")
        env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}", "ANTHROPIC_API_KEY": "x"}

        def turn(prompt: str, *options: str) -> str:
            before = len(model.bodies)
            home.run("claude", "-p", prompt, *options, cwd=repo.root, env=env)
            return json.dumps(model.bodies[before:])

        session = "4f1c2a52-6d0e-4f0b-9d2b-0d8a5f1d3c11"
        turn("add refresh token rotation", "--session-id", session)
        compaction = turn("/compact", "--resume", session)
        after = turn("token rotation fails", "--resume", session)
    assert "summary" in compaction
    assert "is being continued from a previous conversation" in after
    recovery = "code that was sent before is sent in full again"
    assert after.partition(recovery)[1], "which session-start says after a compaction alone"
    assert "- add refresh token rotation" in after.partition(recovery)[2]
    assert recovery not in compaction
