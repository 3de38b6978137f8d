"""Settings at their limits, and clocks that jump."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelens.focus import forest_file
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings, load_settings
from codelens.focus.focus_turn import path_of, take_answer, take_prompt
from codelens.focus.forest import Forest

PLACE = Checkout("/work/shop", "/work/shop/.git", "main")
NOW = 1_800_000_000.0
HOUR = 3_600.0


def prompt(home: Path, text: str, at: float = 0.0, **chosen: object) -> str:
    settings = FocusSettings(**chosen)  # type: ignore[arg-type]
    return take_prompt(str(home), PLACE, text, settings, now=NOW + at).block


def forest_of(home: Path) -> Forest:
    return forest_file.load(path_of(str(home), PLACE, FocusSettings(), "")).forest


def ages(home: Path) -> dict[str, float]:
    return {node.text: node.touched - NOW for node in forest_of(home).nodes.values()}


def scores(home: Path, at: float) -> dict[str, float]:
    forest = forest_of(home)
    return {
        leaf.text: forest.score(leaf, NOW + at, FocusSettings())
        for leaves in forest.leaves().values()
        for leaf in leaves
    }


@pytest.mark.parametrize("extend", [0, 0.1])
def test_below_branch_extend_takes_branching_prompts(tmp_path: Path, extend: float) -> None:
    """Values that only a person can set are never refused."""
    (tmp_path / "config.toml").write_text(f"[focus]\nextend = {extend}\n")
    settings = load_settings(str(tmp_path))
    assert (settings.extend, settings.branch) == (extend, 0.25)
    for at, text in enumerate(("rotate the token", "token rotation of a session database index")):
        take_prompt(str(tmp_path), PLACE, text, settings, now=NOW + at)
    assert [node.kind for node in forest_of(tmp_path).nodes.values()] == ["root"] + ["prompt"] * 2


@pytest.mark.parametrize("none", ["bubble_up_terms", "max_sources"])
def test_without_terms_the_next_topic_is_named_by_its_prompt(tmp_path: Path, none: str) -> None:
    for number in range(4):
        prompt(tmp_path, "add refresh token rotation", 2 * number, **{none: 0})
        prompt(tmp_path, "write database migration for users", 2 * number + 1, **{none: 0})
    said = prompt(tmp_path, "refresh token rotation", 9, **{none: 0})
    assert "  -> next: write database migration (100%)" in said.splitlines()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_no_more_is_kept_than_the_memory_holds(tmp_path: Path, size: int) -> None:
    for at, text in enumerate(
        ("rotate the token", "write a database migration", "token of a session login cookie",
         "migration", "token rotation", "rotate the token of a login"),
    ):  # fmt: skip
        prompt(tmp_path, text, at, memory_size=size)
        nodes = forest_of(tmp_path).nodes.values()
        assert len(nodes) <= size
        assert (text in {node.text for node in nodes}) == (size > 1)


def test_a_smaller_memory_size_shrinks_an_existing_forest(tmp_path: Path) -> None:
    prompt(tmp_path, "rotate the token")
    prompt(tmp_path, "token of a session login cookie", 1)
    assert "topic" in {node.kind for node in forest_of(tmp_path).nodes.values()}
    prompt(tmp_path, "session login cookie", 2, memory_size=2)
    assert [node.kind for node in forest_of(tmp_path).nodes.values()] == ["root", "prompt"]


def test_a_clock_that_goes_back_makes_nothing_older(tmp_path: Path) -> None:
    prompt(tmp_path, "write a database migration", -72 * HOUR)
    prompt(tmp_path, "rotate the token", -HOUR)
    before, scored = ages(tmp_path), scores(tmp_path, 60)
    take_answer(str(tmp_path), PLACE, "The token rotates.", FocusSettings(), now=0)
    assert "[1." in prompt(tmp_path, "rotate the token again", -NOW)
    prompt(tmp_path, "queue for the printer", -NOW + 5)
    after = ages(tmp_path)
    roots = forest_of(tmp_path).roots()
    assert {text: after[text] for text in before if text in after} == {
        text: at for text, at in before.items() if text in after
    }
    assert [root.touched - NOW for root in roots[:2]] == [-72 * HOUR, -HOUR]
    later = scores(tmp_path, 60)
    assert {text: later[text] for text in scored} == scored


def test_entries_from_a_clock_ahead_fade_from_the_next_prompt_on(tmp_path: Path) -> None:
    prompt(tmp_path, "write a database migration")
    prompt(tmp_path, "rotate the token", 1e8)
    prompt(tmp_path, "write another database migration", 60)
    prompt(tmp_path, "write a third database migration", 50 * HOUR)
    scored = scores(tmp_path, 50 * HOUR)
    assert scored["rotate the token"] == pytest.approx(scored["write another database migration"])
    block = prompt(tmp_path, "database", 50 * HOUR + 1)
    assert block.index("migration") < block.index("token")
    prompt(tmp_path, "rotate the token now", 60 * HOUR)
    forest = forest_of(tmp_path)
    token = forest.roots()[1]
    assert forest.touched(token, NOW + 61 * HOUR) == NOW + 60 * HOUR


def test_a_prompt_that_waited_keeps_its_time(tmp_path: Path) -> None:
    with forest_file.ForestLock(path_of(str(tmp_path), PLACE, FocusSettings(), "")) as lock:
        assert lock
        prompt(tmp_path, "rotate the token")
    prompt(tmp_path, "queue for the printer", -NOW)
    assert ages(tmp_path)["rotate the token"] == 0
