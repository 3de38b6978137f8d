"""A server's upkeep each minute: removes leftovers, truncates long logs, returns memory."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine import background_work
from codelens.engine.background_work import ServerUpkeep
from codelens.engine.engine import Engine
from codelens.store.database.database_opening import open_index
from codelens.store.views.garbage_collection import GRACE_S


class Tended:
    """A repository, an engine with its index open, and its upkeep."""

    def __init__(self, folder: Path) -> None:
        self.repo = GitRepo.init(folder / "repo")
        self.repo.commit("first", {f"src/m{n}.py": f"def lamp{n}(): ...\n" for n in range(30)})
        self.engine = Engine(Settings(home=folder / "home"))
        self.upkeep = ServerUpkeep(self.engine.pool.indexes)
        self.ask()

    def ask(self) -> list[str]:
        hits = self.engine.search("lamp", path=self.repo.root, limit=50).results
        return sorted(hit.path for hit in hits)

    def edit_all(self, text: str) -> None:
        for n in range(30):
            self.repo.write(f"src/m{n}.py", f"def lamp{n}():\n    return {text!r}\n" * 40)
        self.ask()

    def tend(self, *, idle: bool = False, collects: bool = True) -> None:
        self.upkeep.tend(lambda: True, idle=idle, collects=collects)

    @property
    def index(self) -> Path:
        (path,) = (self.engine.settings.home / "indexes").glob("index-*.db")
        return path

    def number(self, sql: str) -> int:
        with closing(open_index(self.index)) as db:
            return db.rows(sql)[0][0]

    def wait_ten_minutes(self) -> None:
        with closing(open_index(self.index)) as db, db.write(None):
            db.execute("UPDATE doomed SET since_s = since_s - ?", (GRACE_S + 1,))


@pytest.fixture
def tended(tmp_path: Path) -> Generator[Tended]:
    made = Tended(tmp_path)
    yield made
    made.engine.close()


def test_texts_that_no_view_needs_go_when_no_reader_can_hold_them(tended: Tended) -> None:
    for text in ("one", "two", "three"):
        tended.edit_all(text)
    before = tended.number("SELECT COUNT(*) FROM contents")
    tended.tend()
    assert tended.number("SELECT COUNT(*) FROM contents") == before, "an answer may hold them"
    assert tended.number("SELECT COUNT(*) FROM doomed") > 0
    tended.wait_ten_minutes()
    answer = tended.ask()
    tended.tend()
    assert tended.number("SELECT COUNT(*) FROM contents") <= before - 60
    assert tended.number("PRAGMA freelist_count") <= 16, "pages are given back"
    assert tended.ask() == answer and len(answer) == 30


def test_an_index_that_nobody_changed_is_not_written_to(
    tended: Tended, monkeypatch: pytest.MonkeyPatch
) -> None:
    tended.edit_all("one")
    tended.tend()
    tended.wait_ten_minutes()
    tended.tend()
    opened: list[Path] = []

    def counted(path: Path) -> object:
        opened.append(path)
        return open_index(path)

    monkeypatch.setattr(background_work, "open_index", counted)
    tended.tend()
    tended.tend()
    assert opened == []
    other = ServerUpkeep(tended.engine.pool.indexes)
    other.tend(lambda: True, idle=False)
    assert len(opened) == 1
    other.tend(lambda: True, idle=False)
    assert len(opened) == 1, "of another server's work nothing is done again"


def test_nothing_is_removed_where_settings_are_damaged(tended: Tended) -> None:
    tended.edit_all("one")
    tended.tend(collects=False)
    assert tended.number("SELECT COUNT(*) FROM doomed") == 0


@pytest.mark.slow
def test_a_long_log_is_cut_once_nobody_reads_from_it(
    tended: Tended, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_work, "LARGEST_LOG_BYTES", 1000)
    log = tended.index.with_name(f"{tended.index.name}-wal")
    tended.edit_all("one")
    assert log.stat().st_size > 1000
    reader = apsw.Connection(str(tended.index))
    reader.execute("BEGIN; SELECT COUNT(*) FROM contents").fetchall()
    tended.edit_all("two")
    tended.tend()
    assert log.stat().st_size > 1000, "a reader has it"
    reader.close()
    tended.tend()
    assert log.stat().st_size <= 1000
    assert len(tended.ask()) == 30


def test_an_idle_server_keeps_no_pages_in_memory(tended: Tended) -> None:
    (index,) = tended.engine.pool.indexes()

    def cached_bytes() -> int:
        connection = index.db._connection  # pyright: ignore[reportPrivateUsage]
        return connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0]

    tended.edit_all("one")
    before = cached_bytes()
    tended.tend(idle=False)
    assert cached_bytes() == before
    tended.tend(idle=True)
    assert cached_bytes() < before / 2
    assert len(tended.ask()) == 30


def test_a_server_tends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr(background_work, "_TEND_EVERY_S", 0.01)
    tended = threading.Event()
    monkeypatch.setattr(ServerUpkeep, "tend", lambda *_, **__: tended.set())
    with Engine(Settings(home=tmp_path / "home"), keep_going=True):
        assert tended.wait(60)


@pytest.fixture
def without_collections() -> Generator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


class Circle:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def old_cycle() -> weakref.ref[Circle]:
    """A circle without other references; as it is old, only a search of all objects frees it."""
    circle = Circle()
    gc.collect(1)
    return weakref.ref(circle)


@pytest.mark.usefixtures("without_collections")
def test_cycles_are_freed_when_idle(tended: Tended) -> None:
    gone = old_cycle()
    tended.tend()
    assert gone() is not None, "a search of all objects delays a call"
    tended.tend(idle=True)
    assert gone() is None


@pytest.mark.usefixtures("without_collections")
def test_a_server_that_is_never_idle_frees_cycles_now_and_then(tended: Tended) -> None:
    gone = old_cycle()
    minutes = 0
    while gone() is not None:
        assert minutes < 20, "the cycle stays"
        tended.tend()
        minutes += 1
    assert minutes > 1, "a search of all objects delays a call"


@pytest.mark.usefixtures("without_collections")
def test_a_question_frees_the_cycles_of_earlier_ones(tended: Tended, tmp_path: Path) -> None:
    circle = Circle()
    gone = weakref.ref(circle)
    del circle
    with Engine(Settings(home=tmp_path / "home"), keep_going=True) as server:
        server.search("lamp", path=tended.repo.root)
    assert gone() is None


@pytest.mark.usefixtures("without_collections")
def test_an_edit_leaves_no_cycle_behind(tended: Tended) -> None:
    root = tended.repo.root

    def ask() -> None:
        tended.engine.references("lamp1", path=root)
        tended.engine.impact(["src/m2.py#lamp2"], path=root)
        tended.engine.map(path=root)

    tended.repo.write("src/user.py", "from src.m1 import lamp1\n\ndef use():\n    lamp1()\n")
    ask()
    gc.collect()
    tended.repo.write("src/m1.py", "\n\ndef lamp1():\n    return 1\n")
    ask()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    left = {type(item) for item in gc.garbage if type(item).__module__.startswith("codelens.")}
    assert left == set()
