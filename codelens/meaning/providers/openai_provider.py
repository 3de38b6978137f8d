"""OpenAI, and services with its protocol, through the package `openai`."""

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


class OpenAIClient:
    """Embeddings through `openai.OpenAI`. Its models treat all kinds of text the same."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = library("openai", "openai").OpenAI(
            api_key=connection.key,
            base_url=connection.endpoint,
            timeout=connection.timeout_s,
            max_retries=0,
        )

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingClient`."""
        return sent(self._connection, lambda: self._embed(texts))

    def _embed(self, texts: Sequence[str]) -> Embedded:
        answer = self._client.embeddings.create(
            model=self._connection.model, input=list(texts), encoding_format="float"
        )
        rows = sorted(answer.data, key=lambda row: row.index)
        return Embedded(numbers(row.embedding for row in rows), answer.usage.total_tokens)

    def close(self) -> None:
        """See `EmbeddingClient`."""
        self._client.close()
