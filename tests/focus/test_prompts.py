"""Settings, handles of topics, and the block."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codelens.errors import SettingError
from codelens.focus import focus_settings, forest_file
from codelens.focus.checkout import Checkout
from codelens.focus.context_block import first_sentence
from codelens.focus.focus_settings import FocusSettings, load_settings, trail_is_on, usable_settings
from codelens.focus.focus_turn import path_of, take_answer, take_prompt
from codelens.focus.forest import Forest, Node
from codelens.focus.topic_code import note, true_handles
from codelens.trail.trail_log import TrailEntry, append, worktree_key

PLACE = Checkout("/work/shop", "/work/shop/.git", "main")
NOW = 1_800_000_000.0


def test_settings_come_from_the_table_and_an_explicit_nothing_counts(tmp_path: Path) -> None:
    assert load_settings(str(tmp_path)) == FocusSettings()
    file = tmp_path / "config.toml"
    file.write_text("budget_ms = 5\n[focus]\nguide_size = 0\ntransition_boost = 0\n")
    assert load_settings(str(tmp_path))[-3:] == (0, 0, "worktree")
    from codelens.config import load

    assert load({}, tmp_path).budget_ms == 5


@pytest.mark.parametrize(
    "text",
    [
        "[focus]\nmemory = 1", "[focus]\nmemory_size = 1.5", "[focus]\nmemory_size = -1",
        "[focus]\ndecay_rate = true", "[focus]\nextend = 'x'", "[focus]\nextend = .1\n",
        "focus = 3",
        "[focus]\nscope = 'all'", "[focus]\ndecay_rate = inf",
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(SettingError):
        load_settings(str(tmp_path))
    settings, damage = usable_settings(str(tmp_path))
    assert damage and settings == FocusSettings(memory_size=1_000, guide_size=100)


def test_the_trail_is_switched_off_by_one_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trail_is_on(str(tmp_path))
    (tmp_path / "config.toml").write_text("trail = false\n")
    assert not trail_is_on(str(tmp_path))
    monkeypatch.setenv("CODELENS_TRAIL", "on")
    assert trail_is_on(str(tmp_path))


def test_a_repository_is_switched_apart_from_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = str(tmp_path)
    assert focus_settings.is_on(home, "a")
    focus_settings.switch(home, focus_settings.EVERYWHERE, on=False)
    focus_settings.switch(home, "a", on=True)
    assert focus_settings.is_on(home, "a") and not focus_settings.is_on(home, "b")
    monkeypatch.setenv("CODELENS_FOCUS", "off")
    assert not focus_settings.is_on(home, "a")
    monkeypatch.delenv("CODELENS_FOCUS")
    Path(focus_settings.switch_path(home)).write_text('{"every')
    assert focus_settings.why_off(home, "a") == "damage"
    focus_settings.switch(home, focus_settings.EVERYWHERE, on=True)
    assert focus_settings.is_on(home, "a")


def prompt(
    home: Path, text: str, at: float = 0.0, place: Checkout = PLACE, **chosen: object
) -> str:
    settings = FocusSettings(**chosen)  # type: ignore[arg-type]
    return take_prompt(str(home), place, text, settings, now=NOW + at).block


def test_the_first_prompt_has_no_block_and_the_second_does_not_repeat_itself(
    tmp_path: Path,
) -> None:
    assert prompt(tmp_path, "add refresh token rotation") == ""
    take_answer(str(tmp_path), PLACE, "Implemented JWT with RS256. More.", FocusSettings(), now=NOW)
    assert prompt(tmp_path, "token rotation fails", 60).splitlines() == [
        "[Focus | 2 prompts | 3/100 mem | 1 tree | main]",
        "  [1.58] rotation | token | fails | add | refresh",
        "    - add refresh token rotation",
        "Guide:",
        "  - Implemented JWT with RS256",
        "[/Focus]",
    ]


def test_a_likely_next_topic_is_shown(tmp_path: Path) -> None:
    for number in range(4):
        prompt(tmp_path, "add refresh token rotation", 2 * number)
        prompt(tmp_path, "write database migration", 2 * number + 1)
    said = prompt(tmp_path, "rotation of the token", 9)
    assert "  -> next: database migration write (100%)" in said.splitlines()


def test_topics_of_another_branch_come_after_and_are_marked(tmp_path: Path) -> None:
    for number in range(3):
        prompt(tmp_path, "add refresh token rotation", number)
    other = PLACE._replace(branch="second")
    prompt(tmp_path, "change the header font", 10, other)
    said = prompt(tmp_path, "header font size", 11, other)
    topics = [line for line in said.splitlines() if line.startswith("  [")]
    assert "font" in topics[0] and "(on main)" in topics[1]


@pytest.mark.parametrize("limit", [0, 30, 60, 120, 300, 600, 2000])
def test_the_block_keeps_its_limit(tmp_path: Path, limit: int) -> None:
    topics = "token database header docker parser socket".split()
    for number in range(60):
        text = f"{topics[number % 6]} {'work on it ' * (number % 7)} {number}"
        said = prompt(tmp_path, text, number, context_limit=limit)
        take_answer(str(tmp_path), PLACE, f"Did {text}.", FocusSettings(), now=NOW + number)
    assert len(said) <= limit
    if limit >= 120:
        assert said.startswith("[Focus | 60 prompts") and said.endswith("\n[/Focus]")
    assert sum(line.startswith("  [") for line in said.splitlines()) <= 5


def test_nothing_is_remembered_where_the_memory_is_nothing(tmp_path: Path) -> None:
    for number in range(3):
        assert prompt(tmp_path, "add a token", number, memory_size=0) == ""


def test_a_setting_of_zero_also_clears_existing_data(tmp_path: Path) -> None:
    prompt(tmp_path, "add a token", 0)
    take_answer(str(tmp_path), PLACE, "Added the token.", FocusSettings(), now=NOW)
    shown = prompt(tmp_path, "rotate the token", 1)
    assert "- add a token" in shown and "- Added the token" in shown
    assert "Added" not in prompt(tmp_path, "and the token", 2, guide_size=0)
    assert prompt(tmp_path, "the token again", 3, memory_size=0) == ""
    (file,) = (tmp_path / "focus").glob("*.jsonl")
    assert "token" not in file.read_text()


def test_a_prompt_without_terms_is_counted_and_stays_with_the_topic(tmp_path: Path) -> None:
    prompt(tmp_path, "add refresh token rotation")
    assert "2 prompts | 2/100 mem | 1 tree" in prompt(tmp_path, "yes, please do", 1)


def test_an_answer_strengthens_a_topic_once_and_never_twice(tmp_path: Path) -> None:
    prompt(tmp_path, "add refresh token rotation")
    take_answer(str(tmp_path), PLACE, "The token rotates now.", FocusSettings(), now=NOW)
    for number in range(3):
        said = prompt(tmp_path, "ok", number)
    assert "[1.58]" in said  # log2(2 + 1): made once, touched once


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("Implemented JWT with RS256. Then more.", "Implemented JWT with RS256"),
        ("# Done\n\n- **Fixed** `x.py`: it works.\n", "Fixed x.py: it works"),
        ("\n\n```\n```", ""), ("", ""), ("完成しました。次は", "完成しました。"),
        ("a" * 500, "a" * 159 + "…"),
        ("```python\nx = 1\n```\nSet x. Then more.", "Set x"),
        ("~~~\n```\nno. more\n~~~~\n\nSet x.", "Set x"), ("```py\nx = 1", ""),
        ("```x``` is set now. Then more.", "x is set now"),
        ("I fixed v1.2 parsing, e.g. the tokens. Then more.",
         "I fixed v1.2 parsing, e.g. the tokens"),
        ("See e.g. Postgres 3.1. Then more.", "See e.g. Postgres 3.1"),
        ("It is z. B. der Parser vs. Lexer. Dann mehr.", "It is z. B. der Parser vs. Lexer"),
        ("1. Fixed the parser. Then more.", "Fixed the parser"),
        ("Is it plan b? Yes.", "Is it plan b?"), ("Done. Next: tests.", "Done"),
        ("Use vitamin C. Then sleep.", "Use vitamin C. Then sleep"),
        ("password=X was set.", "password=*** was set"),
        ("**password**: `swordfish` ***now*** set.", "password: *** now set"),
    ],
)  # fmt: skip
def test_the_first_sentence_of_an_answer(answer: str, first: str) -> None:
    assert first_sentence(answer) == first


def test_a_cached_answer_equals_the_original(tmp_path: Path) -> None:
    prompt(tmp_path, "add refresh token rotation")
    take_answer(str(tmp_path), PLACE, "password=X was set.", FocusSettings(), now=NOW)
    assert "  - password=*** was set\n" in prompt(tmp_path, "ok")


def topic_with(root: Path, *handles: str) -> Node:
    topic = Node(1, 0, "root", "", terms={}, touched=NOW)
    for handle in handles:
        note(topic, str(root), handle)
    return topic


def test_a_topic_names_handles_that_hold_two_at_most(tmp_path: Path) -> None:
    file = tmp_path / "src" / "auth.py"
    file.parent.mkdir()
    file.write_text("class Session:\n    def refresh(self): ...\n\ndef login(): ...\n")
    refresh, login = "src/auth.py#Session.refresh", "src/auth.py#login"
    topic = topic_with(tmp_path, "src/auth.py", login, refresh)
    assert true_handles(topic, str(tmp_path)) == [refresh, login]
    file.write_text("class Session:\n    def refresh(self): return 1\n\nprint(login)\n")
    assert true_handles(topic, str(tmp_path)) == [refresh, "src/auth.py"]
    file.write_text("pass\n")
    assert true_handles(topic, str(tmp_path)) == ["src/auth.py"]
    file.unlink()
    assert true_handles(topic, str(tmp_path)) == []


def test_handles_from_outside_are_not_taken(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "b#c.py").write_text("x")
    bad = ("../a.py", "/etc/passwd", "other:a.py#x", "gone.py", "a\0b", "x" * 300, "sub/../../a.py")
    assert topic_with(inside, *bad, "b%23c.py").handles[0][0] == "b%23c.py"
    assert len(topic_with(inside, *bad).handles) == 0


def test_the_trail_adds_handles_to_the_last_topic(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "till.py").write_text("def charge(): ...\n")
    place = Checkout(os.path.realpath(root), str(root), "main")
    prompt(tmp_path, "charge the card twice", 0, place)
    entry = TrailEntry(int(NOW) + 5, "s", worktree_key(str(root)), "main", "explored", "charge",
                       ("till.py#charge",))  # fmt: skip
    append(tmp_path, place.repository, entry)
    said = prompt(tmp_path, "charge the card three times", 10, place)
    assert said.splitlines()[1].endswith("till.py#charge")


SHOP = {
    "auth.py": "class Session:\n    def refresh(self): ...\n\n"
               "class Admin:\n    def logout(self): ...\n",
    "till.py": "def charge(): ...\n", "web.py": "def page(): ...\n",
}  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    root = tmp_path / "shop"
    root.mkdir()
    for name, text in SHOP.items():
        (root / name).write_text(text)
    return Checkout(os.path.realpath(root), str(root), "main")


def said_by(
    home: Path, place: Checkout, session: str, text: str, at: float, **chosen: object
) -> Forest:
    """The forest after the prompt of a session."""
    settings = FocusSettings(**chosen)  # type: ignore[arg-type]
    take_prompt(str(home), place, text, settings, session=session, now=NOW + at)
    return forest_file.load(path_of(str(home), place, settings, session)).forest


def leave(home: Path, place: Checkout, session: str, tool: str, handle: str, at: float) -> None:
    seconds, ms = divmod(round((NOW + at) * 1000), 1000)
    key = worktree_key(place.root)
    append(
        home, place.repository, TrailEntry(seconds, session, key, "main", tool, "", (handle,), ms)
    )


def named(forest: Forest) -> dict[str, list[str]]:
    """Handles of topics by the first prompt of each."""
    prompts = {root: leaves[0].text for root, leaves in forest.leaves().items()}
    return {prompts[root.id]: [handle for handle, _, _ in root.handles] for root in forest.roots()}


@pytest.mark.parametrize(
    ("tool", "handle", "expected"),
    [
        ("expanded", "auth.py#Session.refresh", ["auth.py#Session.refresh"]),
        ("explored", "till.py#charge", ["till.py#charge"]),
        ("edited", "till.py", ["till.py"]),
        ("expanded", "auth.py#Session.never", []),
        ("expanded", "auth.py#Session.logout", ["auth.py"]),
        *((tool, "till.py#charge", [])
          for tool in "searched outlined history impact related diff saved".split()),
    ],
)  # fmt: skip
def test_existing_definitions_from_the_trail_are_named(
    tmp_path: Path, shop: Checkout, tool: str, handle: str, expected: list[str]
) -> None:
    said_by(tmp_path, shop, "s1", "charge the card twice", 0)
    leave(tmp_path, shop, "s1", tool, handle, 5)
    forest = said_by(tmp_path, shop, "s1", "change the header font", 10)
    assert named(forest)["charge the card twice"] == expected


@pytest.mark.parametrize("scope", ["worktree", "repository", "session"])
def test_an_edit_is_of_the_topic_that_its_own_session_had(
    tmp_path: Path, shop: Checkout, scope: str
) -> None:
    said_by(tmp_path, shop, "s1", "charge the card twice", 0, scope=scope)
    said_by(tmp_path, shop, "s2", "change the header font", 1, scope=scope)
    leave(tmp_path, shop, "s1", "edited", "till.py", 2)
    leave(tmp_path, shop, "s3", "edited", "auth.py", 2)
    leave(tmp_path, shop, "s2", "edited", "web.py", 3)
    said_by(tmp_path, shop, "s2", "yes", 4, scope=scope)
    leave(tmp_path, shop, "s2", "expanded", "web.py#page", 5)
    second = named(said_by(tmp_path, shop, "s2", "write a database migration", 6, scope=scope))
    first = named(said_by(tmp_path, shop, "s1", "parse the docker socket", 7, scope=scope))
    assert first["charge the card twice"] == ["till.py"]
    assert second["change the header font"] == ["web.py#page", "web.py"]
    other = [handles for name, handles in {**first, **second}.items()
             if name not in {"charge the card twice", "change the header font"}]  # fmt: skip
    assert other and not any(other)


def test_prompts_within_one_second_share_no_edit(tmp_path: Path, shop: Checkout) -> None:
    leave(tmp_path, shop, "s1", "edited", "web.py", 0.05)
    said_by(tmp_path, shop, "s1", "charge the card twice", 0.1)
    leave(tmp_path, shop, "s1", "edited", "till.py", 0.2)
    said_by(tmp_path, shop, "s1", "change the header font", 0.3)
    leave(tmp_path, shop, "s1", "edited", "auth.py", 0.4)
    forest = said_by(tmp_path, shop, "s1", "write a database migration", 0.5)
    assert named(forest) == {
        "charge the card twice": ["till.py"], "change the header font": ["auth.py"],
        "write a database migration": [],
    }  # fmt: skip


def test_a_line_without_milliseconds_counts_for_its_second(tmp_path: Path, shop: Checkout) -> None:
    said_by(tmp_path, shop, "s1", "charge the card twice", 0)
    leave(tmp_path, shop, "s1", "edited", "till.py", 1)
    forest = said_by(tmp_path, shop, "s1", "charge it", 1.5)
    assert named(forest)["charge the card twice"] == ["till.py"]
