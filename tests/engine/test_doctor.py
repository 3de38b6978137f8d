"""The doctor finds faults, changes nothing without a request, and repairs what it can."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.upkeep.diagnosis import CHECKS, examine
from codelens.engine.upkeep.file_checks import Examination, Finding
from codelens.errors import StoreError
from codelens.store.database.database_opening import open_index


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"lamp.py": "def kindle():\n    return 1\n"})
    found = Settings(home=tmp_path / "home")
    with Engine(found) as engine:
        engine.search("kindle", path=repo.root)
    return found


def index_of(settings: Settings) -> Path:
    return next((settings.home / "indexes").glob("index-*.db"))


def wrong(settings: Settings) -> list[Finding]:
    return [one for one in examine(settings) if one.state == "wrong"]


def mended(settings: Settings) -> list[Finding]:
    return [one for one in examine(settings, fix=True) if one.state == "mended"]


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def test_nothing_is_wrong_with_a_home_in_use(settings: Settings) -> None:
    assert wrong(settings) == []
    assert {one.check for one in examine(settings)} == {name for name, _ in CHECKS}


def test_nothing_is_wrong_with_a_home_that_is_not_there(tmp_path: Path) -> None:
    assert wrong(Settings(home=tmp_path / "none")) == []
    assert not (tmp_path / "none").exists()


def test_a_damaged_index_is_found_and_repaired_only_on_request(settings: Settings) -> None:
    index = index_of(settings)
    damage(index)
    for _ in range(2):
        (found,) = wrong(settings)
        assert (found.check, found.about) == ("indexes", str(index))
    assert [one.check for one in mended(settings)] == ["indexes"]
    assert wrong(settings) == []
    assert open_index(index).rows("SELECT * FROM views") == []


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_files_readable_by_others_are_made_private(settings: Settings) -> None:
    file = settings.home / "config.toml"
    file.write_text("")
    file.chmod(0o644)
    settings.home.chmod(0o755)
    assert {one.about for one in wrong(settings)} == {str(file), str(settings.home)}
    assert len(mended(settings)) == 2
    assert (file.stat().st_mode & 0o777, settings.home.stat().st_mode & 0o777) == (0o600, 0o700)


def test_the_lease_of_a_dead_writer_is_given_back(settings: Settings) -> None:
    db = open_index(index_of(settings))
    with db.write(None):
        db.execute("UPDATE index_locks SET owner = 'gone', pid = 999999999")
    (found,) = wrong(settings)
    assert "ended while writing" in found.found
    assert [one.check for one in mended(settings)] == ["indexes"]
    assert wrong(settings) == []


def test_files_left_behind_are_removed(settings: Settings) -> None:
    folder = settings.home / "indexes"
    old = time.time() - 30 * 86_400
    left = [
        folder / "index-gone.db-wal",
        folder / "index-gone.db.checked",
        folder / f"index-gone.db.damaged-{int(old * 1e9)}",
    ]
    for path in left:
        path.write_bytes(b"")
        path.chmod(0o600)
    assert {one.about for one in wrong(settings)} == {str(path) for path in left}
    mended(settings)
    assert not any(path.exists() for path in left)


def test_a_newer_schema_is_reported_and_left_alone(settings: Settings) -> None:
    db = open_index(index_of(settings))
    db.execute("PRAGMA user_version = 999")
    db.close()
    (found,) = [one for one in examine(settings, fix=True) if one.state == "wrong"]
    assert "999" in found.found
    assert found.done == "upgrade codelens"


def test_an_older_schema_is_reported_and_not_migrated_unasked(settings: Settings) -> None:
    db = open_index(index_of(settings))
    db.execute("PRAGMA user_version = 1")
    db.close()
    for _ in range(2):
        assert any("schema 1" in one.found for one in examine(settings) if one.state == "note")


def test_damaged_vectors_are_set_aside(settings: Settings) -> None:
    folder = settings.home / "vectors"
    folder.mkdir(mode=0o700)
    vectors = folder / "vectors-0123456789abcdef.db"
    vectors.write_bytes(b"junk" * 1000)
    vectors.chmod(0o600)
    assert [one.check for one in wrong(settings)] == ["vectors"]
    assert [one.check for one in mended(settings)] == ["vectors"]
    assert not vectors.exists()
    assert wrong(settings) == []


def test_damaged_usage_counts_are_set_aside(settings: Settings) -> None:
    usage = settings.home / "usage.db"
    usage.write_bytes(b"junk" * 1000)
    usage.chmod(0o600)
    assert [one.check for one in wrong(settings)] == ["usage"]
    assert [one.check for one in mended(settings)] == ["usage"]


def test_a_check_that_fails_keeps_no_other_from_running(settings: Settings) -> None:
    def fails(case: Examination):
        yield Finding("ok", "first", "fine")
        raise StoreError("out of order")

    found = list(examine(settings, checks=(("broken", fails), *CHECKS)))
    assert [one.found for one in found if one.state == "wrong"] == ["out of order"]
    assert {one.check for one in found} == {"broken", *(name for name, _ in CHECKS)}


@pytest.mark.slow
def test_the_exit_code_shows_the_result(settings: Settings) -> None:
    env = git_environment() | {
        "CODELENS_HOME": str(settings.home),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def doctor(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "codelens", "doctor", *args]
        return subprocess.run(command, env=env, capture_output=True, text=True)

    assert doctor().returncode == 0
    damage(index_of(settings))
    assert doctor().returncode == 1
    finding = json.loads(doctor("--json").stdout)
    assert (finding["wrong"], finding["mended"]) == (1, 0)
    done = doctor("--fix")
    assert (done.returncode, "fixed" in done.stdout) == (0, True)
    assert doctor().returncode == 0


def test_lost_contexts_are_not_reported_as_repaired(settings: Settings, tmp_path: Path) -> None:
    with Engine(settings) as engine:
        engine.save("lamps", "one", path=tmp_path / "repo")
        engine.save("wicks", "two", path=tmp_path / "repo")
    for path in (settings.home / "contexts").glob("contexts-*.db*"):
        path.write_bytes(b"no database " * 300)
    (finding,) = [one for one in examine(settings, fix=True) if one.check == "contexts"][:1]
    assert (finding.state, finding.done[:27]) == ("wrong", "nothing could be restored f")
    after = [one for one in examine(settings) if one.check == "contexts"]
    assert any(".unreadable-" in one.about and one.state == "note" for one in after)


def test_contexts_that_are_restored_are_counted(settings: Settings, tmp_path: Path) -> None:
    with Engine(settings) as engine:
        engine.save("lamps", "one", path=tmp_path / "repo")
    (path,) = (settings.home / "contexts").glob("contexts-*.db")
    path.write_bytes(b"no database " * 300)
    (finding,) = [one for one in mended(settings) if one.check == "contexts"]
    assert finding.done == "done: 1 restored; the damaged file is kept"


@pytest.mark.parametrize(("folder", "kind"), [("indexes", "index"), ("contexts", "contexts")])
def test_a_folder_in_place_of_one_database_hides_no_other(
    settings: Settings, folder: str, kind: str
) -> None:
    (settings.home / folder).mkdir(exist_ok=True)
    (settings.home / folder / f"{kind}-aaaa.db").mkdir(0o700)
    other = settings.home / folder / f"{kind}-zzzz.db"
    other.write_bytes(b"no database " * 300)
    other.chmod(0o600)
    found = {Path(one.about).name: one for one in wrong(settings)}
    assert found[f"{kind}-aaaa.db"].done == "move it away"
    assert "damaged" in found[other.name].found


def test_a_link_in_place_of_the_call_log_is_reported_and_removed(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "other").write_text("mine")
    (settings.home / "usage.log").unlink(missing_ok=True)
    (settings.home / "usage.log").symlink_to(tmp_path / "other")
    assert [one.check for one in wrong(settings)] == ["usage"]
    assert [one.check for one in mended(settings)] == ["usage"]
    assert (tmp_path / "other").read_text() == "mine"
    assert not wrong(settings)


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_file_that_anybody_may_run_is_made_one_to_read_and_write(settings: Settings) -> None:
    file = settings.home / "indexes" / ".creation.lock"
    file.chmod(0o777)
    (found,) = wrong(settings)
    assert (found.found, found.done) == (
        "other users have access to it (0777)",
        "--fix: set its mode to 0600",
    )
    assert len(mended(settings)) == 1
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_program_that_somebody_keeps_there_stays_one(settings: Settings) -> None:
    tool = settings.home / "venv" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert mended(settings)
    assert tool.stat().st_mode & 0o777 == 0o700
    assert wrong(settings) == []


def test_files_set_aside_are_not_leftovers(settings: Settings) -> None:
    aside = settings.home / "indexes" / f"index-gone.db.damaged-{time.time_ns()}"
    aside.write_bytes(b"x" * 1000)
    aside.chmod(0o600)
    found = [one for one in examine(settings, fix=True) if one.check == "leftovers"]
    assert [(one.state, one.about) for one in found] == [("note", str(aside))]
    assert aside.exists()


def test_if_space_is_scarce_the_largest_users_are_listed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codelens.engine.upkeep.view_survey.LITTLE_BYTES", 1 << 62)
    repo_id = index_of(settings).name.removeprefix("index-").removesuffix(".db")
    (found,) = wrong(settings)
    assert found.check == "disk"
    assert f"`codelens drop --force --repository {repo_id}` (0." in found.done
    aside = settings.home / "indexes" / f"index-gone.db.damaged-{time.time_ns()}"
    aside.write_bytes(b"x" * 100_000)
    aside.chmod(0o600)
    disk, left = wrong(settings)
    assert "--fix removes damaged files (0.1 MB)" in disk.done
    assert left.about == str(aside)
    assert [one.about for one in mended(settings)] == [str(aside)]
    assert not aside.exists()
    index_of(settings).unlink()
    (found,) = [one for one in wrong(settings) if one.check == "disk"]
    assert found.done == "free some space; the indexes use none"
