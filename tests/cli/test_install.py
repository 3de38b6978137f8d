"""`codelens install` and `uninstall` as typed, in separate processes."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from gitrepo import GitRepo
from pseudo_terminal import STYLE

SOURCE = Path(__file__).resolve().parents[2]
VARIABLES = (
    "CODELENS_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME",
    "APPDATA", "LOCALAPPDATA", "CLINE_DATA_DIR", "KIRO_HOME", "QWEN_HOME", "PI_CODING_AGENT_DIR",
)  # fmt: skip


class Shell:
    """A user's home with a `codelens` on the PATH, and otherwise only the system's commands."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        for one in (self.home, self.bin):
            one.mkdir()
        self.program = self.bin / "codelens"
        self.program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{SOURCE}" exec "{sys.executable}" -m codelens "$@"\n'
        )
        self.program.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        self.environ = {**environment, "HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin"}

    def run(self, *words: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(self.program), *words]
        if limit is not None:
            command = ["/bin/sh", "-c", f'ulimit -f {limit}; exec "$0" "$@"', *command]
        return subprocess.run(
            command, env=self.environ, cwd=self.home, text=True, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=120,
        )  # fmt: skip

    def install(self, *words: str, **more: int) -> subprocess.CompletedProcess[str]:
        return self.run("install", "--command", str(self.program), *words, **more)

    def typed(self, answers: str, *words: str) -> tuple[int, str]:
        """Runs at a terminal: types `answers`, and an empty line to further questions."""
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.home)
            os.execve(self.program, [str(self.program), *words], self.environ)
        seen, typed, until = b"", answers.splitlines(keepends=True), time.monotonic() + 60
        while time.monotonic() < until:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the other end was closed
                break
            seen += more
            if seen.endswith(b"[y/N] "):
                os.write(terminal, (typed.pop(0) if typed else "\n").encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
        return code, seen.decode()

    def files(self) -> list[str]:
        return sorted(
            str(one.relative_to(self.home))
            for one in self.home.rglob("*")
            if one.is_file() and ".codelens" not in one.parts
        )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_home_without_hosts_is_reported_and_not_changed(shell: Shell) -> None:
    done = shell.install("--yes")
    assert done.returncode == 1
    assert (
        "no coding agent was found on this machine; name one with --host: amp, augment"
        in done.stderr
    )
    assert shell.files() == []


def test_a_dry_run_shows_the_exact_changes_and_writes_nothing(shell: Shell) -> None:
    (shell.home / ".codex").mkdir()
    done = shell.install("--dry-run")
    assert done.returncode == 0
    assert "~/.codex/config.toml (new)" in done.stdout
    assert "+[mcp_servers.codelens]" in done.stdout
    assert f"+command = '{shell.program}'" in done.stdout
    assert "to be written" in done.stdout
    assert "nothing was written (dry run)" in done.stderr
    assert shell.files() == []
    assert not (shell.home / ".codelens").exists()


def test_without_a_terminal_nothing_is_written_unless_yes_is_said(shell: Shell) -> None:
    done = shell.install("--host", "cursor")
    assert done.returncode == 2
    assert "there is no terminal to confirm on; pass --yes" in done.stderr
    assert shell.files() == []
    assert shell.install("--host", "cursor", "--yes").returncode == 0
    assert shell.run("uninstall").returncode == 2
    assert ".cursor/mcp.json" in shell.files()
    assert shell.run("uninstall", "--yes").returncode == 0
    assert shell.files() == []


def test_at_a_terminal_it_asks_first_and_for_approvals_apart(shell: Shell) -> None:
    words = ("install", "--host", "claude-code,cursor", "--command", str(shell.program))
    code, said = shell.typed("\n", *words)
    assert code == 0
    assert "Write these changes? [y/N]" in said
    assert "nothing written" in said
    assert shell.files() == []
    assert said.index("Let claude-code call") < said.index("~/.claude.json (new)")
    code, said = shell.typed("n\nn\nn\ny\n", *words)
    assert code == 0
    assert "Let claude-code call read-only tools without asking each time?" in said
    assert ".claude/settings.json" not in shell.files()
    code, said = shell.typed("n\nn\ny\n", *words, "--approve")
    assert code == 0
    allowed = json.loads((shell.home / ".claude/settings.json").read_text())["permissions"]["allow"]
    assert "mcp__codelens__cl_search" in allowed
    code, said = shell.typed("y\n", "uninstall")
    assert "Remove these?" in said
    assert shell.files() == []


def test_at_a_terminal_each_fact_is_shown_once(shell: Shell) -> None:
    words = ("install", "--host", "claude-code,codex,opencode", "--command", str(shell.program))
    code, said = shell.typed("y\ny\ny\ny\n", *words)
    assert code == 0
    shown, done = said.split("Write these changes?")
    # Every written file had been shown before, including the agreed approvals and hooks.
    for file in shell.files():
        assert file in shown, file
    assert "mcp__codelens__cl_search" in shown
    assert "mcp__codelens__cl_conflicts" in shown and "core,branches" in shown
    done = STYLE.sub("", done)
    assert "~/" not in done
    assert "claude-code  written  MCP entry, approval of the tools, hooks, skill, command," in done
    steps = done.partition("Remaining steps for you:")[2]
    assert steps.count("sessions that run already see it after a restart") == 1
    assert "claude-code, opencode: sessions that run" in steps
    assert "--approve" not in steps


def test_it_ends_with_a_summary_and_the_next_steps(shell: Shell) -> None:
    done = shell.install("--host", "gemini,cursor", "--yes")
    table = done.stdout[done.stdout.rindex("cursor") - 2000 :]
    assert "cursor  written    MCP entry" in table or "cursor  written  MCP entry" in table
    assert "codelens-search.toml and 3 more in its folder" in table
    assert "Remaining steps for you:" in table
    assert "gemini: trust the folders you work in" in table
    again = shell.install("--host", "gemini,cursor", "--yes")
    assert "up to date" in again.stdout
    assert "+" not in again.stdout.split("Still to do")[0]


def test_json_is_one_object(shell: Shell) -> None:
    done = shell.install("--host", "cursor", "--yes", "--json")
    results = json.loads(done.stdout)["results"]
    entry = next(one for one in results if one["what"] == ["MCP entry"])
    assert entry["host"] == "cursor"
    assert entry["changed"]
    assert entry["path"] == str(shell.home / ".cursor/mcp.json")


def test_print_shows_the_text_to_paste_and_writes_nothing(shell: Shell) -> None:
    done = shell.install("--host", "all", "--print")
    assert done.returncode == 0
    assert "# zed: ~/.config/zed/settings.json" in done.stdout
    assert done.stdout.count(str(shell.program)) == 22
    assert shell.files() == []


def test_the_project_scope_writes_into_the_worktree_and_names_its_needs(
    shell: Shell, tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", {"src/a.py": "x = 1\n"})
    done = shell.run(
        "install", "--host", "claude-code,windsurf", "--scope", "project", "--yes",
        "-C", str(repo.root / "src"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    entry = json.loads((repo.root / ".mcp.json").read_text())["mcpServers"]["codelens"]
    assert entry["command"] == "codelens"
    assert "put `codelens` on the PATH" in done.stdout
    assert "hosts without project files: windsurf" in done.stderr
    said = shell.run("uninstall", "--yes")
    assert f"codelens uninstall --scope project -C {repo.root}" in said.stderr
    shell.run("uninstall", "--yes", "--scope", "project", "-C", str(repo.root))
    assert repo.git("status", "--porcelain") == b""


def test_the_check_starts_the_configured_server(shell: Shell) -> None:
    shell.install("--host", "cursor,codex,goose", "--yes")
    done = shell.run("install", "--check", "--host", "cursor,codex,goose,zed", "--json",
                     "--command", str(shell.program))  # fmt: skip
    assert done.returncode == 0, done.stdout
    found = {one["host"]: one for one in json.loads(done.stdout)["results"]}
    assert {found[name]["state"] for name in ("cursor", "codex", "goose")} == {"fine"}
    assert "lists 10 tools in" in found["goose"]["said"]
    assert found["zed"]["state"] == "absent"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "is not an executable program"),
        ("#!/bin/sh\nexit 3\n", "it exited before it answered initialize"),
        ("#!/bin/sh\necho no json; sleep 9\n", "Expecting value"),
        ("#!/bin/sh\necho broken >&2; exit 1\n", "its output: broken"),
        ("#!/nowhere/sh\n", "does not start"),
    ],
)
def test_the_check_says_why_a_server_does_not_answer(
    shell: Shell, script: str | None, said: str
) -> None:
    other = shell.bin / "other" / "codelens"
    other.parent.mkdir()
    shutil.copy(shell.program, other)
    shell.run("install", "--host", "cursor", "--yes", "--command", str(other))
    if script is None:
        other.unlink()
    else:
        other.write_text(script)
    done = shell.install("--check", "--host", "cursor")
    assert done.returncode == 2
    assert "broken" in done.stdout
    assert said in done.stdout
    assert "codelens install --host cursor" in done.stdout


def test_a_full_disk_leaves_everything_as_it_was_and_says_so(shell: Shell) -> None:
    big = shell.home / ".kiro" / "settings" / "mcp.json"
    big.parent.mkdir(parents=True)
    big.write_text(json.dumps({"filling": "x" * 300_000}))
    before = big.read_bytes()
    done = shell.install("--host", "kiro,cursor", "--yes", limit=200)
    assert done.returncode == 2
    assert f"{big}" in done.stderr.replace("\n", "") or "backups" in done.stderr
    assert "cannot be written: file too large" in done.stderr
    assert big.read_bytes() == before
    assert [one.name for one in big.parent.iterdir()] == ["mcp.json"]
    assert ".cursor/mcp.json" in shell.files()


def test_inaccessible_files_are_left_alone(shell: Shell) -> None:
    secret = shell.home / ".cursor" / "mcp.json"
    locked = shell.home / ".kiro" / "settings"
    for path in (secret.parent, locked):
        path.mkdir(parents=True)
    secret.write_text("{}")
    secret.chmod(stat.S_IWUSR)
    locked.chmod(0o555)
    command = [str(shell.program), "install", "--host", "cursor,kiro,droid", "--yes"]
    if not os.getuid():  # root may do anything, unless it drops capabilities
        if shutil.which("setpriv") is None:
            pytest.skip("root needs setpriv to give up reading everything")
        command[:0] = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    done = subprocess.run(
        [*command, "--command", str(shell.program)], env=shell.environ, cwd=shell.home,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"{secret} cannot be read: permission denied" in done.stderr
    assert f"{locked / 'mcp.json'} cannot be written: permission denied" in done.stderr
    assert "droid" in done.stdout
    assert ".factory/mcp.json" in shell.files()


def test_a_search_does_not_import_the_installer() -> None:
    code = (
        "import sys; from codelens.cli.argument_parser import parse; parse(['search', 'x']);"
        "print([one for one in sys.modules if one.startswith(('codelens.hosts', 'tomlkit', "
        "'ruamel', 'tomllib', 'subprocess'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=SOURCE)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
