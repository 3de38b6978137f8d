"""Vectors of texts and their products: the same integers as by the plain definition."""

from __future__ import annotations

import math
import random
from array import array
from pathlib import Path

import pytest
from small_table import write_table

from codelens.meaning import text_vectors, word_table
from codelens.meaning.text_vectors import LENGTH, LOGARITHMS, chunk_vectors, products, said_vector
from codelens.meaning.word_table import WordTable

WIDTH = 24


@pytest.fixture
def table(tmp_path: Path) -> WordTable:
    chance = random.Random(5)
    words = {
        f"w{number:03}": [chance.randint(-127, 127) for _ in range(WIDTH)] for number in range(200)
    }
    return word_table.read(write_table(tmp_path / "t", words))


def packed(*entries: tuple[int, int]) -> bytes:
    """Packs the occurrences of a term: chunk and count in its body."""
    return array("I", [0, *(chunk << 16 | count << 8 for chunk, count in entries)]).tobytes()


def plain_sum(table: WordTable, counts: dict[str, int]) -> list[float]:
    total = [0] * WIDTH
    for term, count in counts.items():
        weight = LOGARITHMS[count] * 512 >> 6
        vector = table.vector(table.number[term])
        total = [old + weight * (byte - 128) for old, byte in zip(total, vector, strict=True)]
    length = math.sqrt(sum(number * number for number in total))
    return [LENGTH * number / length for number in total]


def test_a_vector_is_the_weighted_sum_brought_to_one_length(table: WordTable) -> None:
    counts = {"w001": 3, "w002": 1, "w150": 200}
    vector = said_vector(table, counts)
    assert all(
        abs(number - exact) <= 0.51 or abs(number) == 127
        for number, exact in zip(vector, plain_sum(table, counts), strict=True)
    )


def plainly_scaled(lanes: list[int], weight: int) -> bytes:
    numbers = [lane - 128 * weight for lane in lanes]
    length = math.isqrt(sum(number * number for number in numbers))
    # Rounded to the nearest, halves up.
    nearest = [(2 * LENGTH * number + 257 * length) // (2 * length) for number in numbers]
    return bytes(min(255, max(1, number)) for number in nearest)


@pytest.mark.parametrize("width", [2, 24, 128, 7])
@pytest.mark.parametrize("weight", [1, 3, 1_000, 16_000_000])
def test_a_sum_is_scaled_to_the_nearest_whole_numbers(width: int, weight: int) -> None:
    chance = random.Random(width * weight)
    for spread in (1, 2, 127):
        for _ in range(200):
            lanes = [(128 + chance.randint(-spread, spread)) * weight for _ in range(width)]
            # One lane must be off the middle, or the length would be zero.
            lanes[0] = 129 * weight + chance.randint(0, 1)
            total = sum(lane << 32 * at for at, lane in enumerate(lanes))
            assert text_vectors._scaled(total, weight, width) == plainly_scaled(lanes, weight)


def test_chunks_have_the_vectors_of_their_own_terms(table: WordTable) -> None:
    terms = {"w001": packed((0, 3), (2, 1)), "w002": packed((0, 1)), "unknown": packed((1, 9))}
    made = chunk_vectors(table, terms, 3)
    first, second, third = (made.data[at : at + WIDTH] for at in range(0, 3 * WIDTH, WIDTH))
    assert [byte - 128 for byte in first] == said_vector(table, {"w001": 3, "w002": 1})
    assert second == bytes([128]) * WIDTH
    assert [byte - 128 for byte in third] == said_vector(table, {"w001": 1})


def test_the_order_of_terms_changes_nothing(table: WordTable) -> None:
    terms = {f"w{number:03}": packed((0, number % 7 + 1)) for number in range(120)}
    turned = dict(reversed(terms.items()))
    assert chunk_vectors(table, terms, 1) == chunk_vectors(table, turned, 1)


def test_a_text_too_heavy_to_add_up_has_no_vector(
    table: WordTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_vectors, "_MOST_WEIGHT", 100)
    assert said_vector(table, {"w001": 255, "w002": 255}) == []


def test_a_text_without_known_terms_has_no_vector(table: WordTable) -> None:
    assert said_vector(table, {"never": 3}) == []


@pytest.mark.parametrize("count", [0, 1, 2, 37])
def test_products_are_those_of_each_pair(count: int) -> None:
    chance = random.Random(count)
    vector = [chance.randint(-127, 127) for _ in range(WIDTH)]
    chunks = [[chance.randint(-127, 127) for _ in range(WIDTH)] for _ in range(count)]
    stored = b"".join(bytes(number + 128 for number in chunk) for chunk in chunks)
    assert products(vector, stored) == [sum(map(int.__mul__, vector, chunk)) for chunk in chunks]


@pytest.mark.parametrize("number", [-127, 127])
def test_products_hold_the_largest_numbers(number: int) -> None:
    stored = bytes([1]) * 128 + bytes([255]) * 128
    square = 127 * 127 * 128
    expected = [square, -square] if number < 0 else [-square, square]
    assert products([number] * 128, stored) == expected


def test_weights_of_counts_are_these_on_every_platform() -> None:
    assert LOGARITHMS[:6] == (0, 11, 18, 22, 26, 29)
    assert (sum(LOGARITHMS), LOGARITHMS[255]) == (18677, 89)
    # None is close to a rounding boundary: the last bit of a logarithm cannot matter.
    assert min(abs(16 * math.log1p(n) % 1 - 0.5) for n in range(1, 256)) > 1e-6
