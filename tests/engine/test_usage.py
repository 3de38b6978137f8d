"""Which calls are counted, where the counts go, and how to turn it off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings, load
from codelens.engine.engine import Engine
from codelens.engine.upkeep import usage_counter
from codelens.errors import SettingError
from codelens.render.upkeep_text import usage_text
from codelens.store.saved import usage_log as store

LONG = "def kindle(lamp):\n    return lamp\n" + "# filler\n" * 1000


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"lamp.py": LONG, "other.py": "import lamp\nlamp.kindle(1)\n"})
    return made


def test_a_served_answer_is_counted_with_what_it_saved(engine: Engine, repo: GitRepo) -> None:
    engine.expand(["lamp.py#kindle"], path=repo.root)
    usage_counter.served(50)
    found = engine.usage()
    assert (found.total.calls, found.total.served_bytes) == (1, 50)
    assert found.total.whole_bytes == len(LONG)
    assert found.total.saved_bytes == len(LONG) - 50
    assert found.by_tool[0].name == "expand"
    assert found.by_repository[0].name == str(repo.root)
    assert found.by_day[0].name == time.strftime("%Y-%m-%d")


def test_a_file_counts_once_a_process(engine: Engine, repo: GitRepo) -> None:
    for _ in range(3):
        engine.expand(["lamp.py#kindle"], path=repo.root)
        usage_counter.served(50)
    assert engine.usage().total.calls == 3
    assert engine.usage().total.whole_bytes == len(LONG)


def test_a_list_of_places_counts_its_first_file_alone(engine: Engine, repo: GitRepo) -> None:
    assert len(engine.search("kindle", path=repo.root).results) > 1
    usage_counter.served(50)
    assert engine.usage().total.whole_bytes == len(LONG)


def test_an_answer_longer_than_its_files_saved_nothing(engine: Engine, repo: GitRepo) -> None:
    engine.expand(["other.py"], path=repo.root)
    usage_counter.served(10_000)
    assert engine.usage().total.saved_bytes == 0


def test_a_ref_and_a_status_save_nothing(engine: Engine, repo: GitRepo) -> None:
    engine.expand(["lamp.py"], path=repo.root, ref="main")
    usage_counter.served(5)
    engine.status(path=repo.root)
    usage_counter.served(5)
    assert (engine.usage().total.calls, engine.usage().total.whole_bytes) == (2, 0)


def test_a_refused_call_is_counted_as_failed(engine: Engine, repo: GitRepo) -> None:
    engine.look(path=repo.root)
    with pytest.raises(SettingError):
        engine.search("x", path=repo.root, limit=0)
    usage_counter.served(0)
    assert (engine.usage().total.calls, engine.usage().total.failed) == (1, 1)


def test_a_handle_that_is_not_there_is_counted_as_failed(engine: Engine, repo: GitRepo) -> None:
    engine.expand(["lamp.py", "nope#x"], path=repo.root)
    usage_counter.served(5)
    assert (engine.usage().total.calls, engine.usage().total.failed) == (1, 1)


def test_an_answer_that_no_face_served_is_not_counted(engine: Engine, repo: GitRepo) -> None:
    engine.search("kindle", path=repo.root)
    assert engine.usage().total.calls == 0


def test_nothing_is_counted_when_it_is_off(tmp_path: Path, repo: GitRepo) -> None:
    with Engine(Settings(home=tmp_path / "home", usage=False)) as engine:
        engine.search("kindle", path=repo.root)
        usage_counter.served(50)
        assert not (tmp_path / "home" / "usage.log").exists()
        assert not engine.usage().counted


def test_the_setting_comes_from_the_environment_and_the_file(tmp_path: Path) -> None:
    assert load({}, tmp_path).usage
    assert not load({"CODELENS_USAGE": "Off"}, tmp_path).usage
    with pytest.raises(SettingError, match="usage must be true or false, not 'perhaps'"):
        load({"CODELENS_USAGE": "perhaps"}, tmp_path)
    (tmp_path / "config.toml").write_text("usage = false\n")
    assert not load({}, tmp_path).usage
    assert load({"CODELENS_USAGE": "1"}, tmp_path).usage


def test_neither_query_nor_code_is_written(engine: Engine, repo: GitRepo, tmp_path: Path) -> None:
    engine.search("kindle secret_question", path=repo.root)
    usage_counter.served(50)
    assert b"secret" not in (tmp_path / "home/usage.log").read_bytes()
    engine.usage()
    assert b"secret" not in (tmp_path / "home/usage.db").read_bytes()


def a_call(**changed) -> store.Call:
    fields = store.Call("2026-11-21", "search", "id", "/src/shop", False, 10, 100, 90)
    return fields._replace(**changed)


def test_days_are_added_up_and_old_ones_left_out(tmp_path: Path) -> None:
    today = time.strftime("%Y-%m-%d")
    before = time.strftime("%Y-%m-%d", time.localtime(time.time() - 2 * 86_400))
    for day in (today, today, "2020-01-01"):
        store.note(tmp_path, a_call(day=day))
    # Counted from the last day of use: a clock that jumps ahead makes all days seem old.
    assert len(store.tallies(tmp_path, "2000-01-01")) == 2
    store.note(tmp_path, a_call(day=before))
    tallies = store.tallies(tmp_path, "2000-01-01")
    assert [(one.day, one.calls) for one in tallies] == [(before, 1), (today, 2)]
    store.note(tmp_path, a_call(day=today))
    assert store.tallies(tmp_path, today)[0].calls == 3
    assert store.tallies(tmp_path, "2999-01-01") == []


def test_a_log_that_was_added_up_before_a_kill_counts_once(tmp_path: Path) -> None:
    today = time.strftime("%Y-%m-%d")
    store.note(tmp_path, a_call(day=today))
    text = (tmp_path / "usage.log").read_bytes()
    store.tallies(tmp_path, today)
    # Simulates a kill between the commit and the removal of the log.
    left = tmp_path / "usage.log.1-1"
    left.write_bytes(text)
    db = store._opened(tmp_path)
    with db.write(None):
        db.execute(store._FOLDED, (left.name,))
    db.close()
    assert store.tallies(tmp_path, today)[0].calls == 1
    assert not left.exists()


def test_a_line_that_was_cut_counts_for_nothing(tmp_path: Path) -> None:
    today = time.strftime("%Y-%m-%d")
    store.note(tmp_path, a_call(day=today, place="a\tb\nc"))
    with (tmp_path / "usage.log").open("ab") as log:
        log.write(f"{today}\tsearch\tid\t/src".encode())
    (one,) = store.tallies(tmp_path, today)
    assert (one.calls, one.place) == (1, "a b c")


def test_a_home_that_cannot_be_written_fails_no_call(
    engine: Engine, repo: GitRepo, tmp_path
) -> None:
    engine.search("kindle", path=repo.root)
    (tmp_path / "home/usage.log").mkdir()
    usage_counter.served(50)
    assert list((tmp_path / "home/usage.log").iterdir()) == []
    assert engine.search("kindle", path=repo.root).results


@pytest.mark.parametrize("damage", [b"no database at all" * 1000, b"\0" * 9000, b""])
def test_a_damaged_database_is_recreated(tmp_path: Path, damage: bytes) -> None:
    today = time.strftime("%Y-%m-%d")
    (tmp_path / "usage.db").write_bytes(damage)
    store.note(tmp_path, a_call(day=today))
    assert store.tallies(tmp_path, today)[0].calls == 1


def test_the_chart_has_a_bar_for_each_line(engine: Engine, repo: GitRepo) -> None:
    for _ in range(2):
        engine.search("kindle", path=repo.root)
        usage_counter.served(2000)
    engine.status(path=repo.root)
    usage_counter.served(10)
    rows = usage_text(engine.usage(), ["tool"])
    assert rows[0].startswith("3 calls in 30 days, 0 failed; served 4.0 kB, about 1,002 tokens")
    assert (
        "whole files 7.0 kB more" in rows[0] and "reading the files of the answers whole" in rows[1]
    )
    assert rows[3:] == [
        "by tool",
        "  search  2  ████████████████████████  served   4.0 kB  whole files   7.0 kB more",
        "  status  1  ████████████              served     10 B  whole files      0 B more",
    ]
    assert json.loads(json.dumps(asdict(engine.usage())))["by_tool"][0]["calls"] == 2


@pytest.mark.slow
def test_parallel_calls_of_processes_are_all_counted(tmp_path: Path, repo: GitRepo) -> None:
    env = {**os.environ, "CODELENS_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-P", "-m", "codelens", "status", "-C", str(repo.root), "--json"]
    subprocess.run(command, env=env, check=True, capture_output=True)
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    sizes = [len(one.communicate()[0]) for one in running]
    usage_command = [*command[:4], "usage", "--json"]
    done = subprocess.run(usage_command, env=env, check=True, capture_output=True)
    total = json.loads(done.stdout)["total"]
    assert total["calls"] == 5
    assert total["served_bytes"] >= sum(sizes)


def test_a_call_is_written_through_no_link(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine\n")
    for make in (os.symlink, os.link):
        make(other, tmp_path / "usage.log")
        store.note(tmp_path, a_call(day=time.strftime("%Y-%m-%d")))
        assert other.read_text() == "mine\n"
        (tmp_path / "usage.log").unlink()


def test_a_link_in_place_of_the_log_is_not_read_either(tmp_path: Path) -> None:
    today = time.strftime("%Y-%m-%d")
    store.note(tmp_path, a_call(day=today))
    (tmp_path / "usage.log").rename(tmp_path / "other")
    (tmp_path / "usage.log").symlink_to(tmp_path / "other")
    assert store.tallies(tmp_path, today) == []
    assert (tmp_path / "other").exists()


def test_a_line_with_counts_of_thousands_of_digits_counts_for_nothing(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    engine.search("kindle", path=repo.root)
    usage_counter.served(50)
    with (tmp_path / "home" / "usage.log").open("a") as log:
        for digits in (5_000, 25):
            log.write(f"2026-11-25\tsearch\t\t\t0\t{'9' * digits}\t1\t1\n")
    assert engine.usage().total.calls == 1
