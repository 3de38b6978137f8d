"""A store on another machine: filled by syncs, asked by searches, and optional."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")

from embedding_server import EmbeddingServer
from gitrepo import GitRepo
from milvus_server import TOKEN, MilvusServer, milvus_server, rest_of

from codelens.answers.reading_answers import SearchAnswer
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import SettingError
from codelens.meaning.vector_store import StoreUnreachable

FILES = {
    "src/stopping.py": "def abort(job):\n    # halt halt\n    job.abort()\n",
    "src/keeping.py": "def store(job):\n    # cancel nothing here\n    job.store()\n",
    "src/painting.py": "def paint(job):\n    # colours\n    job.paint()\n",
    "src/far.py": "def unrelated():\n    # quit quit quit quit\n    return None\n",
}
QUESTIONS = ("how can I cancel a job", "where is a job stored", "paint the colours")


@pytest.fixture
def milvus(tmp_path: Path) -> Iterator[MilvusServer]:
    with milvus_server(tmp_path / "data.db") as server:
        yield server


@pytest.fixture
def server(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> EmbeddingServer:
    monkeypatch.setenv("MILVUS_TOKEN", TOKEN)
    server.same_words = {"cancel": "abort", "halt": "abort", "quit": "abort"}
    return server


def enable(
    engine: Engine, root: Path, server: EmbeddingServer, store: str, *, hybrid: bool = False
) -> None:
    engine.meaning_enable(
        "openai", path=root, endpoint=server.endpoint("openai"), store=store, hybrid=hybrid
    )


def ranked(answer: SearchAnswer) -> list[tuple[str, float, int]]:
    return [(hit.handle, hit.score, hit.start_line) for hit in answer.results]


def test_the_answers_are_those_of_the_embedded_store_in_every_view(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, milvus: MilvusServer
) -> None:
    root = repository.root
    repository.git("checkout", "-q", "-b", "other")
    repository.write("src/new.py", "def quit_now():\n    # cancel a job, cancel it\n    pass\n")
    repository.git("rm", "-q", "-f", "src/far.py")
    repository.commit("second", {})
    by_store: dict[str, list] = {}
    for name in ("embedded", "gRPC", "REST"):
        with rest_of(milvus) as rest_url:
            enable(engine, root, server, {"embedded": "", "gRPC": milvus.url}.get(name, rest_url))
            answers = by_store[name] = []
            for branch in ("main", "other"):
                repository.git("checkout", "-q", branch)
                assert engine.meaning_sync(path=root).lacking == 0
                for question in QUESTIONS:
                    for mode in ("auto", "meaning"):
                        answer = engine.search(question, path=root, mode=mode, explain=True)
                        assert answer.notes == ()
                        answers.append(ranked(answer))
    assert by_store["gRPC"] == by_store["embedded"]
    assert by_store["REST"] == by_store["embedded"]
    # Each text was sent to the provider once, for any store.
    assert len(server.texts) == len(set(server.texts)) + 2


def test_a_sync_sends_only_missing_vectors_to_the_store(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, milvus: MilvusServer
) -> None:
    root = repository.root
    enable(engine, root, server, milvus.url)
    assert engine.meaning_status(path=root).provider.state == "requires_reindex"
    first = engine.meaning_sync(path=root)
    assert (first.state, first.texts, first.stored, first.added) == ("indexed", 4, 4, 4)
    repository.git("mv", "src/far.py", "src/moved.py")
    repository.write("src/keeping.py", FILES["src/keeping.py"] + "\n# more\n")
    second = engine.meaning_sync(path=root)
    assert (second.state, second.texts, second.stored) == ("synced", 1, 1)
    assert (second.added, second.removed, second.modified) == (1, 1, 1)
    repository.git("checkout", "-q", "-f", "HEAD")
    third = engine.meaning_sync(path=root)
    assert (third.texts, third.stored, milvus.upserted) == (0, 0, 5)
    status = engine.meaning_status(path=root).provider
    assert (status.contents_ready, status.store, status.store_failure) == (4, milvus.url, "")


def test_a_second_clone_finds_the_vectors_of_the_first(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, milvus: MilvusServer,
    tmp_path: Path,
) -> None:  # fmt: skip
    enable(engine, repository.root, server, milvus.url)
    engine.meaning_sync(path=repository.root)
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    server.received.clear()
    with Engine(Settings(home=tmp_path / "home2", workers=1)) as other:
        enable(other, tmp_path / "clone", server, milvus.url)
        synced = other.meaning_sync(path=tmp_path / "clone")
        assert (synced.texts, synced.lacking, synced.stored) == (0, 0, 0)
        answer = other.search(QUESTIONS[0], path=tmp_path / "clone", mode="meaning")
    assert len(answer.results) == 4
    assert server.texts[1:] == [QUESTIONS[0]]


def test_a_store_that_is_down_costs_an_answer_by_words_and_nothing_else(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, milvus: MilvusServer
) -> None:
    root = repository.root
    enable(engine, root, server, milvus.url)
    engine.meaning_sync(path=root)
    by_store = ranked(engine.search(QUESTIONS[0], path=root))
    assert server.texts.count(QUESTIONS[0]) == 1
    milvus.down()
    answer = engine.search(QUESTIONS[0], path=root)
    (note,) = [note for note in answer.notes if "did not answer" in note]
    assert note.startswith(f"ranked without openai: the store at {milvus.url}")
    assert answer.results
    assert ranked(answer) != by_store
    repository.write("src/new.py", "def halt_it():\n    return 'lamp'\n")
    sent = len(server.texts)
    with pytest.raises(StoreUnreachable):
        engine.meaning_sync(path=root)
    # Nothing that cannot be stored is sent to the provider.
    assert len(server.texts) == sent
    status = engine.meaning_status(path=root).provider
    assert (status.state, status.contents_ready) == ("failed", 4)
    assert "did not answer" in status.store_failure
    milvus.up()
    synced = engine.meaning_sync(path=root)
    assert (synced.texts, synced.stored, synced.lacking) == (1, 1, 0)
    (root / "src/new.py").unlink()
    assert ranked(engine.search(QUESTIONS[0], path=root)) == by_store


def test_vectors_made_before_a_store_was_chosen_are_not_sent_again(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, milvus: MilvusServer
) -> None:
    root = repository.root
    enable(engine, root, server, "")
    engine.meaning_sync(path=root)
    enable(engine, root, server, milvus.url)
    assert engine.meaning_status(path=root).provider.state == "requires_reindex"
    synced = engine.meaning_sync(path=root)
    assert (synced.texts, synced.stored, synced.state) == (0, 4, "indexed")
    engine.meaning_clear(path=root)
    client = milvus.client()
    assert client.list_collections() == []
    client.close()


def test_a_hybrid_store_ranks_by_words_too_and_gets_terms_alone(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, milvus: MilvusServer
) -> None:
    root = repository.root
    enable(engine, root, server, milvus.url, hybrid=True)
    engine.meaning_sync(path=root)
    answer = engine.search("colours painted", path=root, mode="meaning")
    assert answer.results[0].path == "src/painting.py"
    client = milvus.client()
    names: Any = client.list_collections()
    (name,) = names
    rows: Any = client.query(name, filter='text != ""', output_fields=["terms"], limit=10)
    client.close()
    terms = [row["terms"].split() for row in rows]
    assert ["abort", "job"] in [sorted({*words} & {"abort", "job"}) for words in terms]
    assert all(term.isalnum() for words in terms for term in words)


@pytest.mark.parametrize(
    "url", ["milvus", "ftp://host", "http://", "http://u:p@host", "http://h/db", "http://h?x=1"]
)
def test_a_store_that_is_not_a_url_is_refused(
    engine: Engine, repository: GitRepo, url: str
) -> None:
    with pytest.raises(SettingError, match="the store must be a URL"):
        engine.meaning_plan("openai", path=repository.root, store=url)
    with pytest.raises(SettingError, match="needs a store"):
        engine.meaning_plan("openai", path=repository.root, hybrid=True)
