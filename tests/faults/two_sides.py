"""Two repositories of one home, each with unique content in every kind of file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.focus import forest_file
from codelens.focus.checkout import Checkout, checkout_at
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_prompt
from codelens.hooks.hook_input import worktree_state
from codelens.paths import contexts_file, index_file, pins_file
from codelens.trail import session_marks, trail_log
from codelens.trail.sent_log import SentBody, SentLog

SESSION = "a-session"
WORDS = ("lantern", "trapdoor")
KINDS = ("index", "contexts", "pins", "trail", "sent", "marks", "focus")


class Side(NamedTuple):
    """A repository, its unique content, and its files in the home."""

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
        session_marks.mark(home, word, worktree_state(place))
        take_prompt(home, place, f"paint the {word} green", FocusSettings(), session=SESSION)

    def sent(self, side: Side) -> SentLog:
        key = trail_log.worktree_key(side.place.root)
        return SentLog(self.path, side.place.repository, key, SESSION)

    def questions(self, side: Side) -> dict[str, Callable[[], list[str]]]:
        """Questions about each kind of file, whose answers contain only the words of one side."""
        home, place, engine = str(self.path), side.place, self.engine
        key = trail_log.worktree_key(place.root)
        focus = path_of(home, place, FocusSettings(), SESSION)

        def sent() -> list[str]:
            log = self.sent(side).read()
            return [word for word in WORDS if log.start_of("src/a.py", [(1, f"def {word}(): ...")])]

        return {
            "index": lambda: [
                hit.path for hit in engine.search(side.word, path=place.root).results
            ],
            "contexts": lambda: [
                f"{one.name}: {one.note}" for one in engine.load(path=place.root).results
            ],
            "pins": lambda: [
                view.worktree
                for index in engine.overview(only=place.root)
                for view in index.views
                if view.pinned
            ],
            "trail": lambda: [entry.summary for entry in trail_log.entries(home, place.repository)],
            "sent": sent,
            "marks": lambda: [
                mark.session for mark in session_marks.marks(home, place.repository, key)
            ],
            "focus": lambda: [node.text for node in forest_file.load(focus).forest.nodes.values()],
        }

    def shown(self, side: Side) -> dict[str, list[str]]:
        """The answers to all of them."""
        return {kind: ask() for kind, ask in self.questions(side).items()}


def made_sides(folder: Path, home: Home) -> tuple[Side, Side]:
    """Makes two repositories below a folder, and their files in the home."""
    both: list[Side] = []
    for word in WORDS:
        repo = GitRepo.init(folder / word)
        repo.write(f"src/{word}.py", f"def {word}():\n    return 1\n")
        repo.commit("first")
        both.append(Side(repo, word))
        home.fill(both[-1])
    return both[0], both[1]
