"""What a client gets for a worktree that is not indexed yet: an answer, and a short receipt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment
from sdk_client import client

FILES = 300
FOLDER = "a/rather/long/folder/that/would/fill/an/answer"


TOKENS = 400
"""Enough for a receipt, which is never cut, in a folder with a long path."""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    files = {f"{FOLDER}/part{n}.py": f"def kindle_part{n}(): pass\n" for n in range(FILES)}
    made.commit("one", {**files, "lamp.py": "def kindle_lamp(oil):\n    return oil\n"})
    return made


@pytest.mark.slow
def test_a_map_of_unread_files_does_not_deny_that_there_is_code(
    repo: GitRepo, tmp_path: Path
) -> None:
    env = git_environment(
        {
            "CODELENS_HOME": str(tmp_path / "home"), "CODELENS_INDEX_AT_START": "off",
            "CODELENS_BUDGET_MS": "0",
        }
    )  # fmt: skip
    with client(env, cwd=repo.root) as asker:
        receipt, heading = asker.text("cl_map").split("\n")[:2]
    assert receipt.startswith("[partial ")
    assert heading.endswith(" in the files read so far")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["concise", "json"])
def test_pending_files_do_not_fill_a_short_answer(repo: GitRepo, tmp_path: Path, form: str) -> None:
    env = git_environment(
        {
            "CODELENS_HOME": str(tmp_path / "home"), "CODELENS_INDEX_AT_START": "off",
            "CODELENS_BUDGET_MS": "0",
        }
    )  # fmt: skip
    with client(env, cwd=repo.root) as asker:
        text = asker.text("cl_search", query="kindle_lamp", max_tokens=TOKENS, format=form)
    assert len(text.encode()) <= TOKENS * 3
    assert text.count(FOLDER) <= 5, text
    if form == "json":
        receipt = json.loads(text)["receipt"]
        assert receipt["status"] == "partial" and receipt["pending"] > FILES // 2
        assert len(receipt["pending_names"]) <= 5
    else:
        assert text.startswith("[partial ") and "not indexed yet" in text.partition("\n")[0]
        assert FOLDER not in text
    assert "files not searched: " in text
    # No answer denies anything about unread files.
    assert "lamp.py#kindle_lamp" in text or "not found so far" in text
