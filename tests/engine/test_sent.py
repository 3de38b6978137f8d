"""What a session was sent is not sent again unless it changed, and is never hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.render import explore_text
from codelens.trail import sent_log
from codelens.trail.trail_log import worktree_key

STEPS = "".join(f"    lamp.step_{at} = lamp.step_{at} + {at}\n" for at in range(12))
LAMPS = f'def light(lamp):\n    """Light a lamp."""\n{STEPS}    return lamp\n'
TASK = "light a lamp"


@pytest.fixture
def lit(repo: GitRepo) -> GitRepo:
    repo.commit("lamps", {"lamps.py": LAMPS, "door.py": "def open_door(door):\n    return door\n"})
    return repo


def explored(engine: Engine, repo: GitRepo, **given: Any) -> dict[str, str]:
    """Handle -> whether it was sent, for the lamps."""
    answer = engine.explore(TASK, path=repo.root, **given)
    engine.note_sent(answer)
    return {one.handle: one.sent for one in answer.pieces if one.path == "lamps.py"}


def expanded(engine: Engine, repo: GitRepo, handle: str = "lamps.py#light", **given: Any):
    answer = engine.expand([handle], path=repo.root, **given)
    engine.note_sent(answer)
    return answer.items[0]


def test_a_second_explore_gives_only_the_signature(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        assert explored(engine, lit) == {"lamps.py#light": ""}
        answer = engine.explore(TASK, path=lit.root)
    piece = next(one for one in answer.pieces if one.handle == "lamps.py#light")
    assert piece.sent == "unchanged" and piece.sent_lines == ((1, 15),)
    assert piece.lines == ((1, "def light(lamp):"),)
    text = explore_text.explore(answer)
    assert "#light 1-15 function, sent earlier, unchanged" in text.split("\n")
    assert explore_text.AGAIN in text.split("\n")


def test_expand_and_explore_share_the_sent_texts(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        assert not expanded(engine, lit).sent
        assert explored(engine, lit) == {"lamps.py#light": "unchanged"}
    with engine.as_session("two"):
        explored(engine, lit)
        again = expanded(engine, lit)
        assert (again.sent, again.text) == ("unchanged", "def light(lamp):\n")
        assert not expanded(engine, lit, again=True).sent
        assert expanded(engine, lit).sent == "unchanged"


def test_an_edit_is_sent_and_said_to_be_one(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        explored(engine, lit)
        lit.write("lamps.py", LAMPS.replace("return lamp", "return lamp or None"))
        assert explored(engine, lit) == {"lamps.py#light": "changed"}
        # The text on disk now is the text sent last.
        assert explored(engine, lit) == {"lamps.py#light": "unchanged"}
        lit.write("lamps.py", LAMPS)
        found = expanded(engine, lit)
        assert found.sent == "unchanged", "these very bytes were sent at first"


def test_code_that_only_moved_is_not_sent_again_and_says_where_it_was(
    engine: Engine, lit: GitRepo
) -> None:
    with engine.as_session("one"):
        explored(engine, lit)
        lit.write("lamps.py", f"WICK = 1\n\n\n{LAMPS}")
        answer = engine.explore(TASK, path=lit.root)
        piece = next(one for one in answer.pieces if one.symbol == "light")
        assert piece.sent_lines == ((4, 18),)
        assert "sent earlier, unchanged, then at line 1" in piece.about
        assert expanded(engine, lit).sent_at == 1


def test_another_branch_is_never_hidden(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        explored(engine, lit)
        lit.git("checkout", "-q", "-b", "dark")
        lit.commit("darker", {"lamps.py": LAMPS.replace("step_3 + 3", "step_3 - 3")})
        assert explored(engine, lit) == {"lamps.py#light": "changed"}
        lit.git("checkout", "-q", "main")
        assert explored(engine, lit) == {"lamps.py#light": "unchanged"}


def test_a_truncated_text_counts_up_to_the_cut(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        part = expanded(engine, lit, max_lines=8)
        assert part.truncated and part.end_line == 8
        assert not expanded(engine, lit).sent, "of these lines only some were sent"
        assert expanded(engine, lit, "lamps.py:2-8").sent == "unchanged"


@pytest.mark.parametrize("session", ["", "  "])
def test_nothing_is_remembered_without_a_session(
    engine: Engine, lit: GitRepo, session: str
) -> None:
    with engine.as_session(session):
        explored(engine, lit)
        assert explored(engine, lit) == {"lamps.py#light": ""}


def test_sessions_and_worktrees_have_their_own(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        explored(engine, lit)
    with engine.as_session("two"):
        assert explored(engine, lit) == {"lamps.py#light": ""}
    there = lit.root.with_name("there")
    lit.git("worktree", "add", "-q", str(there))
    with engine.as_session("one"):
        assert explored(engine, GitRepo(there)) == {"lamps.py#light": ""}


def test_a_setting_turns_it_off(engine: Engine, lit: GitRepo) -> None:
    with Engine(replace(engine.settings, sent=False)) as off, off.as_session("one"):
        explored(off, lit)
        assert explored(off, lit) == {"lamps.py#light": ""}


def test_a_compaction_forgets_what_was_sent_in_the_worktree(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        explored(engine, lit)
        scope = engine.pool.open_any(lit.root).scope
        assert sent_log.end_all(engine.settings.home, scope.repo_id, worktree_key(scope.root)) == 1
        assert explored(engine, lit) == {"lamps.py#light": ""}


def test_the_budget_is_kept_and_filled_with_something_else(engine: Engine, lit: GitRepo) -> None:
    lit.commit("more", {f"lamp_{at}.py": LAMPS.replace("light", f"light_{at}") for at in range(20)})
    with engine.as_session("one"):
        seen: set[str] = set()
        for _ in range(3):
            answer = engine.explore(TASK, path=lit.root, max_tokens=1500)
            engine.note_sent(answer)
            assert explore_text.cost(explore_text.explore(answer)) <= 1500 * 3
            new = {one.handle for one in answer.pieces if not one.sent}
            assert new and not new & seen
            seen |= new


@pytest.mark.slow
def test_a_very_long_answer_is_not_taken_for_received(engine: Engine, lit: GitRepo) -> None:
    """Hosts truncate them."""
    lit.write("long.py", "".join(f"value_{at} = {at}\n" for at in range(5000)))
    with engine.as_session("one"):
        for _ in range(2):
            assert not expanded(engine, lit, "long.py", max_lines=5000).sent


def test_a_log_that_is_damaged_or_of_another_time_hides_nothing(tmp_path) -> None:
    log = sent_log.SentLog(tmp_path, "repo", "tree", "one")
    body = sent_log.SentBody("a.py", "a.py#f", ((1, "def f():"), (2, "    return 1")))
    log.add([body], now=1_000)
    lines = list(body.lines)
    assert log.read(1_000).start_of("a.py", lines) == 1
    assert not log.read(1_000 + sent_log.REMEMBERED_S + 1)
    path = next((tmp_path / "trails").iterdir())
    whole = path.read_bytes()
    for at in range(1, len(whole)):
        path.write_bytes(whole[:at] + b"\x00\xff")
        assert log.read(1_000).start_of("a.py", [(1, "def g():"), (2, "    return 1")]) is None
    path.write_bytes(whole[: len(whole) // 2])
    log.add([body], now=1_001)
    assert log.read(1_001).start_of("a.py", lines) == 1


def test_only_recently_sent_texts_count(tmp_path) -> None:
    log = sent_log.SentLog(tmp_path, "repo", "tree", "one")
    first = sent_log.SentBody("a.py", "a.py#f", ((1, "def f():"), (2, "    return 1")))
    log.add([first], now=1_000)
    for at in range(4):
        rows = tuple((number, f"{at} {number} " + "x" * 90) for number in range(1, 600))
        log.add([sent_log.SentBody("b.py", "b.py", rows)], now=1_000)
    assert log.read(1_000).start_of("a.py", list(first.lines)) is None
    assert log.read(1_000).start_of("b.py", [(9, "3 7 " + "x" * 90)]) == 7
