"""Whole turns of real clients with the packages from `install/plugins`, with a fake model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_clients import Codex, Gemini, Home, Opencode
from fake_model import SAID, Call, Model, serving
from gitrepo import GitRepo

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "install" / "plugins"


@pytest.fixture
def model() -> Iterator[Model]:
    with serving(Call("cl_search", {"query": "charge card"})) as started:
        yield started


def judge(said: str, model: Model, *, hooks: bool = True) -> None:
    """Asserts that codelens answered the model, and that the session-start hook sent its text."""
    assert SAID in said and "src/till.py#charge_card" in said, model.asked
    assert not hooks or "codelens: worktree" in json.dumps(model.bodies)


def test_claude_code_runs_a_whole_turn_with_the_plugin(
    home: Home, repo: GitRepo, model: Model
) -> None:
    env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}", "ANTHROPIC_API_KEY": "x"}

    def claude(*words: str) -> str:
        return home.run("claude", *words, cwd=repo.root, env=env)

    assert "Validation passed" in claude("plugin", "validate", str(PACKAGES / "claude-code"))
    assert "Validation passed" in claude("plugin", "validate", str(ROOT))
    claude("plugin", "marketplace", "add", str(ROOT))
    claude("plugin", "install", "codelens@codelens")
    allowed = "mcp__plugin_codelens_codelens__cl_search"
    judge(claude("-p", "where is it?", "--allowedTools", allowed), model)


def test_codex_runs_a_whole_turn_with_the_plugin(home: Home, repo: GitRepo, model: Model) -> None:
    Codex().prepare(home, model, [repo.root])

    def codex(*words: str) -> str:
        return home.run("codex", *words, cwd=repo.root, env={"FAKE_KEY": "x"})

    codex("plugin", "marketplace", "add", str(ROOT))
    codex("plugin", "add", "codelens@codelens")
    # Nobody is there to approve tools and trust hooks.
    flags = ("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
    judge(codex("exec", "--skip-git-repo-check", *flags, "where is it?"), model)


def test_gemini_runs_a_whole_turn_with_the_extension(
    home: Home, repo: GitRepo, model: Model
) -> None:
    Gemini().prepare(home, model, [repo.root])
    env = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{model.port}"}

    def gemini(*words: str) -> str:
        return home.run("gemini", *words, cwd=repo.root, env=env)

    extension = str(PACKAGES / "gemini")
    assert "successfully validated" in gemini("extensions", "validate", extension)
    gemini("extensions", "link", extension, "--consent")
    judge(gemini("--yolo", "-m", "gemini-2.5-flash", "-p", "where is it?"), model)


def test_opencode_runs_a_whole_turn_with_the_folder(
    home: Home, repo: GitRepo, model: Model
) -> None:
    # A copy, since opencode writes into its settings folder.
    home.env["OPENCODE_CONFIG_DIR"] = str(home.folder / "opencode")
    shutil.copytree(PACKAGES / "opencode", home.folder / "opencode")
    opencode = Opencode()
    opencode.prepare(home, model, [repo.root])
    judge(opencode.ask(home, model, repo.root), model, hooks=False)


def test_the_bundle_is_valid(home: Home, tmp_path: Path) -> None:
    manifest = PACKAGES / "mcpb" / "manifest.json"
    assert "validation passes" in home.run("mcpb", "validate", str(manifest), cwd=tmp_path)
    assert json.loads(manifest.read_text("utf-8"))["server"]["entry_point"] == "pyproject.toml"
