"""Voyage AI through the package `voyageai`."""

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


def _client(connection: Connection) -> Any:  # noqa: ANN401 (the client is untyped)
    return library("voyage", "voyageai").Client(
        api_key=connection.key,
        max_retries=0,
        timeout=connection.timeout_s,
        base_url=connection.endpoint,
    )


class VoyageClient:
    """Embeddings through `voyageai.Client`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = _client(connection)

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingClient`."""
        return sent(self._connection, lambda: self._embed(texts, kind))

    def _embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        answer = self._client.embed(list(texts), model=self._connection.model, input_type=kind)
        return Embedded(numbers(answer.embeddings), answer.total_tokens)

    def close(self) -> None:
        """See `EmbeddingClient`; the client has a connection per thread, which ends with it."""


class VoyageReranker:
    """Reranking through `voyageai.Client`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = _client(connection)

    def request(self, question: str, texts: Sequence[str]) -> Relevance:
        """See `RerankingClient`."""
        return sent(self._connection, lambda: self._rerank(question, texts))

    def _rerank(self, question: str, texts: Sequence[str]) -> Relevance:
        answer = self._client.rerank(question, list(texts), model=self._connection.model)
        scores = {int(row.index): float(row.relevance_score) for row in answer.results}
        return Relevance(scores, answer.total_tokens)

    def close(self) -> None:
        """See `RerankingClient`; as `VoyageClient`."""
