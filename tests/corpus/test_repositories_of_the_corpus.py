"""Each repository of the corpus is answered, or refused in plain words, within time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from corpus.repositories import REPOSITORIES
from gitrepo import GitRepo, git_environment

CPU_S = 120
HANGS_S = 300
"""Wall time: a process that waits at a pipe needs no CPU."""


def _limit(most_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_repository_that_broke_something_is_answered_or_refused(
    name: str, tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"lamp.py": "def kindle():\n    return 1\n"})
    REPOSITORIES[name].build(repo)
    said = json.dumps(
        {"session_id": "one", "cwd": str(repo.root), "tool_name": "Edit",
         "tool_input": {"file_path": str(repo.root / "wick.py"), "old_string": "def wick"}}
    )  # fmt: skip
    for command in REPOSITORIES[name].commands:
        args = command.split()
        done = subprocess.run(
            [sys.executable, "-m", "codelens", *args],
            cwd=repo.root,
            env=git_environment({"CODELENS_HOME": str(tmp_path / "home")}),
            input=said if args[0] == "hook" else "",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=HANGS_S,
            preexec_fn=partial(_limit, REPOSITORIES[name].most_bytes),
        )
        assert "Traceback" not in done.stderr, done.stderr[-2000:]
        assert done.returncode in {0, 1, 2}, (args, done.returncode, done.stderr[-500:])
        if args == ["search", "kindle"]:
            assert "lamp.py" in done.stdout or done.returncode == 2, (done.stdout, done.stderr)
