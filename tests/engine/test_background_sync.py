"""A server syncs vectors after questions: once for many, again later, and never without consent."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from embedding_server import EmbeddingServer
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.embedding.vector_sync import BackgroundSync, Pauses
from codelens.engine.engine import Engine
from codelens.errors import ReadError

SOON = Pauses(first_s=0.05, between_s=0.1)
PATIENCE_S = 30.0


class Syncs:
    """Counts syncs by root, and lets a test wait for one."""

    def __init__(self, error: Exception | None = None) -> None:
        self.roots: list[str] = []
        self.error = error
        self.done = threading.Semaphore(0)

    def __call__(self, root: str) -> None:
        self.roots.append(root)
        self.done.release()
        if self.error is not None:
            raise self.error

    def wait(self) -> None:
        assert self.done.acquire(timeout=PATIENCE_S)


def test_many_questions_make_one_sync_and_a_later_one_another() -> None:
    syncs = Syncs()
    background = BackgroundSync(syncs, Pauses(first_s=0.3, between_s=0.3))
    for _ in range(20):
        background.note("/one")
    syncs.wait()
    assert syncs.roots == ["/one"]
    background.note("/one")
    background.note("/two")
    syncs.wait()
    syncs.wait()
    assert sorted(syncs.roots) == ["/one", "/one", "/two"]
    background.stop()


def test_a_sync_that_fails_is_logged_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    for error in (ReadError("it cannot be read"), ValueError("a bug")):
        syncs = Syncs(error)
        background = BackgroundSync(syncs, SOON)
        with caplog.at_level(logging.WARNING):
            background.note("/one")
            syncs.wait()
            background.note("/two")
            syncs.wait()
        assert syncs.roots == ["/one", "/two"]
        assert any("syncing the vectors of /one failed" in text for text in caplog.messages)
        background.stop()


def test_nothing_begins_after_the_end() -> None:
    syncs = Syncs()
    background = BackgroundSync(syncs, SOON)
    background.stop()
    background.note("/one")
    assert not syncs.done.acquire(timeout=0.2)


def test_a_server_sends_changes_if_a_provider_is_enabled(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    repositories = [GitRepo.init(tmp_path / name) for name in ("one", "two")]
    for repository in repositories:
        text = f"def lamp():\n    return 'in {repository.root.name}'\n"
        repository.commit("first", {"lamp.py": text})
    one = repositories[0]
    with Engine(Settings(home=tmp_path / "home", workers=1), keep_going=True) as engine:
        engine.meaning_enable("openai", path=one.root, endpoint=server.endpoint("openai"))
        server.received.clear()
        engine._vectors = BackgroundSync(engine._sync_vectors, SOON)
        for repository in repositories:
            engine.look(path=repository.root)
        _until(lambda: engine.meaning_status(path=one.root).provider.contents_ready == 1)
        assert len(server.texts) == 1
        assert "in one" in server.texts[0]
        one.write("new.py", "def new_lamp():\n    return 2\n")
        engine.look(path=one.root)
        _until(lambda: len(server.texts) == 2)
        assert "new_lamp" in server.texts[1]
        assert not any("in two" in text for text in server.texts)


def _until(holds) -> None:
    ticks = threading.Event()
    for _ in range(round(PATIENCE_S / 0.05)):
        if holds():
            return
        ticks.wait(0.05)
    raise AssertionError("it did not come about")
