"""Each repository of the corpus is answered, or refused in plain words, within time and memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus.repositories import REPOSITORIES
from forked_commands import codelens
from gitrepo import GitRepo

LIMITS = """
import resource
resource.setrlimit(resource.RLIMIT_AS, ({most_bytes}, {most_bytes}))
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
"""


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
    first = LIMITS.format(most_bytes=REPOSITORIES[name].most_bytes)
    for command in REPOSITORIES[name].commands:
        args = command.split()
        given = said.encode() if args[0] == "hook" else b""
        done = codelens(*args, cwd=repo.root, home=tmp_path / "home", given=given, first=first)
        out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        assert "Traceback" not in err, err[-2000:]
        assert done.returncode in {0, 1, 2}, (args, done.returncode, err[-500:])
        if args == ["search", "kindle"]:
            assert "lamp.py" in out or done.returncode == 2, (out, err)
