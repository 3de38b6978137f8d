"""An unused repository is released at once: servers open one per question."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from gitrepo import GitRepo

from codelens.scope.repository import Repository
from codelens.scope.uncommitted_changes import is_dirty


def test_libgit2_data_is_freed_with_its_last_user(tmp_path: Path) -> None:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"a.py": "x = 1\n"})
    gc.disable()
    try:
        repository = Repository.at(made.root)
        opened = weakref.ref(repository.git)
        assert is_dirty(repository) is False
        assert list(repository.git.references) == ["refs/heads/main"]
        repository.release()
        # After a release everything is read again.
        assert repository.scope().branch == "main"
        assert opened() is not None
        del repository
        assert opened() is None
    finally:
        gc.enable()
