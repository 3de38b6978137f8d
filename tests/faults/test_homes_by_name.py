"""Homes whose path has spaces, marks of URLs, line ends, or bytes that are not UTF-8."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from forked_commands import codelens_text
from gitrepo import GitRepo

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="any bytes in names")
COMMANDS = (
    ("search", "kindle"), ("save", "oil", "--note", "the lamp burns oil"), ("load",),
    ("pin", "main"), ("index", "--rebuild"), ("status", "--all"), ("usage",),
    ("doctor", "--no-agents"), ("prune", "--yes"), ("hook", "prompt"), ("focus",),
    ("drop", "--repository", "--force"),
)  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.write("lamp.py", "def kindle(): pass\n")
    made.commit("first")
    return made


@pytest.mark.parametrize("name", ["with space é", "q?x#y%41&z=1;", "line\nend"])
def test_any_name_in_utf_8_works(tmp_path: Path, repo: GitRepo, name: str) -> None:
    event = json.dumps({"session_id": "s", "cwd": str(repo.root), "prompt": "paint the harbour"})
    for args in COMMANDS:
        given = event if args[0] == "hook" else ""
        done = codelens_text(*args, cwd=repo.root, home=tmp_path / name, given=given)
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / name / "logs").exists()


def test_another_name_is_refused_in_words(tmp_path: Path, repo: GitRepo) -> None:
    home = tmp_path / os.fsdecode(b"home-\xff")
    for args in (*COMMANDS, ("install", "--host", "codex", "--yes"), ("uninstall", "--yes")):
        if args[0] in {"hook", "focus"}:
            continue  # They open no database.
        done = codelens_text(*args, cwd=repo.root, home=home)
        assert done.returncode == 2
        assert "is not UTF-8; set CODELENS_HOME" in done.stderr and "bug" not in done.stderr
    assert not home.exists()
