"""Opening and losing an index."""

from __future__ import annotations

import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from codelens.errors import DiskFull, HomeNotWritable, SchemaTooNew
from codelens.store.database import database_file, database_opening
from codelens.store.database.database_opening import open_index


def test_a_new_index_is_private_and_at_the_newest_schema(tmp_path: Path) -> None:
    db = open_index(tmp_path / "home" / "indexes" / "index.db")
    newest = database_file.migrations("index")[-1][0]
    assert db.row("PRAGMA user_version") == (newest,)
    assert stat.S_IMODE(db.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(db.path.parent.stat().st_mode) == 0o700
    assert db.row("PRAGMA journal_mode") == ("wal",)
    assert db.row("PRAGMA foreign_keys") == (1,)


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    open_index(path).close()
    raw = apsw.Connection(str(path))
    raw.execute("PRAGMA user_version = 999")
    raw.close()
    with pytest.raises(SchemaTooNew, match="999"):
        open_index(path)
    assert apsw.Connection(str(path)).pragma("user_version") == 999


def test_opening_outwaits_a_process_that_creates_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_opening, "BUSY_MS", 1)
    path = tmp_path / "index.db"
    slow = apsw.Connection(str(path))
    list(slow.execute("PRAGMA journal_mode = WAL"))
    slow.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(open_index, path)
        # Far longer than the wait of a transaction, which is a millisecond here.
        time.sleep(0.3)
        assert not opening.done()
        slow.execute("COMMIT")
        opening.result().close()
    slow.close()


@pytest.mark.parametrize(
    "junk", [b"no database at all, but long enough" * 40, b"SQLite format 3\0" + b"x" * 4080]
)
def test_a_damaged_file_is_set_aside_and_recreated(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(junk)
    db = open_index(path)
    assert db.rows("SELECT * FROM views") == []
    damaged = [one for one in tmp_path.iterdir() if ".damaged-" in one.name]
    assert [one.read_bytes() for one in damaged] == [junk]


def test_a_full_disk_is_reported_and_changes_nothing(tmp_path: Path) -> None:
    db = open_index(tmp_path / "index.db")
    db.execute("PRAGMA max_page_count = 40")
    with pytest.raises(DiskFull, match="no space left"), db.write(None):
        db.execute("INSERT INTO git_blobs VALUES (x'00', zeroblob(1000000), 1)")
    db.execute("PRAGMA max_page_count = 1000000")
    assert db.rows("SELECT * FROM git_blobs") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_home_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(HomeNotWritable, match="CODELENS_HOME"):
        open_index(tmp_path / "home" / "index.db")


def test_a_home_below_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeNotWritable, match="CODELENS_HOME"):
        open_index(tmp_path / "file" / "index.db")


def test_a_failed_change_leaves_nothing(tmp_path: Path) -> None:
    db = open_index(tmp_path / "index.db")
    with pytest.raises(RuntimeError), db.write(None):
        db.execute("INSERT INTO git_blobs VALUES (x'01', x'02', 3)")
        raise RuntimeError
    assert db.rows("SELECT * FROM git_blobs") == []


def test_a_cached_value_is_recomputed_after_any_change(tmp_path: Path) -> None:
    db, other = open_index(tmp_path / "index.db"), open_index(tmp_path / "index.db")
    count = "SELECT COUNT(*) FROM git_blobs"

    def seen() -> object:
        return db.remembered("count", lambda: db.row(count))

    assert seen() == seen() == (0,)
    with other.write(None):
        other.execute("INSERT INTO git_blobs VALUES (x'01', x'02', 3)")
    assert seen() == (1,)
    with db.write(None):
        db.execute("DELETE FROM git_blobs")
    assert seen() == (0,)
