"""Models on this machine, or on another machine of the user, through the package `ollama`."""

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


class OllamaClient:
    """Embeddings through `ollama.Client`; the server cuts texts too long for the model."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = library("ollama", "ollama").Client(
            host=connection.endpoint, timeout=connection.timeout_s
        )

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingClient`."""
        return sent(self._connection, lambda: self._embed(texts))

    def _embed(self, texts: Sequence[str]) -> Embedded:
        answer = self._client.embed(model=self._connection.model, input=list(texts))
        return Embedded(numbers(answer.embeddings), answer.prompt_eval_count or 0)

    def close(self) -> None:
        """See `EmbeddingClient`."""
        self._client.close()
