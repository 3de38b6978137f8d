"""Real clients take the plugins and extensions in `install/plugins`, and reach the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_clients import Codex, Gemini, Home, Opencode, install
from fake_model import SAID, Call, serving
from gitrepo import GitRepo

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "install" / "plugins"


@pytest.fixture(scope="session", autouse=True)
def clients() -> None:
    why = install()
    if why:
        pytest.skip(why)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "work" / "shop")
    made.commit("first", {"src/till.py": "def charge_card(amount):\n    return amount\n"})
    return made


def test_claude_code_runs_a_whole_turn_with_the_plugin(home: Home, repo: GitRepo) -> None:
    def claude(*words: str) -> str:
        return home.run("claude", *words, cwd=repo.root, env=env)

    with serving(Call("cl_search", {"query": "charge card"})) as model:
        env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}", "ANTHROPIC_API_KEY": "x"}
        assert "Validation passed" in claude("plugin", "validate", str(PACKAGES / "claude-code"))
        assert "Validation passed" in claude("plugin", "validate", str(ROOT))
        claude("plugin", "marketplace", "add", str(ROOT))
        claude("plugin", "install", "codelens@codelens")
        allowed = "mcp__plugin_codelens_codelens__cl_search"
        said = claude("-p", "where is it?", "--allowedTools", allowed)
    assert SAID in said and "src/till.py#charge_card" in said, model.asked
    hooked = json.dumps(model.bodies)
    assert "codelens: worktree" in hooked, "the hook at a session's start was not run"


def test_codex_takes_the_plugin(home: Home, repo: GitRepo) -> None:
    codex = Codex()
    codex.prepare(home, None, [repo.root])
    home.run("codex", "plugin", "marketplace", "add", str(ROOT), cwd=repo.root)
    home.run("codex", "plugin", "add", "codelens@codelens", cwd=repo.root)
    assert codex.connected.search(codex.listed(home, repo.root))


def test_gemini_takes_the_extension(home: Home, repo: GitRepo) -> None:
    gemini = Gemini()
    gemini.prepare(home, None, [repo.root])
    extension = str(PACKAGES / "gemini")
    assert "successfully validated" in home.run(
        "gemini", "extensions", "validate", extension, cwd=repo.root
    )
    home.run("gemini", "extensions", "link", extension, "--consent", cwd=repo.root)
    assert "✓ codelens (from codelens): codelens serve" in gemini.listed(home, repo.root)


def test_opencode_takes_the_folder(home: Home, repo: GitRepo) -> None:
    # opencode writes into the folder of its settings.
    home.env["OPENCODE_CONFIG_DIR"] = str(home.folder / "opencode")
    for path in (PACKAGES / "opencode").rglob("*"):
        if path.is_file():
            name = path.relative_to(PACKAGES).as_posix()
            home.write(name, path.read_text("utf-8"))
    opencode = Opencode()
    assert opencode.connected.search(opencode.listed(home, repo.root))


def test_the_bundle_is_valid(home: Home, tmp_path: Path) -> None:
    manifest = PACKAGES / "mcpb" / "manifest.json"
    assert "validation passes" in home.run("mcpb", "validate", str(manifest), cwd=tmp_path)
    assert json.loads(manifest.read_text("utf-8"))["server"]["entry_point"] == "pyproject.toml"
