"""Vectors of texts by a provider: in batches it takes, checked, and with patience."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from codelens.meaning.providers.embedding_client import Embedded, EmbeddingClient, Kind
from codelens.meaning.providers.patient_requests import Patience, patiently
from codelens.meaning.providers.provider_errors import AnswerInvalid, ProviderFailed
from codelens.meaning.providers.provider_registry import ProviderSpec, batch_size, connect

BYTES_A_TOKEN = 3
"""For what is told before it is sent. To cut a text that is too long, two are counted."""
_PROBE = "def add(left, right): return left + right"
"""What a provider's dimension is asked with: nothing of a repository."""


class EmbeddingProvider(Protocol):
    """What makes vectors of texts."""

    def dimension(self) -> int:
        """Numbers of a vector.

        Raises:
            ProviderError: it cannot be told.
        """
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """A vector for each text, in their order.

        Raises:
            ProviderError: there are none.
        """
        ...


class Batch(NamedTuple):
    """Texts that were sent in one request, by where they are among all, and what came back."""

    start: int
    texts: Sequence[str]
    embedded: Embedded


class Sent(NamedTuple):
    """What was sent, each attempt counted."""

    requests: int = 0
    failed: int = 0
    """Of the requests: those without a usable answer."""
    texts: int = 0
    bytes: int = 0
    tokens: int = 0
    """As the provider counts them; 0 where it does not say."""


class Embedder:
    """An `EmbeddingProvider` over a provider's client.

    Args:
        spec: what the provider takes.
        model: of the provider.
        endpoint: where it is.
        client: connected.
        patience: how long it is waited for.
        dimension: that its vectors must have; 0 where that is not known yet.
    """

    def __init__(
        self,
        spec: ProviderSpec,
        model: str,
        endpoint: str,
        client: EmbeddingClient,
        *,
        patience: Patience,
        dimension: int = 0,
    ) -> None:
        self._spec, self._model, self._endpoint = spec, model, endpoint
        self._client, self._patience = client, patience
        self._dimension = dimension
        self._batch_texts = batch_size(spec)
        self._sent = Sent()

    def take_sent(self) -> Sent:
        """What was sent since this was last asked for."""
        sent, self._sent = self._sent, Sent()
        return sent

    def dimension(self) -> int:
        """See `EmbeddingProvider`; asked for with a text of no repository."""
        if not self._dimension:
            self.embed([_PROBE], "document")
        return self._dimension

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingProvider`."""
        batches = [batch.embedded for batch in self.batches(texts, kind)]
        vectors = [vector for embedded in batches for vector in embedded.vectors]
        return Embedded(vectors, sum(embedded.tokens for embedded in batches))

    def batches(self, texts: Sequence[str], kind: Kind) -> Iterator[Batch]:
        """The same batch by batch, so that what is there can be stored before the next is sent.

        Raises:
            ProviderError: a batch failed; those before are done.
            CallCancelled: nobody waits any more.
        """
        for start, sized in batched_texts(texts, self._spec, self._batch_texts):
            size = sum(len(text.encode("utf-8", "replace")) for text in sized)

            def request(sized: list[str] = sized, size: int = size) -> Embedded:
                done = self._sent
                self._sent = Sent(
                    done.requests + 1, done.failed + 1, done.texts + len(sized),
                    done.bytes + size, done.tokens,
                )  # fmt: skip
                return self._client.request(sized, kind)

            embedded = patiently(request, self._patience, self._timed_out)
            self._check(embedded, len(sized))
            done = self._sent
            self._sent = done._replace(failed=done.failed - 1, tokens=done.tokens + embedded.tokens)
            yield Batch(start, sized, embedded)

    def _timed_out(self) -> ProviderFailed:
        why = f"no answer within {self._patience.timeout_s:g} s"
        return ProviderFailed(self._spec.name, self._endpoint, why)

    def _check(self, embedded: Embedded, count: int) -> None:
        """Refuse what is not one finite vector of the same dimension a text.

        Raises:
            AnswerInvalid: it is not.
        """
        vectors = embedded.vectors
        why = ""
        if len(vectors) != count:
            why = f"{len(vectors)} vectors for {count} texts"
        elif not all(math.isfinite(number) for vector in vectors for number in vector):
            why = "a vector has NaN or infinity in it"
        elif not all(any(vector) for vector in vectors):
            why = "a vector has nothing but zeros"
        else:
            expected = self._dimension or len(vectors[0])
            wrong = next((len(vector) for vector in vectors if len(vector) != expected), 0)
            if wrong:
                why = f"a vector of {wrong} numbers in place of {expected}"
            self._dimension = expected
        if why:
            raise AnswerInvalid(self._spec.name, self._model, why)


@contextmanager
def connected(
    spec: ProviderSpec, model: str, endpoint: str, *, patience: Patience, dimension: int = 0
) -> Generator[Embedder]:
    """A provider that is connected in the block.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        ProviderKeyMissing: the environment has no key.
    """
    client = connect(spec, model, endpoint, timeout_s=patience.timeout_s)
    try:
        yield Embedder(spec, model, endpoint, client, patience=patience, dimension=dimension)
    finally:
        client.close()


def batched_texts(
    texts: Sequence[str], spec: ProviderSpec, most_texts: int
) -> Iterator[tuple[int, list[str]]]:
    """Texts in batches that the provider takes, each with where it starts; long ones are cut."""
    most_bytes = 2 * spec.most_text_tokens
    most_batch_bytes = 2 * spec.most_request_tokens
    start, batch, batch_bytes = 0, list[str](), 0
    for at, text in enumerate(texts):
        data = text.encode("utf-8", "replace")
        shown = text if len(data) <= most_bytes else data[:most_bytes].decode("utf-8", "ignore")
        size = min(len(data), most_bytes)
        if batch and (len(batch) == most_texts or batch_bytes + size > most_batch_bytes):
            yield start, batch
            start, batch, batch_bytes = at, [], 0
        batch.append(shown)
        batch_bytes += size
    if batch:
        yield start, batch
