"""Whole turns of real clients with hooks: what the model's requests contain.

The clients are those of `test_clients`, with a fake model: Claude Code and Codex with a compaction,
Gemini CLI without. With `CODELENS_CLIENTS=all`, the tests add Qwen Code, Copilot CLI, and the
compaction of Gemini CLI at a terminal.
"""

from __future__ import annotations

import json

import pytest
from agent_clients import ALL, CLIENTS, MORE_CLIENTS, Gemini, Home
from client_terminal import Terminal
from fake_model import Call, serving
from gitrepo import GitRepo

HOOKS = ("--yes", "--hooks")


class Compacting:
    """One session of a client that compacts it by itself; each turn is a separate process."""

    def __init__(self, client, home: Home, repo: GitRepo, model) -> None:
        self.client, self.home, self.repo, self.model = client, home, repo, model
        client.prepare(home, model, [repo.root])
        home.codelens("install", "--host", client.name, *HOOKS)

    def turn(self, *command: str) -> str:
        """All that the model was sent in one turn."""
        before = len(self.model.bodies)
        self.home.run(*command, cwd=self.repo.root, env=self.environ())
        return json.dumps(self.model.bodies[before:])

    def environ(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.model.port}"
        return {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "FAKE_KEY": "x",
            "OPENAI_API_KEY": "x", "OPENAI_MODEL": "fake", "OPENAI_BASE_URL": f"{url}/v1",
            "COPILOT_OFFLINE": "true", "COPILOT_MODEL": "fake", "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        }  # fmt: skip

    def compacted(self) -> tuple[str, str, str]:
        """What the model is sent at first, at the compaction, and with the prompt after it."""
        return getattr(self, self.client.name.replace("-", "_"))()

    def claude_code(self) -> tuple[str, str, str]:
        session = "4f1c2a52-6d0e-4f0b-9d2b-0d8a5f1d3c11"
        first = self.turn("claude", "-p", FIRST, "--session-id", session)
        compaction = self.turn("claude", "-p", "/compact", "--resume", session)
        return first, compaction, self.turn("claude", "-p", LATER, "--resume", session)

    def codex(self) -> tuple[str, str, str]:
        """It compacts by itself after a request longer than the limit."""
        settings = self.home.folder / ".codex" / "config.toml"
        settings.write_text("model_auto_compact_token_limit = 1\n" + settings.read_text())
        command = ("codex", "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check")
        first = self.turn(*command, FIRST)
        both = self.turn(*command, "resume", "--last", LATER)
        compaction, after = self.model.bodies[-2:]
        assert json.dumps([compaction, after]) == both
        return first, json.dumps(compaction), json.dumps(after)

    def copilot_cli(self) -> tuple[str, str, str]:
        command = ("copilot", "--allow-all-tools")
        first = self.turn(*command, "-p", FIRST)
        compaction = self.turn(*command, "--continue", "-p", "/compact")
        return first, compaction, self.turn(*command, "--continue", "-p", LATER)

    def qwen(self) -> tuple[str, str, str]:
        """It accepts a compaction only if enough was said, by its own count and the model's."""
        self.model.tokens = 90_000
        first = self.turn("qwen", "-p", FIRST + " filler" * 14_000)
        compaction = self.turn("qwen", "--continue", "-p", "/compress")
        return first, compaction, self.turn("qwen", "--continue", "-p", LATER)

    def gemini(self) -> tuple[str, str, str]:
        """It compacts only at a terminal, or at half a million tokens."""
        env = {
            **self.home.env, "GEMINI_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{self.model.port}",
        }  # fmt: skip
        command = ["gemini", "-m", "gemini-2.5-flash"]
        with Terminal(command, cwd=self.repo.root, env=env) as terminal:
            terminal.wait_until(lambda: "Type your message" in terminal.screen)
            said: list[str] = []
            for line in (FIRST, "/compress", LATER):
                before = len(self.model.bodies)
                terminal.enter(line)
                terminal.wait_until(lambda before=before: len(self.model.bodies) > before)
                # It asks for the summary twice, and the hook after an answer takes some time.
                terminal.wait(8)
                said.append(json.dumps(self.model.bodies[before:]))
        first, compaction, after = said
        return first, compaction, after


FIRST, LATER = "add refresh token rotation", "token rotation fails"
RECOVERED = "code that was sent before is sent in full again"
COMPACTED = {
    "claude-code": ("summary", "is being continued from a previous conversation", RECOVERED),
    "codex": ("CONTEXT CHECKPOINT COMPACTION", "Another language mod", RECOVERED),
    "copilot-cli": ("The history is being compacted", "has been summarized", RECOVERED),
    "gemini": ("<state_snapshot>", FIRST, RECOVERED),
    # It starts a session afterwards, whose text is lost if the process ends then.
    "qwen": ("<state_snapshot>", "Thanks for the additional context!", "codelens: worktree"),
}
"""For each client: its prompt for a summary, its placeholder for the session, and the recovery."""


@pytest.mark.parametrize(
    "client",
    [
        client
        for client in [*CLIENTS, *(MORE_CLIENTS if ALL else [])]
        if client.name in COMPACTED and (ALL or client.name != "gemini")
    ],
    ids=lambda one: one.name,
)
def test_the_model_reads_earlier_prompts_and_after_a_compaction_the_recovery(
    client, home: Home, repo: GitRepo
) -> None:
    with serving(Call("none", {})) as model:
        first, compaction, after = Compacting(client, home, repo, model).compacted()
    assert "codelens: worktree" in first and "[Focus |" not in first
    summary_prompt, continued, recovery = COMPACTED[client.name]
    assert summary_prompt in compaction and RECOVERED not in compaction
    assert continued in after and recovery in after
    assert f"- {FIRST}" in after and "[Focus | 2 prompts" in after


def test_the_model_of_gemini_reads_earlier_prompts(home: Home, repo: GitRepo) -> None:
    gemini = Gemini()
    with serving(Call("none", {})) as model:
        gemini.prepare(home, model, [repo.root])
        home.codelens("install", "--host", gemini.name, *HOOKS)
        gemini.ask(home, model, repo.root, FIRST)
        turn = len(model.bodies)
        gemini.ask(home, model, repo.root, LATER)
    first, second = json.dumps(model.bodies[:turn]), json.dumps(model.bodies[turn:])
    assert "codelens: worktree" in first and "[Focus |" not in first
    assert "[Focus | 2 prompts" in second and f"- {FIRST}" in second
