"""Every kind of file of the home, copied over another repository's or swapped with it."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from faults.two_sides import KINDS, Home, Side, made_sides

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.upkeep.diagnosis import examine
from codelens.paths import usage_file

SET_ASIDE = frozenset({".foreign", ".damaged", ".unreadable"})
RESTORED = ("index", "contexts", "pins")
"""Rebuilt, or restored from a copy; the other kinds start empty."""


@pytest.fixture
def home(tmp_path: Path) -> Generator[Home]:
    with Engine(Settings(home=tmp_path / "home")) as engine:
        yield Home(engine, tmp_path / "home")


@pytest.fixture
def sides(tmp_path: Path, home: Home) -> tuple[Side, Side]:
    both = made_sides(tmp_path, home)
    home.engine.close()
    return both


def kinds_with(shown: dict[str, list[str]], word: str) -> list[str]:
    return [kind for kind, rows in shown.items() if any(word in row for row in rows)]


def test_each_repository_has_its_own_contexts(home: Home, sides: tuple[Side, Side]) -> None:
    for side, other in (sides, sides[::-1]):
        shown = home.shown(side)
        assert kinds_with(shown, side.word) == list(KINDS), "else the tests below show nothing"
        assert kinds_with(shown, other.word) == []


@pytest.mark.parametrize("swapped", [False, True], ids=["copied", "swapped"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_repository_is_noticed_and_set_aside(
    home: Home, sides: tuple[Side, Side], kind: str, *, swapped: bool
) -> None:
    side, other = sides
    own_file, other_file = home.file(kind, side), home.file(kind, other)
    own_bytes = own_file.read_bytes()
    shutil.copy(other_file, own_file)
    if swapped:
        other_file.write_bytes(own_bytes)
    shown = home.shown(side)
    assert kinds_with(shown, other.word) == []
    lost = set() if kind in RESTORED else {kind}
    assert set(kinds_with(shown, side.word)) | lost == set(KINDS)
    if swapped:
        assert kinds_with(home.shown(other), side.word) == []
    for one in sides:
        home.engine.forget([one.word], path=one.repo.root)
        home.fill(one)
    for one, another in (sides, sides[::-1]):
        again = home.shown(one)
        assert kinds_with(again, one.word) == list(KINDS)
        assert kinds_with(again, another.word) == []
    asides = [
        file
        for file in own_file.parent.iterdir()
        if file.name.startswith(own_file.name) and SET_ASIDE & set(suffixes(file))
    ]
    assert asides, "what was set aside is not thrown away"
    if kind != "focus":
        named = {result.about for result in examine(home.engine.settings)}
        assert named & set(map(str, asides)), "doctor names it"


def suffixes(file: Path) -> list[str]:
    return [suffix.partition("-")[0] for suffix in file.suffixes]


@pytest.mark.parametrize("kind", ["index", "contexts", "usage"])
@pytest.mark.parametrize("place", ["index", "contexts", "usage"])
def test_a_database_of_another_kind_is_rejected(
    home: Home, sides: tuple[Side, Side], kind: str, place: str
) -> None:
    side = sides[0]
    home.engine.usage()
    home.engine.close()
    files = {
        "index": home.file("index", side),
        "contexts": home.file("contexts", side),
        "usage": usage_file(home.path),
    }
    if kind != place:
        shutil.copy(files[kind], files[place])
    assert kinds_with(home.shown(side), side.word) == list(KINDS)
    home.engine.usage()


def test_another_repository_at_the_same_place_gets_nothing_of_the_index_before(
    home: Home, sides: tuple[Side, Side]
) -> None:
    """The index records no commit: it stores everything by content, and compares views with git."""
    side, other = sides
    shutil.rmtree(side.repo.root)
    shutil.copytree(other.repo.root, side.repo.root)
    hits = home.engine.search(other.word, path=side.repo.root).results
    assert [hit.path for hit in hits] == [f"src/{other.word}.py"]
    assert not home.engine.search(side.word, path=side.repo.root).results
