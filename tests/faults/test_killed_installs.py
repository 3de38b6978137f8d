"""Installs and uninstalls killed at any operation: users' files are whole, and nothing stays."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from faults.file_operations import kills
from faults.world import COUNTS, FULL
from forked_commands import codelens_text

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
HOSTS = "cursor,gemini"
STEP = 1 if FULL else 5
FOUND = {
    ".cursor/mcp.json": '{"mcpServers": {"other": {"command": "x"}}}\n',
    ".gemini/settings.json": '{\n  "theme": "dark"\n}\n',
    ".gemini/GEMINI.md": "be brief\n",
}


class User:
    """A user's home with settings of two hosts, and codelens' own folder in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "user"
        self.home = self.root / ".codelens"
        self.program = folder / "codelens"
        self.program.write_text(f"#!/bin/sh\nexec {sys.executable} -m codelens\n")
        self.program.chmod(0o755)

    def as_found(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for name, text in FOUND.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def install(self, first: str = "") -> CompletedProcess[str]:
        return self._run("install", "--hooks", "--command", str(self.program), first=first)

    def uninstall(self, first: str = "") -> CompletedProcess[str]:
        return self._run("uninstall", first=first)

    def _run(self, *args: str, first: str) -> CompletedProcess[str]:
        words = (*args, "--host", HOSTS, "--yes")
        env = {"HOME": str(self.root)}
        return codelens_text(*words, cwd=self.root, home=self.home, env=env, first=first)

    def files(self) -> dict[str, str]:
        return {
            str(file.relative_to(self.root)): file.read_text()
            for file in self.root.rglob("*")
            if file.is_file() and self.home not in file.parents
        }

    def check_given_back(self) -> None:
        done = self.uninstall()
        assert done.returncode in {0, 1} and "Traceback" not in done.stderr, done.stderr
        assert self.files() == FOUND
        left = [file.name for file in self.home.rglob("*")] if self.home.exists() else []
        assert set(left) <= {"install.lock"}


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path)
    made.as_found()
    return made


def test_a_killed_install_leaves_files_whole_and_uninstall_gives_all_back(user: User) -> None:
    assert user.install().returncode == 0
    installed = user.files()
    user.as_found()
    for number, _ in enumerate(kills(user.root, user.install, STEP)):
        COUNTS["installs killed"] += 1
        for name, text in FOUND.items():
            assert user.files()[name] in {text, installed[name]}
        if number % 2:
            assert user.install().returncode == 0
            assert user.files() == installed
        user.check_given_back()
        user.as_found()


def test_a_killed_uninstall_is_completed_by_the_next(user: User) -> None:
    assert user.install().returncode == 0
    for _ in kills(user.root, user.uninstall, STEP):
        COUNTS["uninstalls killed"] += 1
        user.check_given_back()
        user.as_found()
        assert user.install().returncode == 0


def test_a_backup_never_replaces_one_with_other_bytes(user: User) -> None:
    file = user.root / ".cursor/mcp.json"
    for text in ('{"first": 1}', '{"second": 2}'):
        file.write_text(text)
        assert user.install().returncode == 0
        # Another program saves its settings without what the user had.
        file.write_text("{}")
        user.uninstall()
    kept = {copy.read_text() for copy in (user.home / "backups").glob("*mcp.json")}
    assert kept == {'{"first": 1}', '{"second": 2}'}
