"""The clients, installed once; a home, and a repository for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_clients import Home, install
from gitrepo import GitRepo


@pytest.fixture(scope="session", autouse=True)
def clients() -> None:
    why = install()
    if why:
        pytest.skip(why)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "work" / "shop")
    made.commit("first", {"src/till.py": "def charge_card(amount):\n    return amount\n"})
    return made
