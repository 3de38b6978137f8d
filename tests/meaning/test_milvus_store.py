"""Milvus as a store of vectors: the same products as the repository's own file, and its faults."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")

from milvus_server import TOKEN, MilvusServer, milvus_server, rest_of

from codelens.meaning.milvus_grpc import GrpcCalls
from codelens.meaning.milvus_rest import RestCalls
from codelens.meaning.milvus_store import MilvusStore, Place
from codelens.meaning.providers.embedder import packed
from codelens.meaning.vector_store import (
    EmbeddedStore,
    StoredText,
    StoreFailed,
    StoreFull,
    StoreRefused,
    StoreUnreachable,
)
from codelens.store import vector_tables
from codelens.store.vector_tables import Consent, open_vectors

DIMENSION = 64
WORDS = ("abort", "lamp", "session", "validate", "queue")
WAYS = ("gRPC", "REST")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    with milvus_server(tmp_path_factory.mktemp("milvus") / "data.db") as server:
        yield server


@pytest.fixture(scope="module", params=WAYS)
def url(request: pytest.FixtureRequest, server: MilvusServer) -> Iterator[str]:
    with ExitStack() as running:
        yield server.url if request.param == "gRPC" else running.enter_context(rest_of(server))


def place(url: str, collection: str, *, hybrid: bool = False, timeout_s: float = 30.0) -> Place:
    return Place(url, TOKEN, collection, DIMENSION, hybrid, timeout_s)


def store_at(where: Place) -> MilvusStore:
    calls = RestCalls(where) if where.url.startswith("rest+") else GrpcCalls(where)
    return MilvusStore(where, calls)


@pytest.fixture
def store(url: str, request: pytest.FixtureRequest) -> Iterator[MilvusStore]:
    """An empty collection, dropped at the end."""
    name = "t" + hashlib.md5(request.node.name.encode()).hexdigest()[:12]
    store = store_at(place(url, name))
    yield store
    store.clear()
    store.close()


def rows(count: int, seed: int = 1) -> list[StoredText]:
    draw = random.Random(seed)
    return [
        StoredText(
            hashlib.md5(f"{seed} {number}".encode()).digest(),
            packed([draw.gauss(0, 1) for _ in range(DIMENSION)]),
            f"{WORDS[number % len(WORDS)]} number{number}",
        )
        for number in range(count)
    ]


def test_a_collection_that_is_not_there_has_nothing(store: MilvusStore) -> None:
    texts = {row.text for row in rows(3)}
    assert store.known(texts) == set()
    assert store.products(rows(1)[0].vector, texts) == {}
    store.remove(texts)
    store.clear()


def test_two_thousand_texts_have_the_products_of_the_embedded_store(
    store: MilvusStore, tmp_path: Path
) -> None:
    every = rows(2_000)
    store.put(every)
    seen = {row.text for row in every[::2]}
    with open_vectors(tmp_path / "vectors-x.db") as db:
        with db.write(None):
            consent = Consent("openai", "m", "http://h", DIMENSION, 0.0)
            fingerprint = vector_tables.ensure_fingerprint(db, consent).id
        embedded = EmbeddedStore(db, fingerprint)
        embedded.put(every)
        for question in rows(3, seed=2):
            expected = embedded.products(question.vector, seen)
            assert len(expected) == 1_000
            assert store.products(question.vector, seen) == expected


def test_rows_are_replaced_and_removed_by_text(store: MilvusStore) -> None:
    first, second, third = rows(3)
    store.put([first, second])
    store.put([second._replace(vector=third.vector)])
    texts = {first.text, second.text, third.text}
    assert store.known(texts) == {first.text, second.text}
    assert store.products(third.vector, {second.text, third.text}).keys() == {second.text}
    (product,) = store.products(third.vector, {second.text}).values()
    assert product == max(store.products(third.vector, texts).values())
    store.remove([first.text])
    assert store.known(texts) == {second.text}
    store.clear()
    assert store.known(texts) == set()


def test_a_hybrid_collection_ranks_by_meaning_and_words(url: str) -> None:
    store = store_at(place(url, "hybrid_" + url[:4], hybrid=True))
    every = rows(40)
    store.put(every)
    seen = {row.text for row in every if row is not every[7]}
    ranked = store.ranked(every[3].vector, "number17", seen, 10)
    # Two ranks are summed: one row has the question's vector, the other its rare word.
    assert max(ranked, key=lambda text: ranked[text]) == every[17].text
    assert every[3].text in ranked
    assert every[7].text not in ranked
    assert len(ranked) <= 10
    by_vector = store.products(every[3].vector, seen)
    assert max(by_vector, key=lambda text: by_vector[text]) == every[3].text
    store.clear()
    store.close()


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[MilvusServer]:
    with milvus_server(tmp_path / "data.db") as server:
        yield server


def test_a_store_that_takes_no_more_collections_says_so(faulty: MilvusServer) -> None:
    taken = store_at(place(faulty.url, "codelens_other"))
    taken.put(rows(1))
    faulty.full = True
    with pytest.raises(StoreFull, match="it has 1 from codelens"):
        store_at(place(faulty.url, "codelens_more")).put(rows(1))
    with rest_of(faulty) as url, pytest.raises(StoreFull, match="limit=5"):
        store_at(place(url, "codelens_more")).put(rows(1))


def test_a_wrong_token_is_reported_without_quoting_it(faulty: MilvusServer) -> None:
    faulty.wants_token = True
    assert store_at(place(faulty.url, "x")).known({b"1" * 16}) == set()
    with rest_of(faulty) as rest_url:
        for url in (faulty.url, rest_url):
            bad = place(url, "x", timeout_s=2.0)._replace(token="wrong-token")
            with pytest.raises(StoreRefused, match="MILVUS_TOKEN") as caught:
                store_at(bad).known({b"1" * 16})
            assert "wrong-token" not in str(caught.value)


def test_a_store_that_hangs_or_is_down_is_given_up(faulty: MilvusServer) -> None:
    faulty.hang_s = 3.0
    with pytest.raises(StoreUnreachable, match="the next sync sends what it lacks"):
        store_at(place(faulty.url, "x", timeout_s=0.5)).known({b"1" * 16})
    nobody = "http://127.0.0.1:9"
    for url in (nobody, f"rest+{nobody}"):
        with pytest.raises(StoreUnreachable):
            store_at(place(url, "x", timeout_s=1.0)).known({b"1" * 16})


def test_unexpected_answers_of_the_store_are_reported(faulty: MilvusServer) -> None:
    store = store_at(place(faulty.url, "x"))
    store.put(rows(1))
    wrong = store_at(place(faulty.url, "x")._replace(dimension=8))
    with pytest.raises(StoreFailed, match="run `codelens meaning sync`"):
        wrong.put([StoredText(b"2" * 16, packed([1.0] * 8))])


BEGETS = """
import subprocess, sys
from codelens.meaning.milvus_rest import Place
from codelens.meaning.milvus_grpc import GrpcCalls
from codelens.meaning.milvus_store import MilvusStore
where = Place(sys.argv[1], sys.argv[2], "none", 64, False, 30.0)
MilvusStore(where, GrpcCalls(where)).known([b"x" * 16])
for _ in range(40):
    subprocess.run([sys.executable, "-S", "-c", ""], preexec_fn=lambda: None, check=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="no fork")
def test_children_of_a_process_that_has_asked_a_store_run_undisturbed(
    server: MilvusServer,
) -> None:
    bare = {name: text for name, text in os.environ.items() if not name.startswith("GRPC_")}
    done = subprocess.run(
        [sys.executable, "-c", BEGETS, server.url, TOKEN],
        capture_output=True, text=True, env=bare, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
