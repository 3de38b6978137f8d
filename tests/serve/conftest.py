"""A server and a repository for it; other test files override them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from auth_files import FILES
from gitrepo import GitRepo
from sdk_client import Asker, client


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", FILES)
    return made


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {
        "CODELENS_HOME": str(tmp_path_factory.mktemp("home")),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture(scope="module")
def running(env: dict[str, str]) -> Iterator[Asker]:
    """One server for most tests: starting one costs a second."""
    with client(env, "--budget", "60000") as found:
        yield found


@pytest.fixture
def asker(running: Asker, repo: GitRepo) -> Asker:
    return running.at(repo.root)
