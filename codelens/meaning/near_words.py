"""The words of the table that lie by a text: what the table makes of a question, for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isqrt
from operator import mul
from typing import NamedTuple

from codelens.meaning.likeness import products
from codelens.meaning.text_vectors import LENGTH, ZERO, said_vector
from codelens.meaning.word_table import WordTable


class NearWord(NamedTuple):
    """A term of the table, and its cosine with what was asked."""

    term: str
    cosine: float


def near_words(
    table: WordTable, counts: Mapping[str, int], count: int, without: Collection[str] = ()
) -> list[NearWord]:
    """The terms nearest to a text, best first; none where the table knows nothing of it.

    Args:
        table: of words.
        counts: the text's terms.
        count: at most so many.
        without: terms to leave out.
    """
    vector = said_vector(table, counts)
    if not vector:
        return []
    likeness = zip(table, products(vector, table.vectors()), strict=True)
    # The best by product alone are looked at more closely: lengths of vectors differ little.
    best = sorted(likeness, key=lambda row: (-row[1], row[0]))[: 20 * count]
    near = [
        NearWord(term, product / (LENGTH * length))
        for term, product in best
        if term not in without and (length := _length(table.vector(table.number[term])))
    ]
    return sorted(near, key=lambda word: (-word.cosine, word.term))[:count]


def _length(vector: Sequence[int]) -> int:
    numbers = [byte - ZERO for byte in vector]
    return isqrt(sum(map(mul, numbers, numbers)))
