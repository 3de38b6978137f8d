"""Real clients from their registries, each with a separate home, talking to a fake model."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fake_model import Model
from filelock import FileLock

PACKAGES = {
    # The newest versions of some clients need a newer Node than distributions ship.
    "node": "24",
    "@anthropic-ai/claude-code": "2.1.329",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "opencode-ai": "1.18.33",
    # Not a client: it validates and packs bundles.
    "@anthropic-ai/mcpb": "2.1.2",
}
"""Packages to install, with pinned versions: clients change every week."""
MORE_PACKAGES = {
    "@qwen-code/qwen-code": "0.24.4",
    "@github/copilot": "1.0.102",
    "cline": "3.0.65",
}
"""Packages to install as well if `CODELENS_CLIENTS=all`; another 0.8 GB."""
ALL = os.environ.get("CODELENS_CLIENTS") == "all"

INSTALLED = Path(__file__).resolve().parents[1] / ".clients"
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def install() -> str:
    """Installs the clients once; returns why they are unavailable, or an empty string."""
    if shutil.which("npm") is None:
        return "npm is not installed"
    packages = {**PACKAGES, **MORE_PACKAGES} if ALL else PACKAGES
    wanted = json.dumps({"private": True, "dependencies": packages})
    # Test workers of one run share the folder: one installs, the others wait.
    with FileLock(INSTALLED.with_name(".clients.lock")):
        complete = INSTALLED / "complete.json"
        if complete.exists() and complete.read_text() == wanted:
            return ""
        shutil.rmtree(INSTALLED, ignore_errors=True)
        INSTALLED.mkdir()
        (INSTALLED / "package.json").write_text(wanted)
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"],
            cwd=INSTALLED, capture_output=True, text=True, check=False, timeout=1200,
        )  # fmt: skip
        if done.returncode:
            return f"npm install failed: {done.stderr.strip()[-300:]}"
        complete.write_text(wanted)
    return ""


class Home:
    """A user's home folder and the matching environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        bins = f"{INSTALLED / 'node_modules' / '.bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
        self.env = {
            "HOME": str(folder), "PATH": bins, "TERM": "dumb", "LANG": "C.UTF-8", "NO_COLOR": "1",
            "CODELENS_HOME": str(folder / "index"), "GIT_CONFIG_NOSYSTEM": "1",
            "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }  # fmt: skip
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            self.env[f"XDG_{name}_HOME"] = str(folder / f".{name.lower()}")
        # Git and the clients refuse a folder above the home, so a repository must be next to it.
        for name in ("PIP_CERT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def run(
        self, *command: str, cwd: Path, env: Mapping[str, str] = {}, code: int | None = 0
    ) -> str:
        """The output of a command, without colours."""
        done = subprocess.run(
            command, cwd=cwd, env={**self.env, **env}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        said = _COLOURS.sub("", done.stdout + done.stderr)
        assert code is None or done.returncode == code, said[-3000:]
        return said

    def codelens(self, *args: str) -> str:
        """Runs the installed command, as a user types it."""
        command = Path(sys.executable).with_name("codelens")
        return self.run(str(command), *args, cwd=self.folder)

    def write(self, path: str, text: str) -> None:
        """Writes a file of this home."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def files(self) -> dict[Path, bytes]:
        """Every file of this home with its content."""
        return {file: file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}

    def assert_settings_lack_codelens(self, before: Mapping[Path, bytes]) -> None:
        """No file that a user had before the installation mentions codelens now."""
        for file, text in before.items():
            assert b"codelens" not in file.read_bytes() or b"codelens" in text, file

    def change(self, path: str, **given: object) -> None:
        """Sets top-level keys of a JSON file."""
        file = self.folder / path
        settings: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        self.write(path, json.dumps({**settings, **given}))


class ClaudeCode:
    """`claude`."""

    name = "claude-code"

    def prepare(self, home: Home, model: Model | None, trusted: list[Path]) -> None:
        """Writes the settings of a user without codelens."""

    def listed(self, home: Home, cwd: Path) -> str:
        """What the client says about its servers."""
        return home.run("claude", "mcp", "list", cwd=cwd)

    def ask(self, home: Home, model: Model, cwd: Path) -> str:
        """Runs one whole turn."""
        env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}", "ANTHROPIC_API_KEY": "x"}
        return home.run("claude", "-p", "where is it?", cwd=cwd, env=env)


class Codex:
    """`codex`. Its list only reads the settings, but its app server connects."""

    name = "codex"

    def prepare(self, home: Home, model: Model | None, trusted: list[Path]) -> None:
        """Configures a provider of models."""
        port = model.port if model else 0
        home.write(
            ".codex/config.toml",
            'model = "fake"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
            f'base_url = "http://127.0.0.1:{port}/v1"\nwire_api = "responses"\n'
            'env_key = "FAKE_KEY"\n',
        )

    def listed(self, home: Home, cwd: Path) -> str:
        """Asks the app server, which starts every server and asks for its tools."""
        server = subprocess.Popen(
            ["codex", "app-server"], cwd=cwd, env={**home.env, "FAKE_KEY": "x"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            executable=shutil.which("codex", path=home.env["PATH"]),
        )  # fmt: skip
        assert server.stdin and server.stdout

        def send(message: dict[str, Any]) -> None:
            assert server.stdin
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()

        info = {"name": "t", "title": "t", "version": "0"}
        send({"id": 1, "method": "initialize", "params": {"clientInfo": info}})
        send({"method": "initialized"})
        send({"id": 2, "method": "mcpServerStatus/list", "params": {}})
        try:
            for line in server.stdout:
                if json.loads(line).get("id") == 2:
                    return json.dumps(json.loads(line), separators=(",", ":"))
        finally:
            server.kill()
            server.communicate()
        raise AssertionError("codex app-server reported nothing")

    def ask(self, home: Home, model: Model, cwd: Path) -> str:
        """Runs one whole turn."""
        return home.run(
            "codex", "exec", "--skip-git-repo-check", "where is it?", cwd=cwd,
            env={"FAKE_KEY": "x"},
        )  # fmt: skip


class Gemini:
    """`gemini`; it disables all servers in untrusted folders."""

    name = "gemini"

    def prepare(self, home: Home, model: Model | None, trusted: list[Path]) -> None:
        """Sets a key, and trusts the folders."""
        auth = {"auth": {"selectedType": "gemini-api-key"}}
        home.change(".gemini/settings.json", security=auth)
        trust = {str(folder): "TRUST_FOLDER" for folder in trusted}
        home.write(".gemini/trustedFolders.json", json.dumps(trust))

    def listed(self, home: Home, cwd: Path) -> str:
        """What the client says about its servers."""
        return home.run("gemini", "mcp", "list", cwd=cwd)

    def ask(self, home: Home, model: Model, cwd: Path, prompt: str = "where is it?") -> str:
        """Runs one whole turn."""
        env = {
            "GEMINI_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{model.port}",
        }
        return home.run("gemini", "-m", "gemini-2.5-flash", "-p", prompt, cwd=cwd, env=env)


class Opencode:
    """`opencode`."""

    name = "opencode"

    def prepare(self, home: Home, model: Model | None, trusted: list[Path]) -> None:
        """Configures a provider of models."""
        options = {"baseURL": f"http://127.0.0.1:{model.port if model else 0}/v1", "apiKey": "x"}
        models = {"fake": {"tool_call": True}}
        fake = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
        home.change(".config/opencode/opencode.json", provider={"fake": fake}, model="fake/fake")

    def listed(self, home: Home, cwd: Path) -> str:
        """What the client says about its servers."""
        return home.run("opencode", "mcp", "list", cwd=cwd)

    def ask(self, home: Home, model: Model, cwd: Path) -> str:
        """Runs one whole turn."""
        return home.run("opencode", "run", "--format", "json", "where is it?", cwd=cwd)


class Qwen:
    """`qwen`; it hides the tools of servers behind a search tool."""

    name = "qwen"

    def prepare(self, home: Home, model: Model | None, trusted: list[Path]) -> None:
        """Sets a kind of key."""
        home.change(".qwen/settings.json", security={"auth": {"selectedType": "openai"}})

    def listed(self, home: Home, cwd: Path) -> str:
        """What the client says about its servers."""
        return home.run("qwen", "mcp", "list", cwd=cwd)

    def ask(self, home: Home, model: Model, cwd: Path) -> str:
        """Runs one whole turn."""
        env = {
            "OPENAI_API_KEY": "x", "OPENAI_MODEL": "fake",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{model.port}/v1",
        }  # fmt: skip
        return home.run("qwen", "-p", "where is it?", cwd=cwd, env=env)


class Copilot:
    """`copilot`; its list only reads the settings."""

    name = "copilot-cli"

    def prepare(self, home: Home, model: Model | None, trusted: list[Path]) -> None:
        """Writes the settings of a user without codelens."""

    def listed(self, home: Home, cwd: Path) -> str:
        """What is in its settings."""
        return home.run("copilot", "mcp", "list", "--json", cwd=cwd)

    def ask(self, home: Home, model: Model, cwd: Path) -> str:
        """Runs one whole turn."""
        env = {
            "COPILOT_OFFLINE": "true", "COPILOT_MODEL": "fake", "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{model.port}/v1",
        }  # fmt: skip
        return home.run("copilot", "-p", "where is it?", "--allow-all-tools", cwd=cwd, env=env)


class Cline:
    """`cline`; it has no command that lists servers."""

    name = "cline"

    def prepare(self, home: Home, model: Model | None, trusted: list[Path]) -> None:
        """Configures a provider of models."""
        if model is not None:
            url = f"http://127.0.0.1:{model.port}/v1"
            provider = ("-p", "openai-compatible", "-k", "x", "-m", "fake", "-b", url)
            home.run("cline", "auth", *provider, cwd=home.folder)

    def listed(self, home: Home, cwd: Path) -> str:
        """The settings themselves."""
        file = home.folder / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
        return file.read_text() if file.exists() else ""

    def ask(self, home: Home, model: Model, cwd: Path) -> str:
        """Runs one whole turn."""
        model_ = ("-P", "openai-compatible", "-m", "fake")
        return home.run("cline", "--json", *model_, "where is it?", cwd=cwd)


CLIENTS = [ClaudeCode(), Codex(), Gemini(), Opencode()]
MORE_CLIENTS = [Qwen(), Copilot(), Cline()]
