"""The stored facts that resolve names: keys of names, references, scopes, bindings and imports."""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, get_args, overload

from codelens.types import (
    Binding,
    ChunkVectors,
    ContentId,
    Facts,
    Import,
    Outcome,
    Reference,
    Scope,
    ScopeKind,
    Structure,
    Symbol,
)

if TYPE_CHECKING:
    from codelens.store.database.database import Database

_DEFINING = "SELECT DISTINCT content FROM symbol_keys WHERE key = ?"


def key_of(name: str) -> str:
    """An identifier without its naming convention; as `tokens.identifier_key`."""
    if name.isascii() and (bare := name.replace("_", "")).isalnum():
        return bare.lower()
    key = "".join(char for char in name.casefold() if char.isalnum())
    # A handle may contain bytes that are not UTF-8; no name does.
    return key or name.encode("utf-8", "replace").decode()


def contents_defining(db: Database, name: str) -> list[int]:
    """Contents of any view that define the name in some naming convention."""
    return [content for (content,) in db.rows(_DEFINING, (key_of(name),))]


# Facts that resolve names: scopes, bindings, receivers; one packed blob per content.
#
# The blob is compressed. It contains the length of a table of distinct texts, the table (NUL
# between), the numbers of scopes and bindings, then native uint32: three per scope (parent + 1,
# symbol + 1, kind), five per binding (scope, name, how, text, line), two per reference (receiver,
# scope << 8 | arguments + 2) in the order of `refs`, and two per reference whose arguments are
# known (its position, their text).

_INNER = frozenset({"=", ":", "?", "let"})
_TAKING = frozenset({"base", "implements"})
_MIXING = frozenset({"extend", "class_methods"})
"""Calls in Ruby modules that add methods to the types that include these modules."""
_KINDS: tuple[str, ...] = get_args(ScopeKind)
# A large view has hundreds of thousands; the classes' own `__new__` takes four times as long.
_BINDING: Callable[[tuple[object, ...]], Binding] = partial(tuple.__new__, Binding)  # pyright: ignore[reportUnknownMemberType]
_REFERENCE: Callable[[tuple[object, ...]], Reference] = partial(tuple.__new__, Reference)  # pyright: ignore[reportUnknownMemberType]


class Places(NamedTuple):
    """References without receivers and scopes, as columns."""

    names: Sequence[str]
    kinds: Sequence[str]
    lines: Sequence[int]
    columns: Sequence[int]
    symbols: Sequence[int]


class ReferenceRows(Sequence[Reference]):
    """The references of a content, in text order.

    They are stored as columns, 50 bytes per reference in place of 200: many files are loaded only
    because others refer to them, and nobody reads the references in these.
    """

    __slots__ = ("_columns", "_lines", "_names")

    def __init__(
        self,
        places: Places,
        receivers: Sequence[str],
        scopes: Sequence[int],
        arguments: Sequence[int],
        argument_lines: Sequence[str],
    ) -> None:
        """Store the columns, which must have the same length."""
        self._names = places.names
        self._lines = array("I", places.lines)
        self._columns: tuple[Sequence[object], ...] = (
            places.names, places.kinds, self._lines, array("I", places.columns),
            array("i", places.symbols), receivers, array("I", scopes), array("h", arguments),
            argument_lines,
        )  # fmt: skip
        if any(len(column) != len(self._names) for column in self._columns):
            raise ValueError("the columns of references differ in length")

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Reference]:
        return map(_REFERENCE, zip(*self._columns, strict=True))

    @overload
    def __getitem__(self, number: int) -> Reference: ...
    @overload
    def __getitem__(self, number: slice) -> list[Reference]: ...
    def __getitem__(self, number: int | slice) -> Reference | list[Reference]:
        if isinstance(number, slice):
            columns = (column[number] for column in self._columns)
            return list(map(_REFERENCE, zip(*columns, strict=True)))
        return _REFERENCE(tuple(column[number] for column in self._columns))

    def named(self, names: Set[str]) -> list[Reference]:
        """The references to one of these names."""
        chosen = [at for at, name in enumerate(self._names) if name in names]
        return [self[at] for at in chosen]

    def in_lines(self, lines: Set[int]) -> list[Reference]:
        """The references in these lines."""
        chosen = [at for at, line in enumerate(self._lines) if line in lines]
        return [self[at] for at in chosen]


def references_in(references: Sequence[Reference], lines: Set[int]) -> list[Reference]:
    """The references in these lines."""
    if isinstance(references, ReferenceRows):
        return references.in_lines(lines)
    return [reference for reference in references if reference.line in lines]


def references_named(references: Sequence[Reference], names: Set[str]) -> list[Reference]:
    """The references to one of these names."""
    if isinstance(references, ReferenceRows):
        return references.named(names)
    return [reference for reference in references if reference.name in names]


def packed(structure: Structure) -> bytes:
    """Pack the blob of a content; empty if it has nothing to resolve."""
    if not structure.references and not structure.bindings:
        return b""
    texts: dict[str, int] = {}
    number = texts.setdefault
    scopes = [
        (scope.parent + 1, scope.symbol + 1, _KINDS.index(scope.kind)) for scope in structure.scopes
    ]
    bindings = [
        (
            binding.scope,
            number(binding.name, len(texts)),
            number(binding.how, len(texts)),
            number(binding.text, len(texts)),
            binding.line,
        )
        for binding in structure.bindings
    ]
    places = [
        (
            number(reference.receiver, len(texts)),
            reference.scope << 8 | min(reference.arguments + 2, 255),
        )
        for reference in structure.references
    ]
    pairs = [
        (at, number(reference.argument_lines, len(texts)))
        for at, reference in enumerate(structure.references)
        if reference.argument_lines
    ]
    table = "\0".join(texts).encode("utf-8", "surrogatepass")
    words = array("I", (len(scopes), len(bindings)))
    words.extend(chain.from_iterable(scopes))
    words.extend(chain.from_iterable(bindings))
    words.extend(chain.from_iterable(places))
    words.extend(chain.from_iterable(pairs))
    return zlib.compress(array("I", [len(table)]).tobytes() + table + words.tobytes(), 1)


def surface(structure: Structure) -> int:
    """Digest, of 63 bits, of everything that names in other files can depend on.

    It leaves out line numbers, references other than decorators and those on the lines of bases,
    and variables inside a function that states its result type or has no name: so most edits do not
    change it. It includes signatures: the number and types of parameters decide between overloads.
    """
    kinds = [scope.kind for scope in structure.scopes]
    around: list[int] = []
    for at, scope in enumerate(structure.scopes):
        around.append(around[scope.parent] if scope.kind == "block" else at)
    closed = {around[binding.scope] for binding in structure.bindings if binding.how == "->"}
    closed |= {
        at
        for at, scope in enumerate(structure.scopes)
        if scope.kind == "function" and scope.symbol < 0
    }
    rows = [
        (binding.scope, binding.name, binding.how, binding.text)
        for binding in structure.bindings
        if not (
            binding.how in _INNER
            and "." not in binding.name
            and around[binding.scope] in closed
            and kinds[around[binding.scope]] == "function"
            and binding.name != "self"
        )
    ]
    symbols = [
        (
            symbol.name,
            symbol.qualified,
            symbol.kind,
            symbol.parent,
            symbol.signature,
            symbol.exported,
        )
        for symbol in structure.symbols
    ]
    imports = [imported[:3] for imported in structure.imports]
    scopes = [tuple(scope) for scope in structure.scopes]
    parts = (symbols, imports, scopes, rows, _on_base_lines(structure), _before_names(structure))
    text = repr(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1


def _on_base_lines(structure: Structure) -> tuple[object, ...]:
    """The references on lines where a type names its bases or mixins.

    They show how the type uses them: `extend`, `include` and `prepend` in Ruby, `setmetatable` in
    Lua. Lines are numbered only by their order.
    """
    taken = [binding.line for binding in structure.bindings if binding.how in _TAKING]
    mixing = {
        reference.line
        for reference in structure.references
        if reference.name in _MIXING and reference.kind == "call"
    }
    ordinals = {line: at for at, line in enumerate(sorted(mixing.union(taken)))}
    on_lines = sorted(
        (ordinals[reference.line], reference.column, at)
        for at, reference in enumerate(structure.references)
        if reference.line in ordinals
    )
    references = [structure.references[at] for _, _, at in on_lines]
    names = sorted(symbol.name_line for symbol in structure.symbols)
    return (
        [ordinals[line] for line in taken],
        # A block applies to the methods after it.
        [bisect_right(names, line) for line in ordinals],
        [
            (ordinals[reference.line], reference.receiver, *reference[:2], reference.symbol)
            for reference in references
        ],
    )


def _before_names(structure: Structure) -> list[tuple[object, ...]]:
    """The references in definitions above their name lines: decorators and annotations."""
    headers = sorted(
        (symbol.start_line, symbol.name_line, at) for at, symbol in enumerate(structure.symbols)
    )
    rows: list[tuple[object, ...]] = []
    starts = [header[0] for header in headers]
    for reference in structure.references:
        last = bisect_right(starts, reference.line) - 1
        if last >= 0 and reference.line < headers[last][1]:
            start, _, at = headers[last]
            place = (reference.line - start, reference.column)
            rows.append((at, *place, reference.receiver, reference.name))
    return rows


def unpacked(data: bytes, places: Places) -> tuple[list[Scope], list[Binding], ReferenceRows]:
    """Unpack scopes and bindings, and add receivers and scopes to the references."""
    if not data:
        count = len(places.names)
        return [], [], ReferenceRows(places, [""] * count, [0] * count, [-1] * count, [""] * count)
    data = zlib.decompress(data)
    size: int = array("I", data[:4])[0]
    texts = data[4 : 4 + size].decode("utf-8", "surrogatepass").split("\0")
    text = texts.__getitem__
    words = array("I", data[4 + size :]).tolist()
    scope_count, binding_count = words[:2]
    first, second = 2 + 3 * scope_count, 2 + 3 * scope_count + 5 * binding_count
    scopes = [
        Scope(parent - 1, symbol - 1, _KINDS[kind])
        for parent, symbol, kind in zip(*[iter(words[2:first])] * 3, strict=True)
    ]
    inner = words[first:second]
    names, hows, values = (map(text, inner[at::5]) for at in (1, 2, 3))
    bindings = list(map(_BINDING, zip(inner[::5], names, hows, values, inner[4::5], strict=True)))
    third = second + 2 * len(places.names)
    lengths = words[second + 1 : third : 2]
    numbers = [length >> 8 for length in lengths]
    arguments = [(length & 255) - 2 for length in lengths]
    receivers = list(map(text, words[second:third:2]))
    texts_given = [""] * len(lengths)
    for at, number in zip(words[third::2], words[third + 1 :: 2], strict=True):
        texts_given[at] = texts[number]
    rows = ReferenceRows(places, receivers, numbers, arguments, texts_given)
    return scopes, bindings, rows


# Facts of one text in the form of a row: a worker process sends it, and the index stores it.
#
# The worker packs references and bindings, because sending them as objects costs more than
# unpacking a blob.

REFERENCE_KINDS = ("call", "type", "name", "export")
_NO_REFERENCES = bytes(4)

SymbolRow = tuple[int, str, str, str, str, str, str, bool, int, int, int, int, int, int]
"""Ordinal, name, key of the name, then the other fields of a symbol in their order."""


class PackedFacts(NamedTuple):
    """All stored facts of one text in one language."""

    outcome: Outcome
    lines: int
    generated: bool
    symbol_rows: Sequence[SymbolRow]
    chunk_count: int
    chunks: bytes
    """Native uint32, eight per chunk: start line, end line, start byte, end byte, symbol + 1, and
    the numbers of terms in body, names and docs."""
    references: bytes
    """See `pack_references`; empty if there are none."""
    imports: bytes
    """Four texts per import, NUL between."""
    flow: bytes
    """Scopes and bindings; see `packed`."""
    surface: int
    """Digest of what other files can see; see `surface`."""
    body_terms: int
    name_terms: int
    doc_terms: int
    terms: dict[str, bytes]
    """Term -> its occurrences (see `codelens.extract.tokenizer`)."""
    vectors: ChunkVectors | None

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols in text order."""
        return tuple(Symbol(row[1], *row[3:]) for row in self.symbol_rows)


COUNTS = ("chunk_count", "body_terms", "name_terms", "doc_terms")
"""The fields that are whole numbers of at least 0, in packs in this order."""
COLUMNS = {
    name: "refs" if name == "references" else name
    for name in (
        "lines", "outcome", "generated", *COUNTS, "chunks", "references", "imports", "flow",
        "surface",
    )
}  # fmt: skip
"""Field of `PackedFacts` -> its column of `contents`; the other fields have their own tables."""


class Content(NamedTuple):
    """Facts about a content as a whole: each field is a column of `contents`."""

    id: ContentId
    language: str
    outcome: str
    generated: bool
    size_bytes: int
    lines: int
    tier: int


def pack_facts(facts: Facts) -> PackedFacts:
    """Pack the facts of one text for storage."""
    structure = facts.structure
    body, name, doc = (sum(column) for column in zip((0, 0, 0), *facts.lengths, strict=True))
    chunks = array("I")
    for chunk, lengths in zip(structure.chunks, facts.lengths, strict=False):
        chunks.extend((*chunk[:4], chunk.symbol + 1, *lengths))
    return PackedFacts(
        facts.outcome,
        facts.lines,
        facts.generated,
        symbol_rows(structure.symbols),
        len(facts.lengths),
        chunks.tobytes(),
        pack_references(structure.references),
        _pack_imports(structure.imports),
        packed(structure),
        surface(structure),
        body,
        name,
        doc,
        facts.terms,
        facts.vectors,
    )


def symbol_rows(symbols: Sequence[Symbol]) -> list[SymbolRow]:
    """Turn symbols of a text, in text order, into rows."""
    return [
        (ordinal, symbol.name, key_of(symbol.name), *symbol[1:])
        for ordinal, symbol in enumerate(symbols)
    ]


def pack_references(references: Sequence[Reference]) -> bytes:
    """Pack references as columns, compressed: neighbors have much in common.

    Inside: uint32 length of a table, the table (distinct names, NUL between), then for all places
    in order uint32 name << 2 | kind, then their lines, their columns, and their symbols + 1.
    """
    if not references:
        return b""
    names = sorted({reference.name for reference in references})
    number = {name: at for at, name in enumerate(names)}
    table = "\0".join(names).encode("utf-8", "surrogatepass")
    kind = REFERENCE_KINDS.index
    words = array("I", [number[place.name] << 2 | kind(place.kind) for place in references])
    words.extend([place.line for place in references])
    words.extend([place.column for place in references])
    words.extend([place.symbol + 1 for place in references])
    return zlib.compress(array("I", [len(table)]).tobytes() + table + words.tobytes(), 1)


class ReferenceColumns(NamedTuple):
    """Unpacked references: one sequence per column, in the order of the places."""

    table: bytes
    """Distinct names, NUL between."""
    heads: memoryview[int]
    """Number of the name in the table << 2 | kind."""
    lines: memoryview[int]
    columns: memoryview[int]
    symbols: memoryview[int]
    """Position of the symbol + 1."""


def reference_columns(data: bytes) -> ReferenceColumns:
    """Unpack what `pack_references` packed."""
    return plain_columns(zlib.decompress(data) if data else _NO_REFERENCES)


def plain_columns(data: bytes) -> ReferenceColumns:
    """Like `reference_columns`, for data that is not compressed."""
    size: int = array("I", data[:4])[0]
    words = memoryview(data)[4 + size :].cast("I")
    count = len(words) // 4
    return ReferenceColumns(
        data[4 : 4 + size], *(words[at * count : (at + 1) * count] for at in range(4))
    )


def _pack_imports(imports: Sequence[Import]) -> bytes:
    return "\0".join(str(part) for imported in imports for part in imported).encode(
        "utf-8", "surrogatepass"
    )
