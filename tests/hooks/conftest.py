"""A repository, and an agent that works in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from hook_agent import Agent


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "shop")
    made.commit("first", {"till.py": "def charge():\n    return 1\n", "web.py": "w = 1\n"})
    return made


@pytest.fixture
def agent(tmp_path: Path, repo: GitRepo) -> Agent:
    return Agent(tmp_path / "home", repo.root)
