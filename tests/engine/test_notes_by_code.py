"""Saved notes: edit one field, find by code and state, and list next to their code."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.errors import SettingError
from codelens.memory.context_fields import ContextExists, NoSuchContext
from codelens.render.token_budget import cost_of
from codelens.serve import answer_shapes

LAMP = "src/lamp.py"
USER = (
    "from src.lamp import Lamp\n\n\ndef use():\n    return Lamp()\n\n\ndef other():\n    return 1\n"
)


@pytest.fixture
def noted(engine: Engine, repo: GitRepo) -> GitRepo:
    repo.commit("user", {"user.py": USER, "lib/deep/far.py": "def far():\n    return 2\n"})
    engine.save(
        "use-note", "Lamps are used once.", ["user.py#use"], category="decision", tags=["a", "b"],
        pinned=True, ttl="2w", path=repo.root,
    )  # fmt: skip
    engine.save("far-note", "Far away.", ["lib/deep/far.py"], category="pattern", path=repo.root)
    engine.save("bare", "On no code.", category="auto", path=repo.root)
    return repo


def names(engine: Engine, repo: GitRepo, **filters: str) -> list[str]:
    return [context.name for context in engine.load(path=repo.root, **filters).results]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({"note": "Used twice."}, {"note": "Used twice."}),
        ({"category": "convention"}, {"category": "convention"}),
        ({"tags": ["c"]}, {"tags": ("c",)}),
        ({"pinned": False}, {"pinned": False}),
        ({"ttl": "never"}, {"expires_s": None}),
    ],
)
def test_an_update_changes_one_field_and_drops_none(
    engine: Engine, noted: GitRepo, fields: dict, changed: dict
) -> None:
    before = engine.load("use-note", path=noted.root).results[0]
    answer = engine.save("use-note", update=True, path=noted.root, **fields)
    assert answer.updated
    after = engine.load("use-note", path=noted.root).results[0]
    assert after == answer.saved
    for field in ("note", "category", "tags", "pinned", "expires_s", "items", "created_s"):
        assert getattr(after, field) == changed.get(field, getattr(before, field)), field


def test_new_handles_of_an_update_are_read_again(engine: Engine, noted: GitRepo) -> None:
    noted.write("user.py", USER.replace("return Lamp()", "return Lamp"))
    assert engine.load("use-note", path=noted.root).results[0].items[0].status == "changed"
    engine.save("use-note", handles=["user.py#use"], update=True, path=noted.root)
    loaded = engine.load("use-note", path=noted.root).results[0]
    assert loaded.items[0].status == "current" and loaded.note == "Lamps are used once."


def test_refused_updates(engine: Engine, noted: GitRepo) -> None:
    with pytest.raises(NoSuchContext, match="use-note"):
        engine.save("use-not", "x", update=True, path=noted.root)
    with pytest.raises(SettingError, match="nothing to update"):
        engine.save("use-note", update=True, path=noted.root)
    with pytest.raises(SettingError, match="cannot be combined"):
        engine.save("use-note", "x", update=True, replace=True, path=noted.root)
    with pytest.raises(ContextExists):
        engine.save("use-note", "x", path=noted.root)


def test_contexts_are_filtered_by_kind_code_and_state(engine: Engine, noted: GitRepo) -> None:
    assert names(engine, noted, category="auto") == ["bare"]
    for handle in ("user.py#use", "user.py", "use", "user.py:4-5"):
        assert names(engine, noted, handle=handle) == ["use-note"], handle
    assert names(engine, noted, handle="user.py#other") == []
    for handle in ("lib", "lib/deep/", "lib/deep/far.py#far"):
        assert names(engine, noted, handle=handle) == ["far-note"], handle
    assert names(engine, noted, status="stale") == []
    noted.write("user.py", USER.replace("return Lamp()", "return Lamp"))
    noted.remove("lib/deep/far.py")
    assert names(engine, noted, status="changed") == ["use-note"]
    assert names(engine, noted, status="gone") == ["far-note"]
    assert set(names(engine, noted, status="stale")) == {"use-note", "far-note"}
    assert names(engine, noted, status="valid") == ["bare"]
    with pytest.raises(SettingError, match="unknown status 'old'; the statuses are current"):
        engine.load(status="old", path=noted.root)


def test_a_limit_counts_what_passes_the_filters(engine: Engine, noted: GitRepo) -> None:
    engine.save("again", "x", ["user.py#use"], path=noted.root)
    answer = engine.load(handle="user.py", limit=1, path=noted.root)
    assert len(answer.results) == 1 and answer.more == 1


def test_notes_are_named_where_their_code_appears(engine: Engine, noted: GitRepo) -> None:
    line = "saved note use-note (decision) on user.py#use"
    found = engine.search("use", path=noted.root)
    assert [note.name for note in found.contexts] == ["use-note"]
    assert line in answer_shapes.search(found, "concise", 4000).split("\n")
    shaped = json.loads(answer_shapes.search(found, "json", 4000))
    assert shaped["contexts"][0]["name"] == "use-note"
    read = engine.expand(["user.py#use"], path=noted.root)
    assert line in answer_shapes.expand(read, "concise", 4000).split("\n")
    assert json.loads(answer_shapes.expand(read, "json", 4000))["contexts"]
    assert not engine.expand(["user.py#other"], path=noted.root).contexts
    hit = engine.impact([f"{LAMP}#Lamp"], path=noted.root)
    assert line in answer_shapes.impact(hit, "concise", 4000).split("\n")
    assert json.loads(answer_shapes.impact(hit, "json", 4000))["contexts"]


def test_a_changed_note_says_so_and_a_moved_one_is_followed(engine: Engine, noted: GitRepo) -> None:
    noted.write("user.py", USER.replace("return Lamp()", "return Lamp"))
    (note,) = engine.expand(["user.py#use"], path=noted.root).contexts
    assert note.status == "changed"
    noted.remove("user.py")
    noted.write("moved.py", USER)
    (note,) = engine.expand(["moved.py#use"], path=noted.root).contexts
    assert (note.status, note.handles) == ("current", ("moved.py#use",))


def test_a_note_on_a_definition_that_came_back_is_current(engine: Engine, noted: GitRepo) -> None:
    noted.write("user.py", "x = 1\n")
    assert engine.load("use-note", path=noted.root).results[0].items[0].status == "gone"
    noted.write("user.py", USER)
    (note,) = engine.expand(["user.py#use"], path=noted.root).contexts
    assert note.status == "current"


@pytest.mark.slow
def test_many_notes_do_not_crowd_out_the_answer(engine: Engine, noted: GitRepo) -> None:
    for at in range(30):
        engine.save(f"note-{at}-{'x' * 60}", "x", ["user.py#use"], path=noted.root)
    read = engine.expand(["user.py#use"], path=noted.root)
    assert len(read.contexts) == 12
    for form in ("concise", "json"):
        for tokens in (300, 600, 4000):
            text = answer_shapes.expand(read, form, tokens)
            assert cost_of(text) <= tokens and "def use" in text
    assert answer_shapes.search(
        engine.search("use", path=noted.root), "concise", 4000
    ).count("saved note") <= 4  # fmt: skip


def test_notes_that_an_answer_has_no_room_for_are_counted(engine: Engine, noted: GitRepo) -> None:
    for at in range(20):
        engine.save(f"note-{at}-{'x' * 60}", "x", ["user.py#use"], path=noted.root)
    found = engine.search("use", path=noted.root)
    assert (len(found.contexts), found.context_count) == (12, 21)
    for tokens, shown in ((4000, 12), (300, 1)):
        shaped = json.loads(answer_shapes.search(found, "json", tokens))
        assert (len(shaped.get("contexts", ())), shaped["context_count"]) == (shown, 21)
    assert ", 9 more" in answer_shapes.search(found, "concise", 4000)
    assert "more saved notes: 20 more" in answer_shapes.search(found, "concise", 300)


def test_lines_above_the_results_that_do_not_fit_are_counted(
    engine: Engine, noted: GitRepo
) -> None:
    found = engine.search("use", path=noted.root)
    with_notes = replace(
        found, notes=tuple(f"a note of some length, number {at}" for at in range(30))
    )
    rows = answer_shapes.search(with_notes, "concise", 300).split("\n")
    (cut,) = (at for at, row in enumerate(rows) if "lines: max_tokens)" in row)
    hidden = 1 + len(with_notes.notes) + len(with_notes.contexts) - cut - 1
    assert rows[cut].endswith(f"(+{hidden} lines: max_tokens)")
    assert cost_of("\n".join(rows)) <= 300
    shaped = json.loads(answer_shapes.search(with_notes, "json", 400))
    assert (len(shaped["notes"]), shaped["note_count"]) == (1, 30)


def test_a_note_says_of_how_many_handles_it_names_three(engine: Engine, noted: GitRepo) -> None:
    noted.write("five.py", "".join(f"def part_{at}():\n    return {at}\n\n\n" for at in range(5)))
    handles = [f"five.py#part_{at}" for at in range(5)]
    engine.save("five", "Five parts.", handles, path=noted.root)
    (note,) = engine.expand(handles, path=noted.root).contexts
    assert (len(note.handles), note.handle_count) == (3, 5)
    text = answer_shapes.expand(engine.expand(handles, path=noted.root), "concise", 4000)
    assert "five.py#part_2 and 2 more" in text
