"""A partial clone is answered from local objects: its remote is never contacted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment
from shop_repository import FILES, Run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the remote's command is a shell script")


@pytest.fixture
def mark(repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enters a partial clone; the marker file appears if its remote is contacted."""
    repo.commit("second", dict.fromkeys(FILES, "def after():\n    return 1\n"))
    repo.config("uploadpack.allowFilter", "true")
    clone = GitRepo.clone(repo.root, tmp_path / "clone", "--filter=blob:none", "--no-local")
    left, command = tmp_path / "asked", tmp_path / "ssh"
    command.write_text(f"#!/bin/sh\ntouch '{left}'\nexit 1\n")
    command.chmod(0o700)
    clone.config("core.sshCommand", str(command))
    clone.config("remote.origin.url", "ssh://nowhere.invalid/x")
    monkeypatch.chdir(clone.root)
    return left


def test_git_itself_would_fetch_missing_objects(mark: Path) -> None:
    name = next(iter(FILES))
    done = subprocess.run(
        ["git", "cat-file", "-p", f"HEAD~1:{name}"],
        env=git_environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert mark.exists()


@pytest.mark.parametrize(
    "args",
    [
        ("index",),
        ("index", "--ref", "HEAD~1"),
        ("search", "after"),
        ("search", "--ref", "HEAD~1", "session"),
        ("map", "--ref", "HEAD~1"),
        ("impact", "--diff", "HEAD~1"),
        ("expand", f"HEAD~1:{next(iter(FILES))}"),
        ("status",),
    ],
    ids=" ".join,
)
def test_no_command_fetches_missing_objects(run: Run, mark: Path, args: tuple[str, ...]) -> None:
    run(*args)
    assert not mark.exists()
