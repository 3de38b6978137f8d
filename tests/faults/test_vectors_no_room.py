"""A full disk under a provider's vectors: what cannot be stored is not sent, and words answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedding_server import KEY, EmbeddingServer, embedding_server
from faults.test_no_room import no_file_larger_than
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import StoreError
from codelens.paths import vectors_file
from codelens.scope.repository import Repository

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
QUESTION = "what is part of a lamp"
TEXTS = 60


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("EMBEDDING_BATCH_SIZE", "10")
    with embedding_server() as server:
        server.dimension = 3000
        yield server


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    code = {f"part{n}.py": f"def part_{n}(lamp):\n    return lamp + {n}\n" for n in range(TEXTS)}
    repository.commit("first", code)
    return repository


@pytest.fixture
def enabled(tmp_path: Path, repository: GitRepo, server: EmbeddingServer) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home", workers=1)) as engine:
        engine.meaning_enable("openai", path=repository.root, endpoint=server.endpoint("openai"))
        engine.search(QUESTION, path=repository.root)
        server.received.clear()
        yield engine


def test_nothing_is_sent_that_could_not_be_stored(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    with no_file_larger_than(0), pytest.raises(StoreError, match="no space left"):
        enabled.meaning_sync(path=repository.root)
    assert server.received == []
    assert enabled.meaning_sync(path=repository.root).texts == TEXTS


@pytest.mark.parametrize("room", [30_000, 90_000, 150_000])
def test_a_disk_that_becomes_full_ends_the_sync_and_the_next_one_goes_on(
    room: int,
    enabled: Engine,
    repository: GitRepo,
    server: EmbeddingServer,
    tmp_path: Path,
) -> None:
    file = vectors_file(tmp_path / "home", Repository.at(repository.root).scope().repo_id)
    with (
        no_file_larger_than(file.stat().st_size + room),
        pytest.raises(StoreError, match="no space left"),
    ):
        enabled.meaning_sync(path=repository.root)
    stored = enabled.meaning_status(path=repository.root).provider.texts
    sent = len(server.texts)
    # The answer to the last request did not fit; nothing was sent after it.
    assert 0 <= sent - stored <= 10
    server.received.clear()
    assert enabled.meaning_sync(path=repository.root).texts == TEXTS - stored
    assert len(server.texts) == TEXTS - stored


def test_a_search_answers_by_words_while_the_disk_is_full(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    by_words = enabled.search(QUESTION, path=repository.root, meaning=True)
    enabled.meaning_sync(path=repository.root)
    with no_file_larger_than(0):
        answer = enabled.search(QUESTION, path=repository.root)
    assert [hit.path for hit in answer.results] == [hit.path for hit in by_words.results]
    (note,) = answer.notes
    assert note.startswith("ranked without ") and "no space left" in note
