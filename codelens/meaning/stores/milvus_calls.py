"""The requests that codelens makes of Milvus, whichever way they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

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
