"""Similarity of the contents of a view to a question, by vectors of a provider or the word table.

All vectors come from one source; those of two sources are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codelens.meaning.text_vectors import products

BEST_CHUNKS = 5
"""A content's similarity is the mean of its most similar chunks, up to this many."""


class QuestionLikeness:
    """The similarity of a question to the contents of one view.

    Args:
        made_by: the source of the vectors, as notes name it.
        contents: content -> similarity of each of its chunks to the question, in order.
    """

    def __init__(self, made_by: str, contents: Mapping[int, Sequence[float]]) -> None:
        self.made_by = made_by
        self._chunks = {content: chunks for content, chunks in contents.items() if chunks}

    def __contains__(self, content: int | None) -> bool:
        """Whether a content has vectors."""
        return content in self._chunks

    def best_of(self, content: int | None) -> float:
        """The similarity of its best chunk; -1 without vectors."""
        return max(self._chunks.get(content or 0, (-1.0,)))

    def of_content(self, content: int | None) -> float | None:
        """The mean similarity of its best chunks; None without vectors."""
        chunks = self._chunks.get(content or 0)
        if not chunks:
            return None
        best = sorted(chunks, reverse=True)[:BEST_CHUNKS]
        return sum(best) / len(best)

    def best_chunk(self, content: int | None) -> int:
        """The most similar chunk, the first of equals; the content must have vectors."""
        chunks = self._chunks[content or 0]
        return chunks.index(max(chunks))

    def nearest(self, contents: Iterable[int]) -> list[int]:
        """The contents that have vectors, most similar first; equals in their given order."""
        with_vectors = [content for content in contents if content in self._chunks]
        return sorted(with_vectors, key=lambda content: -(self.of_content(content) or 0.0))


def by_vectors(
    made_by: str, question: Sequence[int], contents: Mapping[int, bytes], length_squared: float
) -> QuestionLikeness:
    """Compare a question with contents by their vectors.

    Args:
        made_by: as in `QuestionLikeness`.
        question: the question's vector.
        contents: content -> vectors of its chunks, a byte per number, concatenated.
        length_squared: the product of two equal vectors.
    """
    every = products(question, b"".join(contents.values()))
    chunks: dict[int, list[float]] = {}
    at = 0
    for content, data in contents.items():
        count = len(data) // len(question)
        chunks[content] = [product / length_squared for product in every[at : at + count]]
        at += count
    return QuestionLikeness(made_by, chunks)
