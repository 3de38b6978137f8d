"""What goes wrong with a store of vectors on another machine.

VectorStoreError
+-- StoreClientMissing   its client is an extra
+-- StoreUnreachable     it is down, hangs, or broke off
+-- StoreRefused         it does not accept the token
+-- StoreFull            it takes no more collections
+-- StoreFailed          anything else that it says
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
    """A store of vectors cannot be used; the vectors on this machine stay."""


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

    def __init__(self, url: str, ours: int, why: str) -> None:
        super().__init__(
            f"the store at {url} takes no more collections: {quoted(why)}; it has {ours} of "
            "codelens: remove one with `codelens meaning clear` in its repository, or raise the "
            "store's limit"
        )


class StoreFailed(VectorStoreError):
    """The store says that it cannot do it."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the store at {url} failed: {quoted(why)}; look into its log, then run "
            "`codelens meaning sync`"
        )


# What a store of vectors by a provider does, wherever it is.
#
# A row is a text, known by its hash, so that no row belongs to a branch: a question names the texts
# of its view, and nothing else of the store counts.


class StoredText(NamedTuple):
    """A text with its vector."""

    text: bytes
    """Its hash."""
    vector: bytes
    """A byte a number, see `quantized_vectors`."""
    terms: str = ""
    """Its stemmed words, blanks between; for stores that rank by words, too."""


class VectorStore(Protocol):
    """The vectors of one repository by one provider, model and dimension.

    Each method raises `VectorStoreError` where the store cannot be used.
    """

    def known(self, texts: Collection[bytes]) -> set[bytes]:
        """Those of the texts that have a vector here."""
        ...

    def put(self, rows: Sequence[StoredText]) -> None:
        """Store vectors; those of texts that are there already are replaced."""
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


# Vectors in the repository's own file on this machine: the default, and what others are filled by.
#
# The measured choice: up to 200,000 chunks a plain product in integers needs no index, no other
# package, and gives the same answer to the byte (docs/providers.md).


class EmbeddedStore:
    """A `VectorStore` in the database of vectors.

    Args:
        db: of the repository; each change is a transaction of its own.
        fingerprint: of the vectors.
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
