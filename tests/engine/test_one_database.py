"""A question uses one database from start to end, even if the file is replaced."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.store.views import views


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"lamp.py": "def kindle():\n    return 1\n"})
    return made


def written_by_another(index: Path) -> None:
    """Simulates a checkpoint by another process that is not noted yet."""
    state = index.stat()
    os.utime(index, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000_000))


def replaced(index: Path) -> None:
    shutil.copyfile(index, index.with_name("new"))
    index.with_name("new").rename(index)


@pytest.mark.parametrize("change", [written_by_another, replaced])
def test_a_file_replaced_during_a_question_is_reopened_by_the_next(
    repo: GitRepo, tmp_path: Path, change
) -> None:
    with Engine(Settings(home=tmp_path / "home", workers=1)) as engine:
        engine.search("kindle", path=repo.root)
        (index,) = (tmp_path / "home" / "indexes").glob("index-*.db")
        with engine.pool.view(ViewRequest(repo.root)) as view:
            change(index)
            with view.reading():
                assert views.states_of(view.snapshot.db, view.refreshed.view.id)
            before = view.index.db
        assert [hit.path for hit in engine.search("kindle", path=repo.root).results] == ["lamp.py"]
        with engine.pool.view(ViewRequest(repo.root)) as view:
            assert view.index.db is not before
