"""A server indexes its obvious worktree as soon as its client has connected."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment
from sdk_client import client

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.serve.call_worktree import Worktrees
from codelens.store.database.database_opening import open_index
from codelens.store.views import views


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {f"part{n}.py": f"def kindle_part{n}(): pass\n" for n in range(30)})
    return made


def is_indexed(home: Path) -> bool:
    for path in (home / "indexes").glob("index-*.db"):
        db = open_index(path)
        try:
            return any(view.complete and view.files for view in views.all_views(db))
        finally:
            db.close()
    return False


def test_it_begins_before_the_first_question(repo: GitRepo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = git_environment({"CODELENS_HOME": str(home)})
    with client(env, cwd=repo.root) as asker:
        asker.tools()
        until = time.monotonic() + 60
        while not is_indexed(home) and time.monotonic() < until:
            time.sleep(0.1)
        assert is_indexed(home)


def test_a_setting_turns_it_off(repo: GitRepo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = git_environment({"CODELENS_HOME": str(home), "CODELENS_INDEX_AT_START": "off"})
    with client(env, cwd=repo.root) as asker:
        asker.tools()
        # A question about another repository: the server works, and leaves this one alone.
        other = GitRepo.init(tmp_path / "other")
        other.commit("one", {"a.py": "x = 1\n"})
        asker.text("cl_current", path=str(other.root))
    (index,) = (home / "indexes").glob("index-*.db")
    db = open_index(index)
    assert {view.worktree for view in views.all_views(db)} == {str(other.root)}
    db.close()


def test_a_folder_without_git_counts_only_if_named(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.chdir(plain)
    assert Worktrees(None, {}).worktree_at_start() is None
    assert Worktrees(str(plain), {}).worktree_at_start() == str(plain)
    assert Worktrees(None, {"CLAUDE_PROJECT_DIR": str(repo.root)}).worktree_at_start() == str(
        repo.root
    )
    monkeypatch.chdir(repo.root)
    assert Worktrees(None, {}).worktree_at_start() == str(repo.root)


def test_a_receipt_names_the_work_in_the_background_as_the_servers_own(
    repo: GitRepo, tmp_path: Path
) -> None:
    with Engine(Settings(home=tmp_path / "home"), keep_going=True) as engine:
        engine.begin(repo.root)
        note = engine.look(path=repo.root, budget_ms=0).note
    assert "process" not in note
    assert not note or note.startswith("this server is indexing the rest in the background")
