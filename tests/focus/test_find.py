"""`codelens focus find`: what was asked, and in which worktree and on which branch."""

from __future__ import annotations

import json
from pathlib import Path

from codelens.cli.commands.focus_commands import found_lines
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_answer, take_prompt
from codelens.focus.inspection import FocusMatch, searched

FIRST = Checkout("/work/shop", "/work/shop/.git", "main")
SECOND = Checkout("/work/second", "/work/shop/.git", "feature/login")
NOW = 1_800_000_000.0


def ask(home: Path, place: Checkout, text: str, at: float, scope: str) -> None:
    take_prompt(str(home), place, text, FocusSettings(scope=scope), session="s", now=NOW + at)


def matches(home: Path, words: str, place: Checkout = FIRST) -> list[FocusMatch]:
    results, notes = searched(str(home), place, words, 20)
    assert not notes
    return results


def test_a_prompt_is_found_in_its_worktree_regardless_of_the_last_writer(
    tmp_path: Path,
) -> None:
    for scope in ("repository", "session", "worktree"):
        home = tmp_path / scope
        ask(home, FIRST, "add refresh token rotation", 0, scope)
        ask(home, SECOND, "change the header font", 1, scope)
        prompts = {one.text: (one.branch, one.root) for one in matches(home, "token font")
                   if one.kind == "prompt"}  # fmt: skip
        assert prompts == {
            "add refresh token rotation": ("main", "/work/shop"),
            "change the header font": ("feature/login", "/work/second"),
        }


def test_a_topic_names_each_place_that_its_prompts_are_of_the_latest_first(tmp_path: Path) -> None:
    for number, place in enumerate((FIRST, SECOND, FIRST)):
        ask(tmp_path, place, "add refresh token rotation", number, "repository")
    topic = next(one for one in matches(tmp_path, "token") if one.kind == "topic")
    assert (topic.branch, topic.root) == ("main", "/work/shop")
    assert topic.elsewhere == [{"branch": "feature/login", "root": "/work/second"}]
    lines = list(found_lines([topic], "/work/shop"))
    assert lines[0].endswith("(main; feature/login in /work/second)")
    # An answer strengthens a topic in any worktree, but does not count as work on it.
    settings = FocusSettings(scope="repository")
    take_answer(str(tmp_path), SECOND, "The token rotates.", settings, now=NOW + 9)
    ask(tmp_path, SECOND, "change the header font", 10, "repository")
    topic = next(one for one in matches(tmp_path, "rotation") if one.kind == "topic")
    assert (topic.branch, topic.root) == ("main", "/work/shop")


def test_a_sub_topic_is_of_the_branch_that_it_was_worked_on_last(tmp_path: Path) -> None:
    ask(tmp_path, FIRST, "add refresh token rotation", 0, "worktree")
    ask(tmp_path, FIRST, "token header colour", 1, "worktree")
    other = FIRST._replace(branch="second")
    ask(tmp_path, other, "token header colour again", 2, "worktree")
    topics = [one for one in matches(tmp_path, "colour") if one.kind == "topic"]
    assert topics and all(one.branch == "second" for one in topics)


def test_a_forest_without_worktrees_claims_none(tmp_path: Path) -> None:
    for scope, root in (("repository", ""), ("worktree", "/work/shop")):
        home = tmp_path / scope
        ask(home, FIRST, "add refresh token rotation", 0, scope)
        path = Path(path_of(str(home), FIRST, FocusSettings(scope=scope), "s"))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for fields in lines:  # as written before nodes had their worktree
            fields.pop("in", None)
            fields.pop("roots", None)
        path.write_text("".join(json.dumps(fields) + "\n" for fields in lines))
        assert {one.root for one in matches(home, "token")} == {root}
