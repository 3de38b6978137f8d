"""Saved notes in a capsule: those on the code it shows, and the exact next call."""

from __future__ import annotations

import shlex

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.render import explore_text
from codelens.render.token_budget import cost_of

LAMPS = '''def light(lamp):
    """Light a lamp."""
    lamp.on = True
    return lamp


def dim(lamp):
    """Dim a lamp that is lit."""
    lamp.level = lamp.level - 1
    return lamp
'''
DOOR = "def open_door(door):\n    door.locked = False\n    return door\n"


@pytest.fixture
def lit(repo: GitRepo, engine: Engine) -> GitRepo:
    repo.commit("lamps", {"lamps.py": LAMPS, "door.py": DOOR})
    engine.save("glow", "Lamps glow before they shine.", ["lamps.py#light"], path=repo.root)
    engine.save("locks", "Doors lock by themselves.", ["door.py#open_door"], path=repo.root)
    return repo


def names(engine: Engine, repo: GitRepo, task: str = "light a lamp") -> list[tuple[str, str]]:
    answer = engine.explore(task, path=repo.root)
    return [(one.name, one.status) for one in answer.contexts]


def test_a_note_on_shown_code_is_listed_with_it(engine: Engine, lit: GitRepo) -> None:
    answer = engine.explore("light a lamp", path=lit.root)
    assert [(one.name, one.status, one.handles) for one in answer.contexts] == [
        ("glow", "current", ("lamps.py#light",))
    ]
    line = "saved note glow (note) on lamps.py#light: Lamps glow before they shine."
    assert line in explore_text.explore(answer).split("\n")
    shaped = explore_text.explore_json(answer)
    assert shaped["contexts"] == [
        {
            "name": "glow", "category": "note", "status": "current",
            "note": "Lamps glow before they shine.", "handles": ["lamps.py#light"],
            "handle_count": 1,
        }
    ]  # fmt: skip


def test_a_note_on_changed_code_says_so_and_comes_last(engine: Engine, lit: GitRepo) -> None:
    engine.save("dimmer", "Dimming goes by one.", ["lamps.py#dim"], path=lit.root)
    lit.write("lamps.py", LAMPS.replace("lamp.on = True", "lamp.on = 1"))
    found = names(engine, lit, "light a lamp, dim a lamp that glows")
    assert found == [("dimmer", "current"), ("glow", "changed")]


def test_a_note_follows_its_code_to_another_file(engine: Engine, lit: GitRepo) -> None:
    lit.write("bulbs.py", LAMPS)
    (lit.root / "lamps.py").unlink()
    answer = engine.explore("light a lamp", path=lit.root)
    assert [(one.name, one.handles) for one in answer.contexts] == [("glow", ("bulbs.py#light",))]


def test_notes_on_code_that_is_gone_are_counted(engine: Engine, lit: GitRepo) -> None:
    lit.write("lamps.py", LAMPS[LAMPS.index("def dim") :])
    answer = engine.explore("dim a lamp", path=lit.root)
    assert not answer.contexts and answer.gone_contexts == 1
    assert "1 saved note here on code that is gone" in explore_text.explore(answer).split("\n")


@pytest.mark.slow
def test_notes_take_a_tenth_of_the_budget_at_most(engine: Engine, lit: GitRepo) -> None:
    for at in range(60):
        engine.save(f"glow-{at}", f"lamp {at} " * 20, ["lamps.py#light"], path=lit.root)
    for tokens in (200, 400, 2000, 8000):
        answer = engine.explore("light a lamp", path=lit.root, max_tokens=tokens)
        lines = explore_text.context_lines(
            answer.contexts, answer.gone_contexts, answer.context_count
        )
        assert sum(map(explore_text.cost, lines)) <= tokens * 3 * 0.10
        assert cost_of(explore_text.explore(answer)) <= tokens
        assert answer.pieces
        assert answer.context_count == 61
        left = f"{61 - len(answer.contexts)} more saved notes"
        assert left in explore_text.explore(answer).split("\n")
        assert explore_text.explore_json(answer)["context_count"] == 61


def test_a_note_whose_time_is_over_is_not_shown(engine: Engine, lit: GitRepo) -> None:
    engine.save("soon", "Over soon.", ["lamps.py#light"], ttl="1h", path=lit.root)
    assert ("soon", "current") in names(engine, lit)
    before = engine.now_s
    engine.now_s = lambda: before() + 7200
    assert ("soon", "current") not in names(engine, lit)


def test_the_next_call_reads_the_omitted_text(engine: Engine, lit: GitRepo) -> None:
    body = "".join(f"    step_{at} = {at}\n" for at in range(300))
    lit.write("long.py", f"def polish(lantern):\n{body}    return 'gleaming brass'\n")
    task = "polish returns gleaming brass"
    answer = engine.explore(task, path=lit.root, max_tokens=2000)
    assert answer.more is not None and answer.more.cut and answer.more.handles
    typed = explore_text.body(answer, typed=True)[-1]
    command = shlex.split(typed.partition("next: codelens expand ")[2])
    assert command == list(answer.more.handles)
    assert "next: cl_expand handles [" in explore_text.explore(answer).split("\n")[-1]
    read = engine.expand(answer.more.handles, path=lit.root)
    assert not [one.error for one in read.items if one.error]
