"""Readers never wait for a writer and see the last commit; a second writer says partial."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index

BUDGET_MS = 200.0
AUTH = '''\
class Session:
    """A session."""

    def validate(self, token):
        return check(token)


def check(token):
    return bool(token)
'''


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"src/auth.py": AUTH, "README.md": "# Top\n\nLanterns.\n"})
    return made


@pytest.fixture
def writer(repo: GitRepo, home: Path) -> Iterator[Database]:
    """A writer in an open transaction that deletes everything."""
    with Engine(Settings(home=home)) as engine:
        engine.search("check", path=repo.root)
        engine.search("check", path=repo.root, ref="HEAD")
    (path,) = (home / "indexes").glob("index-*.db")
    db = open_index(path)
    # The last use was long ago, so each reader would want to record a new one.
    with db.write(None):
        db.execute("UPDATE views SET used_s = -1e6")
    db._connection.execute("BEGIN IMMEDIATE")
    for table in ("view_blocks", "symbols", "postings", "views"):
        db.execute(f"DELETE FROM {table}")
    yield db
    db._connection.execute("ROLLBACK")
    db.close()


QUESTIONS: dict[str, Callable[[Engine, Path], object]] = {
    "search": lambda engine, root: engine.search("check", path=root).results,
    "text": lambda engine, root: engine.search("bool(token)", path=root, mode="text").results,
    "ref": lambda engine, root: engine.search("check", path=root, ref="HEAD").results,
    "expand": lambda engine, root: engine.expand(["src/auth.py#check"], path=root).items,
    "outline": lambda engine, root: engine.outline("src", path=root).files,
    "related": lambda engine, root: engine.related("src/auth.py#check", path=root).results,
    "impact": lambda engine, root: engine.impact(["src/auth.py#check"], path=root).results,
    "map": lambda engine, root: engine.map(path=root).files,
    "status": lambda engine, root: engine.status(path=root).languages,
    "symbols": lambda engine, root: list(engine.export_symbols(path=root)),
    "edges": lambda engine, root: list(engine.export_edges(path=root)),
    "overview": lambda engine, _: engine.overview()[0].views,
    "dry prune": lambda engine, _: (engine.prune(dry_run=True).indexes,),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_is_answered_from_the_last_commit(
    name: str, repo: GitRepo, home: Path, writer: Database
) -> None:
    with Engine(Settings(home=home)) as engine:
        assert QUESTIONS[name](engine, repo.root)
        assert engine.look(path=repo.root).status == "fresh"


def test_the_command_line_opens_and_answers(repo: GitRepo, home: Path, writer: Database) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "codelens", "search", "check", "--json"],
        cwd=repo.root, env={**os.environ, "CODELENS_HOME": str(home)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["receipt"]["status"] == "fresh"


def test_files_that_were_only_touched_do_not_wait_for_a_writer(
    repo: GitRepo, home: Path, writer: Database
) -> None:
    for name in ("src/auth.py", "README.md"):
        os.utime(repo.root / name)
    # Only the ten-minute limit on waiting for a writer bounds this look.
    with Engine(Settings(home=home)) as engine:
        answer = engine.search("check", path=repo.root)
    assert answer.receipt.status == "fresh"
    assert answer.results[0].handle == "src/auth.py#check"


def test_a_touched_file_next_to_a_changed_one_is_not_fresh(
    repo: GitRepo, home: Path, writer: Database
) -> None:
    os.utime(repo.root / "README.md")
    repo.write("src/auth.py", AUTH.replace("bool(token)", "Bool(token)"))
    with Engine(Settings(home=home)) as engine:
        receipt = engine.look(path=repo.root, budget_ms=BUDGET_MS)
    assert receipt.status == "partial"


def test_a_change_that_cannot_be_written_yet_is_named_and_the_answer_partial(
    repo: GitRepo, home: Path, writer: Database
) -> None:
    repo.write("src/auth.py", AUTH + "\n\ndef lantern():\n    pass\n")
    repo.write("src/new.py", "def beacon():\n    pass\n")
    with Engine(Settings(home=home)) as engine:
        answer = engine.search("check", path=repo.root, budget_ms=BUDGET_MS)
        assert answer.receipt.status == "partial"
        assert set(answer.receipt.pending_names) == {"src/auth.py", "src/new.py"}
        assert "not updated" in answer.receipt.note
        assert answer.results[0].handle == "src/auth.py#check"
        assert answer.results[0].stale


def test_a_worktree_without_a_view_is_answered_for_as_not_indexed_yet(
    repo: GitRepo, home: Path, writer: Database, tmp_path: Path
) -> None:
    linked = repo.worktree(tmp_path / "linked", branch="other")
    with Engine(Settings(home=home)) as engine:
        for ask in (
            lambda: engine.search("check", path=linked.root, budget_ms=BUDGET_MS).receipt,
            lambda: engine.outline(path=linked.root, budget_ms=BUDGET_MS).receipt,
            lambda: engine.map(path=linked.root, budget_ms=BUDGET_MS).receipt,
            lambda: engine.status(path=linked.root, budget_ms=BUDGET_MS).receipt,
            lambda: engine.expand(["src/auth.py"], path=linked.root, budget_ms=BUDGET_MS).receipt,
        ):
            receipt = ask()
            assert receipt.status == "partial"
            assert receipt.pending == 2


def test_a_ref_without_a_view_is_answered_for_as_not_indexed_yet(
    repo: GitRepo, home: Path, writer: Database
) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "next")
    repo.git("tag", "next")
    with Engine(Settings(home=home)) as engine:
        answer = engine.search("check", path=repo.root, ref="next", budget_ms=BUDGET_MS)
        assert answer.receipt.status == "partial"
        assert not answer.results


def test_losing_the_lease_answers_from_the_last_state_and_says_so(
    repo: GitRepo, home: Path
) -> None:
    with Engine(Settings(home=home)) as engine:
        engine.search("check", path=repo.root)
        repo.write("src/new.py", "def beacon():\n    pass\n")
        (path,) = (home / "indexes").glob("index-*.db")
        other = open_index(path)
        taken: list[writer_lease.Lease] = []

        def take_over(stage: str, done: int, total: int) -> None:
            # As another process does when this one was silent for too long.
            if not taken:
                other.execute("UPDATE index_locks SET expires_s = 1, expires_up_s = 1")
                taken.append(writer_lease.acquire(other, 0))

        answer = engine.search("beacon", path=repo.root, progress=take_over)
        assert answer.receipt.status == "partial"
        assert not answer.results
        assert other.rows("SELECT COUNT(*) FROM views WHERE complete = 1") == [(1,)]
        taken[0].release(other)
        other.close()
        assert engine.search("beacon", path=repo.root).results[0].handle == "src/new.py#beacon"
