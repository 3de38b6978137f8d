"""Embeds texts by a provider: time limits, retries, batches, validation, and packed vectors.

Hanging requests are given up, failed ones are sent again, and a cancelled call waits for none. The
clients' own retries are off: they ignore cancelled calls, and each counts and waits differently.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol, TypeVar

from codelens.cancellation import CallCancelled, check_cancelled, current_call
from codelens.meaning.providers.embedding_client import (
    AnswerInvalid,
    Embedded,
    EmbeddingClient,
    Kind,
    ProviderBusy,
    ProviderFailed,
)
from codelens.meaning.providers.provider_registry import ProviderSpec, batch_size, connect
from codelens.meaning.text_vectors import ZERO

T = TypeVar("T")


class Patience(NamedTuple):
    """How long to wait for a provider."""

    attempts: int
    """The most times that a request is sent."""
    timeout_s: float
    """Time limit of one attempt, from the connection to the last byte."""
    first_pause_s: float = 1.0
    """Pause before the second attempt, doubled each time; a pause set by the provider wins."""
    longest_pause_s: float = 60.0


FOR_INDEXING = Patience(attempts=5, timeout_s=60.0)
FOR_A_QUESTION = Patience(attempts=1, timeout_s=5.0)
"""For a caller who waits: an answer without the provider is better than a late one."""


class TimedOut(Exception):
    """A request exceeded its time limit."""


def patiently(
    request: Callable[[], T], patience: Patience, on_timeout: Callable[[], ProviderFailed]
) -> T:
    """Send a request; send it again if that may help.

    Args:
        request: sends it once; called from another thread.
        patience: how often, and for how long.
        on_timeout: makes the error for a request that hangs.

    Raises:
        ProviderError: it failed for good.
        CallCancelled: nobody waits for the answer any more.
    """
    pause_s = patience.first_pause_s
    for attempt in range(1, patience.attempts + 1):
        try:
            return within(request, patience.timeout_s)
        except TimedOut as error:
            if attempt == patience.attempts:
                raise on_timeout() from error
            wait_s = pause_s
        except (ProviderBusy, ProviderFailed) as error:
            if attempt == patience.attempts:
                raise
            retry_after_s = error.retry_after_s if isinstance(error, ProviderBusy) else None
            wait_s = pause_s if retry_after_s is None else retry_after_s
        rest(min(wait_s, patience.longest_pause_s))
        pause_s *= 2
    raise AssertionError("a request has at least one attempt")


def rest(seconds: float) -> None:
    """Wait, unless the call is cancelled.

    Raises:
        CallCancelled: nobody waits for the answer any more.
    """
    woken = threading.Event()
    with current_call().telling(woken.set):
        woken.wait(seconds)
    check_cancelled()


def within(request: Callable[[], T], timeout_s: float) -> T:
    """Send a request in a separate thread, with a time limit.

    A client's own time limit counts from byte to byte, so that a slow trickle never ends. An
    abandoned thread ends with its client's limit, or with the process.

    Raises:
        TimedOut: it took too long.
        CallCancelled: nobody waits for the answer any more.
    """
    outcomes: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()

    def cancelled() -> T:
        raise CallCancelled

    def send() -> None:
        try:
            value = request()
        except Exception as error:
            failure = error

            def fail() -> T:
                raise failure

            outcomes.put(fail)
        else:
            outcomes.put(lambda: value)

    check_cancelled()
    started = time.monotonic()
    with current_call().telling(lambda: outcomes.put(cancelled)):
        threading.Thread(target=send, name="codelens-embedding", daemon=True).start()
        try:
            outcome = outcomes.get(timeout=max(0.0, timeout_s - (time.monotonic() - started)))
        except queue.Empty:
            raise TimedOut from None
    return outcome()


# Packs a provider's vectors as bytes: scaled to one length, a byte per number, 128 for zero.
#
# The form is that of the word table's vectors (`codelens.meaning.text_vectors`), with a length that
# grows with the dimension, so that eight standard deviations of a number fit into a byte. The
# product of two is then the cosine times the squared length, in integers.

_DEVIATIONS = 8
_LARGEST = 127


def packed(vector: Sequence[float]) -> bytes:
    """Pack a finite vector that is not zero, a byte per number."""
    # Divided by the largest number first, since squares of very small numbers are 0.
    largest = max(map(abs, vector))
    numbers = [number / largest for number in vector]
    length = math.sqrt(math.fsum(number * number for number in numbers))
    factor = math.sqrt(length_squared(len(numbers))) / length
    return bytes(ZERO + max(-_LARGEST, min(_LARGEST, round(factor * number))) for number in numbers)


def unpacked(data: bytes) -> list[int]:
    """The numbers of a packed vector."""
    return [byte - ZERO for byte in data]


def length_squared(dimension: int) -> float:
    """The product of two equal vectors, if no number was clipped."""
    return (_LARGEST / _DEVIATIONS) ** 2 * dimension


# Gets vectors of texts from a provider, in batches within its limits, with validation and retries.

BYTES_A_TOKEN = 3
"""For estimates before sending. To cut a text that is too long, two bytes are assumed."""
CHUNK_BYTES = 1_500
"""The usual size of a chunk (`codelens.extract.embedded_code.TARGET`)."""
_PROBES = 8
_PROBE = "def add(left, right): return left + right"
"""The text that determines a provider's dimension; it is from no repository."""


class EmbeddingProvider(Protocol):
    """Turns texts into vectors."""

    def dimension(self) -> int:
        """The number of elements of a vector.

        Raises:
            ProviderError: it cannot be determined.
        """
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """A vector for each text, in order.

        Raises:
            ProviderError: the provider returned none.
        """
        ...


class Batch(NamedTuple):
    """Texts sent in one request, by their positions among all, and the answer."""

    start: int
    texts: Sequence[str]
    embedded: Embedded


class Sent(NamedTuple):
    """Counts of what was sent, including each attempt."""

    requests: int = 0
    failed: int = 0
    """Requests without a usable answer."""
    texts: int = 0
    bytes: int = 0
    tokens: int = 0
    """As the provider counts them; 0 if it does not say."""


class Embedder:
    """An `EmbeddingProvider` over a provider's client.

    Args:
        spec: the provider and its limits.
        model: the provider's model.
        endpoint: the provider's URL.
        client: the connected client.
        patience: how long to wait for it.
        dimension: the required dimension of its vectors; 0 if not known yet.
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
        """Return the counts since the last call, and reset them."""
        sent, self._sent = self._sent, Sent()
        return sent

    def dimension(self) -> int:
        """See `EmbeddingProvider`; sends a text that is from no repository."""
        if not self._dimension:
            self.embed([_PROBE], "document")
        return self._dimension

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingProvider`."""
        batches = [batch.embedded for batch in self.batches(texts, kind)]
        vectors = [vector for embedded in batches for vector in embedded.vectors]
        return Embedded(vectors, sum(embedded.tokens for embedded in batches))

    def batches(self, texts: Sequence[str], kind: Kind) -> Iterator[Batch]:
        """Like `embed`, batch by batch, so that one can be stored before the next is sent.

        Raises:
            ProviderError: a batch failed; those before it are done.
            CallCancelled: nobody waits for the answer any more.
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
        """Check that there is one finite, nonzero vector of the same dimension per text.

        Raises:
            AnswerInvalid: it is not so.
        """
        vectors = embedded.vectors
        why = ""
        if len(vectors) != count:
            why = f"{len(vectors)} vectors for {count} texts"
        elif not all(math.isfinite(number) for vector in vectors for number in vector):
            why = "a vector contains NaN or infinity"
        elif not all(any(vector) for vector in vectors):
            why = "a vector contains only zeros"
        else:
            expected = self._dimension or len(vectors[0])
            wrong = next((len(vector) for vector in vectors if len(vector) != expected), 0)
            if wrong:
                why = f"a vector of {wrong} numbers instead of {expected}"
            self._dimension = expected
        if why:
            raise AnswerInvalid(self._spec.name, self._model, why)


@contextmanager
def connected(
    spec: ProviderSpec, model: str, endpoint: str, *, patience: Patience, dimension: int = 0
) -> Generator[Embedder]:
    """Connect to a provider for the block.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        ProviderKeyMissing: the environment has no key.
    """
    client = connect(spec, model, endpoint, timeout_s=patience.timeout_s)
    try:
        yield Embedder(spec, model, endpoint, client, patience=patience, dimension=dimension)
    finally:
        client.close()


def seconds_a_text(spec: ProviderSpec, model: str) -> float:
    """How long a model on this machine takes for a usual chunk, measured on a batch of them.

    Raises:
        ProviderError: the model cannot be used.
        SettingError: it is not on this machine.
    """
    texts = [_PROBE * (CHUNK_BYTES // len(_PROBE))] * _PROBES
    with connected(spec, model, "", patience=FOR_INDEXING) as embedder:
        embedder.dimension()
        started = time.perf_counter()
        embedder.embed(texts, "document")
    return (time.perf_counter() - started) / _PROBES


def batched_texts(
    texts: Sequence[str], spec: ProviderSpec, most_texts: int
) -> Iterator[tuple[int, list[str]]]:
    """Split texts into batches that the provider takes, with their start; cut long texts."""
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
