"""The interface for walking the graph, and an in-memory table of edges in both directions.

Walks only use `EdgeReader`, so the edges may come from a table in memory, from a store, or from
files that are resolved on demand.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from codelens.resolve.edges import Edge
from codelens.types import Symbol

DERIVING = frozenset({"inherit", "override", "satisfy"})
"""Kinds of edges from a definition to one that it can substitute."""
MODULE = -1
"""Replaces a symbol: the file itself, as the code that runs on import."""


class Node(NamedTuple):
    """A definition of a file by its index, or the file itself."""

    path: bytes
    symbol: int


class EdgeReader(Protocol):
    """The edges of one state of a view."""

    def edges_from(self, path: bytes) -> Sequence[Edge]:
        """Return all edges from a file."""
        ...

    def edges_of(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """Return the edges from one symbol of a file, or from the file itself (`MODULE`)."""
        ...

    def deriving_edges(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """Return the edges of `edges_of` whose kind is one of `DERIVING`."""
        ...

    def edges_to(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """Return all edges to a symbol of a file, or to the file itself (`MODULE`)."""
        ...

    def derived_from(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """Return the edges of `edges_to` from types that name the type as a base."""
        ...

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Announce that `edges_to` will be called for many nodes."""
        ...

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """Return the definitions of a file; signatures and docs may be missing."""
        ...

    def places(self, node: Node) -> Sequence[Node]:
        """Return a node with the other declarations or definitions of its function (C, C++)."""
        ...

    def alias_of(self, edge: Edge) -> Node | None:
        """Return the module variable that is only an alias of the edge's target."""
        ...

    def is_test(self, path: bytes) -> bool:
        """Whether a file is a test file, by its path."""
        ...

    def spent(self) -> bool:
        """Whether time ran out; the walk then stops and reports itself as incomplete."""
        ...


_KINDS = ("call", "ref", "inherit", "import", "override", "satisfy")
_WORDS = 7
_PARTS = 1000
_NOWHERE = 0xFFFFFFFF


class Table:
    """The edges of many files, found by source and by target; 28 bytes and one index entry each."""

    def __init__(self) -> None:
        self._number: dict[bytes, int] = {}
        self._paths: list[bytes] = []
        self._name_number: dict[str, int] = {}
        self._names: list[str] = []
        self._words: array[int] = array("I")
        self._dead = 0
        self._spans: dict[int, tuple[int, int]] = {}
        self._whole: set[int] = set()
        """Files with all their edges in the table."""
        self._to: dict[int, array[int]] = {}
        self._of: dict[int, dict[int, array[int]]] = {}
        """Source file -> symbol -> edges; filled when one symbol is first queried."""

    def __contains__(self, path: bytes) -> bool:
        return self._number.get(path, -1) in self._whole

    def __len__(self) -> int:
        return len(self._whole)

    def add(self, path: bytes, edges: Iterable[Edge], *, whole: bool = True) -> None:
        """Add the edges of a file once; only some of them if not `whole`."""
        source = self._path(path)
        # The index by symbol is outdated.
        self._of.pop(source, None)
        words = self._words
        start = len(words)
        for edge in edges:
            target = self._path(edge.target)
            key = target << 32 | edge.target_symbol + 1
            incoming = self._to.get(key)
            if incoming is None:
                incoming = self._to[key] = array("I")
            incoming.append(len(words))
            weight = round(edge.confidence * _PARTS)
            kind = _KINDS.index(edge.kind) << 10 | weight
            words.extend(
                (source, edge.symbol + 1, target, edge.target_symbol + 1, kind,
                 self._name(edge.name), edge.line)
            )  # fmt: skip
        self._spans[source] = (start, len(words))
        if whole:
            self._whole.add(source)

    def edges_from(self, path: bytes) -> list[Edge]:
        """Return the edges from a file."""
        span = self._spans.get(self._number.get(path, -1), (0, 0))
        return [self._edge(at) for at in range(*span, _WORDS)]

    def edges_of(self, path: bytes, symbol: int) -> list[Edge]:
        """Return the edges from a symbol of a file."""
        source = self._number.get(path, -1)
        by_symbol = self._of.get(source)
        if by_symbol is None:
            by_symbol = self._of[source] = self._by_symbol(source)
        return [self._edge(at) for at in by_symbol.get(symbol + 1, ())]

    def _by_symbol(self, source: int) -> dict[int, array[int]]:
        start, stop = self._spans.get(source, (0, 0))
        by_symbol: dict[int, array[int]] = {}
        for at, symbol in zip(
            range(start, stop, _WORDS), self._words[start + 1 : stop : _WORDS], strict=True
        ):
            places = by_symbol.get(symbol)
            if places is None:
                places = by_symbol[symbol] = array("I")
            places.append(at)
        return by_symbol

    def edges_to(self, path: bytes, symbol: int) -> list[Edge]:
        """Return the edges from added files to a symbol of a file."""
        words = self._words
        incoming = self._to.get(self._number.get(path, -1) << 32 | symbol + 1, ())
        return [self._edge(at) for at in incoming if words[at + 3] != _NOWHERE]

    def lines(self, path: bytes, name: str) -> set[int]:
        """Return the lines of a file with edges whose name in the source is `name`."""
        start, stop = self._spans.get(self._number.get(path, -1), (0, 0))
        number = self._name_number.get(name)
        if number is None:
            return set()
        places = _places(self._words[start + 5 : stop : _WORDS], number)
        return {self._words[start + at * _WORDS + 6] for at in places}

    def files(self) -> set[bytes]:
        """The files in the table."""
        return {self._paths[number] for number in self._spans}

    def remove(self, path: bytes) -> None:
        """Remove the edges of a file, if present; their slots are not reused."""
        source = self._number.get(path, -1)
        self._of.pop(source, None)
        self._whole.discard(source)
        start, stop = self._spans.pop(source, (0, 0))
        for at in range(start, stop, _WORDS):
            self._words[at + 3] = _NOWHERE
        self._dead += stop - start

    @property
    def wasteful(self) -> bool:
        """Whether most slots belong to removed files."""
        return self._dead * 2 > len(self._words)

    def _edge(self, at: int) -> Edge:
        source, symbol, target, target_symbol, kind, name, line = self._words[at : at + _WORDS]
        return Edge(
            self._paths[source],
            symbol - 1,
            self._paths[target],
            target_symbol - 1,
            _KINDS[kind >> 10],
            self._names[name],
            line,
            (kind & 1023) / _PARTS,
        )

    def _path(self, path: bytes) -> int:
        number = self._number.get(path)
        if number is None:
            number = self._number[path] = len(self._paths)
            self._paths.append(path)
        return number

    def _name(self, name: str) -> int:
        number = self._name_number.get(name)
        if number is None:
            number = self._name_number[name] = len(self._names)
            self._names.append(name)
        return number


def _places(column: array[int], value: int) -> Iterator[int]:
    """Yield the positions of a value in a column."""
    at = -1
    for _ in range(column.count(value)):
        at = column.index(value, at + 1)
        yield at


def subtree(symbols: Sequence[Symbol], top: int) -> set[int]:
    """Return a symbol and everything defined inside it; for a file, all of its symbols."""
    if top < 0:
        return set(range(-1, len(symbols)))
    symbols_below = {top}
    # Symbols are in source order; a parent precedes and encloses its children.
    end = symbols[top].end_byte
    for at in range(top + 1, len(symbols)):
        if symbols[at].start_byte >= end:
            break
        if symbols[at].parent in symbols_below:
            symbols_below.add(at)
    return symbols_below


def symbols_inside(symbols: Sequence[Symbol], top: int) -> Iterator[int]:
    """Yield the direct children of a symbol."""
    end = symbols[top].end_byte
    for at in range(top + 1, len(symbols)):
        if symbols[at].start_byte >= end:
            return
        if symbols[at].parent == top:
            yield at
