"""The providers through their official clients, against a server that also misbehaves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from embedding_server import (
    DIMENSION,
    KEY,
    KINDS,
    NO_TOKENS,
    EmbeddingServer,
    embedding_server,
    vector_of,
)

from codelens.cancellation import Call, CallCancelled
from codelens.errors import SettingError
from codelens.meaning.providers import embedding_client
from codelens.meaning.providers.embedder import Embedder, Patience, batched_texts, connected
from codelens.meaning.providers.embedding_client import (
    AnswerInvalid,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderKeyMissing,
    ProviderNotInstalled,
    ProviderRefused,
    RequestRejected,
)
from codelens.meaning.providers.provider_registry import (
    PROVIDERS,
    batch_size,
    checked_endpoint,
    provider_called,
)

TEXTS = ["open the file", "close the door", "open the door"]
BRIEF = Patience(attempts=2, timeout_s=20.0, first_pause_s=0.01, longest_pause_s=0.01)

REMOTE = [spec.name for spec in PROVIDERS.values() if spec.endpoint]
pytestmark = pytest.mark.parametrize("provider", REMOTE)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBEDDING_BATCH_SIZE", raising=False)
    for spec in PROVIDERS.values():
        if spec.key_variable:
            monkeypatch.setenv(spec.key_variable, KEY)


@pytest.fixture
def embedder(provider: str, server: EmbeddingServer) -> Iterator[Embedder]:
    spec = PROVIDERS[provider]
    with connected(spec, spec.model, server.endpoint(provider), patience=BRIEF) as embedder:
        yield embedder


def test_texts_have_their_vectors_in_their_order(
    provider: str, embedder: Embedder, server: EmbeddingServer
) -> None:
    embedded = embedder.embed(TEXTS, "document")
    for text, vector in zip(TEXTS, embedded.vectors, strict=True):
        assert vector == pytest.approx(vector_of(text))
    assert server.received == [TEXTS]
    assert embedded.tokens == (0 if provider in NO_TOKENS else 21)
    assert embedder.dimension() == DIMENSION


def test_questions_and_documents_are_marked_differently(
    provider: str, embedder: Embedder, server: EmbeddingServer
) -> None:
    for kind in ("query", "document"):
        embedder.embed(TEXTS[:1], kind)
    assert server.kinds == KINDS.get(provider, ["", ""])


def test_the_dimension_is_asked_with_no_text_of_a_repository(
    embedder: Embedder, server: EmbeddingServer
) -> None:
    assert embedder.dimension() == DIMENSION
    assert server.texts == ["def add(left, right): return left + right"]


@pytest.mark.parametrize(
    ("how", "error", "requests"),
    [
        ("401", ProviderRefused, 1),
        ("403", ProviderRefused, 1),
        ("404", RequestRejected, 1),
        ("429", ProviderBusy, 2),
        ("500", ProviderFailed, 2),
        ("cut off", ProviderFailed, 2),
        ("nan", AnswerInvalid, 1),
        ("wrong dimension", AnswerInvalid, 1),
        ("too few", AnswerInvalid, 1),
    ],
)
def test_errors_are_reported_and_retried_if_that_may_help(
    provider: str,
    how: str,
    error: type[ProviderError],
    requests: int,
    embedder: Embedder,
    server: EmbeddingServer,
) -> None:
    server.misbehave(how)
    with pytest.raises(error, match=provider) as raised:
        embedder.embed(TEXTS, "document")
    assert KEY not in str(raised.value)
    assert len(server.received) == requests
    sent = embedder.take_sent()
    assert (sent.requests, sent.failed, sent.texts) == (requests, requests, 3 * requests)


def test_an_answer_of_another_form_is_refused(embedder: Embedder, server: EmbeddingServer) -> None:
    server.misbehave("another form")
    with pytest.raises((AnswerInvalid, ProviderFailed)):
        embedder.embed(TEXTS, "document")


@pytest.mark.parametrize("how", ["429", "500", "cut off"])
def test_the_second_attempt_may_go_well(
    how: str, embedder: Embedder, server: EmbeddingServer
) -> None:
    server.misbehave(how, times=1)
    assert len(embedder.embed(TEXTS, "document").vectors) == 3
    sent = embedder.take_sent()
    assert (sent.requests, sent.failed, sent.texts) == (2, 1, 6)


def test_a_provider_that_hangs_is_given_up(provider: str, server: EmbeddingServer) -> None:
    spec = PROVIDERS[provider]
    server.misbehave("hang")
    patience = Patience(attempts=1, timeout_s=0.2)
    with (
        connected(spec, spec.model, server.endpoint(provider), patience=patience) as embedder,
        pytest.raises(ProviderFailed, match=r"did not answer: (no answer within 0\.2 s|\w+:)"),
    ):
        embedder.embed(TEXTS, "document")


def test_a_cancelled_call_stops_waiting(provider: str, server: EmbeddingServer) -> None:
    spec = PROVIDERS[provider]
    server.misbehave("hang")
    call = Call()
    with connected(spec, spec.model, server.endpoint(provider), patience=BRIEF) as embedder:
        canceller = threading.Timer(0.1, call.cancel)
        canceller.start()
        with call.under_way(), pytest.raises(CallCancelled):
            embedder.embed(TEXTS, "document")
        canceller.join()


def test_a_pause_ends_when_the_call_is_cancelled(provider: str, server: EmbeddingServer) -> None:
    spec = PROVIDERS[provider]
    server.misbehave("cut off")
    call = Call()
    patience = Patience(attempts=2, timeout_s=20.0, first_pause_s=600.0, longest_pause_s=600.0)
    with connected(spec, spec.model, server.endpoint(provider), patience=patience) as embedder:
        canceller = threading.Thread(target=lambda: (_until_asked(server), call.cancel()))
        canceller.start()
        with call.under_way(), pytest.raises(CallCancelled):
            embedder.embed(TEXTS, "document")
        canceller.join()
    assert len(server.received) == 1


def _until_asked(server: EmbeddingServer) -> None:
    while not server.received:
        time.sleep(0.01)


def test_a_key_is_needed_where_the_provider_has_one_and_must_be_right(
    provider: str, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = PROVIDERS[provider]
    if provider == "ollama":
        with connected(spec, spec.model, server.endpoint(provider), patience=BRIEF) as embedder:
            assert len(embedder.embed(TEXTS, "document").vectors) == 3
        return
    monkeypatch.setenv(spec.key_variable, "a-bad-one")
    with (
        connected(spec, spec.model, server.endpoint(provider), patience=BRIEF) as embedder,
        pytest.raises(ProviderRefused, match=spec.key_variable),
    ):
        embedder.embed(TEXTS, "document")
    assert server.received == []
    monkeypatch.delenv(spec.key_variable)
    with (
        pytest.raises(ProviderKeyMissing, match=spec.key_variable),
        connected(spec, spec.model, server.endpoint(provider), patience=BRIEF),
    ):
        pass


def test_variables_of_the_client_do_not_send_texts_elsewhere(
    provider: str, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = PROVIDERS[provider]
    for name in ("OPENAI_BASE_URL", "OLLAMA_HOST", "GOOGLE_GEMINI_BASE_URL", "VOYAGE_API_BASE"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    with connected(spec, spec.model, server.endpoint(provider), patience=BRIEF) as embedder:
        embedder.embed(TEXTS, "document")
    assert server.received == [TEXTS]


def test_a_client_that_is_not_installed_names_its_extra(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(embedding_client.importlib, "import_module", absent)
    spec = PROVIDERS[provider]
    with (
        pytest.raises(ProviderNotInstalled, match=rf"codelens\[{provider}\]"),
        connected(spec, spec.model, spec.endpoint, patience=BRIEF),
    ):
        pass


def test_texts_go_in_batches_that_the_provider_takes(
    provider: str, embedder: Embedder, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = PROVIDERS[provider]
    monkeypatch.setenv("EMBEDDING_BATCH_SIZE", "2")
    with connected(spec, spec.model, server.endpoint(provider), patience=BRIEF) as by_two:
        assert len(by_two.embed(TEXTS, "document").vectors) == 3
    assert server.received == [TEXTS[:2], TEXTS[2:]]
    assert batch_size(spec) == 2
    monkeypatch.setenv("EMBEDDING_BATCH_SIZE", "1000000")
    assert batch_size(spec) == spec.most_texts
    for bad in ("0", "-1", "many"):
        monkeypatch.setenv("EMBEDDING_BATCH_SIZE", bad)
        with pytest.raises(SettingError, match="EMBEDDING_BATCH_SIZE"):
            batch_size(spec)


def test_a_text_over_the_limit_is_cut_and_a_batch_has_a_size(provider: str) -> None:
    spec = PROVIDERS[provider]
    long = "é" * (2 * spec.most_text_tokens)
    batches = list(batched_texts([long] * 60 + ["short"], spec, 100))
    assert sum(len(texts) for _, texts in batches) == 61
    for start, texts in batches:
        sizes = [len(text.encode()) for text in texts]
        assert max(sizes) <= 2 * spec.most_text_tokens
        assert sum(sizes) <= 2 * spec.most_request_tokens
        assert start == sum(len(before) for at, before in batches if at < start)


def test_an_endpoint_is_a_plain_url(provider: str) -> None:
    spec = provider_called(provider)
    assert checked_endpoint(spec, "") == spec.endpoint
    assert checked_endpoint(spec, "https://host:8080/v1/") == "https://host:8080/v1"
    for bad in ("host", "ftp://host", "http://", "http://user:word@host", "http://[::1"):
        with pytest.raises(SettingError, match="endpoint"):
            checked_endpoint(spec, bad)
    with pytest.raises(SettingError, match="unknown provider 'other'"):
        provider_called("other")
