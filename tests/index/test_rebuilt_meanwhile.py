"""Another process rebuilds the index while a question runs during an edit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.index import needed_files
from codelens.paths import index_file
from codelens.scope.repository import Repository
from codelens.store.database import database_opening, writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index
from codelens.store.views import view_blocks

FILES = {f"src/part{n}.py": f"def kindle_{n}():\n    return 'wick'\n" for n in range(30)}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", FILES)
    return made


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home", workers=1)) as made:
        yield made


@pytest.fixture
def other(repo: GitRepo, engine: Engine) -> Iterator[Database]:
    """The connection of another process."""
    home = engine.settings.home
    db = open_index(index_file(home, Repository.at(repo.root).scope().repo_id))
    yield db
    db.close()


def rebuilt_before_files_are_read(
    monkeypatch: pytest.MonkeyPatch, other: Database, lease: writer_lease.Lease | None
) -> None:
    read_needed = needed_files.read_needed

    def rebuilt_first(*args: object, **named: object) -> needed_files.Needed:
        if lease is not None:
            lease.release(other)
        database_opening.retire(other)
        return read_needed(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(needed_files, "read_needed", rebuilt_first)


def files_with_wick(engine: Engine, repo: GitRepo, budget_ms: float) -> tuple[set[str], str]:
    found = engine.search("wick", path=repo.root, mode="text", limit=100, budget_ms=budget_ms)
    return {hit.path for hit in found.results}, found.receipt.status


def test_the_files_that_did_not_change_stay_in_the_answer(
    repo: GitRepo, engine: Engine, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files_with_wick(engine, repo, 60_000) == (set(FILES), "fresh")
    repo.write("src/part3.py", "def trim():\n    return 'wick'\n")
    rebuilt_before_files_are_read(monkeypatch, other, writer_lease.acquire(other, 0))
    paths, status = files_with_wick(engine, repo, 300)
    assert paths == set(FILES) or status == "partial"
    assert "src/part3.py" in paths
    monkeypatch.undo()
    assert files_with_wick(engine, repo, 60_000) == (set(FILES), "fresh")


def test_a_first_view_that_is_retired_is_not_called_whole(
    repo: GitRepo, engine: Engine, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = needed_files._show

    def retired_after(*args: object) -> None:
        show(*args)  # type: ignore[arg-type]
        database_opening.retire(other)

    monkeypatch.setattr(needed_files, "_show", retired_after)
    paths, status = files_with_wick(engine, repo, 5_000)
    assert paths == set(FILES) or status == "partial"
    monkeypatch.undo()
    assert files_with_wick(engine, repo, 60_000) == (set(FILES), "fresh")


def test_after_waiting_for_a_rebuild_unchanged_files_are_there(
    repo: GitRepo, engine: Engine, other: Database
) -> None:
    assert files_with_wick(engine, repo, 60_000) == (set(FILES), "fresh")
    repo.write("src/part3.py", "def trim():\n    return 'wick'\n")
    lease = writer_lease.acquire(other, 0)
    rebuilding = threading.Event()

    def rebuild() -> None:
        rebuilding.wait(30)
        lease.release(other)
        database_opening.retire(other)
        # It continues to build the index, for longer than the budget.
        again.append(writer_lease.acquire(other, 10))

    again: list[writer_lease.Lease] = []
    thread = threading.Thread(target=rebuild)
    thread.start()
    try:
        found = engine.search(
            "wick", path=repo.root, mode="text", limit=100, budget_ms=3_000,
            progress=lambda *_: rebuilding.set(),
        )  # fmt: skip
    finally:
        rebuilding.set()
        thread.join()
        again[0].release(other)
    paths = {hit.path for hit in found.results}
    assert paths == set(FILES) or found.receipt.status == "partial"
    assert files_with_wick(engine, repo, 60_000) == (set(FILES), "fresh")


@pytest.mark.parametrize("done", [0, 12])
def test_the_view_of_a_commit_that_is_retired_while_it_is_made_is_made_whole(
    repo: GitRepo, engine: Engine, other: Database, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    scope = Repository.at(repo.root).scope("HEAD")
    if done:
        # Incomplete, as from a process whose budget ended.
        engine.index(path=repo.root, ref="HEAD")
        with other.write(None):
            other.execute("UPDATE views SET complete = 0, changes = changes + 1")
            ((view,),) = other.rows("SELECT id FROM views")
            third = other.rows("SELECT path FROM view_files WHERE path % 3 = 0")
            view_blocks.put_files(other, view, {path: None for (path,) in third}, 99)
    acquire = writer_lease.acquire

    def retired_first(db: Database, *args: object, **named: object) -> writer_lease.Lease:
        monkeypatch.undo()
        database_opening.retire(other)
        return acquire(db, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(writer_lease, "acquire", retired_first)
    found = engine.search("wick", path=repo.root, ref="HEAD", mode="text", limit=100)
    assert found.receipt.head == scope.head
    assert {hit.path for hit in found.results} == set(FILES)
