"""`install/install.sh` in an empty home, with uv and without, and its removal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from harness_sizes import FULL

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "install" / "install.sh"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home of a user"
    made.mkdir()
    return made


def environment(home: Path, *tools: str) -> dict[str, str]:
    """A minimal environment: the system's commands, these tools and this interpreter."""
    bin_ = home.parent / "bin"
    bin_.mkdir(exist_ok=True)
    for tool in tools:
        (bin_ / Path(tool).name).symlink_to(tool)
    settings = ("PIP_", "UV_", "SSL_CERT_")  # uv finds a proxy's certificates by the last one
    passed_on = {name: value for name, value in os.environ.items() if name.startswith(settings)}
    path = f"{home / '.local' / 'bin'}:{bin_}:/usr/bin:/bin"
    return {**passed_on, "HOME": str(home), "PATH": path, "CODELENS_PYTHON": sys.executable}


def with_dependencies(env: dict[str, str]) -> dict[str, str]:
    """An environment in which pip finds the dependencies already installed: those of the tests.

    To install them takes pip 30 s of CPU. `.ci/run` does that with pip, and uv does it below.
    """
    return {**env, "PYTHONPATH": sysconfig.get_path("purelib")}


def run(env: dict[str, str], *args: str, code: int = 0) -> str:
    done = subprocess.run(
        ["sh", str(SCRIPT), *args], env=env, capture_output=True, text=True, timeout=900,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def files(folder: Path, *left_out: str) -> list[str]:
    found = (one.relative_to(folder) for one in folder.rglob("*") if not one.is_dir())
    return sorted(str(one) for one in found if not str(one).startswith(left_out))


def uv() -> str | None:
    sibling = Path(sys.executable).with_name("uv")
    return str(sibling) if sibling.exists() else shutil.which("uv")


@pytest.mark.skipif(not FULL, reason="only in the full run: the other broken tool is pipx, below")
def test_a_tool_that_reports_success_and_installs_nothing_is_replaced_by_a_venv(home: Path) -> None:
    env = environment(home, broken(home, "uv", "case $* in *dir*) echo /nowhere;; esac"))
    said = run(env, "--no-agents")
    assert "installing" in said and "uv failed; trying a venv instead" in said
    run(env, "--uninstall")
    assert files(home, ".cache") == []


def broken(home: Path, tool: str, script: str) -> str:
    """Makes a tool that fails; returns its path."""
    program = home.parent / tool
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("tool", ["venv", "uv"])
def test_it_installs_wires_and_undoes_all(home: Path, tool: str) -> None:
    fails = "echo 'pipx: error: unrecognized arguments' >&2; exit 2"
    found_tool = uv() if tool == "uv" else broken(home, "pipx", fails)
    if found_tool is None:
        pytest.skip("uv is not installed; it is among the dev dependencies")
    claude = home / ".claude.json"
    claude.write_text('{"numStartups": 3}\n')
    env = environment(home, found_tool)
    if tool == "venv" and not FULL:
        env = with_dependencies(env)
    command = home / ".local" / "bin" / "codelens"
    off_path = {**env, "PATH": env["PATH"].removeprefix(f"{command.parent}:")}
    if tool == "venv":
        # One installation, over the remains of another, off PATH.
        left = home / ".local" / "share" / "codelens" / "venv" / "left"
        left.parent.mkdir(parents=True)
        left.touch()
        command.parent.mkdir()
        command.symlink_to(left.with_name("gone"))
        said = run(off_path, "--", "--host", "claude-code", "--yes")
        assert "unrecognized" in said and "pipx failed; trying a venv instead" in said
        assert not left.exists()
        page = home / ".local" / "share" / "man" / "man1" / "codelens.1"
        assert page.read_text().startswith(".TH CODELENS")
    else:
        on_path = run(env, "--", "--host", "claude-code", "--yes")
        assert "codelens 0." in on_path and "unrecognized" not in on_path
        assert "is not on your PATH" not in on_path and "trying a venv" not in on_path
        assert str(command) in claude.read_text()
        said = run(off_path, "--", "--host", "claude-code", "--yes")
    assert "codelens 0." in said and "is not on your PATH" in said
    assert f'"{command}"' in claude.read_text(), "not the script inside the environment"
    found = subprocess.run([command, "languages"], env=env, capture_output=True, check=True)
    assert b"python" in found.stdout.lower()
    if tool == "venv":
        own = home / ".local" / "share" / "codelens" / "venv"
        where = [own / "bin" / "python", "-P", "-c", "import codelens; print(codelens.__file__)"]
        assert str(own) in subprocess.check_output(where, env=env, text=True)
    run(env, "--uninstall")
    assert claude.read_text() == '{"numStartups": 3}\n'
    caches = (".cache", ".codelens", ".local/share/uv/python", ".local/share/uv/tools/.")
    assert files(home, *caches) == [".claude.json"]


def test_without_a_python_that_is_new_enough_nothing_is_done(home: Path) -> None:
    old = home.parent / "python-old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    env = {**environment(home), "CODELENS_PYTHON": str(old)}
    assert "not Python 3.11 or newer" in run(env, code=1)
    assert files(home) == []


def test_a_source_that_is_not_there_wires_nothing(home: Path) -> None:
    claude = home / ".claude.json"
    claude.write_text("{}\n")
    said = run(environment(home), "--from", str(home / "none"), code=1)
    assert "could not be installed; no agent was configured" in said
    assert claude.read_text() == "{}\n"
    run(environment(home), "--uninstall")
    assert files(home, ".cache") == [".claude.json"]


def test_an_option_that_it_does_not_have_is_refused(home: Path) -> None:
    assert "unknown option --frob" in run(environment(home), "--frob", code=1)
    assert "--from needs" in run(environment(home), "--from", code=1)
    assert files(home) == []


def test_a_command_of_another_stays(home: Path) -> None:
    other = home / ".local" / "bin" / "codelens"
    other.parent.mkdir(parents=True)
    other.write_text("theirs")
    assert "is not a link of codelens" in run(environment(home), "--no-agents", code=1)
    assert other.read_text() == "theirs"


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_has_nothing_to_say() -> None:
    subprocess.run(["shellcheck", str(SCRIPT)], check=True)
