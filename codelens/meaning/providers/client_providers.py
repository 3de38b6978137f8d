"""Providers that are reached through their official clients: one request each.

A new provider is a class here, and its row in `provider_registry.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codelens.meaning.cross_encoder import Relevance
from codelens.meaning.providers.embedding_client import (
    Connection,
    Embedded,
    Kind,
    library,
    numbers,
    sent,
)

_TASKS: dict[Kind, str] = {"document": "RETRIEVAL_DOCUMENT", "query": "CODE_RETRIEVAL_QUERY"}
"""Gemini's names for the kinds of texts."""


class _OfficialClient:
    """An `EmbeddingClient` over a provider's client."""

    _client: Any

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingClient`."""
        return sent(self._connection, lambda: self._embed(list(texts), kind))

    def _embed(self, texts: list[str], kind: Kind) -> Embedded:
        raise NotImplementedError

    def close(self) -> None:
        """See `EmbeddingClient`."""
        self._client.close()


class OpenAIClient(_OfficialClient):
    """OpenAI, and services with its protocol. Its models treat all kinds of text the same."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._client = library("openai", "openai").OpenAI(
            api_key=connection.key,
            base_url=connection.endpoint,
            timeout=connection.timeout_s,
            max_retries=0,
        )

    def _embed(self, texts: list[str], kind: Kind) -> Embedded:
        del kind
        answer = self._client.embeddings.create(
            model=self._connection.model, input=texts, encoding_format="float"
        )
        rows = sorted(answer.data, key=lambda row: row.index)
        return Embedded(numbers(row.embedding for row in rows), answer.usage.total_tokens)


class GeminiClient(_OfficialClient):
    """Google Gemini, whose client does not report tokens."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        genai = library("gemini", "google.genai")
        options = {"base_url": connection.endpoint, "timeout": round(connection.timeout_s * 1000)}
        self._client = genai.Client(
            api_key=connection.key, vertexai=False, http_options=options
        )  # retries are off unless asked for

    def _embed(self, texts: list[str], kind: Kind) -> Embedded:
        answer = self._client.models.embed_content(
            model=self._connection.model, contents=texts, config={"task_type": _TASKS[kind]}
        )
        return Embedded(numbers(embedding.values for embedding in answer.embeddings), 0)


class OllamaClient(_OfficialClient):
    """Models on this machine, or on another one of the user; the server cuts long texts."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._client = library("ollama", "ollama").Client(
            host=connection.endpoint, timeout=connection.timeout_s
        )

    def _embed(self, texts: list[str], kind: Kind) -> Embedded:
        del kind
        answer = self._client.embed(model=self._connection.model, input=texts)
        return Embedded(numbers(answer.embeddings), answer.prompt_eval_count or 0)


def _voyage(connection: Connection) -> Any:  # noqa: ANN401 (the client is untyped)
    return library("voyage", "voyageai").Client(
        api_key=connection.key,
        max_retries=0,
        timeout=connection.timeout_s,
        base_url=connection.endpoint,
    )


class VoyageClient(_OfficialClient):
    """Voyage AI, which also has a reranker."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._client = _voyage(connection)

    def _embed(self, texts: list[str], kind: Kind) -> Embedded:
        answer = self._client.embed(texts, model=self._connection.model, input_type=kind)
        return Embedded(numbers(answer.embeddings), answer.total_tokens)

    def close(self) -> None:
        """See `EmbeddingClient`; the client has a connection per thread, which ends with it."""


class VoyageReranker:
    """A `RerankingClient` over the client of Voyage AI."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = _voyage(connection)

    def request(self, question: str, texts: Sequence[str]) -> Relevance:
        """See `RerankingClient`."""
        return sent(self._connection, lambda: self._rerank(question, list(texts)))

    def _rerank(self, question: str, texts: list[str]) -> Relevance:
        answer = self._client.rerank(question, texts, model=self._connection.model)
        scores = {int(row.index): float(row.relevance_score) for row in answer.results}
        return Relevance(scores, answer.total_tokens)

    def close(self) -> None:
        """See `RerankingClient`; as `VoyageClient`."""
