"""Every kind of file of the home, copied over another repository's or swapped with it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import NamedTuple

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.doctor.diagnosis import examine
from codelens.engine.engine import Engine
from codelens.focus import forest_file
from codelens.focus.checkout import Checkout, checkout_at
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_prompt
from codelens.hooks.session_standing import standing_at
from codelens.paths import contexts_file, index_file, pins_file, usage_file
from codelens.trail import session_marks, trail_log
from codelens.trail.sent_log import SentBody, SentLog

SESSION = "a-session"
KINDS = ("index", "contexts", "pins", "trail", "sent", "marks", "focus")
SET_ASIDE = frozenset({".foreign", ".damaged", ".unreadable"})
RESTORED = ("index", "contexts", "pins")
"""Built again, or restored from a copy; the rest begins anew."""


class Side(NamedTuple):
    """A repository, what only it has, and its files in the home."""

    repo: GitRepo
    word: str

    @property
    def place(self) -> Checkout:
        return checkout_at(str(self.repo.root))


class Home(NamedTuple):
    engine: Engine
    path: Path

    def file(self, kind: str, side: Side) -> Path:
        repo_id = side.place.repository
        key = trail_log.worktree_key(side.place.root)
        trails = self.path / "trails"
        named: dict[str, Callable[[], Path]] = {
            "index": lambda: index_file(self.path, repo_id),
            "contexts": lambda: contexts_file(self.path, repo_id),
            "pins": lambda: pins_file(self.path, repo_id),
            "trail": lambda: next(trails.glob(f"{repo_id}-????-??.jsonl")),
            "sent": lambda: next(trails.glob(f"{repo_id}-{key}-*.sent")),
            "marks": lambda: next(trails.glob(f"sessions-{repo_id}-*.json")),
            "focus": lambda: Path(path_of(str(self.path), side.place, FocusSettings(), SESSION)),
        }
        return named[kind]()

    def fill(self, side: Side) -> None:
        home, place, word = str(self.path), side.place, side.word
        self.engine.save(word, f"the {word}", path=side.repo.root)
        self.engine.search(word, path=side.repo.root)
        self.engine.pin("main", path=side.repo.root, pinned=True)
        entry = trail_log.TrailEntry(
            int(time.time()), SESSION, trail_log.worktree_key(place.root), "main", "explored", word
        )
        assert trail_log.append(home, place.repository, entry)
        self.sent(side).add([SentBody("src/a.py", word, ((1, f"def {word}(): ..."),))])
        session_marks.mark(home, word, standing_at(place))
        take_prompt(home, place, f"paint the {word} green", FocusSettings(), session=SESSION)

    def sent(self, side: Side) -> SentLog:
        key = trail_log.worktree_key(side.place.root)
        return SentLog(self.path, side.place.repository, key, SESSION)

    def shown(self, side: Side) -> dict[str, list[str]]:
        """What each kind of file says of a repository, all of it in words of one of the two."""
        home, place = str(self.path), side.place
        forest = forest_file.load(str(self.file("focus", side))).forest
        sent = self.sent(side).read()
        return {
            "index": [hit.path for hit in self.engine.search(side.word, path=place.root).results],
            "contexts": [one.name for one in self.engine.load(path=place.root).results],
            "pins": [
                view.worktree
                for index in self.engine.overview(only=place.root)
                for view in index.views
                if view.pinned
            ],
            "trail": [entry.summary for entry in trail_log.entries(home, place.repository)],
            "sent": [
                word
                for word in ("lantern", "trapdoor")
                if sent.start_of("src/a.py", [(1, f"def {word}(): ...")])
            ],
            "marks": [
                mark.session
                for mark in session_marks.marks(
                    home, place.repository, trail_log.worktree_key(place.root)
                )
            ],
            "focus": [node.text for node in forest.nodes.values()],
        }  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Generator[Home]:
    with Engine(Settings(home=tmp_path / "home")) as engine:
        yield Home(engine, tmp_path / "home")


@pytest.fixture
def sides(tmp_path: Path, home: Home) -> tuple[Side, Side]:
    both: list[Side] = []
    for word in ("lantern", "trapdoor"):
        repo = GitRepo.init(tmp_path / word)
        repo.write(f"src/{word}.py", f"def {word}():\n    return 1\n")
        repo.commit("first")
        both.append(Side(repo, word))
        home.fill(both[-1])
    home.engine.close()
    return both[0], both[1]


def kinds_with(shown: dict[str, list[str]], word: str) -> list[str]:
    return [kind for kind, rows in shown.items() if any(word in row for row in rows)]


def test_each_repository_has_what_is_its_own(home: Home, sides: tuple[Side, Side]) -> None:
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
    ours, theirs = home.file(kind, side), home.file(kind, other)
    mine = ours.read_bytes()
    shutil.copy(theirs, ours)
    if swapped:
        theirs.write_bytes(mine)
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
        for file in ours.parent.iterdir()
        if file.name.startswith(ours.name) and SET_ASIDE & set(suffixes(file))
    ]
    assert asides, "what was set aside is not thrown away"
    if kind != "focus":
        named = {result.about for result in examine(home.engine.settings)}
        assert named & set(map(str, asides)), "doctor names it"


def suffixes(file: Path) -> list[str]:
    return [suffix.partition("-")[0] for suffix in file.suffixes]


@pytest.mark.parametrize("kind", ["index", "contexts", "usage"])
@pytest.mark.parametrize("place", ["index", "contexts", "usage"])
def test_a_database_of_another_kind_is_no_database_here(
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
    """The index states no commit: all in it is by content, and each view is compared with git."""
    side, other = sides
    shutil.rmtree(side.repo.root)
    shutil.copytree(other.repo.root, side.repo.root)
    hits = home.engine.search(other.word, path=side.repo.root).results
    assert [hit.path for hit in hits] == [f"src/{other.word}.py"]
    assert not home.engine.search(side.word, path=side.repo.root).results
