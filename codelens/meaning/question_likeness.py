"""How much the contents of a view mean what a question says, by vectors of a provider or the table.

All vectors are by one maker; those of two are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codelens.meaning.text_vectors import products

BEST_CHUNKS = 5
"""The mean of so many of a content's chunks, those most like the question, is what it means."""


class QuestionLikeness:
    """A question beside the contents of one view.

    Args:
        made_by: what made the vectors, as notes name it.
        contents: content -> how much each of its chunks is like the question, in their order.
    """

    def __init__(self, made_by: str, contents: Mapping[int, Sequence[float]]) -> None:
        self.made_by = made_by
        self._chunks = {content: chunks for content, chunks in contents.items() if chunks}

    def __contains__(self, content: int | None) -> bool:
        """Whether a content has vectors."""
        return content in self._chunks

    def best_of(self, content: int | None) -> float:
        """How much its best chunk is like the question; -1 where there are no vectors."""
        return max(self._chunks.get(content or 0, (-1.0,)))

    def of_content(self, content: int | None) -> float | None:
        """The mean of its best chunks; None where it has no vectors."""
        chunks = self._chunks.get(content or 0)
        if not chunks:
            return None
        best = sorted(chunks, reverse=True)[:BEST_CHUNKS]
        return sum(best) / len(best)

    def best_chunk(self, content: int | None) -> int:
        """The chunk that is most like the question, the first of equals; of one with vectors."""
        chunks = self._chunks[content or 0]
        return chunks.index(max(chunks))

    def nearest(self, contents: Iterable[int]) -> list[int]:
        """Those of the contents that have vectors, the most alike first; of equals in order."""
        known = [content for content in contents if content in self._chunks]
        return sorted(known, key=lambda content: -(self.of_content(content) or 0.0))


def by_vectors(
    made_by: str, question: Sequence[int], contents: Mapping[int, bytes], length_squared: float
) -> QuestionLikeness:
    """A question beside contents, by the vectors of both.

    Args:
        made_by: as in `QuestionLikeness`.
        question: vector of the question.
        contents: content -> vectors of its chunks, a byte a number, one behind the other.
        length_squared: what the product of two equal vectors is.
    """
    every = products(question, b"".join(contents.values()))
    chunks: dict[int, list[float]] = {}
    at = 0
    for content, data in contents.items():
        count = len(data) // len(question)
        chunks[content] = [product / length_squared for product in every[at : at + count]]
        at += count
    return QuestionLikeness(made_by, chunks)
