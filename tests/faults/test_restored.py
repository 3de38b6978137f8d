"""Restores an older copy of an index, with servers and without: the next question notices."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from faults.world import COUNTS, FULL, QUERIES, World, rounds
from stateful.view_contents import answer, dump

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import IndexCorrupt
from codelens.store.database import database_file, database_recovery
from codelens.store.database.database_opening import open_index

pytestmark = [
    pytest.mark.skipif(not database_file.checksums_available(), reason="apsw without cksumvfs"),
    pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be replaced"),
]

_FORK = multiprocessing.get_context("forkserver")


class Server:
    """Another process that answers for as long as it lives, and keeps the index open."""

    def __init__(self, world: World) -> None:
        self._ours, theirs = _FORK.Pipe()
        args = (world.settings, str(world.root), theirs)
        self.process = _FORK.Process(target=_serve, args=args)
        self.process.start()
        theirs.close()

    def ask(self) -> tuple[list[str], object]:
        """All compared answers, as this process gives them."""
        return self._does("ask")

    def look(self) -> None:
        """Updates the index."""
        self._does("look")

    def _does(self, what: str) -> tuple[list[str], object]:
        self._ours.send(what)
        return self._ours.recv()

    def kill(self) -> None:
        assert self.process.pid is not None
        if self.process.is_alive():
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()


def _serve(settings: Settings, root: str, pipe: Connection) -> None:
    with Engine(settings) as engine:
        while what := pipe.recv():
            if what == "look":
                engine.index(path=root)
            pipe.send(_told(engine, Path(root)) if what == "ask" else None)


def _told(engine: Engine, root: Path) -> tuple[list[str], object]:
    answers = [answer(engine, query, root, None) for query in QUERIES]
    for made in sorted(root.glob("made*.py")):
        # Uses a database index that no other query uses.
        found = engine.search(f"{made.stem}_once", path=root, mode="symbol")
        answers.append(f"{made.stem}: {[str(one.handle) for one in found.results]}")
    return answers, dump(engine, root, None)


def _right(world: World) -> tuple[list[str], object]:
    home = world.scratch / "right"
    with Engine(Settings(home=home, workers=1)) as engine:
        found = _told(engine, world.root)
    shutil.rmtree(home)
    return found


def _work_until_a_checkpoint(world: World, server: Server) -> None:
    """Edits and asks until the log was checkpointed into the file, and a little longer."""
    server.look()
    before = world.index.stat().st_mtime_ns
    while world.index.stat().st_mtime_ns == before:
        world.edit()
        number = len(list(world.root.glob("made*.py")))
        world.repo.write(f"made{number}.py", f"def made{number}_once(lamp):\n    return lamp\n")
        words = (f"{world.pick.getrandbits(40):x}" for _ in range(20_000))
        world.repo.write("words.txt", "\n".join(words))
        server.look()
    for _ in range(2):
        world.edit()
        server.look()


def _copied_onto(copy: Path, index: Path) -> None:
    shutil.copyfile(copy, index)


def _renamed_onto(copy: Path, index: Path) -> None:
    replacement = index.with_name("new")
    shutil.copyfile(copy, replacement)
    replacement.rename(index)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def server(world: World) -> Iterator[Server]:
    made = Server(world)
    yield made
    made.kill()


@pytest.mark.parametrize(
    ("put_back", "alive"),
    [(_copied_onto, True), (_renamed_onto, False), (_copied_onto, False), (_renamed_onto, True)][
        : 4 if FULL else 1
    ],
)
def test_an_older_copy_put_back_never_answers_wrong(
    world: World, server: Server, put_back: Callable[[Path, Path], None], alive: bool
) -> None:
    copy = world.scratch / "copy.db"
    for _ in range(rounds(1)):
        _work_until_a_checkpoint(world, server)
        # Copies only the file, as people do.
        shutil.copyfile(world.index, copy)
        _work_until_a_checkpoint(world, server)
        if not alive:
            server.kill()
        put_back(copy, world.index)
        COUNTS["older copies put back"] += 1
        if alive:
            assert server.ask() == _right(world)
        world.check()
        world.edit()
        world.check()
        with closing(open_index(world.index)) as db:
            assert db.fault(thorough=True) == ""
        if not alive:
            server.__init__(world)


def test_an_older_copy_with_a_newer_log_is_set_aside_at_once(world: World, server: Server) -> None:
    copy = world.scratch / "copy.db"
    server.ask()
    shutil.copyfile(world.index, copy)
    _work_until_a_checkpoint(world, server)
    # Indexing empties the log; asking does not.
    world.edit()
    server.ask()
    server.kill()
    _copied_onto(copy, world.index)
    open_index(world.index).close()
    assert list(database_recovery.asides(world.index.parent))


def test_an_older_copy_without_a_log_is_used(world: World) -> None:
    world.check()
    shutil.copyfile(world.index, world.scratch / "copy.db")
    for _ in range(3):
        world.edit()
        world.time_of_refresh()
    _copied_onto(world.scratch / "copy.db", world.index)
    world.check()
    assert not list(database_recovery.asides(world.index.parent))


def test_an_older_log_next_to_the_file_is_noticed(world: World, server: Server) -> None:
    server.ask()
    log = world.index.with_name(f"{world.index.name}-wal")
    world.edit()
    server.ask()
    old = log.read_bytes()
    _work_until_a_checkpoint(world, server)
    # The last process to close it moves the log into the file.
    server.kill()
    open_index(world.index).close()
    assert not log.exists()
    log.write_bytes(old)
    world.check()


def test_a_process_stopped_in_a_checkpoint_holds_up_nobody(world: World) -> None:
    world.check()
    with database_recovery.alone_in(world.index.parent):
        world.edit()
        world.check()
        home = world.scratch / "elsewhere"
        home.mkdir()
        (home / "other.py").write_text("def kindle_other(): pass\n")
        with world.engine() as engine:
            assert engine.search("kindle_other", path=home).results
    world.check()


def test_a_row_that_refers_to_nothing_is_damage_at_once(world: World) -> None:
    world.check()
    with closing(open_index(world.index)) as db, pytest.raises(IndexCorrupt), db.write(None):
        db.execute("INSERT INTO view_folders VALUES (9999, 0, x'00')")


def test_own_checkpoints_do_not_trigger_a_check(world: World, server: Server) -> None:
    world.check()
    stamp = database_recovery.stamp(world.index)
    os.utime(stamp, (1_000_000_000, stamp.stat().st_mtime - 3600))
    checked = stamp.stat().st_mtime_ns
    for _ in range(2):
        _work_until_a_checkpoint(world, server)
        world.check()
    server.kill()
    world.check()
    world.edit()
    world.check()
    assert stamp.stat().st_mtime_ns == checked
