"""An invalid settings file stops no question, and causes no deletion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment

from codelens import config
from codelens.config import MOST_FILE_BYTES, Settings
from codelens.engine.engine import Engine
from codelens.errors import SettingError
from codelens.focus.focus_settings import load_settings
from codelens.focus.focus_turn import home_folder

DAMAGED = {
    "no TOML": (b"workers = 2\nbudget_ms =\n", "line 2"),
    "not UTF-8": (b"workers = 2\ntools = '\xff'\n", "line 2"),
    "a wrong value": (b"workers = 'many'\n", "workers"),
    "an unknown name": (b"wrokers = 2\n", "'wrokers'"),
    "no list of patterns": (b"ignore = '*.py'\n", "list of patterns"),
    "a pattern that is none": (b"ignore = ['*.py', 1]\n", "list of patterns"),
    "an infinite number": (b"workers = inf\n", "workers"),
    "a number beyond all use": (b"prune_ref_days = 1e300\n", "prune_ref_days"),
    "a language that is a number": (b"languages = {'*.py' = 1}\n", "'*.py'"),
    "NULs": (b"\0" * 100, "line 1"),
    "lists in lists": (b"a=" + b"[" * 5000, "nested too deeply"),
    "a key of thousands of parts": (b"workers = 2\na" + b".a" * 20_000 + b" = 1\n", "line 2"),
    "too large": (b"#" * (MOST_FILE_BYTES + 1), "larger than"),
}
cases = pytest.mark.parametrize("data, message", DAMAGED.values(), ids=DAMAGED)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"lamp.py": "def kindle():\n    return 1\n"})
    return made


def test_an_empty_home_is_the_default_and_never_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repo: GitRepo
) -> None:
    here, user = tmp_path / "here", tmp_path / "user"
    here.mkdir()
    user.mkdir()
    monkeypatch.chdir(here)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(user))
    monkeypatch.setenv("CODELENS_HOME", "")
    default = user / ".codelens"
    assert config.load().home == config.load({}, Path("")).home == default
    assert home_folder() == str(default)
    with Engine() as engine:
        assert engine.search("kindle", path=repo.root).results
    assert (default / "indexes").is_dir()
    for empty in (Path(""), Path(".")):
        with pytest.raises(SettingError, match="must not be empty"):
            Settings(home=empty)
    assert not list(here.iterdir())


def test_patterns_come_from_the_settings_file(home: Path) -> None:
    (home / "config.toml").write_text('ignore = ["*.min.js", "!kept.min.js"]\n')
    assert config.load({}, home).ignore == ("*.min.js", "!kept.min.js")


@cases
def test_defaults_hold_and_one_warning_names_file_place_and_remedy(
    home: Path, caplog: pytest.LogCaptureFixture, data: bytes, message: str
) -> None:
    (home / "config.toml").write_bytes(data)
    found = config.load({}, home)
    assert found == Settings(home=home, damage=found.damage, usage=False)
    (warning,) = caplog.messages
    for part in (str(home / "config.toml"), message, "doctor --fix"):
        assert part in warning


def test_invalid_settings_files_never_hang(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    os.mkfifo(home / "config.toml")
    assert "not a regular file" in config.load({}, home).damage
    assert caplog.messages
    with pytest.raises(SettingError, match="not a regular file"):
        load_settings(str(home))


def test_the_environment_holds_though_the_file_is_damaged(home: Path) -> None:
    (home / "config.toml").write_bytes(b"=")
    assert config.load({"CODELENS_WORKERS": "3", "CODELENS_USAGE": "on"}, home).workers == 3
    with pytest.raises(SettingError, match="CODELENS_WORKERS"):
        config.load({"CODELENS_WORKERS": "three"}, home)


@cases
def test_questions_are_answered_and_nothing_is_pruned(
    home: Path, repo: GitRepo, data: bytes, message: str
) -> None:
    (home / "config.toml").write_bytes(data)
    with Engine(config.load({}, home)) as engine:
        assert engine.search("kindle", path=repo.root).results
        with pytest.raises(SettingError, match="nothing is pruned"):
            engine.prune()
        assert engine.prune(dry_run=True) is not None


@pytest.mark.slow
def test_a_command_warns_once_and_the_doctor_sets_the_file_aside(home: Path, repo: GitRepo) -> None:
    file = home / "config.toml"
    file.write_bytes(b"budget_ms = ???\n")
    file.chmod(0o600)

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "codelens", *args]
        env = git_environment({"CODELENS_HOME": str(home)})
        return subprocess.run(command, cwd=repo.root, env=env, capture_output=True, text=True)

    done = run("search", "kindle")
    assert done.returncode == 0 and "lamp.py" in done.stdout
    assert done.stderr.count("warning") == 1 and "line 1" in done.stderr
    assert run("prune").returncode == 2
    found = run("doctor")
    assert found.returncode == 1 and "--fix: rename it" in found.stdout
    assert "done: rename it" in run("doctor", "--fix").stdout
    assert "warning" not in run("search", "kindle").stderr
    assert [one.read_bytes() for one in home.glob("config.toml.set-aside-*")] == [
        b"budget_ms = ???\n"
    ]
