"""Overviews of files without reading them whole; and comments read with their definitions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.errors import SettingError
from codelens.render.token_budget import cost_of
from codelens.serve import answer_shapes

TILL = """\
import os
from json import dumps, loads as parse


# How money comes in.
# Twice at most.
class Till:
    \"\"\"Takes money.\"\"\"

    def charge(self, sum):
        \"\"\"Charge a sum.

        More of it.
        \"\"\"
        return dumps(sum)

    def refund(self, sum):
        return parse(os.fspath(sum))


def lonely():
    return 0
"""
GO = "package m\n\n// Run runs.\n// Long.\nfunc Run() int {\n\treturn 1\n}\n"


@pytest.fixture
def shop(repo: GitRepo) -> GitRepo:
    repo.commit("till", {"till.py": TILL, "run.go": GO})
    return repo


def test_declarations_are_read_without_bodies(engine: Engine, shop: GitRepo) -> None:
    answer = engine.expand(["till.py#Till", "run.go", "lonely"], signatures=True, path=shop.root)
    till, go, lonely = answer.items
    assert till.text == (
        "7-18  class Till  -- Takes money.\n"
        "10-15    def charge(self, sum)  -- Charge a sum.\n"
        "17-18    def refund(self, sum)\n"
    )
    assert till.folded and (till.start_line, till.end_line) == (7, 18)
    assert go.text.startswith("5-7  func Run() int") and lonely.text == "21-22  def lonely()\n"
    shaped = json.loads(answer_shapes.expand(answer, "json", 4000))
    assert all(result["folded"] for result in shaped["results"])


def test_declarations_keep_to_their_tokens_and_count_as_nothing_sent(
    engine: Engine, shop: GitRepo
) -> None:
    many = "".join(f"def function_{at}(argument):\n    return {at}\n\n\n" for at in range(200))
    shop.write("many.py", many)
    with engine.as_session("one"):
        answer = engine.expand(["many.py"], signatures=True, path=shop.root)
        engine.note_sent(answer)
        text = answer_shapes.expand(answer, "concise", 600)
        assert cost_of(text) <= 600 and "more definitions" in text
        assert "function_3(" in text and "return" not in text
        assert not engine.expand(["many.py"], path=shop.root).items[0].sent


def test_the_comment_above_a_definition_is_read_with_it(engine: Engine, shop: GitRepo) -> None:
    till, go = engine.expand(["till.py#Till", "run.go#Run"], path=shop.root).items
    assert till.text.startswith("# How money comes in.\n# Twice at most.\nclass Till:")
    assert (till.start_line, till.end_line, till.handle) == (5, 18, "till.py#Till")
    assert go.text == "// Run runs.\n// Long.\nfunc Run() int {\n\treturn 1\n}\n"


def test_an_unknown_name_in_a_file_is_reported_with_the_known_ones(
    engine: Engine, shop: GitRepo
) -> None:
    (item,) = engine.expand(["till.py#Cashier"], path=shop.root).items
    assert "till.py defines Till, Till.charge, Till.refund, lonely" in item.error
    (gone,) = engine.expand(["nowhere.py#Cashier"], path=shop.root).items
    assert "defines" not in gone.error


def test_an_outline_has_as_much_as_is_wanted(engine: Engine, shop: GitRepo) -> None:
    (docs,) = engine.outline("till.py", path=shop.root).files
    assert docs.imports == ("os", "json (dumps, loads as parse)")
    text = answer_shapes.outline(engine.outline("till.py", path=shop.root), "concise", 4000)
    assert "\n  imports os, json (dumps, loads as parse)\n" in text
    assert "-- Charge a sum." in text
    (signatures,) = engine.outline("till.py", detail="signatures", path=shop.root).files
    assert signatures.imports and not any(item.doc for item in signatures.items)
    assert signatures.items[1].signature == "def charge(self, sum)"
    names = engine.outline("till.py", detail="names", path=shop.root)
    assert not any(item.signature or item.doc for item in names.files[0].items)
    assert "method Till.charge" in answer_shapes.outline(names, "concise", 4000)
    assert not engine.outline("till.py#Till", path=shop.root).files[0].imports
    with pytest.raises(SettingError, match="detail must be one of names, signatures, docs"):
        engine.outline("till.py", detail="all", path=shop.root)


def test_a_hit_has_the_first_line_of_its_doc(engine: Engine, shop: GitRepo) -> None:
    answer = engine.search("charge", path=shop.root)
    assert answer.results[0].doc == "Charge a sum."
    shown = answer_shapes.search(answer, "concise", 4000).split("\n")[1]
    assert "def charge(self, sum)  -- Charge a sum. (" in shown


def test_current_includes_the_doctors_findings(engine: Engine, shop: GitRepo, home: Path) -> None:
    assert engine.status(path=shop.root).findings is None
    assert "doctor: no problems" in answer_shapes.current(
        engine.status(path=shop.root, detail=True), "concise"
    )
    (home / "config.toml").write_text("no = toml = at all")
    answer = engine.status(path=shop.root, detail=True)
    assert [finding.check for finding in answer.findings or ()][-1:] == ["settings"]
    assert "doctor wrong: " in answer_shapes.current(answer, "concise")
    assert json.loads(answer_shapes.current(answer, "json"))["status"]["findings"]
