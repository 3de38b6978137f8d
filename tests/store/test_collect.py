"""Unreferenced data is deleted in small steps; data that a reader may hold stays until released."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import IndexLocked
from codelens.store.database import database_opening, writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index
from codelens.store.facts import postings
from codelens.store.views import garbage_collection, index_metadata, views


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit(
        "first", {f"src/part{n}.py": f"def lantern{n}():\n    return {n}\n" for n in range(9)}
    )
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def engine_at(home: Path) -> Engine:
    return Engine(Settings(home=home))


def index_of(home: Path) -> Database:
    (path,) = (home / "indexes").glob("index-*.db")
    return open_index(path)


def count(db: Database, table: str) -> int:
    return db.rows(f"SELECT COUNT(*) FROM {table}")[0][0]


def with_an_old_branch(repo: GitRepo, home: Path) -> None:
    """An index with the view of a branch that has much unique content."""
    with engine_at(home) as engine:
        repo.git("checkout", "-q", "-b", "old")
        repo.commit("much", {f"old/gone{n}.py": f"class Beacon{n}:\n    pass\n" for n in range(40)})
        engine.search("lantern1", path=repo.root)
        repo.git("checkout", "-q", "main")
        engine.search("lantern1", path=repo.root)


def test_a_view_that_goes_takes_its_contents_symbols_paths_and_postings_with_it(
    repo: GitRepo, home: Path
) -> None:
    with_an_old_branch(repo, home)
    fresh = home.parent / "fresh"
    with engine_at(fresh) as engine:
        engine.search("lantern1", path=repo.root)
    with engine_at(home) as engine:
        assert engine.drop("old", path=repo.root).waiting == 0
    db, other = index_of(home), index_of(fresh)
    for table in (
        "contents", "symbols", "symbol_keys", "symbol_texts", "views", "view_blocks", "blocks",
        "block_files", "view_folders", "folders", "segments", "postings",
    ):  # fmt: skip
        assert count(db, table) == count(other, table), table
    # The row with the highest path id stays, so that the id is never reused.
    assert count(db, "paths") <= count(other, "paths") + 1
    assert db.rows("PRAGMA freelist_count")[0][0] <= 16
    assert db.is_sound() and not db.rows("PRAGMA foreign_key_check")


def test_data_of_a_running_reader_stays(repo: GitRepo, home: Path) -> None:
    with_an_old_branch(repo, home)
    reader = index_of(home)
    before = count(reader, "contents")
    with engine_at(home) as engine:
        done = engine.drop("old", path=repo.root)
    assert done.waiting >= 40
    assert count(reader, "contents") == before
    reader.execute("UPDATE doomed SET since_s = since_s - ?", (garbage_collection.GRACE_S + 1,))
    found = garbage_collection.collect(reader)
    assert found.waiting == 0
    assert found.contents == done.waiting


def test_a_marked_content_that_a_view_takes_up_again_stays(repo: GitRepo, home: Path) -> None:
    with_an_old_branch(repo, home)
    reader = index_of(home)
    with engine_at(home) as engine:
        engine.drop("old", path=repo.root)
        repo.git("checkout", "-q", "old")
        receipt = engine.search("Beacon7", path=repo.root).receipt
        assert receipt.indexed == 0, "what waits to be collected is not extracted again"
    reader.execute("UPDATE doomed SET since_s = -1e9")
    assert garbage_collection.collect(reader).contents == 0
    with engine_at(home) as engine:
        (hit, *_) = engine.search("Beacon7", path=repo.root).results
        assert hit.handle == "old/gone7.py#Beacon7"


def test_nothing_is_collected_under_anothers_lease(repo: GitRepo, home: Path) -> None:
    with_an_old_branch(repo, home)
    writer, other = index_of(home), index_of(home)
    lease = writer_lease.acquire(writer, 0)
    with pytest.raises(IndexLocked):
        garbage_collection.collect(other)
    lease.release(writer)
    garbage_collection.collect(other)


def test_an_interrupted_collection_is_taken_up_again(repo: GitRepo, home: Path) -> None:
    with_an_old_branch(repo, home)
    db = index_of(home)
    (view,) = [row for row in views.all_views(db) if row.branch == "old"]
    with db.write(None):
        index_metadata.remove_view(db, view.id)
    garbage_collection.collect(db, rest=lambda: False)
    assert garbage_collection.waiting(db) >= 40
    assert garbage_collection.collect(db).waiting == 0
    assert garbage_collection.collect(db) == garbage_collection.Collected()


def test_ids_of_views_and_paths_are_not_used_again(repo: GitRepo, home: Path) -> None:
    with_an_old_branch(repo, home)
    db = index_of(home)
    highest = max(row.id for row in views.all_views(db))
    paths = db.rows("SELECT MAX(id) FROM paths")[0][0]
    db.close()
    with engine_at(home) as engine:
        for row in engine.overview()[0].views:
            engine.drop(row.index_id, path=repo.root, force=True)
        engine.search("lantern1", path=repo.root)
    db = index_of(home)
    assert min(row.id for row in views.all_views(db)) > highest
    assert db.rows("SELECT MAX(id) FROM paths")[0][0] >= paths


def test_a_rebuild_during_a_read_extracts_everything_again(repo: GitRepo, home: Path) -> None:
    with engine_at(home) as engine:
        engine.search("lantern1", path=repo.root)
        reader = index_of(home)
        held = {row[0] for row in reader.rows("SELECT id FROM contents")}
        assert engine.index(path=repo.root, rebuild=True).receipt.status == "fresh"
        (hit, *_) = engine.search("lantern1", path=repo.root).results
        assert hit.handle == "src/part1.py#lantern1"
    now = {row[0] for row in reader.rows("SELECT content FROM view_files")}
    assert not now & held
    assert held <= {row[0] for row in reader.rows("SELECT id FROM contents")}, "readers hold them"
    reader.close()
    db = index_of(home)
    garbage_collection.collect(db)
    assert {row[0] for row in db.rows("SELECT id FROM contents")} == now
    assert db.is_sound()


def test_a_retired_index_knows_nothing_by_hash_path_or_object(repo: GitRepo, home: Path) -> None:
    with engine_at(home) as engine:
        engine.search("lantern1", path=repo.root)
    db = index_of(home)
    paths = [row[0] for row in db.rows("SELECT path FROM paths")]
    database_opening.retire(db)
    assert not views.all_views(db)
    assert views.find_paths(db, paths) == {}
    assert count(db, "git_blobs") == 0


def test_segments_of_mostly_removed_contents_are_rewritten(repo: GitRepo, home: Path) -> None:
    with_an_old_branch(repo, home)
    with engine_at(home) as engine:
        engine.drop("old", path=repo.root)
    db = index_of(home)
    live = {row[0] for row in db.rows("SELECT id FROM contents")}
    for docs in postings.segment_docs(db).values():
        assert set(docs.contents) <= live


PLANS = {
    "mark": (
        garbage_collection.MARK_CONTENTS,
        (0.0,),
        {"c": "sqlite_autoindex", "f": "block_files_by_content"},
    ),
    "spare": (garbage_collection.SPARE_CONTENTS, (), {"doomed": "", "f": "block_files_by_content"}),
    "due": (garbage_collection.DUE, ("content", 0.0, 9), {"doomed": "PRIMARY KEY"}),
    "terms": (garbage_collection.DELETE_TERM, ("x", 1), {"path_terms": "PRIMARY KEY"}),
    "edges": (
        garbage_collection.DELETE_EDGES.format(marks="?,?"),
        (1, 2),
        {"file_edges": "PRIMARY KEY"},
    ),
    "edge parts": (
        garbage_collection.DELETE_PARTS.format(marks="?,?"),
        (1, 2),
        {"edge_parts": "PRIMARY KEY"},
    ),
    "own sizes": (views.OWN_SIZES, (), {"f": "block_files_by_content"}),
}


@pytest.mark.parametrize("name", PLANS)
def test_collection_queries_use_their_index(name: str, tmp_path: Path) -> None:
    sql, bindings, wanted = PLANS[name]
    db = open_index(tmp_path / "index.db")
    steps = [row[3] for row in db.rows(f"EXPLAIN QUERY PLAN {sql}", bindings)]
    for table, index in wanted.items():
        (step,) = [one for one in steps if re.match(rf"(SCAN|SEARCH) {table}\b", one)]
        assert index in step, steps
