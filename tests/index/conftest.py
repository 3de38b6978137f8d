"""An engine with a separate home, and a repository that it has indexed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home")) as made:
        yield made


@pytest.fixture
def repo(request: pytest.FixtureRequest, tmp_path: Path, engine: Engine) -> GitRepo:
    """A repository of the module's `FILES`."""
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", request.module.FILES)
    engine.look(path=made.root)
    return made
