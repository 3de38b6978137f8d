"""Saved contexts over time: expiry, exports and imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo
from lamp_contexts import one, states

from codelens.engine.engine import Engine
from codelens.errors import (
    SettingError,
)


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
        (lambda one: one.pop("codelens_contexts"), "not an export of contexts"),
        (lambda one: one["contexts"].append(7), "not a JSON object"),
        (lambda one: one["contexts"].append(one["contexts"][0]), "the same name"),
        (lambda one: one["contexts"][0].update(name="a\nb"), "on one line"),
        (lambda one: one["contexts"][0]["items"][0].update(path="../x"), "leads out"),
        (lambda one: one["contexts"][0]["items"][0].update(body="zz"), "cannot be read"),
        (lambda one: one["contexts"][0]["items"][0].update(head="HEAD"), "not a commit id"),
        (lambda one: one["contexts"][0]["items"][0].update(start_line=1 << 99), "must be a number"),
        (lambda one: one["contexts"][0].update(category="x"), "unknown category"),
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
    with pytest.raises(SettingError, match="not JSON"):
        engine.import_contexts("{", path=repo.root)
