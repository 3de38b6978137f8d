"""A huge file of git's is refused before it is opened, and fills no memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment

HUGE = 3 * 1024**3
MOST_KB = 400 * 1024
"""More than codelens needs with all its libraries, less than an eighth of the file."""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"lamp.py": "def kindle():\n    return 1\n"})
    return made


def run(repo: GitRepo, home: Path, *args: str) -> tuple[subprocess.CompletedProcess[str], int]:
    """The command's result, and its peak memory in KiB."""
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
        "sys.exit(done.returncode)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, sys.executable, "-m", "codelens", *args],
        cwd=repo.root,
        env=git_environment({"CODELENS_HOME": str(home)}),
        capture_output=True,
        text=True,
    )
    *_, peak = done.stderr.split()
    return done, int(peak)


def enlarge(path: Path) -> None:
    """Makes a file huge, sparse on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, HUGE)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_CHILDREN"), reason="no such figure here")
@pytest.mark.parametrize(
    "name",
    ["HEAD", "config", "packed-refs", "shallow", "refs/heads/main", "info/attributes",
     "objects/info/alternates", "index"],
)  # fmt: skip
def test_a_huge_file_is_refused_unread(repo: GitRepo, tmp_path: Path, name: str) -> None:
    enlarge(repo.root / ".git" / name)
    done, peak = run(repo, tmp_path / "home", "search", "kindle")
    assert done.returncode == 2 and "bytes" in done.stderr and name in done.stderr
    assert "Traceback" not in done.stderr
    assert peak < MOST_KB


@pytest.mark.parametrize("name", ["gitdir", "commondir", "HEAD"])
def test_status_of_all_worktrees_reads_no_huge_note_on_one(
    repo: GitRepo, tmp_path: Path, name: str
) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    home = tmp_path / "home"
    side = GitRepo(tmp_path / "side")
    assert run(side, home, "search", "kindle")[0].returncode == 0
    assert run(repo, home, "search", "kindle")[0].returncode == 0
    enlarge(repo.root / ".git" / "worktrees" / "side" / name)
    for args in (["status", "--all"], ["status"], ["prune"], ["search", "kindle"]):
        done, peak = run(repo, home, *args)
        assert done.returncode == 0, done.stderr
        assert peak < MOST_KB
    done, peak = run(side, home, "search", "kindle")
    assert done.returncode in {0, 2} and "Traceback" not in done.stderr
    assert peak < MOST_KB


def test_a_branch_called_as_a_file_of_gits_is_found(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("many", {f"lib/module_{at:04}.py": f"VALUE = {at}\n" for at in range(1200)})
    assert (repo.root / ".git" / "index").stat().st_size > 64 * 1024
    repo.git("branch", "index")
    done, _ = run(repo, tmp_path / "home", "search", "--ref", "refs/heads/index", "kindle")
    assert done.returncode == 0, done.stderr
