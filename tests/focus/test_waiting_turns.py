"""Turns while another process holds the forest's lock: none is lost, and none counts twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codelens import home_files
from codelens.focus import forest_file, waiting_turns
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import Turn, path_of, take_answer, take_prompt

PLACE = Checkout("/work/shop", "/work/shop/.git", "main")
NOW = 1_800_000_000.0


def ask(home: Path, text: str, at: float = 0) -> Turn:
    return take_prompt(str(home), PLACE, text, FocusSettings(), now=NOW + at)


def answer(home: Path, text: str, at: float = 0) -> tuple[str, ...]:
    return take_answer(str(home), PLACE, text, FocusSettings(), now=NOW + at)


def state_file(home: Path) -> Path:
    return Path(path_of(str(home), PLACE, FocusSettings(), ""))


def prompts(home: Path) -> list[str]:
    nodes = forest_file.load(str(state_file(home))).forest.nodes.values()
    return [node.text for node in nodes if node.kind == "prompt"]


def waiting(home: Path) -> list[Path]:
    return sorted(state_file(home).parent.glob("*.waiting-*"))


@contextmanager
def held(home: Path) -> Iterator[None]:
    """Another process holds the lock."""
    with open(f"{state_file(home)}.lock", "wb") as lock:
        assert home_files.take_lock(lock.fileno())
        yield


@pytest.fixture
def home(tmp_path: Path) -> Path:
    ask(tmp_path, "add refresh token rotation")
    return tmp_path


def test_the_block_is_shown_and_the_next_prompt_merges_waiting_turns(home: Path) -> None:
    before = state_file(home).read_bytes()
    with held(home):
        turn = ask(home, "write a database migration", 1)
        assert answer(home, "The migration is written. Next?", 2) == ()
        assert ask(home, "yes", 3).is_waiting
        assert state_file(home).read_bytes() == before
    assert turn.is_waiting and not turn.notes and "rotation" in turn.block
    later = ask(home, "token rotation fails", 4)
    assert not later.is_waiting and "[Focus | 4 prompts" in later.block
    assert "  - The migration is written" in later.block
    assert prompts(home) == [
        "add refresh token rotation", "write a database migration", "token rotation fails",
    ]  # fmt: skip
    assert not waiting(home)


def test_waiting_turns_give_the_same_forest_as_direct_ones(home: Path, tmp_path: Path) -> None:
    steps = ["write a database migration", "make the migration reversible", "rotate the token"]
    other = tmp_path / "other"
    ask(other, "add refresh token rotation")
    with held(home):
        for at, text in enumerate(steps):
            ask(home, text, at)
            answer(home, f"Did {text}.", at + 0.5)
    for at, text in enumerate(steps):
        ask(other, text, at)
        answer(other, f"Did {text}.", at + 0.5)
    for one in (home, other):
        ask(one, "change the font", 9)
    lines = [state_file(one).read_bytes().split(b"\n")[1:] for one in (home, other)]
    assert lines[0] == lines[1]


def test_an_answer_also_merges_waiting_turns(home: Path) -> None:
    with held(home):
        ask(home, "write a database migration", 1)
    answer(home, "Written.", 2)
    assert prompts(home)[-1] == "write a database migration" and not waiting(home)


def test_killed_after_the_forest_was_saved_nothing_counts_twice(home: Path) -> None:
    with held(home):
        ask(home, "write a database migration", 1)
    (left,) = waiting(home)
    data = left.read_bytes()
    ask(home, "change the font", 2)
    left.write_bytes(data)
    for at in (3, 4):
        ask(home, "change the font again", at)
        assert prompts(home).count("write a database migration") == 1
        assert not waiting(home)


def test_at_most_eight_are_taken_at_once_and_all_in_the_end(home: Path) -> None:
    with held(home):
        for at in range(20):
            ask(home, f"topic number{at}", at)
    left = []
    for at in range(3):
        ask(home, "change the font", 30 + at)
        left.append(len(waiting(home)))
    assert left == [12, 4, 0]
    assert forest_file.load(str(state_file(home))).forest.prompts == 24


def test_exceeding_the_queue_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_turns, "_MOST_WAITING", 2)
    with held(home):
        note = [ask(home, "change the font", at).notes for at in range(3)]
    assert note[:2] == [(), ()] and "not remembered: 2 already wait" in note[2][0]
    assert len(waiting(home)) == 2


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"\x00" * 40, b'{"version":1}', b'{"version":2,"kind":"prompt"}',
             b'{"version":1,"kind":"x","text":"","terms":{},"at":1,"branch":"","worktree":""}',
             b'{"version":1,"kind":"prompt","text":"x","terms":{"x":-1},"at":1,"branch":"",'
             b'"worktree":""}'],
)  # fmt: skip
def test_an_unreadable_file_is_set_aside_and_reported(home: Path, data: bytes) -> None:
    with held(home):
        ask(home, "write a database migration", 1)
    (left,) = waiting(home)
    left.with_name(left.name + "0").write_bytes(data)
    (note,) = ask(home, "change the font", 2).notes
    assert left.name + "0 " in note and "0 of its lines could be read" in note
    assert "write a database migration" in prompts(home) and not waiting(home)
    (aside,) = state_file(home).parent.glob("*.damaged-waiting-*")
    assert aside.read_bytes() == data
    assert not ask(home, "change the font", 3).notes
    assert forest_file.delete(str(state_file(home))) and not aside.exists()


def test_whole_lines_of_a_file_that_is_cut_count_once(home: Path) -> None:
    with held(home):
        ask(home, "write a database migration", 1)
    (left,) = waiting(home)
    line = left.read_bytes()
    cut = line + b"\n" + line[: len(line) // 2]
    left.write_bytes(cut)
    (note,) = answer(home, "Done.", 2)
    assert "is damaged; 1 of its lines could be read" in note
    left.write_bytes(cut)  # as if that process was killed before it set the file aside
    assert not ask(home, "change the font", 3).notes
    assert prompts(home).count("write a database migration") == 1
    assert not waiting(home)
    (aside,) = state_file(home).parent.glob("*.damaged-waiting-*")
    assert aside.read_bytes() == cut


def test_five_damaged_files_are_kept(home: Path) -> None:
    for number in range(7):
        Path(f"{state_file(home)}.waiting-{number}").write_bytes(b"%d" % number)
    assert len(ask(home, "change the font", 1).notes) == 7
    aside = state_file(home).parent.glob("*.damaged-waiting-*")
    assert sorted(one.read_bytes() for one in aside) == [b"2", b"3", b"4", b"5", b"6"]


def test_no_secret_waits(home: Path) -> None:
    with held(home):
        ask(home, "use password=hunter2hunter2 for the login", 1)
    (left,) = waiting(home)
    assert "hunter2" not in left.read_text() and "***" in left.read_text()
    assert os.stat(left).st_mode & 0o077 == 0


def test_a_reset_removes_waiting_turns(home: Path) -> None:
    with held(home):
        ask(home, "write a database migration", 1)
    assert forest_file.delete(str(state_file(home))) and not waiting(home)


def test_a_forest_names_only_files_next_to_it(home: Path) -> None:
    foreign = home / f"{state_file(home).name}.waiting-1"
    foreign.write_text("mine")
    lines = state_file(home).read_bytes().split(b"\n")
    head = json.loads(lines[0])
    lines[0] = json.dumps({**head, "taken": [f"../{foreign.name}", 3, "x"]}).encode()
    state_file(home).write_bytes(b"\n".join(lines))
    ask(home, "change the font", 2)
    assert foreign.read_text() == "mine"


def test_turns_waiting_for_another_forest_are_not_taken(home: Path) -> None:
    with held(home):
        ask(home, "write a database migration", 1)
    other = PLACE._replace(root="/work/bank", common_dir="/work/bank/.git")
    path = path_of(str(home), other, FocusSettings(), "")
    (left,) = waiting(home)
    left.rename(left.with_name(left.name.replace(state_file(home).name, Path(path).name)))
    take_prompt(str(home), other, "count the coins", FocusSettings(), now=NOW + 2)
    texts = [node.text for node in forest_file.load(path).forest.nodes.values()]
    assert "count the coins" in texts and "write a database migration" not in texts


@pytest.mark.parametrize("name", ["\0", "folder"])
def test_a_name_that_no_file_can_have_was_taken_stops_no_prompt(home: Path, name: str) -> None:
    own = f"{state_file(home).name}.waiting-{name}"
    if name == "folder":
        state_file(home).with_name(own).mkdir()
    lines = state_file(home).read_bytes().split(b"\n")
    lines[0] = json.dumps({**json.loads(lines[0]), "taken": [own]}).encode()
    state_file(home).write_bytes(b"\n".join(lines))
    assert not ask(home, "change the font", 2).notes
    assert "change the font" in prompts(home)
