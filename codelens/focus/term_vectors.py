"""TF-IDF vectors of prompts, sparse and sorted by term, and their cosine by a merge join.

TF = count / length; IDF = log2(1 + N / df), where N counts the indexed prompts and df those that
hold the term; both are at least 1, so that a term that no prompt holds yet has a weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

DIGITS = 12
"""What is compared is rounded to so many digits: equal by the formula is equal, and age decides."""

Counts = dict[str, int]
"""Term -> how often it stands in a text."""


class Vector(NamedTuple):
    """A sparse vector: terms in order with their weights, and its length."""

    parts: tuple[tuple[str, float], ...]
    norm: float


class DocumentCounts:
    """How many prompts are indexed, and how many of them hold each term."""

    __slots__ = ("documents", "holding")

    def __init__(self) -> None:
        self.documents = 0
        self.holding: dict[str, int] = {}

    def add(self, terms: Mapping[str, int]) -> None:
        """Count one more prompt."""
        self.documents += 1
        for term in terms:
            self.holding[term] = self.holding.get(term, 0) + 1

    def remove(self, terms: Mapping[str, int]) -> None:
        """Count a prompt no longer that was counted."""
        self.documents -= 1
        for term in terms:
            left = self.holding[term] - 1
            if left:
                self.holding[term] = left
            else:
                del self.holding[term]

    def idf(self, term: str) -> float:
        """How much a term tells apart."""
        return math.log2(1 + max(self.documents, 1) / max(self.holding.get(term, 0), 1))

    def vector(self, terms: Mapping[str, int]) -> Vector:
        """The vector of a text, given its counted terms."""
        length = sum(terms.values())
        parts = tuple((term, terms[term] / length * self.idf(term)) for term in sorted(terms))
        return Vector(parts, math.sqrt(math.fsum(weight * weight for _, weight in parts)))


def counted(terms: list[str]) -> Counts:
    """How often each term stands in a list."""
    counts: Counts = {}
    for term in terms:
        counts[term] = counts.get(term, 0) + 1
    return counts


def cosine(left: Vector, right: Vector) -> float:
    """The cosine of two vectors; 0 where one is empty."""
    if not left.norm or not right.norm:
        return 0.0
    products: list[float] = []
    here, there = left.parts, right.parts
    at = other = 0
    while at < len(here) and other < len(there):
        term, weight = here[at]
        other_term, other_weight = there[other]
        if term == other_term:
            products.append(weight * other_weight)
            at += 1
            other += 1
        elif term < other_term:
            at += 1
        else:
            other += 1
    if not products:
        return 0.0
    return round(math.fsum(products) / (left.norm * right.norm), DIGITS)
