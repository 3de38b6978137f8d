"""Invalid tasks, budgets and sessions: a clear answer or error, and nothing is lost."""

from __future__ import annotations

import threading

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.errors import CodelensError, QueryError
from codelens.render import explore_text
from codelens.render.token_budget import cost_of

STEPS = "".join(f"    lamp.step_{at} = lamp.step_{at} + {at}\n" for at in range(12))
LAMPS = f'def light(lamp):\n    """Light a lamp."""\n{STEPS}    return lamp\n'
JAVA = """\
java.lang.NullPointerException: Cannot invoke "Lamp.light()" because "lamp" is null
\tat com.example.Lamps.light(Lamps.java:42)
\tat com.example.Main.main(Main.java:7)
Caused by: java.lang.IllegalStateException
\t... 3 more
"""
GO = "panic: runtime error\n\ngoroutine 1 [running]:\nmain.light(...)\n\t/src/lamps.go:12 +0x1d\n"


@pytest.fixture
def lit(repo: GitRepo) -> GitRepo:
    repo.commit("lamps", {"lamps.py": LAMPS, "door.py": "def open_door(door):\n    return door\n"})
    return repo


@pytest.mark.parametrize("task", ["", "  \n\t ", "\0", "\u2028", "\u200b"])
def test_an_empty_task_is_an_error_that_says_so(engine: Engine, lit: GitRepo, task: str) -> None:
    with pytest.raises(QueryError, match="the task is empty"):
        engine.explore(task, path=lit.root)


@pytest.mark.parametrize(
    ("tokens", "said"), [(50, "at least 200|between 200"), (10**6, "at most 100,000|100,000")]
)
def test_a_budget_out_of_range_is_an_error(
    engine: Engine, lit: GitRepo, tokens: int, said: str
) -> None:
    with pytest.raises(CodelensError, match=said):
        engine.explore("light", max_tokens=tokens, path=lit.root)


def test_a_task_of_100_kilobytes_is_read_as_far_as_it_says(engine: Engine, lit: GitRepo) -> None:
    answer = engine.explore("light the lamp " * 7_000, max_tokens=1_000, path=lit.root)
    assert cost_of(explore_text.explore(answer)) <= 1_000
    assert any("10,000 characters" in note for note in answer.notes)
    assert answer.pieces[0].handle == "lamps.py#light"


@pytest.mark.parametrize("trace", [JAVA, GO, JAVA * 50], ids=["java", "go", "long"])
def test_a_trace_of_another_language_is_reported_and_other_words_count(
    engine: Engine, lit: GitRepo, trace: str
) -> None:
    answer = engine.explore(f"lighting a lamp fails\n\n{trace}", path=lit.root)
    assert any("is in this worktree" in note for note in answer.notes)
    assert "lamps.py#light" in [piece.handle for piece in answer.pieces]


def test_a_session_id_of_another_repository_hides_nothing(
    engine: Engine, lit: GitRepo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = GitRepo.init(tmp_path_factory.mktemp("other") / "repo")
    other.commit("lamps", {"lamps.py": LAMPS})
    with engine.as_session("shared"):
        engine.note_sent(engine.explore("light a lamp", path=lit.root))
        assert not any(piece.sent for piece in engine.explore("light", path=other.root).pieces)
        assert engine.explore("light", path=lit.root).pieces[0].sent == "unchanged"


def test_two_sessions_with_one_id_at_once_lose_nothing(engine: Engine, lit: GitRepo) -> None:
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            with engine.as_session("one id"):
                for _ in range(5):
                    answer = engine.explore("light a lamp", path=lit.root)
                    engine.note_sent(answer)
                    assert answer.pieces[0].lines
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with engine.as_session("one id"):
        recovered = engine.recover(path=lit.root)
        assert recovered.calls and recovered.definitions[0] == "lamps.py#light"


@pytest.mark.parametrize("session", ["a" * 100_000, "../../etc", "\0\n", "é" * 900, "\ud800"])
def test_any_session_id_is_one(engine: Engine, lit: GitRepo, session: str) -> None:
    with engine.as_session(session):
        answer = engine.explore("light a lamp", path=lit.root)
        engine.note_sent(answer)
        again = engine.explore("light a lamp", path=lit.root)
        expected = "unchanged" if session.strip() else ""
        assert again.pieces[0].sent == expected
        assert engine.recover(path=lit.root).calls
    names = [file.name for file in (engine.settings.home / "trails").iterdir()]
    assert all("/" not in name and len(name) < 100 for name in names)


def test_a_sent_log_cut_in_half_hides_no_code(engine: Engine, lit: GitRepo) -> None:
    with engine.as_session("one"):
        engine.note_sent(engine.explore("light a lamp", path=lit.root))
        (log,) = (engine.settings.home / "trails").glob("*.sent")
        log.write_bytes(log.read_bytes()[:-20])
        piece = engine.explore("light a lamp", path=lit.root).pieces[0]
        assert piece.sent == "" and len(piece.lines) == 15
