"""`conflicts` killed at any operation: its scratch repositories do not pile up."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from faults.file_operations import kills
from faults.world import COUNTS
from forked_commands import codelens_text
from gitrepo import GitRepo

from codelens.scope.repository import Repository
from codelens.scope.scratch_merge import ScratchRepository

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks of folders")
LOOK_AGAIN = "import tempfile; tempfile.tempdir = None\n"
"""The process that forks may know another folder."""


def test_folders_of_killed_processes_go_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("lamp.py", "def kindle(oil):\n    return oil\n")
    repo.commit("first")
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "lamp.py").write_text("def kindle(oil, wick):\n    return wick\n")
    repo.write("lamp.py", "def kindle(oil):\n    return 2 * oil\n")

    def run(first: str = "") -> CompletedProcess[str]:
        return codelens_text(
            "conflicts", cwd=repo.root, home=tmp_path / "home", env={"TMPDIR": str(scratch)},
            first=LOOK_AGAIN + first,
        )  # fmt: skip

    assert "conflict" in run().stdout
    for _ in kills(scratch, run, 2):
        COUNTS["merges killed"] += 1
        left = list(scratch.iterdir())
        for folder in left:
            os.utime(folder, (1, 1))
        assert len(left) <= 1
        run()
        assert not list(scratch.iterdir())
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    with ScratchRepository(Repository.at(repo.root)) as other:
        os.utime(other.root, (1, 1))
        run()
        assert other.root.is_dir()
