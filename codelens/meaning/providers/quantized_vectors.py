"""A provider's vectors as bytes: brought to one length, a byte a number, 128 for zero.

As those by the table of words (`codelens.meaning.text_vectors`), with a length that grows with the
dimension, so that eight standard deviations of a number fit into a byte. A product of two is then
the cosine times the length squared, in integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from codelens.meaning.text_vectors import ZERO

_DEVIATIONS = 8
_LARGEST = 127


def packed(vector: Sequence[float]) -> bytes:
    """A vector that is finite and not zero, a byte a number."""
    # Through the largest, since squares of very small numbers are 0.
    largest = max(map(abs, vector))
    numbers = [number / largest for number in vector]
    length = math.sqrt(math.fsum(number * number for number in numbers))
    factor = math.sqrt(length_squared(len(numbers))) / length
    return bytes(ZERO + max(-_LARGEST, min(_LARGEST, round(factor * number))) for number in numbers)


def unpacked(data: bytes) -> list[int]:
    """The numbers of a vector."""
    return [byte - ZERO for byte in data]


def length_squared(dimension: int) -> float:
    """What the product of two equal vectors is, as far as no number was cut."""
    return (_LARGEST / _DEVIATIONS) ** 2 * dimension
