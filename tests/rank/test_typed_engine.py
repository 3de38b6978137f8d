"""Pasted queries on a real worktree: its own absolute paths, and the disk as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine

POOL = '''"""Connections."""


def connect(host, tries):
    raise ConnectionError(f"Connection to {host} failed after {tries} retries")
'''


@pytest.fixture(name="repo")
def _repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("src/net/pool.py", POOL)
    repo.write("src/main.py", "from net import pool\n\n\ndef main():\n    pool.connect('a', 3)\n")
    repo.commit("all")
    return repo


def test_a_trace_of_this_worktree_is_answered_by_its_lines_as_they_are_now(
    tmp_path: Path, repo: GitRepo
) -> None:
    trace = (
        "Traceback (most recent call last):\n"
        f'  File "{repo.root}/src/main.py", line 5, in main\n    pool.connect("a", 3)\n'
        f'  File "{repo.root}/src/net/pool.py", line 5, in connect\n    raise ConnectionError(\n'
        "ConnectionError: Connection to db-7 failed after 3 retries\n"
    )
    with Engine(Settings(home=tmp_path / "home")) as engine:
        answer = engine.search(trace, path=repo.root)
        assert [one.handle for one in answer.results[:2]] == [
            "src/net/pool.py#connect", "src/main.py#main"
        ]  # fmt: skip
        assert answer.notes[0] == "a stack trace (Python): 2 of 2 frames are in this worktree"
        repo.write("src/net/pool.py", "# a line more\n" * 9 + POOL)
        first = engine.search(trace, path=repo.root).results[0]
        assert (first.handle, first.start_line) == ("src/net/pool.py#connect", 13)
        assert first.why == "frame 1: connect, not at line 5 now"


def test_an_absolute_path_and_a_log_line_are_answered(tmp_path: Path, repo: GitRepo) -> None:
    with Engine(Settings(home=tmp_path / "home")) as engine:
        found = engine.search(f"{repo.root}/src/net/pool.py:5", path=repo.root)
        assert [one.handle for one in found.results] == ["src/net/pool.py#connect"]
        line = "2026-01-02 03:04:05 ERROR Connection to db-7 failed after 30 retries"
        found = engine.search(line, path=repo.root)
        assert found.results[0].handle == "src/net/pool.py#connect"
        assert found.results[0].why == "the message, line 5"
        assert found.notes == ("read as a program's message; values not ranked: db-7, 30",)
