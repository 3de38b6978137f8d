"""The file of a forest: readable in any state, and never the reason that a prompt fails."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from harness_sizes import ANY_HEALTH
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.focus import forest_file
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_answer, take_prompt

PLACE = Checkout("/work/shop", "/work/shop/.git", "main")
NOW = 1_800_000_000.0
PROMPTS = (
    "add refresh token rotation", "token rotation fails", "write a database migration",
    "make the database migration reversible", "change the font of the header",
)  # fmt: skip


def fill(home: Path, prompts: tuple[str, ...] = PROMPTS) -> Path:
    for number, prompt in enumerate(prompts):
        take_prompt(str(home), PLACE, prompt, FocusSettings(), now=NOW + number)
        take_answer(str(home), PLACE, f"Done number {number}.", FocusSettings(), now=NOW + number)
    return Path(path_of(str(home), PLACE, FocusSettings(), ""))


def as_kept(state: forest_file.State) -> list[object]:
    forest = state.forest
    fields = [tuple(getattr(node, name) for name in node.__slots__)
              for node in forest.nodes.values()]  # fmt: skip
    guide = [(one.text, one.at, one.is_new, one.tree) for one in state.guide]
    rest = (
        forest.prompts,
        forest.last,
        forest.next_id,
        forest.seen,
        forest.transitions.rows,
        forest.turns,
    )
    return [fields, guide, rest, forest.counts.documents, forest.counts.holding]


def test_saved_contexts_are_loaded(tmp_path: Path) -> None:
    path = fill(tmp_path)
    state = forest_file.load(str(path))
    assert not state.note and state.root == PLACE.root and len(state.forest.roots()) == 3
    again = tmp_path / "again" / path.name
    again.parent.mkdir()
    forest_file.save(str(again), state)
    assert as_kept(forest_file.load(str(again))) == as_kept(state)
    assert again.read_bytes() == path.read_bytes()


def test_each_cut_leaves_the_nodes_of_all_whole_lines(tmp_path: Path) -> None:
    path = fill(tmp_path)
    data = path.read_bytes()
    whole = forest_file.load(str(path)).forest
    for size in range(0, len(data), 37):
        path.write_bytes(data[:size])
        state = forest_file.load(str(path))
        assert state.note, size
        lines = data[:size].split(b"\n")[:-1]
        prompts = [json.loads(one) for one in lines if b'"kind":"prompt"' in one]
        assert {one["node"] for one in prompts} <= set(state.forest.nodes)
        assert state.forest.nodes.keys() <= whole.nodes.keys()


def test_a_damaged_file_is_set_aside_and_the_prompt_goes_on(tmp_path: Path) -> None:
    path = fill(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    turn = take_prompt(str(tmp_path), PLACE, "token rotation again", FocusSettings(), now=NOW + 9)
    assert "damaged" in turn.notes[0] and "rotation" in turn.block
    assert Path(f"{path}.damaged").read_bytes() == data[: len(data) // 2]
    assert not forest_file.load(str(path)).note


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}\n", b"\x00" * 99, b"[]\n[]\n", b'{"version":1}\n{"lines":2}\n',
             b'{"version":99,"x":1}\n', b'{"node":1}\n' * 3, b"[" * 9000],
)  # fmt: skip
def test_anything_but_a_file_never_stops_a_prompt(tmp_path: Path, data: bytes) -> None:
    path = fill(tmp_path)
    path.write_bytes(data)
    turn = take_prompt(str(tmp_path), PLACE, "add a login page", FocusSettings(), now=NOW)
    assert turn.notes
    state = forest_file.load(str(path))
    assert not state.note and [one.text for one in state.forest.leaves()[1]] == ["add a login page"]


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=ANY_HEALTH)
@given(at=st.integers(0, 5000), put=st.binary(max_size=8), cut=st.integers(0, 60))
def test_any_change_of_the_bytes_is_survived(
    tmp_path_factory: pytest.TempPathFactory, at: int, put: bytes, cut: int
) -> None:
    home = tmp_path_factory.mktemp("home")
    path = fill(home, PROMPTS[:4])
    data = path.read_bytes()
    at = min(at, len(data))
    path.write_bytes(data[:at] + put + data[at + cut :])
    take_prompt(str(home), PLACE, "add a login page", FocusSettings(), now=NOW)
    assert not forest_file.load(str(path)).note


def test_a_home_that_cannot_be_written_still_shows_the_block(tmp_path: Path) -> None:
    path = fill(tmp_path)
    lock = Path(f"{path}.lock")
    lock.unlink()
    # Not even root can create this file.
    lock.symlink_to(tmp_path / "nowhere" / "lock")
    turn = take_prompt(str(tmp_path), PLACE, "one more token", FocusSettings(), now=NOW)
    assert "rotation" in turn.block and "not remembered" in turn.notes[0]


def test_a_clock_that_jumps_back_does_not_raise_a_score(tmp_path: Path) -> None:
    path = fill(tmp_path)
    forest = forest_file.load(str(path)).forest
    for root in forest.roots():
        now = forest.score(root, root.touched, FocusSettings())
        assert forest.score(root, root.touched - 1e6, FocusSettings()) == now
    take_prompt(str(tmp_path), PLACE, "token rotation", FocusSettings(), now=NOW - 1e6)
    take_prompt(str(tmp_path), PLACE, "token rotation", FocusSettings(), now=NOW + 1e9)
    assert not forest_file.load(str(path)).note


def test_forests_are_kept_by_worktree_repository_or_session() -> None:
    other = Checkout("/work/second", PLACE.common_dir, "second")

    def files(scope: str) -> list[str]:
        chosen = FocusSettings(scope=scope)
        return [path_of("/h", place, chosen, session)
                for place, session in ((PLACE, "a"), (PLACE, "b"), (other, "a"))]  # fmt: skip

    assert [len(set(files(one))) for one in ("worktree", "repository", "session")] == [2, 1, 2]


def test_forests_nobody_asked_for_a_quarter_of_a_year_go(tmp_path: Path) -> None:
    path = fill(tmp_path)
    home = str(tmp_path)
    newer = path.with_name("other.v1.jsonl")
    shutil.copy(path, newer)
    assert forest_file.forget_old(home) == 0
    os.utime(path, (1, 1))
    assert forest_file.forget_old(home, in_use=str(path)) == 0
    assert forest_file.forget_old(home) == 1
    # It is the latest now: after a clock jump, all forests seem old.
    os.utime(newer, (1, 1))
    assert forest_file.forget_old(home) == 0
    assert [one.name for one in (tmp_path / "focus").iterdir()] == [newer.name]


def test_prompts_of_a_lost_topic_are_still_read(tmp_path: Path) -> None:
    path = fill(tmp_path)
    before = forest_file.load(str(path)).forest
    texts = {node.text for node in before.nodes.values() if node.kind == "prompt"}
    lines = path.read_bytes().split(b"\n")
    roots = [at for at, line in enumerate(lines) if b'"kind":"root"' in line]
    lines[roots[0]] = lines[roots[0]].replace(b":", b";", 1)
    path.write_bytes(b"\n".join(lines))
    state = forest_file.load(str(path))
    assert "damaged" in state.note
    assert {node.text for node in state.forest.nodes.values() if node.kind == "prompt"} == texts
    assert len(state.forest.roots()) == len(before.roots())
    take_prompt(str(tmp_path), PLACE, "rotate tokens again", FocusSettings(), now=NOW + 99)
    assert not forest_file.load(str(path)).note


def test_files_set_aside_are_not_overwritten_and_go_with_a_reset(tmp_path: Path) -> None:
    path = fill(tmp_path)
    for number in range(7):
        path.write_bytes(b"damage %d" % number)
        take_prompt(str(tmp_path), PLACE, "rotate tokens", FocusSettings(), now=NOW)
    aside = sorted(path.parent.glob(f"{path.name}.damaged*"))
    texts = {one.read_bytes() for one in aside}
    assert len(aside) == len(texts) == 5 and b"damage 6" in texts
    assert forest_file.delete(str(path))
    assert not [one for one in path.parent.iterdir() if not one.name.endswith(".lock")]
    assert not forest_file.delete(str(path))


def test_entries_from_a_clock_ahead_fade_and_disappear(tmp_path: Path) -> None:
    chosen = FocusSettings(memory_size=6)
    for number, prompt in enumerate(PROMPTS[:3]):
        take_prompt(str(tmp_path), PLACE, prompt, chosen, now=NOW + 1e7 + number)
    for number, prompt in enumerate(("paint a door", "open a window", "close a gate")):
        take_prompt(str(tmp_path), PLACE, prompt, chosen, now=NOW + 3600 * number)
    forest = forest_file.load(path_of(str(tmp_path), PLACE, chosen, "")).forest
    assert max(node.touched for node in forest.nodes.values()) <= NOW + 7200
    assert "close a gate" in {node.text for node in forest.nodes.values()}
    assert "open a window" in {node.text for node in forest.nodes.values()}


def test_more_nodes_than_a_forest_has_are_read_in_time_and_set_aside(tmp_path: Path) -> None:
    """Quadratic time would take minutes of CPU."""
    path = tmp_path / "focus" / "x.v1.jsonl"
    path.parent.mkdir()
    node = {"parent": 0, "kind": "prompt", "text": "token", "terms": {"token": 1}, "frequency": 1,
            "touched": NOW, "branch": "", "handles": []}  # fmt: skip
    head = {"version": 1, "prompts": 9, "last": 0, "next": 99_999, "seen": NOW}
    rows = [
        row
        for number in range(1, 20_001, 2)
        for row in ({**node, "node": number, "kind": "root"},
                    {**node, "node": number + 1, "parent": number})
    ]  # fmt: skip
    lines = [head, *rows, {"transitions": []}, {"lines": len(rows) + 3}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    state = forest_file.load(str(path))
    assert "is damaged" in state.note and len(state.forest.nodes) <= 2_000
