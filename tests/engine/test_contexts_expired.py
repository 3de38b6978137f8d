"""A time to live hides a saved context; only an explicit request deletes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from lamp_contexts import one

from codelens.engine.engine import Engine
from codelens.errors import SettingError
from codelens.memory.context_fields import ContextExists
from codelens.memory.notebook import Notebook
from codelens.render import context_text

DAY = 86_400


def names(engine: Engine, where: Path, *, expired: bool = False) -> list[str]:
    return sorted(one.name for one in engine.load(path=where, expired=expired).results)


def test_an_expired_context_is_not_shown_and_it_is_said_how_to_see_it(
    engine: Engine, repo: GitRepo
) -> None:
    engine.now_s = lambda: 1000
    engine.save("short", "one", ttl="2h", path=repo.root)
    engine.save("brief", "another", ttl="2h", path=repo.root)
    engine.save("kept", "two", ttl="2h", pinned=True, path=repo.root)
    engine.now_s = lambda: 1000 + 7200
    answer = engine.load(path=repo.root)
    assert ([one.name for one in answer.results], answer.hidden) == (["kept"], 2)
    assert context_text.hidden(answer.hidden) == (
        "2 expired contexts are not shown: `codelens load --expired` shows them"
    )
    assert context_text.load_json(answer)["hidden"] == 2
    answer = engine.load("short", path=repo.root)
    assert (answer.results, answer.hidden) == ((), 1)
    assert answer.notes[0].startswith("'short' expired on ")
    assert engine.load("another", path=repo.root).hidden == 1
    assert engine.load("two", path=repo.root).hidden == 0
    shown = engine.load("short", path=repo.root, expired=True)
    assert shown.results[0].expired and not shown.hidden
    assert "hidden" not in context_text.load_json(shown)


def test_the_name_of_an_expired_context_is_taken(engine: Engine, repo: GitRepo) -> None:
    engine.now_s = lambda: 1000
    engine.save("short", "one", ttl="2h", path=repo.root)
    engine.now_s = lambda: 1000 + 7200
    with pytest.raises(ContextExists, match=r"\(saved on .*, expired on .*: one\).*--replace"):
        engine.save("short", "three", path=repo.root)
    engine.save("short", "three", replace=True, path=repo.root)
    assert one(engine, "short", repo.root).note == "three"


@pytest.mark.parametrize("jump_days", [400, -9000])
def test_a_clock_that_jumps_deletes_nothing(
    engine: Engine, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, jump_days: int
) -> None:
    import time

    now = time.time
    engine.save("short", "important", ttl="30d", path=repo.root)
    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: now() + jump_days * DAY)
        engine.now_s = time.time
        engine.prune()
        engine.prune(only=repo.root)
        engine.save("meanwhile", "too", ttl="30d", path=repo.root)
    engine.now_s = now
    engine.prune()
    assert names(engine, repo.root, expired=True) == ["meanwhile", "short"]
    assert one(engine, "short", repo.root).note == "important"


def test_expired_contexts_are_deleted_on_request_unless_pinned(
    engine: Engine, repo: GitRepo
) -> None:
    engine.now_s = lambda: 0
    assert engine.forget(expired=True, path=repo.root).forgotten == ()
    for name, pinned in (("short", False), ("brief", False), ("kept", True)):
        engine.save(name, "x", ttl="1d", pinned=pinned, path=repo.root)
    engine.save("long", "x", ttl="2d", path=repo.root)
    engine.now_s = lambda: DAY - 1
    assert engine.forget(expired=True, path=repo.root).forgotten == ()
    engine.now_s = lambda: DAY
    assert engine.forget(expired=True, path=repo.root).forgotten == ("short", "brief")
    assert engine.forget(expired=True, path=repo.root).forgotten == ()
    assert names(engine, repo.root, expired=True) == ["kept", "long"]


def test_a_context_saved_again_during_expiry_stays(
    engine: Engine, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.now_s = lambda: 0
    for name in ("short", "brief"):
        engine.save(name, "x", ttl="1d", path=repo.root)
    engine.now_s = lambda: DAY
    opened = Notebook._opened

    def late(book: Notebook) -> object:
        # Another process saves between the look and the deletion.
        monkeypatch.setattr(Notebook, "_opened", opened)
        engine.save("short", "needed again", ttl="1d", replace=True, path=repo.root)
        return opened(book)

    monkeypatch.setattr(Notebook, "_opened", late)
    assert engine.forget(expired=True, path=repo.root).forgotten == ("brief",)
    assert one(engine, "short", repo.root).note == "needed again"


def test_names_and_expired_do_not_go_together(engine: Engine, repo: GitRepo) -> None:
    with pytest.raises(SettingError, match="cannot be combined"):
        engine.forget(["a"], expired=True, path=repo.root)
    with pytest.raises(SettingError, match="nothing to forget") as caught:
        engine.forget([], path=repo.root)
    assert "expired: true" in caught.value.in_call
