"""Facts from compilers: occurrences of symbols, by the hash of the text in which they were found.

A document applies to its text at the path where the compiler indexed it. At another path it applies
only if the view lacks the indexed path, because the imports of a text may resolve differently
there.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from codelens.store.database.database import Database
from codelens.store.facts.contents import batched

DEFINES, IMPORTS = 1, 2
"""Bits of `Mention.roles`."""
KNOWN_THERE = 1 << 16
"""Bit of `Mention.roles`: some document of the same index defines the symbol."""
_LIST = "(SELECT value FROM json_each(?))"
STATE = "SELECT ifnull(max(id), 0) FROM precise_documents"
SELECT_OF_CONTENTS = f"""
SELECT c.id, d.id, d.path FROM precise_documents d JOIN contents c ON c.hash = d.hash
WHERE c.id IN {_LIST} ORDER BY d.id
"""  # noqa: S608 - constants
SELECT_IS_INDEXED = "SELECT 1 FROM contents WHERE hash = ? LIMIT 1"
SELECT_DATA = "SELECT data FROM precise_documents WHERE id = ?"
SELECT_DEFINING = "SELECT document FROM precise_places WHERE symbol = ? AND defines ORDER BY 1"
SELECT_USING = f"SELECT DISTINCT document FROM precise_places WHERE symbol IN {_LIST}"  # noqa: S608
_SELECT_SYMBOLS = f"SELECT symbol, id FROM precise_symbols WHERE symbol IN {_LIST}"  # noqa: S608
SELECT_IS_DEFINED = "SELECT defined FROM precise_symbols WHERE id = ?"
_MARK_DEFINED = "UPDATE precise_symbols SET defined = 1 WHERE id = ? AND NOT defined"
_INTERN = "INSERT INTO precise_symbols (symbol) VALUES (?) ON CONFLICT DO NOTHING"
_INSERT_IMPORT = "INSERT INTO precise_imports (tool, day) VALUES (?, ?)"
_SELECT_EARLIER = (
    "SELECT data FROM precise_documents WHERE hash = ? AND path = ? ORDER BY id DESC LIMIT 1"
)
_DELETE_EARLIER = "DELETE FROM precise_documents WHERE hash = ? AND path = ?"
_INSERT = "INSERT INTO precise_documents (import, hash, path, data) VALUES (?, ?, ?, ?)"
_INSERT_PLACE = "INSERT INTO precise_places (symbol, document, defines) VALUES (?, ?, ?)"
_SURVEY = """
SELECT i.tool, i.day, count(d.id) FROM precise_imports i JOIN precise_documents d ON d.import = i.id
GROUP BY i.id ORDER BY i.id
"""
_DELETE_UNUSED = (
    """
    DELETE FROM precise_documents
    WHERE NOT EXISTS (SELECT 1 FROM contents c WHERE c.hash = precise_documents.hash)
    """,
    """
    DELETE FROM precise_imports
    WHERE NOT EXISTS (SELECT 1 FROM precise_documents d WHERE d.import = precise_imports.id)
    """,
    """
    DELETE FROM precise_symbols
    WHERE NOT EXISTS (SELECT 1 FROM precise_places p WHERE p.symbol = precise_symbols.id)
    """,
)
_ANY_UNUSED = """
SELECT 1 FROM precise_documents d WHERE NOT EXISTS (
    SELECT 1 FROM contents c WHERE c.hash = d.hash
) LIMIT 1
"""


class Mention(NamedTuple):
    """A name in a text, and the symbol that it means according to the compiler."""

    line: int
    column: int
    """In UTF-8 bytes."""
    name: str
    """The name as written; empty for the definition of the file as a whole."""
    symbol: int
    """A number that is the same in all documents; below 0 for a symbol of this document only."""
    roles: int


class Related(NamedTuple):
    """A relation of two symbols."""

    symbol: int
    other: int
    kinds: int
    """Bits of `codelens.scip.placed_document.Relation.kinds`."""


class PreciseDocument(NamedTuple):
    """A compiler's facts about one text."""

    uses: tuple[Mention, ...]
    related: tuple[Related, ...]


class Imported(NamedTuple):
    """A document to store; `Mention.symbol` and `Related` have positions in `symbols`."""

    content_hash: bytes
    path: bytes
    symbols: Sequence[str]
    uses: Sequence[Mention]
    related: Sequence[Related]


class Import(NamedTuple):
    """The documents of an import that still exist."""

    tool: str
    day: str
    documents: int


def state(db: Database) -> int:
    """A number that is larger after each import, 0 before the first."""
    return db.value(STATE)


def documents_of(db: Database, contents: Iterable[int]) -> dict[int, list[tuple[int, bytes]]]:
    """Content -> documents of its text, each with the path where it was indexed; oldest first."""
    by_content: dict[int, list[tuple[int, bytes]]] = {}
    for content, document, path in db.rows(SELECT_OF_CONTENTS, (json.dumps(sorted(contents)),)):
        by_content.setdefault(content, []).append((document, path))
    return by_content


def load(db: Database, document: int) -> PreciseDocument:
    """Read a document; an empty one if it was removed meanwhile."""
    return _unpacked(db.value(SELECT_DATA, (document,)))


def _unpacked(data: bytes | None) -> PreciseDocument:
    return PreciseDocument((), ()) if data is None else unpacked(data)


def unpacked(data: bytes) -> PreciseDocument:
    """Decode a stored document."""
    columns, related = cast(
        "tuple[list[list[object]], list[list[int]]]", json.loads(zlib.decompress(data))
    )
    uses = tuple(Mention(*row) for row in zip(*columns, strict=True))  # type: ignore[arg-type]
    return PreciseDocument(uses, tuple(Related(*row) for row in related))


def defining(db: Database, symbol: int) -> list[int]:
    """Documents that define a symbol, of all views."""
    return [row[0] for row in db.rows(SELECT_DEFINING, (symbol,))]


def is_indexed(db: Database, content_hash: bytes) -> bool:
    """Whether some view has or had a text."""
    return db.row(SELECT_IS_INDEXED, (content_hash,)) is not None


def is_defined(db: Database, symbol: int) -> bool:
    """Whether a document of any import defines or defined a symbol."""
    return bool(db.value(SELECT_IS_DEFINED, (symbol,)))


def using(db: Database, symbols: Iterable[int]) -> set[int]:
    """Documents that mention one of some symbols, of all views."""
    return {row[0] for row in db.rows(SELECT_USING, (json.dumps(sorted(symbols)),))}


def imports(db: Database) -> list[Import]:
    """The imports of which documents are left, oldest first."""
    return [Import(*row) for row in db.rows(_SURVEY)]


def save(
    db: Database, tool: str, day: str, documents: Iterable[Imported], *, add: bool = False
) -> int:
    """Store documents, each in place of an earlier one of the same text and path.

    In the caller's transaction. With `add`, the earlier document remains, except for uses at places
    where the later one has a use.

    Returns:
        How many were stored.
    """
    db.execute(_INSERT_IMPORT, (tool, day))
    import_ = db.last_id()
    count = 0
    for document in documents:
        count += 1
        numbers = _numbers(db, document.symbols)
        of = [numbers.get(symbol, -at - 1) for at, symbol in enumerate(document.symbols)]
        uses = tuple(use._replace(symbol=of[use.symbol]) for use in document.uses)
        related = tuple(
            Related(of[row.symbol], of[row.other], row.kinds) for row in document.related
        )
        if add:
            earlier = _unpacked(db.value(_SELECT_EARLIER, (document.content_hash, document.path)))
            uses, related = _joined(earlier, PreciseDocument(uses, related))
        columns = list(zip(*uses, strict=True)) or [()] * len(Mention._fields)
        data = zlib.compress(json.dumps((columns, related), separators=(",", ":")).encode(), 6)
        db.execute(_DELETE_EARLIER, (document.content_hash, document.path))
        db.execute(_INSERT, (import_, document.content_hash, document.path, data))
        id_ = db.last_id()
        defines = {use.symbol for use in uses if use.roles & DEFINES}
        places = {use.symbol for use in uses} | {number for row in related for number in row[:2]}
        rows = [(symbol, id_, symbol in defines) for symbol in sorted(places) if symbol > 0]
        db.execute_many(_INSERT_PLACE, rows)
        db.execute_many(_MARK_DEFINED, [(symbol,) for symbol in sorted(defines) if symbol > 0])
    for sql in _DELETE_UNUSED[1:]:
        db.execute(sql)
    return count


def _joined(earlier: PreciseDocument, later: PreciseDocument) -> PreciseDocument:
    """Return both documents of a text as one."""
    # Numbers below 0 mean other symbols in each document.
    lowest = min((use.symbol for use in earlier.uses), default=0)
    shift = min(lowest, *(min(row[:2]) for row in earlier.related), 0)

    def moved(symbol: int) -> int:
        return symbol if symbol >= 0 else symbol + shift

    places = {(use.line, use.column) for use in later.uses if not use.roles & DEFINES}
    uses = {use._replace(symbol=moved(use.symbol)) for use in later.uses}
    uses.update(
        use for use in earlier.uses
        if use.roles & DEFINES or (use.line, use.column) not in places
    )  # fmt: skip
    related = {Related(moved(row.symbol), moved(row.other), row.kinds) for row in later.related}
    return PreciseDocument(tuple(sorted(uses)), tuple(sorted(related | set(earlier.related))))


def _numbers(db: Database, symbols: Sequence[str]) -> Mapping[str, int]:
    """Numbers of the symbols that other documents can name."""
    shared = [symbol for symbol in symbols if not symbol.startswith("local ")]
    db.execute_many(_INTERN, [(symbol,) for symbol in shared])
    numbers: dict[str, int] = {}
    for batch in batched(shared):
        numbers.update(db.rows(_SELECT_SYMBOLS, (json.dumps(batch),)))  # type: ignore[arg-type]
    return numbers


def any_unused(db: Database) -> bool:
    """Whether there is a document whose text is no longer indexed."""
    return db.row(_ANY_UNUSED) is not None


def delete_unused(db: Database) -> None:
    """Remove the documents whose text is no longer indexed; in the caller's transaction."""
    for sql in _DELETE_UNUSED:
        db.execute(sql)


def delete_all(db: Database) -> None:
    """Remove all documents; in the caller's transaction."""
    db.execute("DELETE FROM precise_documents")
    for sql in _DELETE_UNUSED:
        db.execute(sql)
