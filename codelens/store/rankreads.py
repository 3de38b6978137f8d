"""Reads of the store that fetch just what ranking needs; a whole `Symbol` costs ten times more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.store.contents import ScoredChunk, batched
from codelens.store.database import Database


class Definition(NamedTuple):
    """A symbol as ranking sees it."""

    ordinal: int
    name: str
    kind: str
    start_line: int
    end_line: int
    parent: int


class ChunkTable:
    """The chunks of one content, unpacked one at a time: most are never looked at."""

    __slots__ = ("_words",)

    def __init__(self, packed: bytes = b"") -> None:
        self._words = memoryview(packed).cast("I")

    def __len__(self) -> int:
        return len(self._words) // _CHUNK_WORDS

    def __getitem__(self, number: int) -> ScoredChunk:
        at = number * _CHUNK_WORDS
        words = self._words[at : at + _CHUNK_WORDS].tolist()
        words[4] -= 1  # the symbol: 0 for none
        return ScoredChunk._make(words)

    def lengths(self, number: int) -> tuple[int, int, int]:
        """The number of body, name and doc terms of one chunk."""
        at = number * _CHUNK_WORDS + 5
        return self._words[at], self._words[at + 1], self._words[at + 2]

    def at_line(self, line: int) -> int:
        """The chunk that has a line, -1 if none."""
        for number in range(len(self)):
            at = number * _CHUNK_WORDS
            if self._words[at] <= line <= self._words[at + 1]:
                return number
        return -1


_CHUNK_WORDS = 8
SELECT_CHUNKS = "SELECT id, chunks FROM contents WHERE id IN ({marks})"
SELECT_DEFINITIONS = """
SELECT content, ordinal, name, kind, start_line, end_line, parent FROM symbols
WHERE content IN ({marks}) ORDER BY content, ordinal
"""
SELECT_BY_KEY = """
SELECT content, ordinal, name, kind, start_line, end_line, parent, qualified FROM symbols
WHERE key = ?
"""
SELECT_SHOWN = "SELECT signature FROM symbols WHERE content = ? AND ordinal = ?"
_LANGUAGES = "SELECT id, language, generated FROM contents WHERE id IN ({marks})"


def chunks(db: Database, contents: Iterable[int]) -> dict[int, ChunkTable]:
    """The chunks of each content."""
    return {
        content: ChunkTable(packed)
        for batch in batched(contents)
        for content, packed in db.rows(SELECT_CHUNKS.format(marks=_marks(batch)), batch)
    }


def definitions(db: Database, contents: Iterable[int]) -> dict[int, list[Definition]]:
    """The symbols of each content, in their order."""
    found: dict[int, list[Definition]] = {}
    make = Definition._make
    for batch in batched(contents):
        for row in db.rows(SELECT_DEFINITIONS.format(marks=_marks(batch)), batch):
            known = found.get(row[0])
            if known is None:
                found[row[0]] = [make(row[1:])]
            else:
                known.append(make(row[1:]))
    return found


def definitions_with_key(db: Database, key: str) -> list[tuple[int, Definition, str]]:
    """Symbols of any view with a key: content, symbol, qualified name."""
    return [(row[0], Definition(*row[1:7]), row[7]) for row in db.rows(SELECT_BY_KEY, (key,))]


def signature(db: Database, content: int, ordinal: int) -> str:
    """One symbol's signature; empty if there is no such symbol."""
    row = db.row(SELECT_SHOWN, (content, ordinal))
    return row[0] if row else ""


def languages(db: Database, contents: Iterable[int]) -> dict[int, tuple[str, bool]]:
    """Language of each content, and whether it says that it was generated."""
    found: dict[int, tuple[str, bool]] = {}
    for batch in batched(contents):
        for content, language, generated in db.rows(_LANGUAGES.format(marks=_marks(batch)), batch):
            found[content] = (language, bool(generated))
    return found


def _marks(batch: Sequence[object]) -> str:
    return ",".join("?" * len(batch))
