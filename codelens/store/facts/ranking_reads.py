"""Reads of the store that fetch just what ranking needs; a whole `Symbol` costs ten times more."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, overload

from codelens.store.database.database import Database, Row
from codelens.store.facts.contents import ScoredChunk, batched, listed

CHUNK_WORDS, BODY_WORD = 8, 5
"""Words of a packed chunk, and which of them counts the terms of its body; then names and docs."""


class Definition(NamedTuple):
    """A symbol as ranking sees it."""

    ordinal: int
    name: str
    kind: str
    start_line: int
    end_line: int
    parent: int


_MADE: Callable[[Row], Definition] = partial(tuple.__new__, Definition)  # type: ignore[reportUnknownMemberType]
"""As `Definition._make`, which is a call in Python for each row."""


class Definitions(Sequence[Definition]):
    """The symbols of one content, in their order; all but the names is read when looked at."""

    __slots__ = ("_content", "_db", "_every", "_read", "_starts", "names")

    def __init__(self, db: Database, content: int, names: list[str]) -> None:
        self.names = names
        self._db = db
        self._content = content
        self._read: dict[int, Definition] = {}
        self._every: list[Definition] | None = None
        self._starts: list[int] | None = None

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, number: int) -> Definition: ...
    @overload
    def __getitem__(self, number: slice) -> list[Definition]: ...
    def __getitem__(self, number: int | slice) -> Definition | list[Definition]:
        if isinstance(number, slice):
            return self._all()[number]
        if self._every is not None:
            return self._every[number]
        number = range(len(self.names))[number]
        definition = self._read.get(number)
        if definition is None:
            row = self._db.row(SELECT_DEFINITION, (self._content, number))
            assert row is not None
            definition = self._read[number] = Definition._make(row)
        return definition

    def __iter__(self) -> Iterator[Definition]:
        return iter(self._all())

    def beginning_in(self, first: int, last: int) -> list[Definition]:
        """Those that begin in some lines, in their order."""
        starts = self._starts
        if starts is None:
            starts = self._starts = self._read_starts()
        if starts is not _UNORDERED:
            low, high = bisect_left(starts, first), bisect_right(starts, last)
            if self._every is not None:
                return self._every[low:high]
            rows = self._db.rows(SELECT_SOME, (self._content, low, high))
            return list(map(_MADE, rows))
        return [definition for definition in self if first <= definition.start_line <= last]

    def _read_starts(self) -> list[int]:
        """The first line of each; `_UNORDERED` where these do not ascend."""
        if self._every is None and len(self.names) > _MANY:
            row = self._db.row(SELECT_STARTS, (self._content,))
            starts: list[int] = json.loads(row[0]) if row is not None else []
        else:
            starts = [definition.start_line for definition in self]
        return starts if starts == sorted(starts) else _UNORDERED

    def _all(self) -> list[Definition]:
        if self._every is None:
            rows = self._db.rows(SELECT_DEFINITIONS, (self._content,))
            self._every = list(map(_MADE, rows))
        return self._every


_UNORDERED: list[int] = []
_MANY = 500
"""Of more definitions first lines alone are read, where a few are sought: a third of the price."""


def beginning_in(definitions: Sequence[Definition], first: int, last: int) -> list[Definition]:
    """The definitions that begin in some lines, in their order."""
    if isinstance(definitions, Definitions):
        return definitions.beginning_in(first, last)
    return [symbol for symbol in definitions if first <= symbol.start_line <= last]


class ChunkTable:
    """The chunks of one content, unpacked one at a time: most are never looked at."""

    __slots__ = ("words",)

    def __init__(self, packed: bytes = b"") -> None:
        self.words = memoryview(packed).cast("I")
        """`CHUNK_WORDS` a chunk, see `codelens.store.facts.contents`."""

    def __len__(self) -> int:
        return len(self.words) // CHUNK_WORDS

    def __getitem__(self, number: int) -> ScoredChunk:
        at = number * CHUNK_WORDS
        words = self.words[at : at + CHUNK_WORDS].tolist()
        words[4] -= 1  # the symbol: 0 for none
        return ScoredChunk._make(words)

    def at_line(self, line: int) -> int:
        """The chunk that has a line, -1 if none."""
        for number in range(len(self)):
            at = number * CHUNK_WORDS
            if self.words[at] <= line <= self.words[at + 1]:
                return number
        return -1


_NONE = "[]"
SELECT_CHUNKS = "SELECT id, chunks FROM contents WHERE id IN ({marks})"
# Seven columns a name, in rows, cost three to four times as much as the names in one text.
SELECT_NAMES = """
SELECT value, (SELECT json_group_array(name) FROM (
    SELECT name FROM symbols WHERE id >= value << 24 AND id < (value + 1) << 24 ORDER BY id
)) FROM json_each(?)
"""
SELECT_DEFINITION = """
SELECT ordinal, name, kind, start_line, end_line, parent FROM symbols WHERE id = (? << 24 | ?)
"""
SELECT_DEFINITIONS = """
SELECT ordinal, name, kind, start_line, end_line, parent FROM symbols
WHERE id >= ?1 << 24 AND id < (?1 + 1) << 24 ORDER BY id
"""
SELECT_SOME = """
SELECT ordinal, name, kind, start_line, end_line, parent FROM symbols
WHERE id >= (?1 << 24 | ?2) AND id < (?1 << 24) + ?3
ORDER BY id
"""
SELECT_STARTS = """
SELECT json_group_array(start_line) FROM (
    SELECT start_line FROM symbols WHERE id >= ?1 << 24 AND id < (?1 + 1) << 24 ORDER BY id
)
"""
SELECT_BY_KEY = """
SELECT k.content, k.ordinal, name, kind, start_line, end_line, parent, qualified
FROM symbol_keys k CROSS JOIN symbols s ON s.id = (k.content << 24 | k.ordinal)
WHERE k.key = ?
"""
SELECT_TEXTS = "SELECT data FROM symbol_texts WHERE id = (? << 17 | ?)"
SELECT_NAME = "SELECT name FROM symbols WHERE id = (? << 24 | ?)"
SELECT_NUMBERED = """
SELECT qualified, kind, name, (SELECT COUNT(*) FROM symbols other
    WHERE other.id >= own.content << 24 AND other.id <= own.id
    AND other.qualified = own.qualified)
FROM symbols own WHERE id = (? << 24 | ?)
"""
SELECT_QUALIFIED = "SELECT qualified FROM symbols WHERE id = (? << 24 | ?)"
# What others can see of a file, and how much is in it, without a row for each symbol. With a limit
# the inner query stays one, and a kind is spelt out once.
SELECT_TOP = """
SELECT value, (SELECT json_array(
    json_group_array(DISTINCT name)
        FILTER (WHERE parent < 0 AND kind NOT IN ('heading', 'key', 'method')),
    SUM(kind NOT IN ('heading', 'key')),
    SUM(kind IN (SELECT value FROM json_each(?1)))
) FROM (
    SELECT name, parent, kind FROM symbols
    WHERE id >= value << 24 AND id < (value + 1) << 24 LIMIT -1
)) FROM json_each(?2)
"""
_LANGUAGES = "SELECT id, language, generated FROM contents WHERE id IN ({marks})"


def chunks(db: Database, contents: Iterable[int]) -> dict[int, ChunkTable]:
    """The chunks of each content."""
    return {
        content: ChunkTable(packed)
        for batch in batched(contents)
        for content, packed in db.rows(SELECT_CHUNKS.format(marks=_marks(batch)), batch)
    }


def definitions(db: Database, contents: Iterable[int]) -> dict[int, Definitions]:
    """The symbols of each content that has any."""
    return {
        content: Definitions(db, content, json.loads(names))
        for batch in batched(contents)
        for content, names in db.rows(SELECT_NAMES, (listed(batch),))
        if names != _NONE
    }


class Top(NamedTuple):
    """What a content defines, in short."""

    names: frozenset[str]
    """Of its top-level definitions; a method that stands outside of its type (Go) is none."""
    is_code: bool
    """It defines more than headings and keys."""
    bodies: int
    """How many of its definitions are of the kinds asked for."""


def tops(db: Database, contents: Iterable[int], kinds: Iterable[str]) -> dict[int, Top]:
    """What each content that defines anything defines.

    Args:
        db: the index.
        contents: which.
        kinds: definitions that have a body.
    """
    counted = json.dumps(sorted(kinds))
    return {
        content: Top(frozenset(names), bool(code), bodies)
        for batch in batched(contents)
        for content, top in db.rows(SELECT_TOP, (counted, listed(batch)))
        for names, code, bodies in [json.loads(top)]
        if code is not None
    }


def definitions_with_key(db: Database, key: str) -> list[tuple[int, Definition, str]]:
    """Symbols of any view with a key: content, symbol, qualified name."""
    return [(row[0], Definition(*row[1:7]), row[7]) for row in db.rows(SELECT_BY_KEY, (key,))]


def signature(db: Database, content: int, ordinal: int) -> str:
    """One symbol's signature; empty if there is no such symbol."""
    row = db.row(SELECT_NAME, (content, ordinal))
    return _texts(db, content, ordinal, row[0])[0] if row else ""


def _texts(db: Database, content: int, ordinal: int, name: str) -> tuple[str, str]:
    """Signature and doc of a symbol."""
    from codelens.store.facts.symbol_texts import BLOCK, Block

    block, at = divmod(ordinal, BLOCK)
    row = db.row(SELECT_TEXTS, (content, block))
    assert row is not None
    unpacked = Block(row[0])
    return unpacked.signature(at, name), unpacked.doc(at)


class Shown(NamedTuple):
    """What is shown of one symbol."""

    qualified: str
    kind: str
    signature: str
    doc: str
    number: int
    """Which of the content's symbols of that qualified name, from 1."""


def shown(db: Database, content: int, ordinal: int) -> Shown | None:
    """One symbol; None if there is none."""
    row = db.row(SELECT_NUMBERED, (content, ordinal))
    if row is None:
        return None
    qualified, kind, name, number = row
    return Shown(qualified, kind, *_texts(db, content, ordinal, name), number)


def qualified(db: Database, content: int, ordinal: int) -> str:
    """One symbol's qualified name; empty if there is no such symbol."""
    row = db.row(SELECT_QUALIFIED, (content, ordinal))
    return row[0] if row else ""


def languages(db: Database, contents: Iterable[int]) -> dict[int, tuple[str, bool]]:
    """Language of each content, and whether it says that it was generated."""
    by_content: dict[int, tuple[str, bool]] = {}
    for batch in batched(contents):
        for content, language, generated in db.rows(_LANGUAGES.format(marks=_marks(batch)), batch):
            by_content[content] = (language, bool(generated))
    return by_content


def _marks(batch: Sequence[object]) -> str:
    return ",".join("?" * len(batch))
