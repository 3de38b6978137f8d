"""A provider's vectors as bytes: cosines survive for vectors of any length."""

from __future__ import annotations

import math
import random

import pytest

from codelens.meaning.providers.embedder import length_squared, packed, unpacked
from codelens.meaning.text_vectors import products


def cosine(left: list[float], right: list[float]) -> float:
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return product / math.hypot(*left) / math.hypot(*right)


@pytest.mark.parametrize("dimension", [64, 768, 1536, 3072])
def test_cosines_are_kept_to_a_hundredth(dimension: int) -> None:
    chance = random.Random(dimension)
    base = [chance.gauss(0, 1) for _ in range(dimension)]
    vectors = [[share * number + chance.gauss(0, 1) for number in base] for share in (0, 0.3, 1, 3)]
    packed_products = products(unpacked(packed(base)), b"".join(map(packed, vectors)))
    for vector, product in zip(vectors, packed_products, strict=True):
        assert product / length_squared(dimension) == pytest.approx(cosine(base, vector), abs=0.01)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_size_of_a_vector_does_not_matter(scale: float) -> None:
    vector = [0.5, -0.25, 0.0, 0.125]
    assert packed([scale * number for number in vector]) == packed(vector)


def test_a_single_large_number_is_cut_and_nothing_overflows() -> None:
    data = packed([1.0] + [0.0] * 3071)
    assert unpacked(data) == [127] + [0] * 3071
    loud = packed([1.0] * 3072)
    assert products(unpacked(loud), loud * 3) == [sum(n * n for n in unpacked(loud))] * 3
