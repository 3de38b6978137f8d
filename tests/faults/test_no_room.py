"""A full disk, an unwritable home, changing modes: an answer, or a clear error."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults.world import COUNTS, World, rounds

from codelens.config import Settings
from codelens.engine.engine import Engine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits, modes and users of POSIX")
ROOT = os.name == "posix" and os.geteuid() == 0


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Makes writes beyond `size` bytes fail in this process, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A module imported here would leave truncated bytecode for every later process.
    unwritten, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = unwritten


def right(world: World, home: Path) -> str:
    with Engine(Settings(home=home, workers=1)) as fresh:
        found = fresh.search("lamp kindle", path=world.root)
    shutil.rmtree(home)
    return json.dumps([one.handle for one in found.results])


def test_a_full_disk_changes_no_answer(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(rounds(12)):
        if number % 4 == 0 and (world.home / "indexes").exists():
            shutil.rmtree(world.home / "indexes")
        world.edit()
        expected = right(world, tmp_path / "fresh")
        limit = world.pick.choice((0, 1000, 20_000, 100_000, 300_000, 600_000))
        with no_file_larger_than(limit), world.engine() as engine:
            answer = engine.search("lamp kindle", path=world.root)
        assert json.dumps([one.handle for one in answer.results]) == expected
        COUNTS["full disks"] += 1
        COUNTS["answers from memory"] += "answered from memory" in answer.receipt.note
        if number % 3 == 2:
            world.check()
    world.check()


def test_a_server_goes_back_to_the_file_when_there_is_room(tmp_path: Path) -> None:
    world = World(tmp_path)
    with world.engine() as engine:
        with no_file_larger_than(0):
            found = engine.search("lamp kindle", path=world.root)
        assert "answered from memory" in found.receipt.note
        world.edit()
        (index,) = engine.pool.indexes()
        index._try_again = 0.0
        found = engine.search("lamp kindle", path=world.root)
        assert found.receipt.note == ""
        assert not index.standing_in
    world.check()


def test_an_edit_too_large_for_memory_is_answered_from_the_last_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    world.check()
    monkeypatch.setattr("codelens.store.database.database_opening.STAND_IN_BYTES", 1000)
    monkeypatch.setattr("codelens.index.view_refresh.STAND_IN_BYTES", 1000)
    with world.engine() as engine:
        engine.search("lamp kindle", path=world.root)
        world.edit()
        with no_file_larger_than(0):
            answer = engine.search("lamp kindle", path=world.root)
    assert answer.receipt.status == "partial"
    assert "no space left" in answer.receipt.note
    monkeypatch.undo()
    world.check()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    world = World(tmp_path)
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=60k", "none", str(small)]
    if not ROOT or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount")
    try:
        home = small / "home"
        result = world.run("search", "--json", "lamp kindle", env={"CODELENS_HOME": str(home)})
        assert result.returncode == 0, result.stderr
        found = json.loads(result.stdout)
        assert "answered from memory" in found["receipt"]["note"]
        handles = json.dumps([one["handle"] for one in found["results"]])
        assert handles == right(world, tmp_path / "fresh")
        COUNTS["full disks"] += 1
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize(
    "state", ["readable, not writable", "not readable", "no home and none can be made", "no log"]
)
def test_a_home_that_cannot_be_written_is_answered_from_memory(tmp_path: Path, state: str) -> None:
    world = World(tmp_path)
    world.check()
    world.edit()
    expected = right(world, world.scratch / "fresh")
    before = world.index.read_bytes()
    for one in (world.home, *world.home.rglob("*")):
        one.chmod(0o555 if one.is_dir() else 0o444)
    if state == "not readable":
        world.index.chmod(0)
    if state == "no home and none can be made":
        world.home.rename(world.scratch / "elsewhere")
        world.scratch.chmod(0o555)
    result = world.run("search", "--json", "lamp kindle")
    if state == "not readable":
        assert result.returncode == 2
        assert "make it readable (`codelens doctor --fix` does)" in result.stderr
    else:
        assert result.returncode == 0, result.stderr
        found = json.loads(result.stdout)
        assert "answered from memory" in found["receipt"]["note"]
        assert json.dumps([one["handle"] for one in found["results"]]) == expected
    if state == "readable, not writable":
        assert world.index.read_bytes() == before
    COUNTS["homes without permission"] += 1
    for one in (world.scratch, *world.scratch.rglob("*")):
        if one.is_dir():
            one.chmod(0o755)


def test_changed_modes_are_reported_and_recovered_from(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.check()
    assert world.run("search", "--json", "lamp kindle").returncode == 0
    for mode in (0o000, 0o400, 0o500, 0o300):
        (world.home / "indexes").chmod(mode)
        result = world.run("search", "--json", "lamp kindle")
        assert result.returncode in {0, 2}
        assert "Traceback" not in result.stderr
        if result.returncode:
            assert re.search("make it (writ|read)able", result.stderr)
        (world.home / "indexes").chmod(0o700)
        result = world.run("search", "--json", "lamp kindle")
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["receipt"]["note"] == ""
        COUNTS["modes changed"] += 1
