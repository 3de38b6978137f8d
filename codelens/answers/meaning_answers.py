"""What the engine answers about the ranking by meaning: frozen values, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class MeaningStatus:
    """The table of words, and what of a view has vectors by it."""

    receipt: Receipt
    on: bool
    """The setting `meaning`."""
    damage: str
    """Why the table cannot be read; empty if it can."""
    version: int
    digest: str
    """SHA-256 of the table."""
    words: int
    dimension: int
    contents: int
    """Distinct texts of the view."""
    with_vectors: int
    """Those of them that have vectors by this table."""
    vector_bytes: int
    """Of these vectors."""


@dataclass(frozen=True, slots=True)
class MeantWord:
    """A term of a question, and the terms of the table that are nearest to it."""

    term: str
    known: bool
    near: tuple[tuple[str, float], ...]
    """Term and cosine, best first."""


@dataclass(frozen=True, slots=True)
class MeaningTest:
    """What the table of words makes of a question."""

    query: str
    words: tuple[MeantWord, ...]
    near: tuple[tuple[str, float], ...]
    """The terms nearest to the whole question, its own left out."""
