"""Reads of the store that fetch only what ranking needs; a whole `Symbol` costs ten times more."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple, overload

from codelens.store.database.database import Database, Row
from codelens.store.facts import postings
from codelens.store.facts.contents import (
    BLOCK,
    PUT_VECTORS,
    Block,
    ScoredChunk,
    batched,
    listed,
    rows_among,
)
from codelens.store.facts.postings import Doc
from codelens.store.facts.resolution_facts import REFERENCE_KINDS, reference_columns
from codelens.types import ChunkVectors

CHUNK_WORDS, BODY_WORD = 8, 5
"""Words of a packed chunk, and the index of its count of body terms; names and docs follow."""


class Definition(NamedTuple):
    """A symbol as ranking sees it."""

    ordinal: int
    name: str
    kind: str
    start_line: int
    end_line: int
    parent: int


_MADE: Callable[[Row], Definition] = partial(tuple.__new__, Definition)  # type: ignore[reportUnknownMemberType]
"""Like `Definition._make`, which is a Python call for each row."""


class Definitions(Sequence[Definition]):
    """The symbols of one content in order; all fields but the names are read on first access."""

    __slots__ = ("_blocks", "_content", "_db", "_every", "_read", "_starts", "names")

    def __init__(self, db: Database, content: int, names: list[str]) -> None:
        self.names = names
        self._db = db
        self._content = content
        self._read: dict[int, Definition] = {}
        self._every: list[Definition] | None = None
        self._starts: list[int] | None = None
        self._blocks: dict[int, Block] = {}

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
        """The definitions that begin in lines `first` to `last`, in order."""
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

    def doc(self, number: int) -> str:
        """The doc of a definition."""
        block, at = divmod(number, BLOCK)
        if block not in self._blocks:
            self._blocks[block] = _block(self._db, self._content, block)
        return self._blocks[block].doc(at)

    def _read_starts(self) -> list[int]:
        """The first line of each definition; `_UNORDERED` if these do not ascend."""
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
"""With more definitions, only their first lines are read to find a few: a third of the cost."""


def beginning_in(definitions: Sequence[Definition], first: int, last: int) -> list[Definition]:
    """The definitions that begin in lines `first` to `last`, in order."""
    if isinstance(definitions, Definitions):
        return definitions.beginning_in(first, last)
    return [symbol for symbol in definitions if first <= symbol.start_line <= last]


def doc_of(definitions: Sequence[Definition], number: int) -> str:
    """The doc of one of the definitions of a content."""
    return definitions.doc(number) if isinstance(definitions, Definitions) else ""


class ChunkTable:
    """The chunks of one content, unpacked one at a time: most are never read."""

    __slots__ = ("words",)

    def __init__(self, packed: bytes = b"") -> None:
        self.words = memoryview(packed).cast("I")
        """`CHUNK_WORDS` per chunk, see `codelens.store.facts.contents`."""

    def __len__(self) -> int:
        return len(self.words) // CHUNK_WORDS

    def __getitem__(self, number: int) -> ScoredChunk:
        at = number * CHUNK_WORDS
        words = self.words[at : at + CHUNK_WORDS].tolist()
        words[4] -= 1  # the symbol's number + 1, or 0 for none
        return ScoredChunk._make(words)

    def at_line(self, line: int) -> int:
        """The chunk that contains a line, or -1."""
        for number in range(len(self)):
            at = number * CHUNK_WORDS
            if self.words[at] <= line <= self.words[at + 1]:
                return number
        return -1


_NONE = "[]"
SELECT_CHUNKS = "SELECT id, chunks FROM contents WHERE id IN ({marks})"
# Rows of seven columns per name cost three to four times as much as all names in one text.
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
# What other files see of a file, and its number of definitions, without a row for each symbol. The
# limit keeps SQLite from flattening the inner query, so a kind is decoded once.
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
        content: ChunkTable(packed) for content, packed in rows_among(db, SELECT_CHUNKS, contents)
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
    """A summary of what a content defines."""

    names: frozenset[str]
    """Names of its top-level definitions, without methods outside of their types (Go)."""
    is_code: bool
    """It defines more than headings and keys."""
    bodies: int
    """How many of its definitions are of the requested kinds."""


def tops(db: Database, contents: Iterable[int], kinds: Iterable[str]) -> dict[int, Top]:
    """Summarize each content that has definitions.

    Args:
        db: the index.
        contents: ids of the contents.
        kinds: the kinds of definitions that have a body.
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
    """Symbols of any view with a key, as (content, symbol, qualified name)."""
    return [(row[0], Definition(*row[1:7]), row[7]) for row in db.rows(SELECT_BY_KEY, (key,))]


def signature(db: Database, content: int, ordinal: int) -> str:
    """One symbol's signature; empty if there is no such symbol."""
    row = db.row(SELECT_NAME, (content, ordinal))
    return _texts(db, content, ordinal, row[0])[0] if row else ""


def _texts(db: Database, content: int, ordinal: int, name: str) -> tuple[str, str]:
    """Signature and doc of a symbol."""
    number, at = divmod(ordinal, BLOCK)
    block = _block(db, content, number)
    return block.signature(at, name), block.doc(at)


def _block(db: Database, content: int, number: int) -> Block:
    return Block(db.value(SELECT_TEXTS, (content, number)))


class Shown(NamedTuple):
    """The fields of one symbol that are shown."""

    qualified: str
    kind: str
    signature: str
    doc: str
    number: int
    """Position among the content's symbols with this qualified name, from 1."""


def shown(db: Database, content: int, ordinal: int) -> Shown | None:
    """One symbol, or None."""
    row = db.row(SELECT_NUMBERED, (content, ordinal))
    if row is None:
        return None
    qualified, kind, name, number = row
    return Shown(qualified, kind, *_texts(db, content, ordinal, name), number)


def qualified(db: Database, content: int, ordinal: int) -> str:
    """One symbol's qualified name; empty if there is no such symbol."""
    return db.value(SELECT_QUALIFIED, (content, ordinal), "")


def languages(db: Database, contents: Iterable[int]) -> dict[int, tuple[str, bool]]:
    """The language of each content, and whether its text says that it is generated."""
    return {
        content: (language, bool(generated))
        for content, language, generated in rows_among(db, _LANGUAGES, contents)
    }


# Meaning vectors of chunks, one per chunk, by a version of the word table.
#
# They are facts by content, like all others. An older codelens leaves the vectors of a newer table
# as they are, and does without vectors for these chunks.

SELECT_VECTORS = (
    "SELECT content, data FROM chunk_vectors WHERE content IN ({marks}) AND version = ?"
)
SELECT_WITHOUT = """
SELECT DISTINCT f.content FROM view_files f LEFT JOIN chunk_vectors v ON v.content = f.content
WHERE f.view = ? AND f.content IS NOT NULL AND (v.version IS NULL OR v.version < ?)
"""
_COUNT = """
SELECT COUNT(*), COALESCE(SUM(LENGTH(data)), 0) FROM chunk_vectors WHERE version = ?
"""
_SET_VIEW = "UPDATE views SET vectors = ? WHERE id = ? AND vectors < ?"


def put_chunk_vectors(db: Database, rows: Iterable[tuple[int, ChunkVectors]]) -> None:
    """Store the vectors of contents; in the caller's transaction."""
    db.execute_many(PUT_VECTORS, [(content, *vectors) for content, vectors in rows])


def vectors_of(db: Database, contents: Iterable[int], version: int) -> dict[int, bytes]:
    """The vectors of each content that has vectors of this version."""
    return dict(rows_among(db, SELECT_VECTORS, contents, version))


def contents_without(db: Database, view: int, version: int) -> set[int]:
    """Contents of a view that have no vectors of this version or a newer one."""
    return {row[0] for row in db.rows(SELECT_WITHOUT, (view, version))}


def terms_by_segment(db: Database, contents: set[int]) -> Iterable[Sequence[Doc]]:
    """The terms of contents, one segment of the postings at a time."""
    for segment, docs in postings.segment_docs(db).items():
        if not contents.isdisjoint(docs.contents.tolist()):
            yield [doc for doc in postings.docs_of(db, segment, docs) if doc.content in contents]


def mark_view(db: Database, view: int, version: int) -> None:
    """Record that all contents of a view have vectors; in the caller's transaction."""
    db.execute(_SET_VIEW, (version, view, version))


def counted(db: Database, version: int) -> tuple[int, int]:
    """How many contents have vectors of this version, and the bytes of these vectors."""
    ((contents, size),) = db.rows(_COUNT, (version,))
    return contents, size


# Where contents use certain names: reads the packed references without building them all.
#
# `refs` has the layout of `codelens.store.facts.resolution_facts.pack_references`.

SELECT_USES = "SELECT id, refs, imports FROM contents WHERE id IN ({marks})"
SELECT_IMPORTS = "SELECT id, imports FROM contents WHERE id IN ({marks}) AND imports <> x''"
_NUL = b"\0"
_NO_PLACES: array[int] = array("I")


class Use(NamedTuple):
    """A place where a content uses a name."""

    name: str
    kind: str
    """`call`, `type` or `name`."""
    line: int


_VALUES = frozenset(map(REFERENCE_KINDS.index, ("name", "export")))


class Uses(Sequence[Use]):
    """Places where one content uses names, grouped by name; 4 bytes each until read.

    A question about common names has 50,000 such places in Django, and rarely reads any.
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[tuple[str, array[int]]] = []

    def add(self, name: str, places: array[int]) -> None:
        """Add the places of one name, as `packed_uses` returns them."""
        if places:
            self._parts.append((name, places))

    @property
    def are_values(self) -> bool:
        """Whether a name is used without a call, as in `export default name`."""
        return any(place & 3 in _VALUES for _, places in self._parts for place in places)

    def __len__(self) -> int:
        return sum(len(places) for _, places in self._parts)

    def __iter__(self) -> Iterator[Use]:
        for name, places in self._parts:
            for place in places:
                yield Use(name, REFERENCE_KINDS[place & 3], place >> 2)

    @overload
    def __getitem__(self, number: int) -> Use: ...
    @overload
    def __getitem__(self, number: slice) -> list[Use]: ...
    def __getitem__(self, number: int | slice) -> Use | list[Use]:
        return list(self)[number]


def packed_uses(
    db: Database, contents: Iterable[int], names: Set[str]
) -> dict[int, dict[str, array[int]]]:
    """Where each content uses `names`, as line << 2 | kind; empty for names it only imports."""
    name_of_key = {name.encode("utf-8", "surrogatepass"): name for name in names}
    by_content: dict[int, dict[str, array[int]]] = {}
    for content, refs, imports in rows_among(db, SELECT_USES, contents):
        places = _places(refs, name_of_key)
        for part in set(imports.split(_NUL)) & name_of_key.keys():
            places.setdefault(name_of_key[part], _NO_PLACES)
        if places:
            by_content[content] = places
    return by_content


def _places(data: bytes, name_of_key: Mapping[bytes, str]) -> dict[str, array[int]]:
    packed = reference_columns(data)
    table = packed.table.split(_NUL)
    places = {at: array("I") for at, name in enumerate(table) if name in name_of_key}
    if places:
        for head, line in zip(packed.heads, packed.lines, strict=True):
            name_places = places.get(head >> 2)
            if name_places is not None:
                name_places.append(line << 2 | head & 3)
    return {name_of_key[table[at]]: name_places for at, name_places in places.items()}


def use_counts(db: Database, contents: Iterable[int]) -> Iterator[tuple[int, dict[str, int]]]:
    """How often each content uses each name."""
    for content, refs, _ in rows_among(db, SELECT_USES, contents):
        if not refs:
            continue
        packed = reference_columns(refs)
        names = packed.table.decode("utf-8", "surrogatepass").split("\0")
        totals: dict[str, int] = dict.fromkeys(names, 0)
        for head in packed.heads:
            totals[names[head >> 2]] += 1
        yield content, totals


def imports(db: Database, contents: Iterable[int]) -> Iterator[tuple[int, list[tuple[str, ...]]]]:
    """Module, name, alias and line of each content's imports, as text.

    Equal texts share one object: most modules and lines occur many times.
    """
    shared: dict[str, str] = {}
    for content, data in packed_imports(db, contents):
        yield content, unpacked_imports(data, shared)


def packed_imports(db: Database, contents: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """The packed imports of each content that has any, for `unpacked_imports`."""
    yield from rows_among(db, SELECT_IMPORTS, contents)


def unpacked_imports(data: bytes, shared: dict[str, str] | None = None) -> list[tuple[str, ...]]:
    """Module, name, alias and line of imports, as text; each text once in `shared`."""
    texts = data.decode("utf-8", "surrogatepass").split("\0")
    parts = iter(texts) if shared is None else map(shared.setdefault, texts, texts)
    return list(zip(*[parts] * 4, strict=True))
