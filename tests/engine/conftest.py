"""The lamps and an engine for them; other test files override them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from lamp_contexts import LAMP

from codelens.config import Settings
from codelens.engine.engine import Engine


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"src/lamp.py": LAMP, "README.md": "# Lamps\n\nThey burn.\n"})
    return made


@pytest.fixture
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> GitRepo:
    """A repository with the test module's `FILES`, in one commit."""
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", request.module.FILES)
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    with Engine(Settings(home=home)) as made:
        yield made
