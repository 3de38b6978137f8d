"""Vectors of chunks come with the facts, and are filled in if an index has none or older ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from gitrepo import GitRepo
from small_table import write_table

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.meaning import word_table
from codelens.store.database.database_opening import open_index

WORDS = {"alpha": (90, 20, 0), "beta": (0, 50, 90), "gamma": (1, 2, 3)}
Rows = list[tuple[int, int, bytes]]


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    for number in range(4):
        text = f"def alpha_{number}():\n    return beta + gamma * {number}\n" * (40 * number + 1)
        repository.write(f"src/part{number}.py", text)
    repository.write("empty.py", "")
    repository.commit("first")
    return repository


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = write_table(tmp_path / "one.table", WORDS, version=3)
    monkeypatch.setattr(word_table, "FILE", file)
    return file


@pytest.fixture
def engine(tmp_path: Path, table: Path) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home")) as engine:
        yield engine


def stored(home: Path) -> Rows:
    (index,) = (home / "indexes").glob("*.db")
    connection = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    return list(connection.execute("SELECT content, version, data FROM chunk_vectors ORDER BY 1"))


def forget(home: Path) -> None:
    (index,) = (home / "indexes").glob("*.db")
    db = open_index(index)
    with db.write(None):
        db.execute("DELETE FROM chunk_vectors")
        db.execute("UPDATE views SET vectors = 0")
    db.close()


def test_every_content_has_a_vector_for_each_of_its_chunks(
    engine: Engine, repository: GitRepo, tmp_path: Path
) -> None:
    engine.search("alpha of gamma", path=repository.root)
    rows = stored(tmp_path / "home")
    assert len(rows) == 5
    assert {version for _, version, _ in rows} == {3}
    assert sorted(len(data) // 3 for _, _, data in rows)[0] == 0
    assert max(len(data) for _, _, data in rows) >= 3 * 3
    assert any(data.strip(b"\x80") for _, _, data in rows)


@pytest.mark.parametrize("ref", [None, "main"])
def test_an_index_without_vectors_gets_the_same_from_its_postings(
    engine: Engine, repository: GitRepo, tmp_path: Path, ref: str | None
) -> None:
    before = engine.search("alpha of gamma", path=repository.root, ref=ref, explain=True)
    rows = stored(tmp_path / "home")
    forget(tmp_path / "home")
    assert not stored(tmp_path / "home")
    after = engine.search("alpha of gamma", path=repository.root, ref=ref, explain=True)
    assert stored(tmp_path / "home") == rows
    assert after.results == before.results
    assert after.receipt.indexed == 0


def test_a_newer_table_recomputes_vectors_and_an_older_one_leaves_them(
    engine: Engine, repository: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.search("alpha of gamma", path=repository.root)
    newer = write_table(tmp_path / "new.table", {**WORDS, "beta": (90, 0, 0)}, version=4)
    monkeypatch.setattr(word_table, "FILE", newer)
    engine.search("alpha of gamma", path=repository.root)
    rows = stored(tmp_path / "home")
    assert {version for _, version, _ in rows} == {4}
    monkeypatch.setattr(word_table, "FILE", tmp_path / "one.table")
    answer = engine.search("alpha of gamma", path=repository.root, explain=True)
    assert any("have no vectors yet" in note for note in answer.notes)
    assert stored(tmp_path / "home") == rows


def test_a_newer_table_recomputes_vectors_of_an_older_one(
    engine: Engine, repository: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = write_table(tmp_path / "new.table", WORDS, version=4)
    monkeypatch.setattr(word_table, "FILE", newer)
    engine.search("alpha of gamma", path=repository.root)
    monkeypatch.setattr(word_table, "FILE", tmp_path / "one.table")
    repository.write("src/more.py", "def alpha():\n    return gamma\n")
    engine.search("alpha of gamma", path=repository.root)
    assert sorted(version for _, version, _ in stored(tmp_path / "home")) == [3, 4, 4, 4, 4, 4]
    monkeypatch.setattr(word_table, "FILE", newer)
    answer = engine.search("alpha of gamma", path=repository.root, explain=True)
    assert answer.receipt.indexed == 0
    assert {version for _, version, _ in stored(tmp_path / "home")} == {4}
    assert not any("without meaning" in note for note in answer.notes)
