"""`codelens meaning` and `search --meaning` as typed, with the shipped table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import Run

from codelens.meaning import word_table

FILES = {
    "src/stopping.py": "def abort(task):\n    # abort it, abort its parts\n    task.abort()\n",
    "src/keeping.py": "def store(task):\n    # store it, store its parts\n    task.store()\n",
    "src/painting.py": "def paint(task):\n    # paint it, paint its parts\n    task.paint()\n",
}


@pytest.fixture
def lamps(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    repository.commit("first", FILES)
    return repository


def test_the_status_shows_the_table_and_its_vectors(run: Run, lamps: GitRepo) -> None:
    ran = run("meaning", "status", "-C", str(lamps.root))
    head = word_table.shipped().head
    assert ran.code == 0
    assert f"version {head.version}, {head.terms:,} words of {head.dimension} numbers" in ran.out
    assert "vectors: 3 of 3 texts, 384 bytes" in ran.out
    fields = json.loads(run("meaning", "status", "-C", str(lamps.root), "--json").out)
    assert fields["meaning"]["digest"] == head.digest
    assert fields["receipt"]["status"] == "fresh"


def test_a_test_shows_the_words_that_lie_by_a_question(run: Run) -> None:
    ran = run("meaning", "test", "abort", "xqzzyx")
    assert ran.code == 0
    assert "xqzzyx: not in the table" in ran.out
    near = json.loads(run("meaning", "test", "abort the task", "--json").out)
    assert [word["term"] for word in near["words"]] == ["abort", "task"]
    assert len(near["near"]) == 12


def test_a_test_of_unknown_words_finds_nothing(run: Run) -> None:
    assert run("meaning", "test", "xqzzyx").code == 1
    assert run("meaning", "test").code == 2


def test_meaning_is_switched_off_by_option_and_setting(
    run: Run, lamps: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("search", "how to cancel a task", "-C", str(lamps.root), "--explain")
    assert " meaning " in run(*command).out
    assert " meaning " not in run(*command, "--meaning", "off").out
    monkeypatch.setenv("CODELENS_MEANING", "off")
    assert " meaning " not in run(*command).out
    assert " meaning " in run(*command, "--meaning", "on").out
