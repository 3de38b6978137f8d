"""Replaces edges of our resolver by a compiler's edges, for texts that a compiler has indexed.

A text with a document (`codelens.store.facts.precise_facts`) is answered precisely: where the
compiler resolves a name, its edges count and those of our resolver do not. Our resolver still
answers for a name that the compiler does not resolve, or resolves to a definition whose text has
changed since it was indexed: the compiler's current answer is unknown.

Rows of the graph contain only our edges, so importing or removing documents does not make the graph
resolve anything again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from codelens.resolve.edges import CERTAIN, EDGE_KINDS, Edge, base_places
from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.graph import Graph
from codelens.resolve.walk.relation_walk import CONSTRUCTORS
from codelens.store.database.database import Database
from codelens.store.facts import precise_facts
from codelens.store.facts.precise_facts import DEFINES, KNOWN_THERE, Mention, PreciseDocument
from codelens.types import Reference

_IMPLEMENTS = 1
_MODULE = -1
_MOST_KEPT = 500
_UNNAMED = frozenset({"override", "satisfy"})


_Target = tuple[bytes, int]
"""A file with the position of its definition, -1 for the file as a whole."""


class _Document:
    """A document, with the places where it defines each symbol."""

    def __init__(self, document: PreciseDocument) -> None:
        self.uses = document.uses
        self.related = document.related
        self.definitions: dict[int, list[Mention]] = {}
        for use in document.uses:
            if use.roles & DEFINES:
                self.definitions.setdefault(use.symbol, []).append(use)


class Spoken(NamedTuple):
    """A compiler's facts about a file of a view."""

    edges: tuple[Edge, ...]
    answered: frozenset[tuple[int, str]]
    """Lines and names that the compiler resolves, to a definition inside or outside of this
    view."""
    left: frozenset[tuple[int, str]]
    """Lines and names that it does not resolve, or whose definition has changed since."""


class PreciseEdges:
    """The edges from compilers in one state of a view.

    Args:
        db: the index, in a read transaction whenever a method is called.
        graph: our own edges.
    """

    def __init__(self, db: Database, graph: Graph) -> None:
        self._db = db
        self._graph = graph
        self._documents: dict[int, _Document] = {}
        self._targets_by_symbol: dict[int, list[_Target] | None] = {}
        self._defined_once: dict[int, bool] = {}
        self._spoken: dict[bytes, Spoken] = {}
        self.document_by_path = self._chosen() if precise_facts.state(db) else {}
        """Path -> its document, for the files that are answered precisely."""

    def _chosen(self) -> dict[bytes, int]:
        contents = {path: file.content for path, file in self._graph.known.files.items()}
        known = precise_facts.documents_of(self._db, set(contents.values()))
        chosen: dict[bytes, int] = {}
        for path, content in contents.items():
            documents = known.get(content, ())
            here = [document for document, where in documents if where == path]
            moved = [document for document, where in documents if where not in contents]
            if here or moved:
                chosen[path] = (here or moved)[-1]
        return chosen

    @cached_property
    def _path_by_document(self) -> Mapping[int, Sequence[bytes]]:
        paths: dict[int, list[bytes]] = {}
        for path, document in sorted(self.document_by_path.items()):
            paths.setdefault(document, []).append(path)
        return paths

    def merged(self, path: bytes, own: Iterable[Edge]) -> list[Edge]:
        """Return the edges of a file: the compiler's, and those of codelens where it has none.

        Args:
            path: the file.
            own: its edges by our resolver, or some of them.
        """
        if path not in self.document_by_path:
            return list(own)
        spoken = self.spoken(path)
        left = [
            edge
            for edge in own
            if edge.kind in _UNNAMED or (edge.line, edge.name) not in spoken.answered
        ]
        return list(dict.fromkeys([*spoken.edges, *left]))

    def spoken(self, path: bytes) -> Spoken:
        """Return the compiler's facts about a file that is answered precisely."""
        spoken = self._spoken.get(path)
        if spoken is None:
            if len(self._spoken) >= _MOST_KEPT:
                self._spoken.clear()
            spoken = self._spoken[path] = self._statements_of(path)
        return spoken

    def _statements_of(self, path: bytes) -> Spoken:
        model = self._graph.model(path)
        document = self._document(self.document_by_path[path])
        if model is None:
            return Spoken((), frozenset(), frozenset())
        reader = _FileReader(path, model, document)
        edges: list[Edge] = []
        answered: set[tuple[int, str]] = set()
        left: set[tuple[int, str]] = set()
        for use in document.uses:
            if use.roles & DEFINES or not use.name:
                continue
            targets = self._targets(path, document, use)
            if targets is None:
                left.add((use.line, use.name))
                continue
            answered.add((use.line, use.name))
            for where, at in targets:
                target = (where, self._named_type(where, at, use.name))
                edge = reader.edge(use, target)
                edges += [edge] if edge is not None else []
        edges += self._relations(path, document, model)
        return Spoken(tuple(dict.fromkeys(edges)), frozenset(answered), frozenset(left - answered))

    def _targets(self, path: bytes, document: _Document, use: Mention) -> list[_Target] | None:
        """Return the definitions of a symbol: empty if outside of the view, None if unknown."""
        symbol = use.symbol
        if symbol < 0:
            # Tools make up local symbols for what they cannot name, such as renamed exports.
            is_defined = symbol in document.definitions
            return self._defined(path, document, symbol) if is_defined else None
        if symbol not in self._targets_by_symbol:
            self._targets_by_symbol[symbol] = self._targets_of(symbol)
        targets = self._targets_by_symbol[symbol]
        if targets is not None or use.roles & KNOWN_THERE or self._was_defined(symbol):
            return targets
        return []

    def _was_defined(self, symbol: int) -> bool:
        """Whether any import, maybe not that of the use, had a definition of a symbol."""
        if symbol not in self._defined_once:
            self._defined_once[symbol] = precise_facts.is_defined(self._db, symbol)
        return self._defined_once[symbol]

    def _targets_of(self, symbol: int) -> list[_Target] | None:
        """Return the definitions of a symbol in this view; None if no document of it has one."""
        holders = [
            (path, id_)
            for id_ in precise_facts.defining(self._db, symbol)
            for path in self._path_by_document.get(id_, ())
        ]
        targets = [
            target
            for path, id_ in holders
            for target in self._defined(path, self._document(id_), symbol)
        ]
        # `declare module "a"` in one file adds to a module that is another file.
        files = [target for target in targets if target[1] == _MODULE]
        return (files or targets) if holders else None

    def _defined(self, path: bytes, document: _Document, symbol: int) -> list[_Target]:
        """Return our definitions at the places where a document defines a symbol."""
        model = self._graph.model(path)
        if model is None:
            return []
        places = (
            self._body(path, model, at)
            for use in document.definitions.get(symbol, ())
            if (at := definition_at(model, use)) is not None
        )
        return [(path, at) for at in dict.fromkeys(places)]

    def _body(self, path: bytes, model: FileModel, at: int) -> int:
        """Return the overload at which edges end: the last one, which has the body if any has."""
        if at < 0 or model.symbols[at].kind not in CALLABLE or model.spec.overloads_apart:
            return at
        same = self._graph.namesakes(path, at)
        return max(other for other in same if model.symbols[other].kind in CALLABLE)

    def _named_type(self, path: bytes, at: int, name: str) -> int:
        """Return the type in place of its constructor, if that is what a use names: `new A()`.

        Our edges end at the type, and a constructor has the edges of its type.
        """
        symbols = self._graph.symbols(path)
        if at < 0 or symbols[at].name not in CONSTRUCTORS or symbols[at].name == name:
            return at
        parent = symbols[at].parent
        return parent if parent >= 0 and symbols[parent].name == name else at

    def _relations(self, path: bytes, document: _Document, model: FileModel) -> Iterator[Edge]:
        """Yield the base types that the compiler knows and the text does not name as bases."""
        for row in document.related:
            if not row.kinds & _IMPLEMENTS:
                continue
            for _, at in self._defined(path, document, row.symbol):
                if at < 0 or model.symbols[at].kind not in TYPES:
                    continue
                symbol = model.symbols[at]
                other = Mention(symbol.name_line, 0, symbol.name, row.other, 0)
                for target, there in self._targets(path, document, other) or ():
                    name = self._graph.symbols(target)[there].name if there >= 0 else ""
                    if name and not _names_base(model, at, name):
                        yield Edge(
                            path, at, target, there, "inherit", name, symbol.name_line, CERTAIN
                        )

    def _document(self, id_: int) -> _Document:
        document = self._documents.get(id_)
        if document is None:
            if len(self._documents) >= _MOST_KEPT:
                self._documents.clear()
            document = self._documents[id_] = _Document(precise_facts.load(self._db, id_))
        return document

    def users(self, path: bytes, symbol: int) -> list[bytes]:
        """Return the files that use a definition according to a compiler, by path."""
        id_ = self.document_by_path.get(path)
        if id_ is None:
            return []
        model = self._graph.model(path)
        if model is None:
            return []
        symbols = {
            of
            for of, uses in self._document(id_).definitions.items()
            if of > 0 and any(self._is_at(path, model, use, symbol) for use in uses)
        }
        users = precise_facts.using(self._db, symbols) if symbols else set[int]()
        paths = self._path_by_document
        return sorted({where for document in users for where in paths.get(document, ())})

    def _is_at(self, path: bytes, model: FileModel, use: Mention, symbol: int) -> bool:
        at = definition_at(model, use)
        if at is None or at < 0 or symbol < 0:
            return at == symbol
        if self._body(path, model, at) == symbol:
            return True
        # For `new A()`, our edge ends at the type, but a compiler's may end at its constructor.
        return model.symbols[at].name in CONSTRUCTORS and model.symbols[at].parent == symbol


def definition_at(model: FileModel, use: Mention) -> int | None:
    """Return our definition at a place, -1 for the file as a whole; None if we have none there."""
    if not use.name:
        return _MODULE
    return model.named_at.get((use.line, use.name))


def _names_base(model: FileModel, at: int, name: str) -> bool:
    symbol = model.symbols[at]
    return any(
        symbol.start_line <= line <= symbol.end_line and base == name
        for line, base in base_places(model)
    )


class _FileReader:
    """Turns uses in one file into edges, with the kinds and sources that our own edges have."""

    def __init__(self, path: bytes, model: FileModel, document: _Document) -> None:
        self._path = path
        self._model = model
        self._names = {
            (use.line, use.name) for uses in document.definitions.values() for use in uses
        }
        self._bases = base_places(model)
        self._by_place: dict[tuple[int, int], Reference] = {
            (reference.line, reference.column): reference for reference in model.references
        }
        self._imported = {
            (row.line, name)
            for row in model.imports
            for name in (row.name, row.alias, row.module, *row.module.split("."))
        }

    def edge(self, use: Mention, target: tuple[bytes, int]) -> Edge | None:
        """Return the edge of a use; None if it is the name of an overload of its definition."""
        path, at = target
        model = self._model
        if path == self._path and at >= 0 and (use.line, use.name) not in self._names:
            here = model.named_at.get((use.line, use.name), -1)
            if here >= 0 and model.symbols[here].qualified == model.symbols[at].qualified:
                return None
        reference = self._by_place.get((use.line, use.column))
        if reference is None:
            kind = "import" if (use.line, use.name) in self._imported else "ref"
            source = -1 if kind == "import" else self._source_at(use.line)
        else:
            kind = EDGE_KINDS[reference.kind]
            if kind != "call" and (use.line, use.name) in self._bases:
                kind = "inherit"
            source = model.enclosing(reference, values=model.spec.spaces)
        return Edge(self._path, source, path, at, kind, use.name, use.line, CERTAIN)

    def _source_at(self, line: int) -> int:
        """Return the definition around a line that edges start from, -1 for the module."""
        around = self._around.get(line, -1)
        return self._model.source(around, values=self._model.spec.spaces)

    @cached_property
    def _around(self) -> dict[int, int]:
        """Line -> the innermost definition around it."""
        return {
            line: at
            for at, symbol in enumerate(self._model.symbols)
            for line in range(symbol.start_line, symbol.end_line + 1)
        }
