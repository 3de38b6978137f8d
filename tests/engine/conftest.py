"""Repositories, an engine for them, and a provider of vectors; other test files override them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from embedding_server import KEY, EmbeddingServer, embedding_server
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


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with embedding_server() as server:
        yield server


@pytest.fixture
def synced(engine: Engine, repository: GitRepo, server: EmbeddingServer) -> Engine:
    engine.meaning_enable("openai", path=repository.root, endpoint=server.endpoint("openai"))
    engine.meaning_sync(path=repository.root)
    server.received.clear()
    return engine
