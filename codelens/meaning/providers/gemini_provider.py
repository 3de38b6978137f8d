"""Google Gemini through the package `google-genai`."""

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

_TASKS: dict[Kind, str] = {"document": "RETRIEVAL_DOCUMENT", "query": "CODE_RETRIEVAL_QUERY"}


class GeminiClient:
    """Embeddings through `google.genai.Client`, which does not report tokens."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        genai = library("gemini", "google.genai")
        options = {"base_url": connection.endpoint, "timeout": round(connection.timeout_s * 1000)}
        self._client = genai.Client(
            api_key=connection.key, vertexai=False, http_options=options
        )  # retries are off unless asked for

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingClient`."""
        return sent(self._connection, lambda: self._embed(texts, kind))

    def _embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        answer = self._client.models.embed_content(
            model=self._connection.model, contents=list(texts), config={"task_type": _TASKS[kind]}
        )
        return Embedded(numbers(embedding.values for embedding in answer.embeddings), 0)

    def close(self) -> None:
        """See `EmbeddingClient`."""
        self._client.close()
