"""Voyage AI by the package `voyageai`."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.meaning.providers.embedding_client import (
    Connection,
    Embedded,
    Kind,
    library,
    numbers,
    sent,
)


class VoyageClient:
    """Embeddings by `voyageai.Client`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = library("voyage", "voyageai").Client(
            api_key=connection.key,
            max_retries=0,
            timeout=connection.timeout_s,
            base_url=connection.endpoint,
        )

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingClient`."""
        return sent(self._connection, lambda: self._embed(texts, kind))

    def _embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        answer = self._client.embed(list(texts), model=self._connection.model, input_type=kind)
        return Embedded(numbers(answer.embeddings), answer.total_tokens)

    def close(self) -> None:
        """See `EmbeddingClient`; the client keeps a connection a thread, which ends with it."""
