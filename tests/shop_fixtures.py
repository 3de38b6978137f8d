"""Fixtures that several conftests share: the shop in a repository, and the command line on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import FILES, Ran, Run

from codelens.cli.main import main


@pytest.fixture
def committed() -> dict[str, str]:
    """The files of `repo`; a test module with other files overrides this fixture."""
    return FILES


@pytest.fixture
def repo(tmp_path: Path, committed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("CODELENS_BUDGET_MS", raising=False)
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", committed)
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: str) -> Ran:
        code = main(args)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call
