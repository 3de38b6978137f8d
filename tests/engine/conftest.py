"""The lamps and an engine for them; files of tests that need another have their own."""

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
    """What the test's file has under `FILES`, in one commit."""
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
