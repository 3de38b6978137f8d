"""Facts by content: what was extracted from each distinct text, stored once.

Signatures and docs, half of the bytes of definitions, are rarely read. They are stored separately,
in zlib blocks of `BLOCK` definitions of a content: first all signatures, then all docs, separated
by NUL. In a signature, one byte replaces the name, which is in the definition's row: on Django and
Go 1.19 this takes .28 of the size of the texts.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Any, NamedTuple, TypeVar

from codelens.store.database.database import Database, Row
from codelens.store.facts import resolution_facts
from codelens.store.facts.postings import Doc
from codelens.store.facts.resolution_facts import (
    COLUMNS,
    REFERENCE_KINDS,
    Content,
    PackedFacts,
    Places,
    ReferenceRows,
    reference_columns,
)
from codelens.types import (
    Binding,
    ContentHash,
    ContentId,
    Import,
    Reference,
    Scope,
    Symbol,
)

BLOCK = 128
"""Definitions in a block; reading one takes some 20 microseconds."""
_FAST = 1
_NUL, _NAME, _AS_IT_IS = "\0", "\1", "\2"

Texts = tuple[str, str]
"""Signature and doc."""


def packed_texts(texts: Sequence[tuple[str, str, str]]) -> list[tuple[int, bytes]]:
    """Pack the texts of a content into numbered blocks.

    Args:
        texts: name, signature and doc of each definition, in order.
    """
    return [
        (start // BLOCK, _block(texts[start : start + BLOCK]))
        for start in range(0, len(texts), BLOCK)
    ]


def _block(texts: Sequence[tuple[str, str, str]]) -> bytes:
    parts = [_without_name(signature, name) for name, signature, _ in texts]
    parts += [doc for _, _, doc in texts]
    if any(_NUL in part for part in parts):
        # No extraction produces such texts, but an untrusted pack may contain them.
        parts = [part.replace(_NUL, " ") for part in parts]
    return zlib.compress(_NUL.join(parts).encode(), _FAST)


def _without_name(signature: str, name: str) -> str:
    if _NAME in signature or signature.startswith(_AS_IT_IS):
        return _AS_IT_IS + signature
    return signature.replace(name, _NAME, 1) if name else signature


class Block:
    """An unpacked block."""

    __slots__ = ("_count", "_parts")

    def __init__(self, data: bytes) -> None:
        self._parts = zlib.decompress(data).decode().split(_NUL)
        self._count = len(self._parts) // 2

    def signature(self, at: int, name: str) -> str:
        """The signature of the definition at position `at` in the block."""
        text = self._parts[at]
        if text.startswith(_AS_IT_IS):
            return text[1:]
        return text.replace(_NAME, name, 1)

    def doc(self, at: int) -> str:
        """The doc of the definition at position `at`."""
        return self._parts[self._count + at]


class Blocks:
    """Blocks of several contents, each unpacked on its first use."""

    def __init__(self, rows: Iterable[tuple[int, int, bytes]]) -> None:
        self._packed: Mapping[tuple[int, int], bytes] = {
            (content, block): data for content, block, data in rows
        }
        self._blocks: dict[tuple[int, int], Block] = {}

    def texts(self, content: int, ordinal: int, name: str) -> Texts:
        """Signature and doc of a definition."""
        number, at = divmod(ordinal, BLOCK)
        block = self._blocks.get((content, number))
        if block is None:
            block = self._blocks[content, number] = Block(self._packed[content, number])
        return block.signature(at, name), block.doc(at)


# Hashes of contents' raw bytes, to compare contents with git's objects without reading either.

SELECT_HASHES = "SELECT id, hash FROM contents WHERE id IN ({marks})"


def hashes(db: Database, contents: Iterable[int]) -> dict[int, ContentHash]:
    """Content -> hash of its bytes."""
    return dict(rows_among(db, SELECT_HASHES, contents))


_IN_VIEWS = """
SELECT DISTINCT c.hash FROM contents c WHERE EXISTS (
    SELECT 1 FROM view_files f WHERE f.content = c.id
)
"""


def hashes_in_views(db: Database) -> set[bytes]:
    """Hashes of the contents in any view, of all branches and worktrees."""
    return {bytes(row[0]) for row in db.rows(_IN_VIEWS)}


SELECT_WITH_HASH = "SELECT id FROM contents WHERE hash = ?"


def with_hash(db: Database, content: bytes) -> list[int]:
    """Contents with these bytes, in any language."""
    return [row for (row,) in db.rows(SELECT_WITH_HASH, (content,))]


# The rows of contents; `codelens.store.facts.resolution_facts` describes their blobs.

TIER_TEXT, TIER_FULL = 0, 1
_CHUNK_WORDS = 8
_BATCH = 500
_MOST_SYMBOLS = 1 << 24
"""Per content: the number of symbols that fit in a symbol's id."""
_Id = TypeVar("_Id")

ContentKey = tuple[ContentHash, str]
"""The hash of a content's bytes, and the language they are parsed in."""

_OUTLINE = "outline "


def outline_key(key: ContentKey) -> ContentKey:
    """The key of an outline: the symbols alone of a text that no view contains."""
    return key[0], _OUTLINE + key[1]


def is_outline(key: ContentKey) -> bool:
    """Whether a key is that of an outline."""
    return key[1].startswith(_OUTLINE)


def contents_by_language(db: Database) -> dict[str, list[int]]:
    """The contents in each language; those in none, and outlines, are left out."""
    by_language: dict[str, list[int]] = {}
    for language, content in db.rows("SELECT language, id FROM contents WHERE language != ''"):
        if not language.startswith(_OUTLINE):
            by_language.setdefault(language, []).append(content)
    return by_language


def language_of_key(key: ContentKey) -> str:
    """The language of a content or outline."""
    return key[1].removeprefix(_OUTLINE)


class Known(NamedTuple):
    """The best extraction of a content that the store has."""

    id: ContentId
    version: int
    tier: int


class ScoredChunk(NamedTuple):
    """A chunk as ranking sees it."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    symbol: int
    body_terms: int
    name_terms: int
    doc_terms: int


class Flowing(NamedTuple):
    """The parts of a content that are needed to resolve its names."""

    language: str
    symbols: list[Symbol]
    references: ReferenceRows
    imports: list[Import]
    scopes: list[Scope]
    bindings: list[Binding]


_FIND = """
SELECT hash, language, id, version, tier FROM contents WHERE hash IN ({marks})
ORDER BY tier, version, id
"""
_INSERT = f"""
INSERT INTO contents (hash, language, version, tier, size_bytes, {", ".join(COLUMNS.values())})
VALUES (?, ?, ?, ?, ?{", ?" * len(COLUMNS)})
"""  # noqa: S608 - constants
PUT_VECTORS = """
INSERT INTO chunk_vectors (content, version, data) VALUES (?, ?, ?)
ON CONFLICT (content) DO UPDATE SET version = excluded.version, data = excluded.data
WHERE excluded.version > chunk_vectors.version
"""
# Parameters in the order of `resolution_facts.SymbolRow`; its texts, 7 and 8, are in blocks.
# migrations/0012_index_symbol_ids.sql explains the id of a row and the codes of kinds.
_INSERT_SYMBOL = """
INSERT INTO symbols (id, name, own_key, around, kind_code, exported, start_line, further,
    name_below, start_byte, size_bytes, parent_number)
VALUES (?1 << 24 | ?2, ?3,
    CASE WHEN ?4 <> replace(lower(?3), '_', '') THEN ?4 END,
    CASE WHEN substr(?5, -length(?3)) = ?3 AND substr(?5, 1, 1) <> '='
    THEN substr(?5, 1, length(?5) - length(?3)) ELSE '=' || ?5 END,
    CASE ?6 WHEN 'function' THEN 0 WHEN 'method' THEN 1 WHEN 'variable' THEN 2
    WHEN 'constant' THEN 3 WHEN 'field' THEN 4 WHEN 'macro' THEN 5 WHEN 'key' THEN 6
    WHEN 'class' THEN 7 WHEN 'heading' THEN 8 WHEN 'member' THEN 9 WHEN 'property' THEN 10
    WHEN 'struct' THEN 11 ELSE ?6 END,
    ?9, ?10, ?11 - ?10, ?12 - ?10, ?13, ?14 - ?13, ?15 + 1)
"""
_INSERT_TEXTS = "INSERT INTO symbol_texts (id, data) VALUES (? << 17 | ?, ?)"
# CROSS JOIN: contents in the order given, and the symbols of each in the order of their ids.
SELECT_SYMBOLS = """
SELECT value, ordinal, name, qualified, kind, exported, start_line, end_line, name_line,
    start_byte, end_byte, s.parent
FROM json_each(?) CROSS JOIN symbols s ON s.id >= value << 24
    AND s.id < (value + 1) << 24
"""
SELECT_TEXTS = """
SELECT value, block, data FROM json_each(?) CROSS JOIN symbol_texts t ON t.id >= value << 17
    AND t.id < (value + 1) << 17
"""
# CROSS JOIN: `symbol_keys` first.
BY_KEY = """
SELECT k.content, k.ordinal, name, qualified, kind, exported, start_line, end_line, name_line,
    start_byte, end_byte, parent
FROM symbol_keys k CROSS JOIN symbols s ON s.id = (k.content << 24 | k.ordinal)
WHERE k.key = ?
"""
_QUALIFIED = """
SELECT DISTINCT value FROM json_each(?) CROSS JOIN symbols s ON s.id >= value << 24
    AND s.id < (value + 1) << 24 WHERE substr(qualified, 1, length(?2)) = ?2
"""
_QUALIFIED_BY_KEY = """
SELECT DISTINCT k.content FROM json_each(?) CROSS JOIN symbol_keys k ON k.key = value
    CROSS JOIN symbols s ON s.id = (k.content << 24 | k.ordinal)
WHERE substr(qualified, 1, length(?2)) = ?2
"""
KEYS_FROM = "SELECT DISTINCT key FROM symbol_keys WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
_CHUNKS = "SELECT id, chunks FROM contents WHERE id IN ({marks})"
_ABOUT = f"""
SELECT {", ".join(Content._fields)} FROM contents WHERE id IN ({{marks}})
"""  # noqa: S608 - constants
_REFERENCES = "SELECT refs, imports FROM contents WHERE id = ?"
_FLOWING = "SELECT id, language, refs, imports, flow FROM contents WHERE id IN ({marks})"
SELECT_SURFACES = """
SELECT id, language, surface, flow = x'' AND imports = x'' FROM contents WHERE id IN ({marks})
"""
_BLOBS = "SELECT oid, hash, size_bytes FROM git_blobs WHERE oid IN ({marks})"
_OF_BLOBS = """
SELECT b.oid, c.id, b.size_bytes FROM git_blobs b CROSS JOIN contents c ON c.hash = b.hash
WHERE b.oid IN ({marks})
"""
_INSERT_BLOB = "INSERT OR IGNORE INTO git_blobs (oid, hash, size_bytes) VALUES (?, ?, ?)"


def batched(ids: Iterable[_Id]) -> Iterable[list[_Id]]:
    """Split `ids` into lists short enough for one SQL statement."""
    every = list(ids)
    for start in range(0, len(every), _BATCH):
        yield every[start : start + _BATCH]


def rows_among(db: Database, sql: str, values: Iterable[object], *more: object) -> Iterator[Row]:
    """The rows of a query whose `{marks}` are `values`, in batches; `more` binds what follows."""
    for batch in batched(values):
        yield from db.rows(sql.format(marks=",".join("?" * len(batch))), (*batch, *more))


def listed(contents: Iterable[int]) -> str:
    """Format contents for `json_each`: without duplicates, ascending."""
    return f"[{','.join(map(str, sorted(set(contents))))}]"


def find(db: Database, keys: Iterable[ContentKey]) -> dict[ContentKey, Known]:
    """The best stored extraction of each content: full before text, then the newest version."""
    content_keys = set(keys)
    best: dict[ContentKey, Known] = {}
    searched = {content_hash for content_hash, _ in content_keys}
    for content_hash, language, *row in rows_among(db, _FIND, searched):
        if (content_hash, language) in content_keys:
            best[content_hash, language] = Known(*row)
    return best


def insert(
    db: Database, key: ContentKey, version: int, tier: int, *, size_bytes: int, facts: PackedFacts
) -> Doc:
    """Store the facts of one content; return its row for the postings, which is not written yet.

    In the caller's transaction.
    """
    columns = (getattr(facts, field) for field in COLUMNS)
    db.execute(_INSERT, (*key, version, tier, size_bytes, *columns))
    content = db.last_id()
    rows = facts.symbol_rows
    if len(rows) > _MOST_SYMBOLS:
        raise ValueError(f"a text has more than {_MOST_SYMBOLS:,} definitions")
    db.execute_many(_INSERT_SYMBOL, [(content, *row) for row in rows])
    blocks = packed_texts([(row[1], row[5], row[6]) for row in rows])
    db.execute_many(_INSERT_TEXTS, [(content, *block) for block in blocks])
    if facts.vectors is not None:
        db.execute(PUT_VECTORS, (content, *facts.vectors))
    counts = facts.body_terms, facts.name_terms, facts.doc_terms, facts.chunk_count
    return Doc(content, *counts, facts.terms)


def symbols_of(
    db: Database, contents: Iterable[int], *, docs: bool = True
) -> dict[int, list[Symbol]]:
    """The symbols of each content in text order; without `docs` their `doc` is empty."""
    by_content: dict[int, list[Symbol]] = {}
    for batch in batched(contents):
        rows = db.rows(SELECT_SYMBOLS, (listed(batch),))
        for content, _, symbol in _with_texts(db, rows, batch, docs=docs):
            by_content.setdefault(content, []).append(symbol)
    return by_content


def symbols_named(db: Database, key: str) -> list[tuple[int, int, Symbol]]:
    """Symbols of any view whose name has this key, as (content, ordinal, symbol)."""
    rows = db.rows(BY_KEY, (key,))
    ids = list(dict.fromkeys(row[0] for row in rows))
    named: list[tuple[int, int, Symbol]] = []
    for batch in batched(ids):
        holding = set(batch)
        named += _with_texts(db, [row for row in rows if row[0] in holding], batch)
    return named


def qualified_by(
    db: Database, prefix: str, keys: Iterable[str], contents: Iterable[int]
) -> set[int]:
    """Contents that define a qualified name with this prefix.

    Args:
        db: the database.
        prefix: the start of the qualified name.
        keys: any content counts if the definition's name has one of these keys.
        contents: these contents count for a definition of any name.
    """
    rows = db.rows(_QUALIFIED_BY_KEY, (json.dumps(sorted(set(keys))), prefix))
    return {row[0] for row in (*rows, *db.rows(_QUALIFIED, (listed(contents), prefix)))}


def _with_texts(
    db: Database,
    rows: Sequence[tuple[Any, ...]],
    contents: Sequence[int],
    *,
    docs: bool = True,
) -> Iterator[tuple[int, int, Symbol]]:
    """Yield (content, ordinal, symbol) for rows that lack signature and doc."""
    blocks = Blocks(db.rows(SELECT_TEXTS, (listed(contents),)) if rows else ())
    for content, ordinal, name, qualified, kind, exported, *places in rows:
        signature, doc = blocks.texts(content, ordinal, name)
        # Equal texts share one object: texts are a quarter of a symbol without its doc.
        yield content, ordinal, Symbol(
            name, name if qualified == name else qualified, intern(kind), signature,
            doc if docs else "", bool(exported), *places,
        )  # fmt: skip


def symbol_keys(db: Database, start: str, stop: str, limit: int) -> list[str]:
    """Keys of symbols of any view with `start <= key < stop`."""
    return [row[0] for row in db.rows(KEYS_FROM, (start, stop, limit))]


def chunks_of(db: Database, contents: Iterable[int]) -> dict[int, list[ScoredChunk]]:
    """The chunks of each content."""
    by_content: dict[int, list[ScoredChunk]] = {}
    for content, data in rows_among(db, _CHUNKS, contents):
        words = memoryview(data).cast("I").tolist()
        by_content[content] = [
            ScoredChunk._make((*words[at : at + 4], words[at + 4] - 1, *words[at + 5 : at + 8]))
            for at in range(0, len(words), _CHUNK_WORDS)
        ]
    return by_content


def about(db: Database, contents: Iterable[int]) -> dict[int, Content]:
    """Facts about each content as a whole."""
    return {
        row[0]: Content(row[0], row[1], row[2], bool(row[3]), *row[4:])
        for row in rows_among(db, _ABOUT, contents)
    }


def references_of(db: Database, content: int) -> tuple[list[Reference], list[Import]]:
    """The names that a content uses, and its imports."""
    row = db.row(_REFERENCES, (content,))
    if row is None:
        return [], []
    # Without receivers and scopes.
    references = [Reference(*place) for place in zip(*_places(row[0]), strict=True)]
    return references, _unpack_imports(row[1])


def flowing(db: Database, contents: Iterable[int]) -> dict[int, Flowing]:
    """The parts of each content that are needed to resolve its names."""
    every = list(contents)
    symbols = symbols_of(db, every, docs=False)
    by_content: dict[int, Flowing] = {}
    for content, language, refs, imports, data in rows_among(db, _FLOWING, every):
        scopes, bindings, references = resolution_facts.unpacked(data, _places(refs))
        by_content[content] = Flowing(
            language,
            symbols.get(content, []),
            references,
            _unpack_imports(imports),
            scopes,
            bindings,
        )
    return by_content


def surfaces(db: Database, contents: Iterable[int]) -> dict[int, tuple[str, int, bool]]:
    """Language, digest of what others see (`flow.surface`), and whether it uses no names."""
    return {
        content: (language, surface, bool(blank))
        for content, language, surface, blank in rows_among(db, SELECT_SURFACES, contents)
    }


def blobs(db: Database, oids: Iterable[bytes]) -> dict[bytes, tuple[ContentHash, int]]:
    """Hash and size of the git blobs whose bytes were read before."""
    return {oid: (content_hash, size) for oid, content_hash, size in rows_among(db, _BLOBS, oids)}


def of_blobs(db: Database, oids: Iterable[bytes]) -> dict[int | None, tuple[bytes, int]]:
    """For each content that has the bytes of one of these git blobs: the blob and its size."""
    # Neighbours in the index one after another cost half as much.
    rows = rows_among(db, _OF_BLOBS, sorted(oids))
    return {content: (oid, size) for oid, content, size in rows}


def insert_blobs(db: Database, rows: Sequence[tuple[bytes, ContentHash, int]]) -> None:
    """Record the hashes and sizes of git blobs by object id; in the caller's transaction."""
    db.execute_many(_INSERT_BLOB, rows)


def _places(data: bytes) -> Places:
    """References of a content, as columns."""
    packed = reference_columns(data)
    names = packed.table.decode("utf-8", "surrogatepass").split("\0")
    return Places(
        [names[head >> 2] for head in packed.heads],
        [REFERENCE_KINDS[head & 3] for head in packed.heads],
        packed.lines,
        packed.columns,
        [symbol - 1 for symbol in packed.symbols],
    )


def _unpack_imports(data: bytes) -> list[Import]:
    """Imports of a content."""
    if not data:
        return []
    parts = iter(data.decode("utf-8", "surrogatepass").split("\0"))
    return [
        Import(module, name, alias, int(line))
        for module, name, alias, line in zip(*[parts] * 4, strict=True)
    ]
