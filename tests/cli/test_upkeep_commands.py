"""`prune`, `drop`, `pin`, `unpin` and `status --all` as typed, and as cron runs them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from forked_commands import codelens_text
from gitrepo import GitRepo, git_environment
from shop_repository import Run

from codelens.store.database.database_opening import open_index
from codelens.store.database.writer_lease import DAY_S

COMMAND = [sys.executable, "-P", "-m", "codelens"]


class Shell:
    """Runs codelens in a repository."""

    def __init__(self, folder: Path) -> None:
        self.repo = GitRepo.init(folder / "repo")
        self.repo.commit("first", {"src/a.py": "def lantern():\n    return 1\n"})
        self.home = folder / "home"
        self.env = {**os.environ, **git_environment(), "CODELENS_HOME": str(self.home)}

    def run(
        self, *args: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return codelens_text(*args, cwd=self.repo.root, home=self.home, env=env)

    def on_terminal(self, *args: str) -> tuple[int, str]:
        screen, terminal = pty.openpty()
        process = subprocess.Popen(
            [*COMMAND, *args], cwd=self.repo.root, env=self.env, stdin=terminal, stdout=terminal,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        code = process.wait()
        os.set_blocking(screen, False)
        said = os.read(screen, 65536).decode() if not code else ""
        os.close(screen)
        os.close(terminal)
        return code, said

    def with_old_branch(self) -> None:
        self.repo.git("checkout", "-q", "-b", "old")
        self.repo.commit("much", {"b.py": "class Beacon:\n    pass\n"})
        self.run("index")
        self.repo.git("checkout", "-q", "main")
        self.run("index")
        (path,) = (self.home / "indexes").glob("index-*.db")
        db = open_index(path)
        with db.write(None):
            db.execute("UPDATE upkeep SET clock_s = clock_s + ?", (15 * DAY_S,))
        db.close()

    def branches(self) -> set[str]:
        done = self.run("status", "--all", "--json")
        (one,) = json.loads(done.stdout)["results"]
        return {view["branch"] for view in one["views"]}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_index_reports_the_bytes_that_stay_on_disk(shell: Shell) -> None:
    index_bytes = json.loads(shell.run("index", "--json").stdout)["status"]["index_bytes"]
    (path,) = (shell.home / "indexes").glob("index-*.db")
    assert index_bytes == path.stat().st_size


def test_prune_is_quiet_where_nobody_looks_and_does_it(shell: Shell) -> None:
    shell.with_old_branch()
    done = shell.run("prune")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert shell.branches() == {"main"}
    done = shell.run("prune")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_prune_on_a_terminal_only_lists_removals(shell: Shell) -> None:
    shell.with_old_branch()
    code, said = shell.on_terminal("prune")
    assert code == 0
    assert "old in" in said and "dry run: 1 view of 1 index would be removed" in said
    assert shell.branches() == {"main", "old"}
    code, said = shell.on_terminal("prune", "--yes")
    assert code == 0 and "1 view of 1 index removed" in said
    assert shell.branches() == {"main"}


def test_prune_as_json(shell: Shell) -> None:
    shell.with_old_branch()
    plan = json.loads(shell.run("prune", "--dry-run", "--json").stdout)
    assert plan["dry_run"] and plan["indexes"] == 1
    done = json.loads(shell.run("prune", "--json").stdout)
    assert [view["branch"] for view in done["results"][0]["views"]] == ["old"]
    assert json.loads(shell.run("prune", "--json").stdout)["results"] == []


def test_prune_in_a_home_that_does_not_exist_does_nothing(shell: Shell) -> None:
    done = shell.run("prune")
    assert (done.returncode, done.stdout) == (0, "")
    assert shell.run("status", "--all").stdout == "0 indexes, 0.0 MB\n"


def test_the_command_of_the_readme_runs_in_crons_bare_environment(shell: Shell) -> None:
    shell.with_old_branch()
    bare = {
        "HOME": str(shell.home.parent), "LOGNAME": "nobody", "SHELL": "/bin/sh",
        "PATH": "/usr/bin:/bin", "CODELENS_HOME": str(shell.home),
    }  # fmt: skip
    # As cron's shell gets the line.
    line = f"{sys.executable} -P -m codelens prune"
    extra = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    done = subprocess.run(
        ["/bin/sh", "-c", line], env=bare | extra, cwd="/", stdin=subprocess.DEVNULL,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert shell.branches() == {"main"}


def test_pin_unpin_and_drop_report_their_effects(shell: Shell) -> None:
    shell.with_old_branch()
    assert "is pinned" in shell.run("pin", "old").stdout
    refused = shell.run("drop", "old")
    assert refused.returncode == 2 and "codelens unpin" in refused.stderr
    assert "is not pinned" in shell.run("unpin", "old").stdout
    assert "dropped" in shell.run("drop", "old").stdout
    refused = shell.run("drop", "main")
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert "dropped the index" in shell.run("drop", "--repository", "--force").stdout
    assert shell.run("drop").returncode == 2


def test_status_all_lists_views_in_words(shell: Shell) -> None:
    shell.with_old_branch()
    said = shell.run("status", "--all").stdout
    assert f"{shell.repo.root}/.git" in said
    assert "prune: inactive branch, unused for 15 days" in said
    assert "keep: checked out in a worktree" in said


def test_concurrent_prunes_do_not_disturb_searches(shell: Shell) -> None:
    shell.with_old_branch()
    commands = [["prune"], ["search", "lantern"], ["prune"], ["search", "lantern"], ["prune"]]
    running = [
        subprocess.Popen(
            [*COMMAND, *args], cwd=shell.repo.root, env=shell.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for args in commands
    ]  # fmt: skip
    for args, process in zip(commands, running, strict=True):
        out, err = process.communicate()
        assert process.returncode == 0, (args, err)
        assert ("lantern" in out) == (args[0] == "search")
    assert shell.branches() == {"main"}


def test_a_status_names_some_of_many_worktrees(repo: GitRepo, run: Run) -> None:
    for number in range(12):
        repo.worktree(repo.root.parent / f"tree{number}", branch=f"b{number}")
    said = run("status").out
    assert " and 2 more (12 in all)" in said
    assert len(json.loads(run("status", "--json").out)["status"]["worktrees"]) == 12


def test_there_is_nothing_to_unpin_where_a_view_was_dropped(repo: GitRepo, run: Run) -> None:
    assert run("index").code == 0
    assert run("drop", "main", "--force").code == 0
    assert "the current worktree and branch have no view yet" in run("unpin").err
