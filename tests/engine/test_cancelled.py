"""A cancelled call stops wherever it is, and leaves everything intact for the next one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from auth_files import FILES
from gitrepo import GitRepo

from codelens.cancellation import Call, CallCancelled
from codelens.config import Settings
from codelens.engine.engine import Engine


class Countdown(Call):
    """Cancels at the n-th check."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    @property
    def is_cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


Ask = Callable[[Engine, Path], object]

QUESTIONS: dict[str, Ask] = {
    "search": lambda engine, root: engine.search("login token", path=root),
    "text": lambda engine, root: engine.search("token", path=root, mode="text"),
    "regex": lambda engine, root: engine.search("(a+)+b|log.n", path=root, mode="regex"),
    "outline": lambda engine, root: engine.outline(path=root),
    "related": lambda engine, root: engine.related("login", path=root),
    "impact": lambda engine, root: engine.impact(["login"], path=root),
    "map": lambda engine, root: engine.map(path=root),
    "explore": lambda engine, root: engine.explore("why does login fail", path=root),
    "diff": lambda engine, root: engine.diff("HEAD~1", path=root),
    "history": lambda engine, root: engine.history("src/login.py#login", path=root),
    "conflicts": lambda engine, root: engine.conflicts(path=root, others=["other"]),
    "at a ref": lambda engine, root: engine.search("login", path=root, ref="HEAD~1"),
}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", FILES | {"src/login.py": "def login(token):\n    return token\n"})
    made.git("branch", "other")
    made.commit("second", {"src/login.py": "def login(token, name):\n    return token, name\n"})
    return made


def answer(engine: Engine, ask: Ask, root: Path) -> object:
    found = ask(engine, root)
    return dataclasses.replace(found, receipt=None)  # type: ignore[type-var]


@pytest.mark.parametrize("name", QUESTIONS)
def test_cancelled_anywhere(name: str, repo: GitRepo, tmp_path: Path) -> None:
    ask = QUESTIONS[name]
    with Engine(Settings(home=tmp_path / "fresh")) as other:
        wanted = answer(other, ask, repo.root)
    stopped = 0
    with Engine(Settings(home=tmp_path / "home")) as engine:
        for times in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233):
            call = Countdown(times)
            try:
                with call.under_way():
                    found = answer(engine, ask, repo.root)
            except CallCancelled:
                stopped += 1
            else:
                assert found == wanted
                # Each attempt keeps its progress, so one attempt finishes in the end.
                break
        assert stopped >= 3
        assert answer(engine, ask, repo.root) == wanted
        with engine.pool.open(repo.root, None).index.lock as lock:
            assert lock.waiting == 0
