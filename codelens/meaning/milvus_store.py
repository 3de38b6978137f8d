"""Stores vectors in Milvus or Zilliz: filters rows, batches requests, translates errors.

Vectors consist of integers (`quantized_vectors`), and the product of two is at most their squared
length, far below 2**24. So sums are exact in the store's floats in any order, and a store that
compares every row (`FLAT`) returns exactly the products of `EmbeddedStore`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from codelens.meaning.providers.embedder import TimedOut, unpacked, within
from codelens.meaning.vector_store import (
    StoredText,
    StoreFailed,
    StoreFull,
    StoreRefused,
    StoreUnreachable,
    VectorStoreError,
)

T = TypeVar("T")

PREFIX = "codelens_"
"""Prefix of each collection's name."""
_AT_ONCE = 500
"""Rows per request: 500 vectors of 4,096 numbers are 8 MB; gRPC allows 64."""
_UNREACHABLE = ("connect", "unavailable", "deadline", "timeout", "timed out", "refused", "closed")
_REFUSED = ("unauthenticated", "auth check", "permission", "privilege", "unauthorized")
_REFUSED_CODES = frozenset({401, 403, 1800, 65543})
"""Codes of HTTP and of Milvus for denied access."""


class MilvusStore:
    """A `VectorStore` in a separate collection.

    Args:
        place: the collection; it is created with the first row.
        calls: sends requests to it.
    """

    def __init__(self, place: Place, calls: MilvusCalls) -> None:
        self._place, self._calls = place, calls
        self._is_there = False

    def known(self, texts: Collection[bytes]) -> set[bytes]:
        """See `VectorStore`."""
        if not self._exists():
            return set()
        with_vectors: set[bytes] = set()
        for batch in _batches(sorted(texts), MOST_RESULTS):
            keys = self._request(lambda batch=batch: self._calls.query(_among(batch), len(batch)))
            with_vectors.update(map(bytes.fromhex, keys))
        return with_vectors

    def put(self, rows: Sequence[StoredText]) -> None:
        """See `VectorStore`."""
        if rows and not self._exists():
            self._create()
        for batch in _batches(rows, _AT_ONCE):
            data = [self._row(row) for row in batch]
            self._request(lambda data=data: self._calls.upsert(data))

    def remove(self, texts: Iterable[bytes]) -> None:
        """See `VectorStore`."""
        if self._exists():
            for batch in _batches(sorted(texts), MOST_RESULTS):
                self._request(lambda batch=batch: self._calls.delete(_among(batch)))

    def products(self, question: bytes, texts: Collection[bytes]) -> Mapping[bytes, int]:
        """See `VectorStore`."""
        if not self._exists():
            return {}
        vector = _floats(question)
        by_text: dict[bytes, int] = {}
        for batch in _batches(sorted(texts), MOST_RESULTS):
            scored = self._request(
                lambda batch=batch: self._calls.search(vector, _among(batch), len(batch))
            )
            by_text.update((bytes.fromhex(key), round(product)) for key, product in scored)
        return by_text

    def ranked(
        self, question: bytes, terms: str, texts: Collection[bytes], limit: int
    ) -> Mapping[bytes, float]:
        """The best texts by meaning and words together, with reciprocal ranks.

        Only for a hybrid collection. BM25 counts all rows of the collection, including those of
        other branches.

        Args:
            question: its vector.
            terms: its stemmed words, separated by blanks.
            texts: those of the view; only the first `MOST_RESULTS`, by hash, count.
            limit: the most texts to return.
        """
        if not self._exists():
            return {}
        only = _among(sorted(texts)[:MOST_RESULTS])
        vector, most = _floats(question), min(limit, MOST_RESULTS)
        scored = self._request(lambda: self._calls.hybrid(vector, terms, only, most))
        return {bytes.fromhex(key): score for key, score in scored}

    def clear(self) -> None:
        """See `VectorStore`: drops the whole collection."""
        if self._exists():
            self._request(self._calls.drop)
            self._is_there = False

    def close(self) -> None:
        """Close the connection."""
        self._calls.close()

    def _row(self, row: StoredText) -> Row:
        values: dict[str, object] = {"text": row.text.hex(), "vector": _floats(row.vector)}
        if self._place.hybrid:
            data = row.terms.encode("utf-8", "replace")[:MOST_TERM_BYTES]
            values["terms"] = data.decode("utf-8", "ignore")
        return values

    def _exists(self) -> bool:
        if not self._is_there and self._request(self._calls.exists):
            self._request(self._calls.load)
            self._is_there = True
        return self._is_there

    def _create(self) -> None:
        try:
            self._request(self._calls.create)
        except VectorStoreError as error:
            # Another process may have created it meanwhile.
            if not self._exists():
                raise self._full(error) from error
        self._is_there = True

    def _full(self, error: VectorStoreError) -> VectorStoreError:
        """Turn the error of a failed creation into `StoreFull` if the store is at its limit."""
        message = str(error.__cause__ or error)
        if "limit" not in message.lower() or "collection" not in message.lower():
            return error
        names = self._request(self._calls.collections)
        count = sum(1 for name in names if name.startswith(PREFIX))
        return StoreFull(self._place.url, count, message)

    def _request(self, request: Callable[[], T]) -> T:
        """Send a request; stop waiting after its time limit, or when nobody waits any more.

        Raises:
            VectorStoreError: it failed.
        """
        try:
            # The client's own time limit ends earlier, if it works.
            return within(request, self._place.timeout_s + 1)
        except TimedOut as error:
            why = f"no answer within {self._place.timeout_s:g} s"
            raise StoreUnreachable(self._place.url, why) from error
        except VectorStoreError:
            raise
        except Exception as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> VectorStoreError:
        """Classify an error by code and text, since each client has its own error types."""
        why = str(getattr(error, "message", "")) or str(error) or type(error).__name__
        if self._place.token:
            why = why.replace(self._place.token, "***")
        message = f"{type(error).__name__} {why} {_status_of(error.__cause__)}".lower()
        code = getattr(error, "code", 0)
        if code in _REFUSED_CODES or any(word in message for word in _REFUSED):
            return StoreRefused(self._place.url, TOKEN_VARIABLE, why)
        if isinstance(error, OSError) or any(word in message for word in _UNREACHABLE):
            return StoreUnreachable(self._place.url, why)
        return StoreFailed(self._place.url, why)


def _status_of(cause: BaseException | None) -> str:
    """The gRPC status behind a client's error, whose text may differ."""
    code = getattr(cause, "code", None)
    return str(code()) if callable(code) else ""


def _floats(vector: bytes) -> list[float]:
    return [float(number) for number in unpacked(vector)]


def _among(texts: Sequence[bytes]) -> str:
    """A filter for these texts."""
    return f"text in {json.dumps([text.hex() for text in texts])}"


def _batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (rows[at : at + size] for at in range(0, len(rows), size))


TOKEN_VARIABLE = "MILVUS_TOKEN"  # noqa: S105 (the variable's name)
MOST_RESULTS = 16_384
"""Per request: the most that Milvus returns (its limit `topK`)."""
MOST_TERM_BYTES = 65_535
"""The largest VARCHAR."""
RRF = 60
"""Constant of Reciprocal Rank Fusion: Cormack, Clarke, Buettcher, SIGIR 2009; Milvus' default."""
HEX_CHARS = 32
"""Length of a text's hash, the primary key."""


class Place(NamedTuple):
    """A collection, and its server."""

    url: str
    """`http://` or `https://`: gRPC; `rest+http://` or `rest+https://`: REST."""
    token: str
    collection: str
    dimension: int
    hybrid: bool
    """Rows also have their terms, which the store ranks by BM25."""
    timeout_s: float
    """Time limit of a request."""


Row = Mapping[str, object]
Scored = Sequence[tuple[str, float]]
"""Primary keys with their scores, best first."""


class MilvusCalls(Protocol):
    """The requests to Milvus, each sent once; all errors are raised as `VectorStoreError`."""

    def exists(self) -> bool:
        """Whether the collection exists."""
        ...

    def create(self) -> None:
        """Create the collection, with an index that compares every row, and load it."""
        ...

    def load(self) -> None:
        """Make it searchable, which it may not be after a restart of the store."""
        ...

    def collections(self) -> Sequence[str]:
        """The names of all collections."""
        ...

    def drop(self) -> None:
        """Remove the collection."""
        ...

    def upsert(self, rows: Sequence[Row]) -> None:
        """Store rows, replacing those with the same key."""
        ...

    def delete(self, only: str) -> None:
        """Remove the rows that match a filter."""
        ...

    def query(self, only: str, limit: int) -> Sequence[str]:
        """The keys of the rows that match a filter."""
        ...

    def search(self, vector: Sequence[float], only: str, limit: int) -> Scored:
        """The rows that match a filter, by their product with a vector."""
        ...

    def hybrid(self, vector: Sequence[float], terms: str, only: str, limit: int) -> Scored:
        """Like `search`, by reciprocal ranks of the product and of BM25 over the collection."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
