"""A listing that stops at its deadline: nothing is denied or lost, and the next look has it."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.scope import membership
from codelens.scope.ignore_rules import Ignore
from codelens.scope.membership import Walker

FOLDERS, FILES = 12, 7
BUDGET_MS = 60_000.0
"""Large: only the test's own clock cuts the listing short."""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    for folder, file in itertools.product(range(FOLDERS), range(FILES)):
        made.write(f"part{folder}/inner/f{file}.py", f"def name_{folder}_{file}():\n    pass\n")
    made.write("top.py", "def top():\n    pass\n")
    return made


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home")) as made:
        yield made


class Clock:
    """Replaces the `time` of a listing: late after a number of reads."""

    def __init__(self, times: int) -> None:
        self.left = times

    def monotonic(self) -> float:
        self.left -= 1
        return 0.0 if self.left >= 0 else float("inf")


def late_after(patch: pytest.MonkeyPatch, times: int) -> None:
    patch.setattr(membership, "time", Clock(times))


def answer(engine: Engine, root: Path, budget_ms: float | None = None) -> object:
    found = engine.search("name_7_3", path=root, budget_ms=budget_ms, limit=100)
    return dataclasses.replace(found, receipt=None)  # type: ignore[arg-type]


def test_a_walk_past_its_deadline_lists_nothing(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[object] = []
    whole = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or whole(path))
    found = Walker(repo.root, Ignore(os.fsencode(repo.root))).walk(deadline=0.0)
    assert not listed and not found.files and found.unlisted == 1


def test_a_walk_says_how_many_folders_are_left(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker = Walker(repo.root, Ignore(os.fsencode(repo.root)), git_dir=repo.root / ".git")
    whole = walker.walk()
    assert len(whole.files) == FOLDERS * FILES + 1 and not whole.unlisted
    for times in range(1, len(whole.folders)):
        late_after(monkeypatch, times)
        found = walker.walk(deadline=1.0)
        assert found.unlisted
        assert len(found.folders) == times
        assert found.files.keys() <= whole.files.keys()
    late_after(monkeypatch, len(whole.folders))
    found = walker.walk(deadline=1.0)
    assert found.files.keys() == whole.files.keys() and not found.unlisted
    assert found.folders.keys() == whole.folders.keys()


def test_one_huge_folder_is_cut_short_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1000):
        (tmp_path / f"f{number}.py").write_bytes(b"")
    late_after(monkeypatch, 2)
    found = Walker(tmp_path, Ignore(os.fsencode(tmp_path))).walk(deadline=1.0)
    assert found.unlisted == 1 and not found.folders
    assert 0 < len(found.files) < 1000


@pytest.mark.parametrize("times", [0, 1, 5, 20])
def test_a_first_question_with_no_time_to_list_denies_nothing(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    with monkeypatch.context() as patch:
        late_after(patch, times)
        found = engine.search("nothing_is_called_so", path=repo.root, budget_ms=BUDGET_MS)
    assert found.receipt.status == "partial" and found.receipt.unread
    assert "still to be listed" in found.receipt.note
    whole = engine.search("name_7_3", path=repo.root)
    assert whole.receipt.status == "fresh" and whole.receipt.files == FOLDERS * FILES + 1
    assert whole.results[0].path == "part7/inner/f3.py"


def test_tracked_files_are_searched_before_they_are_listed(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("all")
    late_after(monkeypatch, 0)
    found = engine.search("name_7_3", path=repo.root, budget_ms=BUDGET_MS)
    assert found.receipt.status == "partial"
    assert found.results[0].path == "part7/inner/f3.py"


def test_tracked_files_are_searched_although_a_question_filled_the_view(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first question makes a view of the few files that hold its words."""
    repo.commit("all")
    late_after(monkeypatch, 0)
    for folder, file in ((7, 3), (2, 5), (11, 0)):
        found = engine.search(f"name_{folder}_{file}", path=repo.root, budget_ms=BUDGET_MS)
        assert found.receipt.status == "partial"
        assert found.results[0].path == f"part{folder}/inner/f{file}.py"


def test_cut_short_at_each_point_after_changes_nothing_is_lost(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo.commit("all")
    answer(engine, repo.root)
    cut = 0
    for times in range(6):
        changed = times + 1
        repo.write(f"part{changed}/inner/f0.py", f"def changed_{changed}(): pass\n")
        repo.write(f"new{times}/deep/g.py", f"def name_7_3_{times}(): pass\n")
        repo.path(f"part{changed}/inner/f1.py").unlink()
        if times % 2:
            repo.write(".gitignore", f"part{changed}/inner/f2.py\nnew0/\n")
        with monkeypatch.context() as patch:
            late_after(patch, times)
            during = engine.search("name_7_3", path=repo.root, budget_ms=BUDGET_MS, limit=100)
        cut += during.receipt.status == "partial"
        with Engine(Settings(home=tmp_path / f"fresh{times}")) as other:
            if during.receipt.status == "fresh":
                assert dataclasses.replace(during, receipt=None) == answer(other, repo.root)
            assert answer(engine, repo.root) == answer(other, repo.root)
            again = engine.look(path=repo.root)
            assert again.status == "fresh" and again.files == other.look(path=repo.root).files
    assert cut >= 3
