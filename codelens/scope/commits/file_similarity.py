"""How alike two files are, as git tells a rename (diffcore-rename): by bytes of common lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

RENAMED = 0.5
"""git's threshold: files that are alike at least so much are one that was renamed."""


def line_weights(lines: Iterable[bytes]) -> Counter[bytes]:
    """Bytes by line; a line that stands several times weighs as often."""
    weights: Counter[bytes] = Counter()
    for line in lines:
        weights[line] += len(line)
    return weights


def similarity(left: Counter[bytes], right: Counter[bytes]) -> float:
    """The bytes of the lines that both have, as a share of the larger one; from 0 to 1."""
    larger = max(left.total(), right.total())
    return (left & right).total() / larger if larger else 0.0
