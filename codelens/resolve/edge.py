"""One use of a definition by another."""

from __future__ import annotations

from typing import NamedTuple

CERTAIN = 1.0


class Edge(NamedTuple):
    """One definition, or module (-1), uses another."""

    source: bytes
    symbol: int
    """In the source, -1 for its module."""
    target: bytes
    target_symbol: int
    kind: str
    """`call`, `ref`, `inherit`, `import`; `override` from a method to that of its trait or
    interface; `satisfy` from a type of Go to an interface."""
    name: str
    line: int
    confidence: float
    """Below 1 for one of several things that a use may mean: 1/n, if there are n of them."""

    @property
    def is_certain(self) -> bool:
        """Nothing else can be meant."""
        return self.confidence == CERTAIN

    @property
    def choices(self) -> int:
        """Of how many things that may be meant this is one."""
        return round(CERTAIN / self.confidence)
