"""A newer codelens migrates an index that an older one has open: refused, and left as it is."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from faults.world import COUNTS, World

from codelens.errors import SchemaTooNew
from codelens.store.database.database_opening import open_index

MIGRATIONS = (
    "SELECT 1",  # one that an older codelens would not notice
    "ALTER TABLE contents RENAME TO texts",
    "ALTER TABLE views RENAME COLUMN branch TO name",
)


@pytest.mark.parametrize("statement", MIGRATIONS)
def test_an_index_migrated_meanwhile_is_refused_and_kept(tmp_path: Path, statement: str) -> None:
    world = World(tmp_path)
    with world.engine() as engine:
        engine.search("beacon", path=world.root)
        newer = migrated(world.index, statement)
        before = world.index.stat().st_ino
        for _ in range(2):
            world.edit()
            with pytest.raises(SchemaTooNew, match="upgrade codelens"):
                engine.search("beacon", path=world.root)
        with pytest.raises(SchemaTooNew):
            engine.look(path=world.root)
        saved = engine.load(path=world.root).results
        assert [one.note for one in saved] == ["the lamp burns oil"]
    assert world.index.stat().st_ino == before
    assert not list(world.home.rglob("*.damaged-*"))
    with apsw.Connection(str(world.index)) as raw:
        assert raw.pragma("user_version") == newer
    COUNTS["indexes migrated by a newer codelens"] += 1


def test_nothing_is_written_to_a_newer_schema(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    db = open_index(path)
    migrated(path, "SELECT 1")
    for block in (db.read(), db.write(None)):
        with pytest.raises(SchemaTooNew), block:
            pytest.fail("the block must not run")
    db.close()


def migrated(index: Path, statement: str) -> int:
    """Migrates an index as a newer codelens does; returns its schema number."""
    with apsw.Connection(str(index)) as raw:
        newer = int(raw.pragma("user_version")) + 1
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute(statement)
        raw.execute(f"PRAGMA user_version = {newer}")
    return newer
