"""A disk without free space: codelens deletes only its own expendable data."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from faults.test_no_room import ROOT, no_file_larger_than
from faults.world import COUNTS, World

from codelens.answers.upkeep_answers import ViewLife
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.upkeep import pruning
from codelens.errors import CodelensError, DiskFull, IndexCorrupt
from codelens.store.database import database_opening
from codelens.store.database.database_opening import open_database, open_index
from codelens.store.database.writer_lease import DAY_S
from codelens.store.views.garbage_collection import Limits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits and mounts of POSIX")
SMALL = "12m"


def with_old_branch(world: World) -> None:
    """A branch with many unique texts that nobody asked about for fifteen days."""
    world.repo.git("checkout", "-q", "-b", "old")
    for number in range(40):
        names = [f"beacon_{number}_{at}" for at in range(60)]
        body = "\n\n".join(f"def {name}(oil):\n    return {name}_of(oil)\n" for name in names)
        world.repo.write(f"old/mod{number}.py", body)
    world.repo.commit("much")
    world.look()
    world.repo.git("checkout", "-q", "main")
    world.look()
    with closing(open_index(world.index)) as db, db.write(None):
        db.execute("UPDATE upkeep SET clock_s = clock_s + ?", (15 * DAY_S,))


def fill(folder: Path) -> None:
    """Fills the disk to the last byte."""
    with pytest.raises(OSError, match="No space left"), (folder / "fill").open("ab", 0) as file:
        while True:
            file.write(bytes(4096))


def room(folder: Path) -> int:
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


@pytest.fixture
def full(tmp_path: Path) -> Iterator[World]:
    """A world with an old branch whose home is on a full disk."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "none", str(small)]
    linux = sys.platform.startswith("linux")
    if not linux or not ROOT or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk (Linux)")
    try:
        world = World(tmp_path, home=small / "home")
        with_old_branch(world)
        fill(small)
        COUNTS["full disks"] += 1
        yield world
    finally:
        subprocess.run(["umount", str(small)], check=True)


def json_of(world: World, *args: str) -> dict:
    done = world.run(*args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_due_views_are_removed_on_a_full_disk(full: World) -> None:
    planned = json_of(full, "prune", "--dry-run")
    done = json_of(full, "prune")
    for answer in (planned, done):
        assert [view["branch"] for view in answer["results"][0]["views"]] == ["old"]
    assert done["results"][0]["contents"] >= 40
    assert 0 < done["results"][0]["freed_bytes"] <= room(full.home)
    assert json_of(full, "prune")["results"] == []
    full.check()


def test_a_whole_index_is_dropped_without_room(full: World) -> None:
    size = full.index.stat().st_size
    done = json_of(full, "drop", "--repository", "--force")
    assert done["whole"] and {view["branch"] for view in done["views"]} == {"main", "old"}
    assert not list((full.home / "indexes").glob("index-*"))
    assert room(full.home) >= size
    full.check()


def test_one_view_is_dropped_without_room(full: World) -> None:
    json_of(full, "drop", "old")
    assert room(full.home) > 0
    (one,) = json_of(full, "status", "--all")["results"]
    assert [view["branch"] for view in one["views"]] == ["main"]
    full.check()


def test_a_pinned_view_is_dropped_without_room_and_its_pin_with_it(full: World) -> None:
    (full.home.parent / "fill").unlink()
    json_of(full, "pin", "old")
    fill(full.home.parent)
    refused = full.run("drop", "old")
    assert refused.returncode == 2 and "is pinned" in refused.stderr
    json_of(full, "drop", "old", "--force")
    (one,) = json_of(full, "status", "--all")["results"]
    assert [view["branch"] for view in one["views"]] == ["main"] and not one["unbuilt_pins"]
    full.check()


def test_the_doctors_advice_frees_space(full: World) -> None:
    found = full.run("doctor", "--no-agents", "--json")
    assert found.returncode == 1
    (disk,) = [one for one in json.loads(found.stdout)["results"] if one["state"] == "wrong"]
    (command,) = re.findall("`codelens ([^`]+)`", disk["done"])
    size = full.index.stat().st_size
    done = full.run(*shlex.split(command))
    assert done.returncode == 0, done.stderr
    assert room(full.home) >= size


def test_damaged_files_that_were_set_aside_go_first(full: World) -> None:
    (full.home.parent / "fill").unlink()
    aside = full.index.with_name(f"{full.index.name}.damaged-{time.time_ns()}")
    aside.write_bytes(bytes(500_000))
    aside.chmod(0o600)
    fill(full.home.parent)
    found = full.run("doctor", "--no-agents")
    assert "--fix removes damaged files (0.5 MB)" in found.stdout
    assert json_of(full, "prune")["disposed_bytes"] == 500_000
    assert not aside.exists()
    full.check()


def test_a_damaged_index_is_set_aside_and_deleted_on_a_full_disk(full: World) -> None:
    data = bytearray(full.index.read_bytes())
    data[len(data) // 2] ^= 1
    full.index.write_bytes(bytes(data))
    done = full.run("doctor", "--fix", "--no-agents", "--json")
    found = [one for one in json.loads(done.stdout)["results"] if one["state"] == "mended"]
    assert [one["check"] for one in found][:1] == ["indexes"], done.stdout
    assert {one["check"] for one in found[1:]} == {"leftovers"}
    assert room(full.home) >= len(data)
    full.check()


def test_an_index_in_use_is_not_removed(full: World) -> None:
    (full.home.parent / "fill").unlink()
    with closing(open_index(full.index)) as reader, reader.read():
        before = reader.rows("SELECT COUNT(*) FROM view_files")
        fill(full.home.parent)
        for args in (("prune", "--yes"), ("drop", "--repository", "--force")):
            done = full.run(*args)
            assert done.returncode == 2
            assert "open elsewhere" in done.stderr and "Traceback" not in done.stderr
        assert reader.rows("SELECT COUNT(*) FROM view_files") == before
    assert full.run("drop", "--repository", "--force").returncode == 0
    full.check()


def test_a_server_lets_go_of_an_index_that_it_prunes_without_room(full: World) -> None:
    (full.home.parent / "fill").unlink()
    with full.engine() as server:
        server.search("kindle", path=full.root)
        fill(full.home.parent)
        (done,) = server.prune().results
        assert not done.error and [view.branch for view in done.views] == ["old"]
        assert server.search("kindle", path=full.root).results
    full.check()


# The remaining tests need no mount.


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    with_old_branch(made)
    return made


def test_a_whole_index_is_dropped_where_nothing_can_be_written(world: World) -> None:
    with no_file_larger_than(1000), world.engine() as engine:
        done = engine.drop_repository(path=world.root, force=True)
    assert done.whole and {view.branch for view in done.views} == {"main", "old"}
    assert not list((world.home / "indexes").glob("index-*"))
    COUNTS["full disks"] += 1
    world.check()


def test_a_pack_without_room_for_its_records_is_an_error_in_words(
    world: World, tmp_path: Path
) -> None:
    with (
        no_file_larger_than(4096),
        world.engine() as engine,
        pytest.raises(CodelensError, match="TMPDIR"),
    ):
        engine.pack(tmp_path / "one.pack", path=world.root)
    assert not list(tmp_path.glob("*.pack*"))


def test_rows_go_from_a_file_that_may_not_grow(world: World) -> None:
    size = world.index.stat().st_size
    went: list[ViewLife] = []
    with closing(database_opening.hold_index(world.index)) as db:
        (pages,) = db.rows("PRAGMA page_count")[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
        with db.without_log():
            done = pruning._prune(db, Limits(), lambda: True, pruning.machine, went)
            logs = list(world.index.parent.glob("*.db-*"))
            assert sum(log.stat().st_size for log in logs) == 0
    assert [view.branch for view in went] == ["old"] and done.contents >= 40
    assert world.index.stat().st_size < size
    with closing(open_database(world.index, "index")) as db:
        assert db.fault(thorough=True) == "" and db.rows("PRAGMA journal_mode") == [("wal",)]
    world.check()


KILLED = """
import os, signal, sys
from pathlib import Path
from codelens.store.database.database_opening import hold_index
held = hold_index(Path(sys.argv[1]))
with held.without_log():
    with held.write(None):
        held.execute("DELETE FROM views")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_without_a_log_leaves_an_index_that_is_rebuilt(world: World) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(world.index)], env=world.environment())
    assert done.returncode == -signal.SIGKILL
    with pytest.raises(IndexCorrupt, match="ended while deleting rows"):
        open_database(world.index, "index")
    COUNTS["kills"] += 1
    world.check()
    assert list(world.index.parent.glob("*.damaged-*"))


def test_an_index_that_others_have_open_is_not_taken_from_them(world: World) -> None:
    with closing(open_index(world.index)) as reader:
        reader.rows("SELECT COUNT(*) FROM views")
        with pytest.raises(DiskFull, match="open elsewhere"):
            database_opening.hold_index(world.index)
    database_opening.hold_index(world.index).close()
    world.check()


def test_an_error_without_a_log_is_undone(world: World) -> None:
    with closing(database_opening.hold_index(world.index)) as db:
        before = db.rows("SELECT id FROM views")
        with pytest.raises(ZeroDivisionError), db.without_log(), db.write(None):
            db.execute("DELETE FROM views")
            raise ZeroDivisionError
        assert db.rows("SELECT id FROM views") == before
    with Engine(Settings(home=world.home)) as engine:
        assert {view.branch for view in engine.overview()[0].views} == {"main", "old"}
    world.check()
