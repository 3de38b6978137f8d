"""Writes definitions, references and relations of a view as a SCIP index.

A symbol is `codelens . REPOSITORY . ` with the folders and the file as namespaces and a descriptor
for each definition around it. Documents are sorted by path, so the same view gives the same bytes.
A definition that other files cannot name, inside of a function, is local to its document.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codelens import __version__
from codelens.answers.upkeep_answers import ExportedIndex
from codelens.cancellation import check_cancelled
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.graph.candidate_files import edge_cache_of
from codelens.engine.index_pool import IndexPool
from codelens.engine.output_file import output_file
from codelens.extract.language_settings import language_info
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.graph import Graph
from codelens.resolve.precise_edges import PreciseEdges
from codelens.resolve.walk.edge_table import DERIVING
from codelens.scip.index_stream import schema
from codelens.scip.placed_document import DEFINITION, IMPORT, UTF8
from codelens.scip.symbol_grammar import (
    LOCAL,
    METHOD,
    NAMESPACE,
    TERM,
    TYPE,
    Descriptor,
    GlobalSymbol,
)
from codelens.types import Symbol

if TYPE_CHECKING:
    from codelens.scip import scip_pb2

_SCHEME = "codelens"
_NO_CODE = frozenset({"heading", "key"})
_KINDS = {
    "function": "Function", "method": "Method", "class": "Class", "struct": "Struct",
    "union": "Union", "interface": "Interface", "trait": "Trait", "enum": "Enum",
    "member": "EnumMember", "type": "TypeAlias", "module": "Module", "constant": "Constant",
    "variable": "Variable", "property": "Property", "field": "Field", "macro": "Macro",
}  # fmt: skip


class SymbolNames:
    """The SCIP symbols of a view's definitions.

    Args:
        package: name of the repository.
        graph: has the definitions.
    """

    def __init__(self, package: str, graph: Graph) -> None:
        self._package = package
        self._graph = graph
        self._names: dict[bytes, Sequence[str]] = {}

    def of(self, path: bytes, symbol: int) -> str:
        """The symbol of a definition, or (-1) of a whole file."""
        if symbol < 0:
            return self._global(path, ())
        names = self._names.get(path)
        if names is None:
            names = self._names[path] = list(self._each(path))
        return names[symbol]

    def _each(self, path: bytes) -> Iterator[str]:
        symbols = self._graph.symbols(path)
        counts: dict[str, int] = {}
        chains: list[tuple[Descriptor, ...] | None] = []
        for at, symbol in enumerate(symbols):
            around = chains[symbol.parent] if symbol.parent >= 0 else ()
            inner = symbol.parent >= 0 and symbols[symbol.parent].kind in CALLABLE
            if around is None or inner:
                chains.append(None)
                yield f"{LOCAL}{at}"
                continue
            plain = self._global(path, (*around, _descriptor(symbol, 0)))
            count = counts[plain] = counts.get(plain, -1) + 1
            chain = (*around, _descriptor(symbol, count))
            chains.append(chain)
            yield self._global(path, chain)

    def _global(self, path: bytes, chain: tuple[Descriptor, ...]) -> str:
        parts = printed(path).split("/")
        folders = tuple(Descriptor(part, NAMESPACE) for part in parts)
        return GlobalSymbol(_SCHEME, "", self._package, "", (*folders, *chain)).written()


def _descriptor(symbol: Symbol, count: int) -> Descriptor:
    """The descriptor of a definition; `count` distinguishes definitions with the same name."""
    name = symbol.name or "_"
    if symbol.kind in CALLABLE:
        return Descriptor(name, METHOD, f"+{count}" if count else "")
    name = f"{name}+{count}" if count else name
    if symbol.kind == "module":
        return Descriptor(name, NAMESPACE)
    return Descriptor(name, TYPE if symbol.kind in TYPES else TERM)


class _Counts(NamedTuple):
    definitions: int = 0
    references: int = 0
    relations: int = 0


class _Writer:
    """Makes the documents of a view."""

    def __init__(self, view: CurrentView) -> None:
        cache = edge_cache_of(view)
        self._view = view
        self._graph: Graph = cache.graph
        self._precise: PreciseEdges = cache.precise
        package = os.path.basename(view.repository.place.root.rstrip("/\\")) or "repository"
        self._names = SymbolNames(package, self._graph)
        self._index = schema()
        self.counts = _Counts()

    def documents(self) -> Iterator[bytes]:
        """Yield each document, serialized as a field of an index."""
        for path in sorted(self._graph.languages):
            check_cancelled()
            model = self._graph.model(path)
            row = self._view.snapshot.by_path[path]
            text = self._view.read(row) if model is not None else None
            if model is None or text is None:
                continue
            index = self._index()
            document = index.documents.add(
                relative_path=printed(path), position_encoding=UTF8, language=_language(model)
            )
            self._fill(document, path, model, text.split(b"\n"))
            yield index.SerializeToString(deterministic=True)

    def _fill(
        self, document: scip_pb2.Document, path: bytes, model: FileModel, lines: list[bytes]
    ) -> None:
        edges = self._precise.merged(path, self._graph.edges(path))
        certain = [edge for edge in edges if edge.is_certain]
        relations = [edge for edge in certain if edge.kind in DERIVING and edge.symbol >= 0]
        definitions = 0
        spans: set[tuple[int, int, int, str, int]] = set()
        # Other files may name it: an empty `__init__.py`, say.
        document.occurrences.add(
            range=[0, 0, 0], symbol=self._names.of(path, -1), symbol_roles=DEFINITION
        )
        places = _DefinitionPlaces(model, lines)
        for at, symbol in enumerate(model.symbols):
            column = places.column(symbol)
            if column is None or symbol.kind in _NO_CODE:
                continue
            definitions += 1
            name = self._names.of(path, at)
            size = len(symbol.name.encode())
            spans.add((symbol.name_line, column, size, name, DEFINITION))
            self._describe(
                document, symbol, name, [edge for edge in relations if edge.symbol == at]
            )
        defined = {span[:4] for span in spans}
        references = {
            use for use in self._references(model, certain, lines) if use[:4] not in defined
        }
        for line, column, size, name, roles in sorted(spans | references):
            document.occurrences.add(
                range=[line - 1, column, column + size], symbol=name, symbol_roles=roles
            )
        before = self.counts
        self.counts = _Counts(
            before.definitions + definitions,
            before.references + len(references),
            before.relations + len(relations),
        )

    def _describe(
        self, document: scip_pb2.Document, symbol: Symbol, name: str, relations: Sequence[Edge]
    ) -> None:
        kind = _KINDS.get(symbol.kind, "UnspecifiedKind")
        information = document.symbols.add(symbol=name, display_name=symbol.name, kind=kind)
        if symbol.doc:
            information.documentation.append(symbol.doc)
        for edge in relations:
            if edge.target_symbol >= 0:
                information.relationships.add(
                    symbol=self._names.of(edge.target, edge.target_symbol),
                    is_implementation=True,
                    is_reference=edge.kind != "inherit",
                )

    def _references(
        self, model: FileModel, edges: Sequence[Edge], lines: Sequence[bytes]
    ) -> Iterator[tuple[int, int, int, str, int]]:
        """Yield line, column, size, symbol and roles of each use that has a certain target."""
        columns: dict[tuple[int, str], list[int]] = {}
        for reference in model.references:
            columns.setdefault((reference.line, reference.name), []).append(reference.column)
        for edge in edges:
            if edge.kind in {"override", "satisfy"}:
                continue
            places = columns.get((edge.line, edge.name))
            if places is None:
                column = _column(lines, edge.line, edge.name)
                places = [column] if column is not None else []
            name = self._names.of(edge.target, edge.target_symbol)
            if name.startswith(LOCAL) and edge.target != edge.source:
                continue
            roles = IMPORT if edge.kind == "import" else 0
            word = edge.name.encode()
            for column in places:
                # A method that the language calls implicitly, such as `__len__`, is not named in
                # the text.
                if lines[edge.line - 1][column : column + len(word)] == word:
                    yield edge.line, column, len(word), name, roles


def _language(model: FileModel) -> str:
    return language_info(model.language).scip_name or model.language.capitalize()


class _DefinitionPlaces:
    """Where the names of a file's definitions are; their lines may have the names several times."""

    def __init__(self, model: FileModel, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self._used: dict[tuple[int, str], set[int]] = {}
        for use in model.references:
            self._used.setdefault((use.line, use.name), set()).add(use.column)

    def column(self, symbol: Symbol) -> int | None:
        """The byte column of a definition's name: the first in the definition that is no use."""
        line, name = symbol.name_line, symbol.name
        columns = _columns(self._lines, line, name)
        start = symbol.start_byte - self._starts[line - 1] if columns else 0
        used = self._used.get((line, name), set())
        inside = [column for column in columns if column >= start]
        unused = [column for column in inside if column not in used]
        return next(iter(unused or inside or columns), None)


def _column(lines: Sequence[bytes], line: int, name: str) -> int | None:
    """The first byte column of a name as a whole word in a line; None if it is not there."""
    return next(iter(_columns(lines, line, name)), None)


def _columns(lines: Sequence[bytes], line: int, name: str) -> list[int]:
    """The byte columns of a name as a whole word in a line."""
    if not 1 <= line <= len(lines) or not name:
        return []
    row, word = lines[line - 1], name.encode()
    columns: list[int] = []
    at = row.find(word)
    while at >= 0:
        before, after = row[at - 1 : at] if at else b"", row[at + len(word) : at + len(word) + 1]
        if not _continues(before) and not _continues(after):
            columns.append(at)
        at = row.find(word, at + 1)
    return columns


def _continues(byte: bytes) -> bool:
    """Whether a byte next to a word continues that word."""
    return byte.isalnum() or byte in {b"_", b"$"} or byte >= b"\x80"


def export_index(pool: IndexPool, request: ViewRequest, file: Path) -> ExportedIndex:
    """Write the index of a view; see `Engine.scip_export`."""
    schema()
    with pool.view(request) as view, view.reading():
        writer = _Writer(view)
        count = size = 0
        with output_file(file, "SCIP index") as out:
            size += out.write(_head(view))
            for document in writer.documents():
                count += 1
                request.progress("exporting", count, len(view.snapshot.files))
                size += out.write(document)
        return ExportedIndex(view.receipt(), str(file), count, *writer.counts, size_bytes=size)


def _head(view: CurrentView) -> bytes:
    index = schema()()
    index.metadata.tool_info.name = _SCHEME
    index.metadata.tool_info.version = __version__
    index.metadata.project_root = Path(view.repository.place.root).as_uri()
    index.metadata.text_document_encoding = "UTF8"  # type: ignore[assignment] - by name
    return index.SerializeToString(deterministic=True)
