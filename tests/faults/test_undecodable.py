"""Data changed in the index under right checksums: handled like other damage, not as a bug."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from faults.world import World
from stateful.view_contents import dump

from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.engine.upkeep import index_decoding
from codelens.engine.upkeep.diagnosis import examine
from codelens.engine.upkeep.index_decoding import undecodable
from codelens.errors import IndexCorrupt, StoreError
from codelens.store.database import database_file
from codelens.store.database.database import Database
from codelens.store.facts.postings import Posting

pytestmark = pytest.mark.skipif(
    not database_file.checksums_available(), reason="apsw without cksumvfs"
)

PACKED = (
    ("postings", "data", "marks IS NOT NULL"),
    ("segments", "docs", "1"),
    ("contents", "chunks", "length(chunks)"),
    ("contents", "refs", "length(refs)"),
    ("contents", "flow", "length(flow)"),
    ("symbol_texts", "data", "1"),
    ("chunk_vectors", "data", "length(data)"),
    ("file_edges", "data", "1"),
    ("edge_parts", "data", "1"),
)
USES = {
    "lamp.py": "def kindle(lamp):\n    return lamp\n",
    "use.py": "from lamp import kindle\n\n\ndef use():\n    kindle(1)\n",
    "Lamp.java": "class Lamp {\n  static int glow() {\n    return 1;\n  }\n}\n",
    "Use.java": "class Use {\n  int use() {\n    return Lamp.glow();\n  }\n}\n",
}
columns = pytest.mark.parametrize(
    ("table", "column", "where"), PACKED, ids=[f"{table}.{column}" for table, column, _ in PACKED]
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world whose index has something in each packed column."""
    made = World(tmp_path_factory.mktemp("world"), files=6)
    made.repo.commit("uses", USES)
    return made


@pytest.fixture(autouse=True)
def parts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default no parts are stored for so few files."""


def ask_all(engine: Engine, root: Path) -> None:
    """Questions that together read every packed column."""
    engine.search("how does the beacon turn", path=root)
    engine.impact(["lamp.py#kindle", "Lamp.java#Lamp.glow"], path=root)
    engine.related("use.py#use", path=root)
    dump(engine, root, None)


def asked(world: World) -> None:
    with world.engine() as engine:
        ask_all(engine, world.root)


def change(index: Path, table: str, column: str, where: str) -> None:
    """Changes a column in all rows, as another program would: the pages' checksums are right."""
    raw = apsw.Connection(str(index))
    count = raw.execute(f"SELECT COUNT(*) FROM {table} WHERE {where}").fetchone()
    assert count is not None and count[0], f"nothing in {table}"
    changed = f"CAST(substr({column}, 1, length({column}) - 1) || x'ffff' AS BLOB)"
    raw.execute(f"UPDATE {table} SET {column} = {changed} WHERE {where}")
    raw.close()


def quiet(world: World) -> None:
    """Clears the record of faults already met."""
    index_decoding.unexplained_file(world.index).unlink(missing_ok=True)


@columns
def test_an_undecodable_index_is_set_aside_and_rebuilt(
    world: World, table: str, column: str, where: str
) -> None:
    asked(world)
    quiet(world)
    change(world.index, table, column, where)
    with world.engine() as engine:
        with pytest.raises(IndexCorrupt, match="set aside and rebuilt"):
            ask_all(engine, world.root)
        ask_all(engine, world.root)
    world.check()


@columns
def test_the_doctor_finds_and_repairs_it(world: World, table: str, column: str, where: str) -> None:
    asked(world)
    change(world.index, table, column, where)
    for fix, state in ((False, "wrong"), (True, "mended")):
        (found,) = [one for one in examine(world.settings, fix=fix) if one.state == state]
        assert found.about == str(world.index) and "cannot be decoded" in found.found
    asked(world)
    assert not [one for one in examine(world.settings) if one.state == "wrong"]


def test_a_bug_never_costs_the_index(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(world)
    before = world.index.stat().st_ino

    decoded: list[int] = []

    def counted(db: Database) -> str:
        decoded.append(1)
        return undecodable(db)

    monkeypatch.setattr("codelens.engine.upkeep.index_decoding.undecodable", counted)
    for _ in range(3):
        with (
            world.engine() as engine,
            pytest.raises(ValueError, match="should be"),
            engine.pool.view(ViewRequest(world.root, None)),
        ):
            raise ValueError("not what it should be")
    assert world.index.stat().st_ino == before
    assert decoded == [1], "it is decoded once, not with every question"


def test_a_wrongly_built_index_is_rebuilt_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(world)
    quiet(world)

    def docs(_: Posting) -> None:
        raise ValueError("written as it cannot be read")

    with monkeypatch.context() as patched:
        patched.setattr(Posting, "docs", property(docs))
        with world.engine() as engine:
            with pytest.raises(IndexCorrupt):
                engine.search("beacon", path=world.root)
            rebuilt: set[int] = set()
            for _ in range(3):
                with pytest.raises(StoreError, match="damaged again, or this is a bug") as raised:
                    engine.search("beacon", path=world.root)
                assert not isinstance(raised.value, IndexCorrupt)
                rebuilt.add(world.index.stat().st_ino)
    assert len(rebuilt) == 1
    asked(world)
