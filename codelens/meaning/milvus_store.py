"""Vectors in Milvus or Zilliz: which rows a question may see, in what portions, and its errors.

Numbers of a vector are whole (`quantized_vectors`), and the product of two is at most their squared
length, far below 2**24: the sums are exact in the store's floats whatever their order, so a store
that compares each row (`FLAT`) gives the very products that `EmbeddedStore` gives.
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
"""Of each collection's name."""
_AT_ONCE = 500
"""Rows of a request: 500 vectors of 4,096 numbers are 8 MB, of the 64 that gRPC takes."""
_UNREACHABLE = ("connect", "unavailable", "deadline", "timeout", "timed out", "refused", "closed")
_REFUSED = ("unauthenticated", "auth check", "permission", "privilege", "unauthorized")
_REFUSED_CODES = frozenset({401, 403, 1800, 65543})
"""Of HTTP and of Milvus: no access."""


class MilvusStore:
    """A `VectorStore` in a collection of its own.

    Args:
        place: which collection; it is made with the first row.
        calls: how requests go there.
    """

    def __init__(self, place: Place, calls: MilvusCalls) -> None:
        self._place, self._calls = place, calls
        self._is_there = False

    def known(self, texts: Collection[bytes]) -> set[bytes]:
        """See `VectorStore`."""
        if not self._exists():
            return set()
        known: set[bytes] = set()
        for batch in _batches(sorted(texts), MOST_RESULTS):
            keys = self._asked(lambda batch=batch: self._calls.query(_among(batch), len(batch)))
            known.update(map(bytes.fromhex, keys))
        return known

    def put(self, rows: Sequence[StoredText]) -> None:
        """See `VectorStore`."""
        if rows and not self._exists():
            self._create()
        for batch in _batches(rows, _AT_ONCE):
            data = [self._row(row) for row in batch]
            self._asked(lambda data=data: self._calls.upsert(data))

    def remove(self, texts: Iterable[bytes]) -> None:
        """See `VectorStore`."""
        if self._exists():
            for batch in _batches(sorted(texts), MOST_RESULTS):
                self._asked(lambda batch=batch: self._calls.delete(_among(batch)))

    def products(self, question: bytes, texts: Collection[bytes]) -> Mapping[bytes, int]:
        """See `VectorStore`."""
        if not self._exists():
            return {}
        vector = _floats(question)
        known: dict[bytes, int] = {}
        for batch in _batches(sorted(texts), MOST_RESULTS):
            scored = self._asked(
                lambda batch=batch: self._calls.search(vector, _among(batch), len(batch))
            )
            known.update((bytes.fromhex(key), round(product)) for key, product in scored)
        return known

    def ranked(
        self, question: bytes, terms: str, texts: Collection[bytes], limit: int
    ) -> Mapping[bytes, float]:
        """The texts that are best by meaning and words together, with reciprocal ranks.

        Only of a hybrid collection. BM25 counts all rows of the collection, other branches' too.

        Args:
            question: its vector.
            terms: its stemmed words, blanks between.
            texts: of the view; only the first `MOST_RESULTS`, by hash, of more.
            limit: so many at most.
        """
        if not self._exists():
            return {}
        only = _among(sorted(texts)[:MOST_RESULTS])
        vector, most = _floats(question), min(limit, MOST_RESULTS)
        scored = self._asked(lambda: self._calls.hybrid(vector, terms, only, most))
        return {bytes.fromhex(key): score for key, score in scored}

    def clear(self) -> None:
        """See `VectorStore`: the collection goes as a whole."""
        if self._exists():
            self._asked(self._calls.drop)
            self._is_there = False

    def close(self) -> None:
        """End the connection."""
        self._calls.close()

    def _row(self, row: StoredText) -> Row:
        values: dict[str, object] = {"text": row.text.hex(), "vector": _floats(row.vector)}
        if self._place.hybrid:
            data = row.terms.encode("utf-8", "replace")[:MOST_TERM_BYTES]
            values["terms"] = data.decode("utf-8", "ignore")
        return values

    def _exists(self) -> bool:
        if not self._is_there and self._asked(self._calls.exists):
            self._asked(self._calls.load)
            self._is_there = True
        return self._is_there

    def _create(self) -> None:
        try:
            self._asked(self._calls.create)
        except VectorStoreError as error:
            # Another process may have made it meanwhile.
            if not self._exists():
                raise self._full(error) from error
        self._is_there = True

    def _full(self, error: VectorStoreError) -> VectorStoreError:
        """The error of a collection that could not be made, told as a limit if it is one."""
        message = str(error.__cause__ or error)
        if "limit" not in message.lower() or "collection" not in message.lower():
            return error
        names = self._asked(self._calls.collections)
        ours = sum(1 for name in names if name.startswith(PREFIX))
        return StoreFull(self._place.url, ours, message)

    def _asked(self, request: Callable[[], T]) -> T:
        """The outcome of a request, given up after its time, or when nobody waits any more.

        Raises:
            VectorStoreError: it failed.
        """
        try:
            # The client's own time-out comes first, where it holds.
            return within(request, self._place.timeout_s + 1)
        except TimedOut as error:
            why = f"no answer within {self._place.timeout_s:g} s"
            raise StoreUnreachable(self._place.url, why) from error
        except VectorStoreError:
            raise
        except Exception as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> VectorStoreError:
        """By what each client has under names of its own."""
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
    """The status of gRPC behind an error of the client, which may say something else."""
    code = getattr(cause, "code", None)
    return str(code()) if callable(code) else ""


def _floats(vector: bytes) -> list[float]:
    return [float(number) for number in unpacked(vector)]


def _among(texts: Sequence[bytes]) -> str:
    """The filter that lets so many texts through."""
    return f"text in {json.dumps([text.hex() for text in texts])}"


def _batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (rows[at : at + size] for at in range(0, len(rows), size))


TOKEN_VARIABLE = "MILVUS_TOKEN"  # noqa: S105 (the variable's name)


MOST_RESULTS = 16_384
"""Of one request: Milvus gives no more (its limit `topK`)."""


MOST_TERM_BYTES = 65_535
"""Of a VARCHAR."""


RRF = 60
"""Cormack, Clarke, Buettcher: Reciprocal Rank Fusion, SIGIR 2009; also Milvus' own default."""


HEX_CHARS = 32
"""Of a text's hash, the primary key."""


class Place(NamedTuple):
    """A collection, and where it is."""

    url: str
    """`http://` or `https://`: gRPC; `rest+http://` or `rest+https://`: REST."""
    token: str
    collection: str
    dimension: int
    hybrid: bool
    """Rows have their terms, too, which the store ranks by BM25."""
    timeout_s: float
    """Of a request."""


Row = Mapping[str, object]


Scored = Sequence[tuple[str, float]]
"""Primary keys with their scores, best first."""


class MilvusCalls(Protocol):
    """Each is one request, sent once; whatever it raises is told as a `VectorStoreError`."""

    def exists(self) -> bool:
        """Whether the collection is there."""
        ...

    def create(self) -> None:
        """Make the collection, with an index that compares every row, and load it."""
        ...

    def load(self) -> None:
        """Make it searchable; it need not be after the store was started anew."""
        ...

    def collections(self) -> Sequence[str]:
        """The names of all collections there are."""
        ...

    def drop(self) -> None:
        """Remove the collection."""
        ...

    def upsert(self, rows: Sequence[Row]) -> None:
        """Store rows; those with the same key are replaced."""
        ...

    def delete(self, only: str) -> None:
        """Remove the rows that a filter chooses."""
        ...

    def query(self, only: str, limit: int) -> Sequence[str]:
        """The keys that a filter chooses."""
        ...

    def search(self, vector: Sequence[float], only: str, limit: int) -> Scored:
        """Rows that a filter chooses, by their product with a vector."""
        ...

    def hybrid(self, vector: Sequence[float], terms: str, only: str, limit: int) -> Scored:
        """The same, by reciprocal ranks of the product and of BM25 over the whole collection."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...
