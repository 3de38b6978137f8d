"""The interface and errors of a vector store, and the default store in the repository's database.

VectorStoreError
+-- StoreClientMissing   the client is an extra that is not installed
+-- StoreUnreachable     the store is down, hangs, or broke off
+-- StoreRefused         it does not accept the token
+-- StoreFull            it takes no more collections
+-- StoreFailed          any other error that it reports
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from codelens.errors import CodelensError
from codelens.meaning.providers.embedder import unpacked
from codelens.meaning.providers.embedding_client import quoted
from codelens.meaning.text_vectors import products
from codelens.store import vector_tables
from codelens.store.database.database import Database


class VectorStoreError(CodelensError):
    """A vector store cannot be used; the vectors on this machine stay."""


class StoreClientMissing(VectorStoreError):
    """The client is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "the client of Milvus is not installed; run `pip install 'codelens[milvus]'`"
        )


class StoreUnreachable(VectorStoreError):
    """The store is down, hangs, or broke off."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the store at {url} did not answer: {quoted(why)}; start it, or check its address "
            "and MILVUS_TOKEN: vectors on this machine stay, and the next sync sends what it lacks"
        )


class StoreRefused(VectorStoreError):
    """The store does not accept the token."""

    def __init__(self, url: str, variable: str, why: str) -> None:
        super().__init__(f"the store at {url} refused access: {quoted(why)}; check {variable}")


class StoreFull(VectorStoreError):
    """The store takes no more collections."""

    def __init__(self, url: str, count: int, why: str) -> None:
        super().__init__(
            f"the store at {url} takes no more collections: {quoted(why)}; it has {count} from "
            "codelens: remove one with `codelens meaning clear` in its repository, or raise the "
            "store's limit"
        )


class StoreFailed(VectorStoreError):
    """The store reports that a request failed."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the store at {url} failed: {quoted(why)}; check its log, then run "
            "`codelens meaning sync`"
        )


# The interface of vector stores.
#
# A row is a text, identified by its hash, so that no row belongs to a branch. A question names the
# texts of its view, and no other rows count.


class StoredText(NamedTuple):
    """A text with its vector."""

    text: bytes
    """Its hash."""
    vector: bytes
    """A byte per number, see `quantized_vectors`."""
    terms: str = ""
    """Its stemmed words, separated by blanks; for stores that also rank by words."""


class VectorStore(Protocol):
    """The vectors of one repository by one provider, model and dimension.

    Each method raises `VectorStoreError` if the store cannot be used.
    """

    def known(self, texts: Collection[bytes]) -> set[bytes]:
        """The texts that have a vector here."""
        ...

    def put(self, rows: Sequence[StoredText]) -> None:
        """Store vectors, replacing those of the same texts."""
        ...

    def remove(self, texts: Iterable[bytes]) -> None:
        """Remove the vectors of texts."""
        ...

    def products(self, question: bytes, texts: Collection[bytes]) -> Mapping[bytes, int]:
        """The product of a question's vector with that of each text that has one."""
        ...

    def clear(self) -> None:
        """Remove all vectors."""
        ...


# Vectors in the repository's file on this machine: the default, and the source for other stores.
#
# A measured choice: up to 200,000 chunks a plain integer product needs no index and no other
# package, and gives identical answers (docs/providers.md).


class EmbeddedStore:
    """A `VectorStore` in the vectors database.

    Args:
        db: the repository's vectors; each change is a separate transaction.
        fingerprint: the set of vectors.
    """

    def __init__(self, db: Database, fingerprint: int) -> None:
        self._db, self._fingerprint = db, fingerprint

    def known(self, texts: Collection[bytes]) -> set[bytes]:
        """See `VectorStore`."""
        return vector_tables.known_texts(self._db, self._fingerprint, texts)

    def put(self, rows: Sequence[StoredText]) -> None:
        """See `VectorStore`."""
        with self._db.write(None):
            vector_tables.put_vectors(
                self._db, self._fingerprint, ((row.text, row.vector) for row in rows)
            )

    def remove(self, texts: Iterable[bytes]) -> None:
        """See `VectorStore`."""
        with self._db.write(None):
            vector_tables.remove_vectors(self._db, self._fingerprint, texts)

    def products(self, question: bytes, texts: Collection[bytes]) -> Mapping[bytes, int]:
        """See `VectorStore`."""
        vectors = vector_tables.vectors_of(self._db, self._fingerprint, texts)
        every = products(unpacked(question), b"".join(vectors.values()))
        return dict(zip(vectors, every, strict=True))

    def clear(self) -> None:
        """See `VectorStore`."""
        with self._db.write(None):
            vector_tables.remove_all(self._db, self._fingerprint)
