"""What a store of vectors by a provider does, wherever it is.

A row is a text, known by its hash, so that no row belongs to a branch: a question names the texts
of its view, and nothing else of the store counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol


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
