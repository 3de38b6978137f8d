"""Modes that lock users out of their own files: reported with a remedy, and repaired."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from faults.world import COUNTS, World

from codelens.config import load
from codelens.errors import HomeNotReadable, SettingError
from codelens.store.database.database_opening import open_database

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
_NOBODY = 65534
ASKED = (
    ("search", "lamp kindle"),
    ("load",),
    ("status", "--all"),
    ("prune", "--yes"),
    ("drop", "--repository", "--force"),
    ("usage",),
    ("doctor", "--no-agents"),
)

# Imports first: another user may not be able to read Python's own files.
AS_ANOTHER = """
import json, os, sys, tomllib
from pathlib import Path
from codelens.config import Settings
from codelens.engine.upkeep import view_survey as lives
from codelens.engine.upkeep import view_removal as upkeep
from codelens.engine.upkeep.diagnosis import examine
home = Path(sys.argv[1])
os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
found = [one for one in examine(Settings(home), fix=True) if one.state == "wrong"]
print(json.dumps([f"{one.found}; {one.done}" for one in found]))
print(json.dumps([one.error for one in upkeep.overview(home, lives.Limits())]))
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path, files=6)
    made.look()
    (made.home / "config.toml").write_text("workers = 1\n")
    (made.home / "config.toml").chmod(0o600)
    return made


@pytest.mark.parametrize(
    ("what", "mode"),
    [("**/*", 0), (".", 0), ("config.toml", 0), ("contexts", 0), ("contexts/*", 0),
     ("indexes", 0), ("indexes/*.db", 0), ("**/*", 0o400), ("indexes", 0o600)],
)  # fmt: skip
def test_unreadable_files_are_reported_and_repaired(world: World, what: str, mode: int) -> None:
    before = sorted(world.home.rglob("*"))
    barred = sorted(world.home.glob(what)) if what != "." else [world.home]
    for path in reversed([world.home, *barred] if what == "**/*" else barred):
        path.chmod(mode)
    harmless = mode == 0o400 and all(path.is_file() for path in barred)
    for args in ASKED:
        if harmless and args[0] == "drop":
            continue
        done = world.run(*args)
        said = done.stdout + done.stderr
        assert done.returncode in {0, 1 if args[0] == "doctor" else 2}, said
        for bare in ("unexpected", "bug in codelens", "Traceback", "[Errno"):
            assert bare not in said, args
        if done.returncode == 2:
            assert str(world.home) in said
            assert "codelens doctor --fix" in said or "make it writable" in said
    mended = world.run("doctor", "--fix", "--no-agents", "--json")
    assert mended.returncode == 0, mended.stdout + mended.stderr
    repaired = [one for one in json.loads(mended.stdout)["results"] if one["state"] == "mended"]
    # codelens never writes settings.
    faults = {str(path) for path in barred if mode == 0 or path.name != "config.toml"}
    assert faults <= {one["about"] for one in repaired}
    assert all(one["check"] == "permissions" and one["done"] for one in repaired)
    assert world.run("doctor", "--no-agents").returncode == 0
    assert {path for path in before if "usage" not in path.name and not _is_index(path)} <= set(
        world.home.rglob("*")
    )
    COUNTS["modes changed"] += 1
    world.check()


@pytest.mark.parametrize("mode", [0o400, 0o600])
def test_saving_into_an_inaccessible_folder_is_an_error(world: World, mode: int) -> None:
    folder = world.home / "contexts"
    # The contexts of other repositories are checked too: one of them may have moved here.
    other = folder / f"contexts-{'0' * 16}.db"
    world.contexts.rename(other)
    with closing(open_database(other, "contexts")) as db:
        db.execute("DELETE FROM about")
    folder.chmod(mode)
    refused = world.run("save", "b", "--note", "x")
    assert refused.returncode == 2
    assert f"cannot read {str(folder)!r}: its mode {mode:04o} does not let you" in refused.stderr
    assert "codelens doctor --fix" in refused.stderr
    assert world.run("doctor", "--fix", "--no-agents").returncode == 0
    assert world.run("save", "b", "--note", "x").returncode == 0


def _is_index(path: Path) -> bool:
    return path.name.startswith("index-")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs another user")
def test_files_of_another_user_are_reported_with_a_remedy(world: World) -> None:
    for one in (world.scratch, *world.scratch.parents):
        if one not in {Path("/"), Path("/tmp")}:
            one.chmod(one.stat().st_mode | 0o055)
    for one in world.home.rglob("*"):
        os.chown(one, _NOBODY, _NOBODY)
    os.chown(world.home, _NOBODY, _NOBODY)
    os.chown(world.index, 0, 0)
    command = [sys.executable, "-c", AS_ANOTHER, str(world.home), str(_NOBODY)]
    done = subprocess.run(command, env=world.environment(), capture_output=True, text=True)
    wrong, indexes = map(json.loads, done.stdout.splitlines())
    assert "it belongs to user 0, and you have no access to it" in wrong[0]
    assert f"`sudo chown -R {_NOBODY} " in wrong[0]
    assert "belongs to user 0" in indexes[0] and "ask its owner to make it readable" in indexes[0]


def test_an_invalid_settings_file_is_reported_and_the_doctor_runs(world: World) -> None:
    file = world.home / "config.toml"
    for text in (b"workers = \n", b"workers = 'a'\n", b"nonsense = 1\n", b"\xff\xfe"):
        file.write_bytes(text)
        ran = world.run("search", "lamp")
        assert ran.returncode == 0 and ran.stderr.count("warning") == 1
        found = world.run("doctor", "--no-agents", "--json")
        assert found.returncode == 1
        (wrong,) = [one for one in json.loads(found.stdout)["results"] if one["state"] == "wrong"]
        assert wrong["check"] == "settings"
    file.unlink()
    file.mkdir()
    ran = world.run("search", "lamp")
    assert ran.returncode == 0 and "move it away" in ran.stderr


def test_a_missing_home_is_reported() -> None:
    with pytest.raises(SettingError, match="set CODELENS_HOME to an absolute path"):
        load({"CODELENS_HOME": "~nobody-of-this-name/x"})


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_settings_file_does_not_count_as_empty(world: World) -> None:
    (world.home / "config.toml").chmod(0)
    with pytest.raises(HomeNotReadable):
        load(home=world.home)
