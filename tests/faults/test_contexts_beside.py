"""Many processes and threads share one contexts database: nothing is lost, no false damage."""

from __future__ import annotations

import contextlib
import multiprocessing
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest
from faults.test_contexts import HOME, context
from faults.world import COUNTS, FULL, rounds

from codelens.errors import IndexCorrupt, StoreError
from codelens.memory.context_fields import NoSuchContext
from codelens.memory.notebook import ContextQuery, Notebook, terms_of
from codelens.store.database import database_file
from codelens.store.saved import context_rows, contexts_file
from codelens.store.saved.contexts_file import asides

SPAWN = multiprocessing.get_context("spawn")
BUSY_S = max(4.0, FULL / 5)
"""Duration of each test; a minute in a full run."""


def changing(path: Path, seed: int) -> list[str]:
    """Saves, replaces and forgets shared names and private names."""
    pick, book, said = Random(seed), Notebook(path), list[str]()
    end = time.monotonic() + BUSY_S
    while time.monotonic() < end:
        name = f"shared-{pick.randrange(3)}"
        if pick.random() < 0.25:
            with contextlib.suppress(NoSuchContext):
                book.forget([name])
        elif pick.random() < 0.3:
            own = f"own-{seed}-{len(said)}"
            notes = book.put(context(own, f"of {own}"), HOME, replace=False)[2]
            said.append(own)
            assert not notes, notes
        else:
            note = f"{seed} " * pick.randrange(1, 4000)
            notes = book.put(context(name, note), HOME, replace=True)[2]
            assert not notes, notes
    return said


def reading(path: Path, seed: int) -> list[str]:
    """Reads in every way; each reported damage is a false alarm."""
    pick, book = Random(seed), Notebook(path)
    end = time.monotonic() + BUSY_S
    while time.monotonic() < end:
        ways: list[Callable[[], object]] = [
            lambda: book.every()[1],
            lambda: book.find(ContextQuery("shared-1"), "", 1.0).notes,
            lambda: book.find(ContextQuery("own shared"), "", 1.0).notes,
            lambda: book.find(ContextQuery(), "", 1.0).notes,
            lambda: contexts_file.contexts_of(path) and (),
            lambda: contexts_file.glance(path) is None and ["no glance"],
        ]
        warnings = pick.choice(ways)()
        assert not warnings, warnings
    return []


def work(how: str, path: Path, seed: int, said: multiprocessing.Queue) -> None:
    """Runs one process with a thread for each letter of `how`: `w` changes and `r` reads."""
    done: list[tuple[str, list[str]]] = []

    def one(letter: str, seed: int) -> None:
        try:
            done.append(("", (changing if letter == "w" else reading)(path, seed)))
        except BaseException as error:
            done.append((f"{type(error).__name__}: {error}", []))

    threads = [
        threading.Thread(target=one, args=(letter, seed * 10 + at)) for at, letter in enumerate(how)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said.put(done)


@pytest.mark.parametrize("processes", [("w", "w", "r", "r"), ("wr", "wr", "w"), ("wwrr", "wwrr")])
def test_concurrent_writers_lose_nothing_and_report_no_damage(
    tmp_path: Path, processes: tuple[str, ...]
) -> None:
    path = tmp_path / "contexts-x.db"
    Notebook(path).put(context("first"), HOME, replace=False)
    said = SPAWN.Queue()
    running = [
        SPAWN.Process(target=work, args=(how, path, at, said))
        for at, how in enumerate(processes, 1)
    ]
    for process in running:
        process.start()
    done = [one for _ in running for one in said.get(timeout=BUSY_S + 120)]
    for process in running:
        process.join()
    assert not [error for error, _ in done if error]
    saved = {"first", *(name for _, names in done for name in names)}
    COUNTS["contexts saved with others"] += len(saved)
    every, notes = Notebook(path).every()
    assert not notes and saved <= {one.name for one in every}
    copied = contexts_file.contexts_of(path.with_name(path.name + ".backup"))
    assert copied == every
    left = {file.name for file in tmp_path.iterdir()}
    assert not [name for name in left if "unreadable" in name or ".new-" in name]
    file = contexts_file.open_contexts(path, terms_of, make=True)
    assert file is not None
    with file:
        assert file.db.fault(thorough=True) == ""


def spoil(path: Path) -> None:
    """Changes a text by hand: damage that only the digest reveals, in a writable file."""
    file = contexts_file.open_contexts(path, terms_of, make=True)
    assert file is not None
    with file, file.db.write(None):
        # A write to a file that was set aside would delete the journal of the new one.
        if not file.db.was_replaced():
            file.db.execute("UPDATE contexts SET note = 'forged' WHERE name = 'first'")


def saving(path: Path, seed: int, count: int, said: multiprocessing.Queue) -> None:
    book, warnings, left = Notebook(path), list[str](), list(range(count))
    while left:
        try:
            warnings += book.put(context(f"own-{seed}-{left[0]}"), HOME, replace=False)[2]
        except StoreError as error:
            # It was damaged again, or set aside, since it was opened: nothing was changed.
            replaced = "was replaced meanwhile; nothing was changed" in str(error)
            assert replaced or isinstance(error, IndexCorrupt), error
        else:
            left.pop(0)
    said.put(warnings)


@pytest.mark.parametrize("seed", range(rounds(2)))
def test_processes_that_find_damage_at_once_restore_it_once(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "contexts-x.db"
    Notebook(path).put(context("first"), HOME, replace=False)
    path.write_bytes(b"damage" * 100)
    said = SPAWN.Queue()
    running = [SPAWN.Process(target=saving, args=(path, at, 3, said)) for at in range(4)]
    for process in running:
        process.start()
    warnings = [note for _ in running for note in said.get(timeout=120)]
    for process in running:
        process.join()
    assert len([note for note in warnings if "1 restored" in note]) == 1 == len(warnings)
    names = {one.name for one in Notebook(path).every()[0]}
    assert names == {"first", *(f"own-{by}-{at}" for by in range(4) for at in range(3))}
    assert len(asides(tmp_path)) == 1


def test_damage_beneath_writers_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "contexts-x.db"
    Notebook(path).put(context("first"), HOME, replace=False)
    said, count = SPAWN.Queue(), max(10, FULL)
    running = [SPAWN.Process(target=saving, args=(path, at, count, said)) for at in range(3)]
    for process in running:
        process.start()
    while any(process.is_alive() for process in running) and said.qsize() < len(running):
        with contextlib.suppress(IndexCorrupt):
            spoil(path)
        time.sleep(0.3)
    warnings = [note for _ in running for note in said.get(timeout=120)]
    for process in running:
        process.join()
    assert all(
        "restored" in note or "backup copy could not be written" in note for note in warnings
    )
    every = {one.name: one.note for one in Notebook(path).every()[0]}
    assert every.keys() == {"first", *(f"own-{by}-{at}" for by in range(3) for at in range(count))}
    assert every["first"] == "note"


def test_a_copy_that_cannot_be_read_now_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "contexts-x.db"
    Notebook(path).put(context("first"), HOME, replace=False)
    path.write_bytes(b"damage" * 100)
    other = apsw.Connection(str(path.with_name(path.name + ".backup")))
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process"):
        Notebook(path).every()
    assert path.read_bytes() == b"damage" * 100 and not asides(tmp_path)
    other.execute("ROLLBACK")
    other.close()
    assert [one.name for one in Notebook(path).every()[0]] == ["first"]


def test_damaged_copies_are_kept_and_their_contents_restored(tmp_path: Path) -> None:
    path = tmp_path / "contexts-x.db"
    for name in ("first", "second"):
        Notebook(path).put(context(name), HOME, replace=False)
    path.write_bytes(b"damage" * 100)
    for suffix in (".backup", ".backup-old"):
        spoil_raw(path.with_name(path.name + suffix))
    assert [one.name for one in Notebook(path).every()[0]] == ["second"]
    assert len(asides(tmp_path)) == 3


def spoil_raw(path: Path) -> None:
    database_file.checksums_available()
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE contexts SET note = 'forged' WHERE name = 'first'")
    connection.close()


def test_a_damaged_copy_never_takes_the_place_of_a_sound_one(tmp_path: Path) -> None:
    path = tmp_path / "contexts-x.db"
    Notebook(path).put(context("first"), HOME, replace=False)
    for at in range(3):
        file = contexts_file.open_contexts(path, terms_of, make=True)
        assert file is not None
        with file:
            spoil_raw(path)
            with file.changed() as notes:
                context_rows.put(file.db, context(f"own-{at}"), terms_of(context(f"own-{at}")))
            assert "backup copy could not be written" in notes[0]
        every = {one.name: one.note for one in Notebook(path).every()[0]}
        assert every == dict.fromkeys(("first", *(f"own-{by}" for by in range(at + 1))), "note")


def test_a_copy_of_an_older_schema_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "contexts-x.db"
    Notebook(path).put(context("first"), HOME, replace=False)
    path.unlink()
    shipped = tmp_path / "migrations"
    shutil.copytree(database_file.shipped("migrations"), shipped)
    (shipped / "0002_contexts_more.sql").write_text(
        "ALTER TABLE contexts RENAME COLUMN note TO noted;"
        "ALTER TABLE contexts RENAME COLUMN noted TO note;"
        "ALTER TABLE contexts ADD COLUMN more TEXT;"
    )
    database_file.migrations.cache_clear()
    monkeypatch.setattr(database_file, "shipped", lambda _: shipped)
    try:
        every, notes = Notebook(path).every()
        assert [one.name for one in every] == ["first"] and "1 restored" in notes[0]
        assert not Notebook(path).every()[1]
    finally:
        database_file.migrations.cache_clear()
    assert not list(tmp_path.glob("*.new-*"))


HALF = """
import os, sys, apsw
from codelens.store.database.database_file import checksums_available
checksums_available()
c = apsw.Connection(sys.argv[1])
c.execute("PRAGMA cache_size = 2; PRAGMA cache_spill = 2; BEGIN IMMEDIATE")
for at in range(400):
    c.execute("UPDATE contexts SET note = note || ?", ("half " * 50,))
os.kill(os.getpid(), 9)
"""


def test_a_killed_writers_partial_write_is_undone_for_readers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "contexts-x.db"
    every = [context(f"name-{at}", f"note {at} " * 200) for at in range(30)]
    Notebook(path).take_over(every, HOME, replace=False)
    subprocess.run([sys.executable, "-c", HALF, str(path)], check=False)
    assert path.with_name(path.name + "-journal").stat().st_size > 0
    seen = contexts_file.glance(path)
    assert seen is not None and seen.size == 30
    assert contexts_file.contexts_of(path) == every
