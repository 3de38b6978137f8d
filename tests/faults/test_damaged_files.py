"""Flipped and zeroed bytes, truncated, emptied, missing and foreign files: never a wrong answer."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest
from faults.world import COUNTS, World, rounds

from codelens.errors import IndexCorrupt
from codelens.store.database import database_file, database_recovery
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_database, open_index

pytestmark = pytest.mark.skipif(
    not database_file.checksums_available(), reason="apsw without cksumvfs"
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world with an index; each test damages a copy of it."""
    made = World(tmp_path_factory.mktemp("world"))
    made.check()
    return made


@pytest.fixture
def sound(world: World, tmp_path: Path) -> bytes:
    """The bytes of its undamaged index."""
    with world.engine() as engine:
        engine.status(path=world.root)
    return world.index.read_bytes()


def flipped(data: bytearray, pick: Random) -> None:
    for _ in range(pick.choice((1, 1, 1, 3, 20))):
        data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)


def zeroed(data: bytearray, pick: Random) -> None:
    at, size = pick.randrange(len(data)), pick.choice((1, 16, 512, 4096, 40_000))
    data[at : at + size] = bytes(len(data[at : at + size]))


def shuffled(data: bytearray, pick: Random) -> None:
    """Swaps two pages, like a lost write or a broken disk."""
    size = 16384
    one, other = pick.randrange(len(data) // size), pick.randrange(len(data) // size)
    first, second = data[one * size :][:size], data[other * size :][:size]
    data[one * size : one * size + size] = second
    data[other * size : other * size + size] = first


def truncated(data: bytearray, pick: Random) -> None:
    del data[pick.randrange(len(data)) :]


def overwritten(data: bytearray, pick: Random) -> None:
    at = pick.randrange(len(data))
    junk = pick.randbytes(pick.choice((4, 100, 5000)))
    data[at : at + len(junk)] = junk


@pytest.mark.parametrize("damage", [flipped, zeroed, truncated, overwritten])
def test_a_damaged_index_never_answers_wrong(
    world: World, sound: bytes, damage: Callable[[bytearray, Random], None]
) -> None:
    pick = Random(7)
    for _ in range(rounds(8)):
        world.edit()
        data = bytearray(sound)
        damage(data, pick)
        put(world.index, bytes(data))
        COUNTS[f"indexes {damage.__name__}"] += 1
        found = world.asks()
        assert found == "right" or "damaged" in found
        world.check()


def test_a_damaged_log_never_answers_wrong(world: World) -> None:
    pick = Random(11)
    for number in range(rounds(8)):
        world.edit()
        # Held open, so that what a refresh writes stays in the log.
        holder = open_index(world.index)
        holder.rows("SELECT COUNT(*) FROM views")
        # In another process, so that the log holds no lease of a living one.
        world.time_of_refresh()
        log = world.index.with_name(world.index.name + "-wal")
        saved = {file: file.read_bytes() for file in (world.index, log)}
        holder.close()
        for file, data in saved.items():
            file.write_bytes(data)
        if number % 4 == 3:
            log.unlink()
        elif saved[log]:
            data = bytearray(saved[log])
            (flipped, zeroed, truncated)[number % 4](data, pick)
            log.write_bytes(bytes(data))
        COUNTS["logs damaged or taken away"] += 1
        found = world.asks()
        assert found == "right" or "damaged" in found
        world.check()


@pytest.mark.parametrize("junk", [b"", b"\0" * 70_000, b"no database" * 4000])
def test_a_file_that_is_not_a_database_is_set_aside(
    world: World, sound: bytes, junk: bytes
) -> None:
    put(world.index, junk)
    world.check()
    COUNTS["foreign or empty files"] += 1


def test_another_programs_database_is_set_aside_and_kept(world: World, sound: bytes) -> None:
    put(world.index, b"")
    with sqlite3.connect(world.index) as other:
        other.execute("CREATE TABLE cookies (host TEXT)")
    other.close()
    theirs = world.index.read_bytes()
    world.check()
    set_aside = next(database_recovery.asides(world.index.parent))
    assert set_aside.path.read_bytes() == theirs
    COUNTS["foreign or empty files"] += 1


def test_a_contexts_database_in_its_place_is_refused(world: World, sound: bytes) -> None:
    put(world.index, world.contexts.read_bytes())
    world.check()
    COUNTS["foreign or empty files"] += 1


def test_a_folder_in_its_place_is_reported(world: World, sound: bytes) -> None:
    index = world.index
    put(index, b"")
    index.unlink()
    index.mkdir()
    assert "is a folder" in world.asks()
    index.rmdir()
    world.check()


def test_every_page_is_compared_with_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    db = open_index(path)
    with db.write(None):
        for _ in range(400):
            db.execute("INSERT INTO git_blobs VALUES (?, ?, 3)", (os.urandom(20), b"x" * 900))
    assert db.has_checksums()
    db.close()
    sound = path.read_bytes()
    for page in range(len(sound) // 16384):
        for at in (page * 16384 + 9000, page * 16384 + 16383):
            data = bytearray(sound)
            data[at] ^= 1
            path.write_bytes(bytes(data))
            with pytest.raises(IndexCorrupt):
                _read_all(path)
            COUNTS["pages flipped one by one"] += 1


def _read_all(path: Path) -> None:
    db = open_database(path, "index")
    try:
        # No query reads an empty page; only the check does.
        fault = db.fault()
        if fault:
            raise IndexCorrupt(path, fault)
    finally:
        db.close()


def test_the_bytes_that_say_there_are_checksums_are_protected(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    open_index(path).close()
    sound = path.read_bytes()
    for at in (20, 68, 69, 70, 71):
        data = bytearray(sound)
        data[at] ^= 2
        path.write_bytes(bytes(data))
        with pytest.raises(IndexCorrupt):
            open_database(path, "index")


def test_of_two_processes_that_find_damage_one_sets_aside(tmp_path: Path) -> None:
    for _ in range(rounds(20)):
        path = tmp_path / "index.db"
        open_index(path).close()
        path.write_bytes(b"junk" * 10_000)
        found: list[Database] = []
        gate = threading.Barrier(4)

        def meet(path: Path = path, found: list[Database] = found, gate=gate) -> None:
            gate.wait()
            db = open_index(path)
            with db.write(None):
                db.execute("INSERT OR IGNORE INTO git_blobs VALUES (x'01', x'02', 3)")
            found.append(db)

        threads = [threading.Thread(target=meet) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [db.was_replaced() for db in found] == [False] * 4
        assert [db.row("SELECT COUNT(*) FROM git_blobs") for db in found] == [(1,)] * 4
        set_aside = [one.path for one in database_recovery.asides(tmp_path)]
        assert [file.read_bytes()[:4] for file in set_aside if file.suffix.isalnum()] in (
            [],
            [b"junk"],
        )
        assert set_aside[0].read_bytes() == b"junk" * 10_000
        for db in found:
            db.close()
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        COUNTS["races of four over one damaged index"] += 1


def test_a_holder_of_the_old_file_switches_to_the_new_one(world: World, sound: bytes) -> None:
    with world.engine() as one, world.engine() as other:
        one.search("beacon", path=world.root)
        other.index(path=world.root, rebuild=True)
        world.edit()
        one.search("beacon", path=world.root)
        opened = next(iter(one.pool.indexes()))
        assert not opened.db.was_replaced()
    world.check()


def test_only_the_newest_damaged_file_is_kept_and_for_a_week(tmp_path: Path) -> None:
    for _ in range(3):
        path = tmp_path / "index.db"
        path.write_bytes(b"junk" * 1000)
        database_recovery.set_aside(path, database_recovery.identity_of(path))
    (aside,) = database_recovery.asides(tmp_path)
    then = int(aside.path.name.rpartition("-")[2]) - 8 * 86_400 * 10**9
    old = tmp_path / f"index.db.damaged-{then}"
    aside.path.rename(old)
    assert database_recovery.forget_old(tmp_path) == [old]


def test_damaged_files_of_every_kind_are_named_and_go_after_a_week(world: World) -> None:
    for args in (("search", "kindle"), ("usage",)):
        assert world.run(*args).returncode == 0
    (world.home / "usage.db").write_bytes(b"junk" * 1000)
    world.run("usage")
    (aside,) = world.home.glob("usage.db.damaged-*")
    assert aside.name in world.run("doctor", "--no-agents").stdout
    world.run("prune", "--yes")
    assert aside.exists()
    then = int(aside.name.rpartition("-")[2]) - 8 * 86_400 * 10**9
    (world.home / "vectors").mkdir()
    for old in (aside.with_name(f"usage.db.damaged-{then}"),
                world.home / "vectors" / f"vectors-{'0' * 16}.db.damaged-{then}"):  # fmt: skip
        old.write_bytes(b"junk")
        assert old.name in world.run("doctor", "--no-agents").stdout
        world.run("prune", "--yes")
        assert not old.exists()
    assert aside.exists()


def test_an_older_schema_is_copied_before_it_is_migrated(tmp_path: Path) -> None:
    from codelens.store.database.database_file import migrations

    path = tmp_path / "contexts.db"
    raw = apsw.Connection(str(path))
    raw.execute(migrations("contexts")[0][1].read_text())
    raw.execute("PRAGMA user_version = 1")
    raw.close()
    newest = migrations("contexts")[-1][0]
    db = open_database(path, "contexts")
    assert db.row("PRAGMA user_version") == (newest,)
    backups = list(tmp_path.glob("*.before-*"))
    assert len(backups) == (newest > 1)
    db.close()


def put(path: Path, data: bytes) -> None:
    """Replaces a database file, without the logs of the previous one."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(data)


def test_closing_a_file_set_aside_leaves_the_log_of_the_new_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    old = open_index(path)
    database_recovery.set_aside(path, old.identity)
    new = open_index(path)
    with new.write(None):
        new.execute("INSERT INTO git_blobs VALUES (x'01', x'02', 3)")
    log = path.with_name("index.db-wal")
    size = log.stat().st_size
    old.close()
    assert log.stat().st_size == size
    assert open_index(path).rows("SELECT oid FROM git_blobs") == [(b"\x01",)]
    new.close()
