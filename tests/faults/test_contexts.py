"""Nothing saved is lost: damage of every kind, kills in mid-save, an unwritable home."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from faults.world import COUNTS, rounds

from codelens.errors import SchemaTooNew, StoreError
from codelens.memory.notebook import ContextQuery, Home, Notebook, terms_of
from codelens.store.database import database_file
from codelens.store.saved import context_rows, contexts_file
from codelens.store.saved.context_rows import Context, Item, as_it_is
from codelens.store.saved.contexts_file import open_contexts

HOME = Home("/src/shop/.git", "a" * 40)


def context(name: str, note: str = "note", saved_s: int = 1) -> Context:
    items = (Item("symbol", b"a.py", "f", body=b"\1" * 16, shape=b"\2" * 16, head="b" * 40),)
    return Context(name, note, "note", ("t",), False, 1, saved_s, None, "main", "b" * 40, items)


def saved(path: Path, count: int = 30) -> list[Context]:
    every = [context(f"name-{at}", f"what was learned {at} " * 20) for at in range(count)]
    Notebook(path).take_over(every, HOME, replace=False)
    return every


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database and its copy."""
    folder = tmp_path_factory.mktemp("contexts")
    saved(folder / "contexts-x.db")
    return folder


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "c")
    return tmp_path / "c" / "contexts-x.db"


def flipped(data: bytearray, pick: Random) -> None:
    for _ in range(pick.choice((1, 1, 3, 30))):
        data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)


def zeroed(data: bytearray, pick: Random) -> None:
    at, size = pick.randrange(len(data)), pick.choice((1, 16, 4096, 40_000))
    data[at : at + size] = bytes(len(data[at : at + size]))


def truncated(data: bytearray, pick: Random) -> None:
    del data[pick.randrange(len(data)) :]


def foreign(data: bytearray, pick: Random) -> None:
    data[:] = pick.choice((b"", b"hello", b"SQLite format 3\0" + b"x" * 5000, pick.randbytes(9000)))


@pytest.mark.parametrize("damage", [flipped, zeroed, truncated, foreign])
@pytest.mark.parametrize("seed", range(rounds(10)))
def test_damage_loses_nothing_while_there_is_a_copy(
    path: Path, damage: Callable[[bytearray, Random], None], seed: int
) -> None:
    pick = Random(seed)
    data = bytearray(path.read_bytes())
    damage(data, pick)
    path.write_bytes(data)
    every, notes = Notebook(path).every()
    COUNTS["damaged contexts"] = COUNTS.get("damaged contexts", 0) + 1
    assert sorted(one.name for one in every) == sorted(f"name-{at}" for at in range(30))
    assert all("what was learned" in one.note for one in every)
    if notes:
        assert "30 restored" in notes[0]
        assert len(list(path.parent.glob("*.unreadable-*[0-9]"))) == 1
    # It can also be written, and found by words again.
    Notebook(path).put(context("after"), HOME, replace=False)
    found = Notebook(path).find(ContextQuery("learned 7"), "", 5.0)
    assert found.contexts[0].name == "name-7" and not found.notes


@pytest.mark.parametrize("seed", range(rounds(6)))
def test_without_a_copy_readable_entries_are_restored(path: Path, seed: int) -> None:
    for copy in path.parent.glob("*.backup*"):
        copy.unlink()
    data = bytearray(path.read_bytes())
    flipped(data, Random(seed))
    path.write_bytes(data)
    every, notes = Notebook(path).every()
    assert all("what was learned" in one.note and len(one.items) == 1 for one in every)
    if len(every) < 30:
        assert "damaged" in notes[0] and "is kept as" in notes[0]


def test_a_damaged_file_is_never_deleted(path: Path) -> None:
    for at in range(3):
        path.write_bytes(b"damage %d" % at)
        assert len(Notebook(path).every()[0]) == 30
    set_aside = sorted(file.read_bytes() for file in path.parent.glob("*.unreadable-*"))
    assert set_aside == [b"damage 0", b"damage 1", b"damage 2"]


def test_a_lost_file_comes_back_from_its_copy(path: Path) -> None:
    path.unlink()
    every, notes = Notebook(path).every()
    assert len(every) == 30
    assert notes == ["the saved contexts were damaged (it is missing): 30 restored"]


def test_contexts_forgotten_after_a_restore_stay_forgotten(
    path: Path,
) -> None:
    file = open_contexts(path, terms_of, make=True)
    assert file is not None
    with file, file.db.write(None):
        file.db.execute("UPDATE contexts SET note = 'forged' WHERE name = 'name-9'")
    assert "30 restored" in Notebook(path).every()[1][0]
    Notebook(path).forget([f"name-{at}" for at in range(30)])
    Notebook(path).put(context("after"), HOME, replace=False)
    path.unlink()
    every, notes = Notebook(path).every()
    assert [one.name for one in every] == ["after"]
    assert notes == ["the saved contexts were damaged (it is missing): 1 restored"]


def test_a_repair_killed_midway_is_completed(path: Path) -> None:
    file = open_contexts(path, terms_of, make=True)
    assert file is not None
    with file, file.db.write(None):
        context_rows.put(file.db, context("newest"), terms_of(context("newest")))
        file.db.execute("UPDATE contexts SET note = 'forged' WHERE name = 'name-9'")
    path.rename(path.with_name(f"{path.name}.unreadable-{time.time_ns()}"))
    # codelens does not use such names: they do not show when the file was set aside.
    path.with_name(f"{path.name}.unreadable-by-hand-1").write_bytes(b"x")
    every, notes = Notebook(path).every()
    assert "31 restored" in notes[0] and "newest" in {one.name for one in every}


def test_the_copy_before_counts_where_the_newest_is_damaged(path: Path) -> None:
    Notebook(path).put(context("later"), HOME, replace=False)
    path.write_bytes(b"x")
    path.with_name(path.name + ".backup").write_bytes(b"y")
    assert len(Notebook(path).every()[0]) == 30


def test_newer_entries_of_the_damaged_file_win(path: Path, sound: Path) -> None:
    Notebook(path).put(context("later", "it " * 9000), HOME, replace=False)
    Notebook(path).put(context("name-3", "changed", saved_s=9), HOME, replace=True)
    for copy in path.parent.glob("*.backup*"):
        copy.unlink()
    shutil.copy(sound / (path.name + ".backup"), path.parent)
    file = open_contexts(path, terms_of, make=True)
    assert file is not None
    with file, file.db.write(None):
        file.db.execute("UPDATE contexts SET note = 'forged' WHERE name = 'name-9'")
    every, notes = Notebook(path).every()
    notes_of = {one.name: one.note for one in every}
    assert "31 restored" in notes[0]
    assert notes_of["name-3"] == "changed"
    assert "learned 9" in notes_of["name-9"]


def test_a_context_whose_text_was_changed_by_hand_is_not_answered(path: Path) -> None:
    file = open_contexts(path, terms_of, make=True)
    assert file is not None
    with file, file.db.write(None):
        file.db.execute("UPDATE contexts SET note = 'forged' WHERE name = 'name-4'")
    every, notes = Notebook(path).every()
    assert len(every) == 30 and "does not match its digest" in notes[0]
    assert "forged" not in {one.note for one in every}


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    file = open_contexts(path, terms_of, make=True)
    assert file is not None
    with file:
        file.db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(SchemaTooNew):
        Notebook(path).every()
    assert path.read_bytes() == before


def test_a_migration_begins_with_a_copy(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "migrations"
    shutil.copytree(database_file.shipped("migrations"), shipped)
    (shipped / "0002_contexts_more.sql").write_text("ALTER TABLE contexts ADD COLUMN more TEXT;")
    before = Notebook(path).every()[0]
    database_file.migrations.cache_clear()
    monkeypatch.setattr(database_file, "shipped", lambda _: shipped)
    try:
        assert Notebook(path).every() == (before, [])
    finally:
        database_file.migrations.cache_clear()
    copy = path.with_name(path.name + ".before-2")
    assert copy.stat().st_mode & 0o077 == 0
    with contexts_file.closing(as_it_is(copy)) as db:
        assert context_rows.every(db) == before
        assert db.row("PRAGMA user_version") == (1,)


def test_all_files_are_the_owners_alone(path: Path) -> None:
    Notebook(path).put(context("a"), HOME, replace=False)
    Notebook(path).put(context("b"), HOME, replace=False)
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert {"contexts-x.db", "contexts-x.db.backup", "contexts-x.db.backup-old"} <= modes.keys()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_saved_contexts_are_shown_if_nothing_can_be_written(path: Path) -> None:
    # Root can write everywhere: another user asks.
    for one in (path.parent, *path.parents):
        if one != Path("/") and one != Path("/tmp"):
            one.chmod(one.stat().st_mode | 0o055)
    for file in path.parent.iterdir():
        file.chmod(0o644)
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from codelens.memory.notebook import Notebook, Home\n"
        "from codelens.paths import repository_id\n"
        "repository_id(sys.argv[1])  # what it imports when called may lie where only root reads\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "book = Notebook(Path(sys.argv[1]))\n"
        "every, notes = book.every(); print(len(every), notes[0][:10])\n"
        "try: book.forget(['name-1'])\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert done.stdout == "30 read only:\nHomeNotWritable\n", done.stderr


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from faults.test_contexts import HOME, context
from codelens.memory.notebook import Notebook
book = Notebook(Path(sys.argv[1]))
for at in range(10_000):
    name = f"{sys.argv[2]}-{at}"
    book.put(context(name, "x" * 3000), HOME, replace=False)
    print(name, flush=True)
"""


def test_a_killed_save_loses_nothing_that_was_said_to_be_saved(path: Path) -> None:
    pick = Random(7)
    said: set[str] = {f"name-{at}" for at in range(30)}
    tests = str(Path(__file__).parents[1])
    for at in range(rounds(6)):
        command = [sys.executable, "-c", KILLED, str(path), f"r{at}", tests]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            first = running.stdout.readline()
            time.sleep(pick.random() * 0.1)
            running.send_signal(signal.SIGKILL)
            rest = running.stdout.read()
        # Ignore a line that the kill truncated.
        said |= {line for line in (first + rest).split("\n")[:-1] if line}
        names = {one.name for one in Notebook(path).every()[0]}
        COUNTS["killed saves"] = COUNTS.get("killed saves", 0) + 1
        assert said <= names
        assert len(names - said) <= at + 1
    # The copy is as complete as the file.
    path.unlink()
    assert said <= {one.name for one in Notebook(path).every()[0]}


def test_a_full_disk_saves_all_or_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = contexts_file.open_database

    def small(where: Path, kind: str):
        db = opened(where, kind)
        db.execute("PRAGMA max_page_count = 14")
        return db

    monkeypatch.setattr(contexts_file, "open_database", small)
    before = Notebook(path).every()[0]
    with pytest.raises(StoreError, match="no space"):
        Notebook(path).put(context("big", "word " * 90_000), HOME, replace=False)
    assert Notebook(path).every() == (before, [])


def test_a_copy_that_cannot_be_written_is_said_and_the_context_kept(path: Path) -> None:
    (path.parent / "contexts-x.db.backup").unlink()
    (path.parent / "contexts-x.db.backup").mkdir()
    (path.parent / "contexts-x.db.backup" / "full").write_text("")
    (path.parent / "contexts-x.db.backup-old").mkdir()
    (path.parent / "contexts-x.db.backup-old" / "full").write_text("")
    _, _, notes = Notebook(path).put(context("a"), HOME, replace=False)
    assert "backup copy could not be written" in notes[0]
    assert len(Notebook(path).every()[0]) == 31
