"""The graph as those see it who walk on it: nodes, and edges in both directions.

`EdgeReader` is all that walking asks of whatever holds the edges, so that it may be a table in
memory, a store, or files resolved as they are asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from codelens.resolve.edges import Edge
from codelens.types import Symbol

DERIVING = frozenset({"inherit", "override", "satisfy"})
"""Kinds of edges from a definition to one that it stands in for."""
MODULE = -1
"""In place of a symbol: the file itself, as what runs when it is imported."""


class Node(NamedTuple):
    """A definition of a file by its position, or the file itself."""

    path: bytes
    symbol: int


class EdgeReader(Protocol):
    """Edges of one state of a view."""

    def edges_from(self, path: bytes) -> Sequence[Edge]:
        """All edges that begin in a file."""
        ...

    def edges_of(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """The edges that begin at one symbol of a file, or at the file itself (`MODULE`)."""
        ...

    def deriving_edges(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """The edges of `edges_of` whose kind is one of `DERIVING`."""
        ...

    def edges_to(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """All edges that end at a symbol of a file, or at the file itself (`MODULE`)."""
        ...

    def derived_from(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """The edges of `edges_to` by which types name a type as their base."""
        ...

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Said before `edges_to` is asked of many nodes."""
        ...

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """Definitions of a file; signatures and docs may be missing."""
        ...

    def places(self, node: Node) -> Sequence[Node]:
        """A node, and where else its function is declared or defined (C, C++)."""
        ...

    def alias_of(self, edge: Edge) -> Node | None:
        """The variable of a module that is no more than another name of the edge's target."""
        ...

    def is_test(self, path: bytes) -> bool:
        """Whether a file is one of tests, by its path."""
        ...

    def spent(self) -> bool:
        """Whether time ran out: what was not followed by now is left out, and told to be."""
        ...


_KINDS = ("call", "ref", "inherit", "import", "override", "satisfy")
_WORDS = 7
_PARTS = 1000
_NOWHERE = 0xFFFFFFFF


class Table:
    """Edges of many files, 28 bytes each and one index entry; found by source and by target."""

    def __init__(self) -> None:
        self._number: dict[bytes, int] = {}
        self._paths: list[bytes] = []
        self._name_number: dict[str, int] = {}
        self._names: list[str] = []
        self._words: array[int] = array("I")
        self._dead = 0
        self._spans: dict[int, tuple[int, int]] = {}
        self._whole: set[int] = set()
        """Files of which all edges are here."""
        self._to: dict[int, array[int]] = {}
        self._of: dict[int, dict[int, array[int]]] = {}
        """By source, once somebody asked for one symbol of it."""

    def __contains__(self, path: bytes) -> bool:
        return self._number.get(path, -1) in self._whole

    def __len__(self) -> int:
        return len(self._whole)

    def add(self, path: bytes, edges: Iterable[Edge], *, whole: bool = True) -> None:
        """Take in the edges of a file, once; or some of them, if they are not the `whole`."""
        source = self._path(path)
        # What was asked of the file before it was here.
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
        """Edges that begin in a file."""
        span = self._spans.get(self._number.get(path, -1), (0, 0))
        return [self._edge(at) for at in range(*span, _WORDS)]

    def edges_of(self, path: bytes, symbol: int) -> list[Edge]:
        """Edges that begin at a symbol of a file."""
        source = self._number.get(path, -1)
        known = self._of.get(source)
        if known is None:
            known = self._of[source] = self._by_symbol(source)
        return [self._edge(at) for at in known.get(symbol + 1, ())]

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
        """Edges of the files taken in that end at a symbol of a file."""
        words = self._words
        incoming = self._to.get(self._number.get(path, -1) << 32 | symbol + 1, ())
        return [self._edge(at) for at in incoming if words[at + 3] != _NOWHERE]

    def lines(self, path: bytes, name: str) -> set[int]:
        """Lines of a file where an edge begins whose name as written is this one."""
        start, stop = self._spans.get(self._number.get(path, -1), (0, 0))
        number = self._name_number.get(name)
        if number is None:
            return set()
        places = _places(self._words[start + 5 : stop : _WORDS], number)
        return {self._words[start + at * _WORDS + 6] for at in places}

    def files(self) -> set[bytes]:
        """The files taken in."""
        return {self._paths[number] for number in self._spans}

    def remove(self, path: bytes) -> None:
        """Forget the edges of a file, if any are here; their place is not used again."""
        source = self._number.get(path, -1)
        self._of.pop(source, None)
        self._whole.discard(source)
        start, stop = self._spans.pop(source, (0, 0))
        for at in range(start, stop, _WORDS):
            self._words[at + 3] = _NOWHERE
        self._dead += stop - start

    @property
    def wasteful(self) -> bool:
        """Most of it is of files that were forgotten."""
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
    """Where a column has a value."""
    at = -1
    for _ in range(column.count(value)):
        at = column.index(value, at + 1)
        yield at


def subtree(symbols: Sequence[Symbol], top: int) -> set[int]:
    """A symbol and all that is defined inside it; for the file itself all of the file."""
    if top < 0:
        return set(range(-1, len(symbols)))
    symbols_below = {top}
    # Symbols stand in the order of the text, a parent before what it holds and around it.
    end = symbols[top].end_byte
    for at in range(top + 1, len(symbols)):
        if symbols[at].start_byte >= end:
            break
        if symbols[at].parent in symbols_below:
            symbols_below.add(at)
    return symbols_below


def symbols_inside(symbols: Sequence[Symbol], top: int) -> Iterator[int]:
    """What is defined right inside a symbol."""
    end = symbols[top].end_byte
    for at in range(top + 1, len(symbols)):
        if symbols[at].start_byte >= end:
            return
        if symbols[at].parent == top:
            yield at
