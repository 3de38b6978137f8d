"""Vectors in the repository's own file on this machine: the default, and what others are filled by.

The measured choice: up to 200,000 chunks a plain product in integers needs no index, no other
package, and gives the same answer to the byte (docs/providers.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from codelens.meaning.likeness import products
from codelens.meaning.providers.quantized_vectors import unpacked
from codelens.meaning.stores.vector_store import StoredText
from codelens.store.database.database import Database
from codelens.store.vectors import text_vectors_table


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
        return text_vectors_table.known_texts(self._db, self._fingerprint, texts)

    def put(self, rows: Sequence[StoredText]) -> None:
        """See `VectorStore`."""
        with self._db.write(None):
            text_vectors_table.put_vectors(
                self._db, self._fingerprint, ((row.text, row.vector) for row in rows)
            )

    def remove(self, texts: Iterable[bytes]) -> None:
        """See `VectorStore`."""
        with self._db.write(None):
            text_vectors_table.remove_vectors(self._db, self._fingerprint, texts)

    def products(self, question: bytes, texts: Collection[bytes]) -> Mapping[bytes, int]:
        """See `VectorStore`."""
        vectors = text_vectors_table.vectors_of(self._db, self._fingerprint, texts)
        every = products(unpacked(question), b"".join(vectors.values()))
        return dict(zip(vectors, every, strict=True))

    def clear(self) -> None:
        """See `VectorStore`."""
        with self._db.write(None):
            text_vectors_table.remove_all(self._db, self._fingerprint)
