"""Saved contexts of a repository that moved, of its copies and clones."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from lamp_contexts import LAMP, one, states

from codelens.engine.engine import Engine
from codelens.memory.context_fields import ContextError


def test_a_moved_repository_finds_its_contexts_after_asking(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    engine.save("lamps", "one", ["kindle"], path=repo.root)
    moved = tmp_path / "elsewhere"
    repo.root.rename(moved)
    answer = engine.load(path=moved)
    assert not answer.results
    assert [(one.place, one.contexts) for one in answer.former] == [(str(repo.root / ".git"), 1)]
    taken = engine.adopt(path=moved)
    assert (taken.source, taken.added) == (str(repo.root / ".git"), ("lamps",))
    assert states(engine, "lamps", moved) == [("current", "src/lamp.py#Lamp.kindle")]
    assert engine.load(path=moved).former == ()


def test_waiting_contexts_are_reported_despite_later_saves(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    engine.save("lamps", "one", path=repo.root)
    engine.save("same", "old", path=repo.root)
    moved = tmp_path / "elsewhere"
    repo.root.rename(moved)
    notes = engine.save("same", "new", path=moved).notes
    assert "`codelens load --adopt` takes them over" in notes[0]
    assert engine.load(path=moved).former[0].contexts == 2
    taken = engine.adopt(path=moved)
    assert (taken.added, taken.refused) == (("lamps",), ("same",))
    assert one(engine, "same", moved).note == "new"
    assert engine.load(path=moved).former == ()


def test_a_repository_that_moves_twice_has_all_as_it_was_last(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    for name in ("kept", "gone", "changed"):
        engine.save(name, "first", path=repo.root)
    second, third = tmp_path / "second", tmp_path / "third"
    repo.root.rename(second)
    engine.adopt(path=second)
    engine.forget(["gone"], path=second)
    engine.save("changed", "second", replace=True, path=second)
    engine.save("new", "second", path=second)
    with pytest.raises(ContextError, match="give the folder by its former name"):
        engine.adopt(path=second)
    second.rename(third)
    answer = engine.load(path=third)
    assert [(one.place, one.contexts) for one in answer.former] == [(str(second / ".git"), 3)]
    taken = engine.adopt(path=third)
    assert sorted(taken.added) == ["changed", "kept", "new"]
    assert one(engine, "changed", third).note == "second"
    assert not engine.load(path=third).former


def test_all_places_not_taken_over_are_reported_and_the_newest_counts(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    now_s = engine.now_s()
    engine.now_s = lambda: now_s - 100
    engine.save("both", "old", path=repo.root)
    engine.save("older", "old", path=repo.root)
    second, third = tmp_path / "second", tmp_path / "third"
    repo.root.rename(second)
    engine.now_s = lambda: now_s
    engine.save("both", "new", path=second)
    second.rename(third)
    places = [str(second / ".git"), str(repo.root / ".git")]
    assert [one.place for one in engine.load(path=third).former] == places
    taken = engine.adopt(path=third)
    assert (taken.source, sorted(taken.added)) == (", ".join(places), ["both", "older"])
    assert taken.notes == (
        f"not taken over from {places[1]!r}, newer contexts have these names: both",
    )
    assert one(engine, "both", third).note == "new"
    assert not engine.load(path=third).former


def test_contexts_saved_after_a_takeover_are_offered(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    engine.save("first", "one", path=repo.root)
    second = tmp_path / "second"
    repo.root.rename(second)
    engine.adopt(path=second)
    second.rename(repo.root)
    later_s = engine.now_s() + 100
    engine.now_s = lambda: later_s
    engine.save("later", "two", path=repo.root)
    repo.root.rename(second)
    assert engine.adopt(path=second).added == ("later",)


def test_a_clone_is_another_repository(engine: Engine, repo: GitRepo, tmp_path: Path) -> None:
    engine.save("lamps", "one", path=repo.root)
    clone = GitRepo.clone(repo.root, tmp_path / "clone")
    assert engine.load(path=clone.root).former == ()
    with pytest.raises(ContextError, match="give the folder by its former name"):
        engine.adopt(path=clone.root)
    assert engine.adopt(str(repo.root), path=clone.root).added == ("lamps",)
    with pytest.raises(ContextError, match="nothing was saved at '/nowhere'"):
        engine.adopt("/nowhere", path=clone.root)


def test_a_moved_folder_is_adopted_by_its_former_name(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text(LAMP)
    engine.save("lamps", "one", ["carry"], path=folder)
    folder.rename(tmp_path / "moved")
    assert engine.adopt(str(folder), path=tmp_path / "moved").added == ("lamps",)
    assert states(engine, "lamps", tmp_path / "moved") == [("current", "a.py#carry")]
