"""Saved contexts over time: what expires, exports and imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo
from lamps import one, states

from codelens.engine.engine import Engine
from codelens.errors import (
    SettingError,
)
from codelens.memory.notebook import forget_expired_in

DAY = 86_400


def test_an_expired_context_is_not_shown_and_its_name_is_free(
    engine: Engine, repo: GitRepo
) -> None:
    engine.now_s = lambda: 1000
    engine.save("short", "one", ttl="2h", path=repo.root)
    engine.save("kept", "two", ttl="2h", pinned=True, path=repo.root)
    engine.now_s = lambda: 1000 + 7200
    assert [one.name for one in engine.load(path=repo.root).results] == ["kept"]
    answer = engine.load("short", path=repo.root)
    assert not answer.results and "expired on" in answer.notes[0]
    assert engine.load("short", path=repo.root, expired=True).results[0].expired
    engine.save("short", "three", path=repo.root)
    assert one(engine, "short", repo.root).note == "three"


def test_what_expired_a_month_ago_is_deleted_unless_pinned(
    engine: Engine, repo: GitRepo, home: Path
) -> None:
    engine.now_s = lambda: 0
    for name, pinned in (("short", False), ("kept", True)):
        engine.save(name, "x", ttl="1d", pinned=pinned, path=repo.root)
    assert forget_expired_in(home, 30 * DAY) == []
    place = str(repo.root / ".git")
    assert forget_expired_in(home, 31 * DAY, only_tell=True) == [(place, "short")]
    assert forget_expired_in(home, 31 * DAY) == [(place, "short")]
    assert forget_expired_in(home, 31 * DAY) == []
    found = engine.load(path=repo.root, expired=True).results
    assert [one.name for one in found] == ["kept"]


def test_prune_deletes_what_expired_a_month_ago(engine: Engine, repo: GitRepo) -> None:
    from codelens.engine import upkeep_text

    engine.now_s = lambda: 1000
    engine.save("short", "x", ttl="1d", path=repo.root)
    told = engine.prune(dry_run=True)
    assert [one.name for one in told.contexts] == ["short"]
    said = f"saved context 'short' of {repo.root}/.git, expired, would go"
    lines = upkeep_text.prune_lines(told)
    assert said in lines and lines[-1].endswith("; --yes removes them")
    assert engine.prune(only=repo.root).contexts == ()
    assert [one.name for one in engine.prune().contexts] == ["short"]
    assert engine.prune().contexts == ()
    assert not engine.load(path=repo.root, expired=True).results


def test_an_export_comes_back_whole(engine: Engine, repo: GitRepo, tmp_path: Path) -> None:
    engine.save("lamps", "x", ["kindle", "README.md:1-2", "src/lamp.py"], ttl="3d", path=repo.root)
    text = json.dumps(engine.export_contexts(path=repo.root))
    copy = GitRepo.clone(repo.root, tmp_path / "copy")
    taken = engine.import_contexts(text, path=copy.root)
    assert taken.added == ("lamps",)
    assert states(engine, "lamps", copy.root) == states(engine, "lamps", repo.root)
    again = json.loads(json.dumps(engine.export_contexts(path=copy.root)))
    assert again["contexts"] == json.loads(text)["contexts"]
    assert engine.import_contexts(text, path=copy.root).same == ("lamps",)


def test_an_import_overwrites_nothing_unless_asked(engine: Engine, repo: GitRepo) -> None:
    engine.save("lamps", "one", path=repo.root)
    text = json.dumps(engine.export_contexts(path=repo.root))
    engine.save("lamps", "two", replace=True, path=repo.root)
    assert engine.import_contexts(text, path=repo.root).refused == ("lamps",)
    assert one(engine, "lamps", repo.root).note == "two"
    assert engine.import_contexts(text, replace=True, path=repo.root).replaced == ("lamps",)
    assert one(engine, "lamps", repo.root).note == "one"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.pop("codelens_contexts"), "no export of contexts"),
        (lambda one: one["contexts"].append(7), "no JSON object"),
        (lambda one: one["contexts"].append(one["contexts"][0]), "the same name"),
        (lambda one: one["contexts"][0].update(name="a\nb"), "in one line"),
        (lambda one: one["contexts"][0]["items"][0].update(path="../x"), "leads out"),
        (lambda one: one["contexts"][0]["items"][0].update(body="zz"), "cannot be read"),
        (lambda one: one["contexts"][0]["items"][0].update(head="HEAD"), "no id of a commit"),
        (lambda one: one["contexts"][0]["items"][0].update(start_line=1 << 99), "no number"),
        (lambda one: one["contexts"][0].update(category="x"), "no category"),
    ],
)
def test_an_import_that_is_not_whole_adds_nothing(
    engine: Engine, repo: GitRepo, change, said: str
) -> None:
    engine.save("lamps", "one", ["kindle"], path=repo.root)
    value = json.loads(json.dumps(engine.export_contexts(path=repo.root)))
    change(value)
    engine.forget(["lamps"], path=repo.root)
    with pytest.raises(SettingError, match=said):
        engine.import_contexts(json.dumps(value), path=repo.root)
    assert not engine.load(path=repo.root).results
    with pytest.raises(SettingError, match="no JSON"):
        engine.import_contexts("{", path=repo.root)
