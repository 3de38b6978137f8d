"""Resolves the edges of one state of a view lazily, file by file, and reuses earlier results.

Each result records what it depends on. After an edit, only results that may have changed are
resolved again: if only function bodies changed in a file, the edges of other files stay valid.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from hashlib import blake2b
from typing import cast
from weakref import finalize, ref

from codelens.errors import StoreError
from codelens.resolve.edges import ANSWERS_KEPT, MOST_ANSWERS, Edge, Edges, base_places
from codelens.resolve.file_model import NO_FACTS, FileModel
from codelens.resolve.graph_state import (
    File,
    GraphState,
    LatePart,
    Row,
    Stored,
    dumped,
    files_of,
    loaded_rows,
    packed,
    state_of,
    unpacked_rows,
)
from codelens.resolve.imports import Importer, settings_paths
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.languages.angular import public_names
from codelens.resolve.languages.registry import NAMED_BY_FILE, resolved_as, spec_of
from codelens.resolve.resolver_version import RESOLVER_VERSION
from codelens.resolve.view_files import DEFINED, Asked, Note, NoteGroup, View, groups_of
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.facts import contents, resolution_facts, stored_edges
from codelens.store.views.snapshot import Snapshot
from codelens.types import Reference, Symbol

_MOST_PARTS = 20_000
"""The most files for which partial results are passed on to the next state of the view."""
_GONE = -1
_MOST_COMPARED = 30
"""The most changed files whose names are compared; for more, recomputing costs no more."""
_Seen = dict[bytes, int]
_Answers = dict[Asked, tuple[bytes, ...]]


class Graph:
    """The edges of one state of a view. Not thread-safe."""

    def __init__(
        self,
        files: Mapping[bytes, File],
        load: Callable[[int], FileModel | None],
        read: Callable[[bytes], bytes | None],
        known: GraphState | None = None,
        stored: Stored | None = None,
    ) -> None:
        """Build the graph of a view.

        Args:
            files: all files of the view that have content.
            load: loads the facts of a content.
            read: reads a settings file (`settings_paths`) by its path.
            known: the state of an earlier graph of this or another view, which this graph takes
                over.
            stored: the results that other processes stored.
        """
        self._stored = stored
        self._files = files
        self._load = load
        languages = {path: file.language for path, file in files.items()}
        settings = {path: read(path) for path in settings_paths(languages)}
        self.languages = languages
        """Path -> language."""
        self.known = known if known is not None else GraphState()
        """The state to pass to the next graph."""
        self._rows, self._checked = self.known.rows, self.known.checked
        self._new: set[bytes] = set()
        self._looked_up: set[bytes] = set()
        self.fresh_surveys: dict[int, object] = {}
        """Content -> survey computed here, not read from the store; for indexes over the view."""
        self._new_parts: set[tuple[bytes, frozenset[str]]] = set()
        self._everything: bytes | None = None
        self._paths: Mapping[int, Sequence[bytes]] | None = None
        self.importer = self._take_over(languages, settings)
        """Resolves imports to files."""
        self._end: finalize[[], Graph] | None = None
        self._start()

    def _take_over(
        self, languages: dict[bytes, str], settings: dict[bytes, bytes | None]
    ) -> Importer:
        """Mark what cannot have changed since the earlier state as valid."""
        before, now = self.known.files, self._files
        self.known.checked_parts.clear()

        def is_same(path: bytes) -> bool:
            old, new = before.get(path), now.get(path)
            return old is not None and new is not None and old.content == new.content

        self.known.models.keep(is_same)
        importer = self.known.importer
        if (
            importer is None
            or self.known.settings != settings
            or before.keys() != now.keys()
            or any(file.language != before[path].language for path, file in now.items())
        ):
            self._checked.clear()
            texts = {path: data for path, data in settings.items() if data is not None}
            importer = Importer(languages, texts)
        else:
            pairs = ((path, file, before[path]) for path, file in now.items())
            changed = {path for path, file, old in pairs if file is not old and file != old}
            seen = {path for path in changed if now[path].surface != before[path].surface}
            everywhere = any(spec_of(now[path].language).indexes_view for path in seen)
            for path in [path for path in self._checked if path in changed] if changed else ():
                self._checked.discard(path)
            if seen:
                moved = self._names_moved([(before[path], now[path]) for path in seen])
                for path in list(self._checked):
                    row = self._rows[path]
                    stands_on = any(path_ in seen for path_, _ in row.seen)
                    indexed = everywhere and spec_of(now[path].language).indexes_view
                    if stands_on or indexed or _depends_on_names(row, moved):
                        self._checked.discard(path)
        self.known.files, self.known.settings, self.known.importer = now, settings, importer
        return importer

    def _names_moved(self, changes: Sequence[tuple[File, File]]) -> Set[str] | None:
        """Return the names that files began or ceased to define; None if it may be any name."""
        if len(changes) > _MOST_COMPARED:
            return None
        moved: set[str] = set()
        for old, new in changes:
            models = self._load(old.content), self._load(new.content)
            if models[0] is None or models[1] is None:
                return None
            first, second = ({symbol.name for symbol in model.symbols} for model in models if model)
            moved |= first ^ second
        return moved

    def _start(self, before: Edges | None = None) -> None:
        if before is not None:
            before.forget()
        graph = ref(self)

        def alive() -> Graph:
            # A strong reference would be a cycle, which holds all facts of a state for long.
            return cast("Graph", graph())

        is_stored = self._stored is not None
        self._view = View(
            self.languages,
            lambda path: alive()._model(path),
            self.importer,
            lambda: alive()._digest(),
            self.known.models,
            defining=(lambda name: alive()._defining(name)) if is_stored else None,
            surveyed=(lambda paths, take: alive()._surveyed(paths, take)) if is_stored else None,
        )
        self._edges = Edges(self._view)
        if self._end:
            self._end.detach()
        self._end = finalize(self, self._edges.end)
        self._end.atexit = False
        self._bases: dict[NoteGroup, tuple[_Seen, _Answers]] = {}

    def _digest(self) -> bytes:
        """Return a digest of the inputs to indexes over the view."""
        if self._everything is None:
            hasher = blake2b(digest_size=8)
            for path in sorted(self._files):
                file = self._files[path]
                if spec_of(file.language).indexes_view:
                    hasher.update(b"%b\0%d\0" % (path, file.surface))
            self._everything = hasher.digest()
        return self._everything

    def _defining(self, name: str) -> Iterator[bytes]:
        """Yield the files that may define a name; a superset."""
        assert self._stored is not None
        paths = self._paths_by_content()
        for content in self._stored.defining(name):
            yield from paths.get(content, ())

    def _surveyed(
        self, paths: Sequence[bytes], take: Callable[[FileModel], object]
    ) -> Iterator[tuple[bytes, object]]:
        """Yield `take(model)` for each file; the result depends only on the file's content."""
        assert self._stored is not None
        surveys = self._stored.surveys({self._files[path].content for path in paths})
        surveys |= self.fresh_surveys
        for path in paths:
            content = self._files[path].content
            model = self.model(path) if content not in surveys else None
            if model is not None:
                surveys[content] = self.fresh_surveys[content] = take(model)
            if content in surveys:
                yield path, surveys[content]

    @cached_property
    def state(self) -> int:
        """A digest of everything that edges can depend on."""
        return state_of(self._files, self.known.settings)

    def _paths_by_content(self) -> Mapping[int, Sequence[bytes]]:
        if self._paths is None:
            paths: dict[int, list[bytes]] = {}
            for path, file in self._files.items():
                paths.setdefault(file.content, []).append(path)
            self._paths = paths
        return self._paths

    def _model(self, path: bytes) -> FileModel | None:
        file = self._files.get(path)
        model = self._load(file.content) if file is not None else None
        return model.named_by(path) if model and path.endswith(NAMED_BY_FILE) else model

    def model(self, path: bytes) -> FileModel | None:
        """Return the facts of a file; None if it has none."""
        model = self._view.model(path)
        return model if model is not NO_FACTS else None

    def references(self, path: bytes) -> Sequence[Reference]:
        """Return the references in a file in source order."""
        return self._view.model(path).references

    def variable_lines(self, path: bytes, name: str) -> set[int]:
        """Return the lines of a file where a name refers only to local variables or parameters."""
        return self._view.aside(lambda: self._edges.variable_lines(path, name))

    def outer_names(self, path: bytes, symbol: int) -> set[str]:
        """Return the names by which other files, including templates, may use a definition."""
        if (model := self.model(path)) is None:
            return set()
        name = model.symbols[symbol].name
        return {name, *public_names(model, symbol)} | self.exported_as(path, {name})

    def exported_as(self, path: bytes, names: Set[str]) -> set[str]:
        """Return the exported names of what a file's own code calls by one of `names`."""
        exports = self._view.model(path).exports.items()
        return {outer for outer, rows in exports if any(row.text in names for row in rows)}

    def source(self, path: bytes, symbol: int) -> int:
        """Return the definition that edges from inside a symbol start from, -1 for the file."""
        model = self._view.model(path)
        return model.source(symbol, values=model.spec.spaces)

    def alias_at(self, path: bytes, line: int, name: str) -> int:
        """Return the module variable that a line defines as an alias of `name`, or -1."""
        return self._view.model(path).alias_at(line, name)

    def imported_as(self, path: bytes, name: str) -> list[Referent]:
        """Return the definitions that a name refers to through an import or export of the file."""
        return self._view.aside(lambda: self._edges.imported_as(path, name))

    def explicit_exports(self, path: bytes) -> list[Referent]:
        """Return the definitions that a file exports explicitly: `export { a }`, `__all__`."""
        return self._edges.exported(path, self._view.model(path))

    def edges(self, path: bytes) -> list[Edge]:
        """Return the certain edges from a file in source order."""
        return [edge for edge in self.all_edges(path) if edge.is_certain]

    def all_edges(self, path: bytes) -> list[Edge]:
        """Return all edges from a file; an ambiguous use has one edge to each possible target."""
        row = self.row(path)
        return unpacked_rows(path, row.edges) if row is not None else []

    def row(self, path: bytes) -> Row | None:
        """Return the edges of a file, resolving it if necessary; None for an unknown file."""
        return self.row_within(path, lambda: False)

    def row_within(self, path: bytes, spent: Callable[[], bool]) -> Row | None:
        """As `row`, but None also if time ran out (`spent`); the next call continues the work."""
        row = self._rows.get(path)
        if row is not None and self._holds(path, row):
            return row
        file = self._files.get(path)
        if file is None:
            return None
        if file.blank:
            row = self._rows[path] = Row(file.content, (), (), packed(()))
            self._checked.add(path)
            return row
        return self._stored_row(path, file.content) or self._resolved(path, spent)

    def is_known(self, path: bytes) -> bool:
        """Whether the edges of a file are already resolved, so that reading them costs nothing."""
        row = self._rows.get(path)
        if row is not None and self._holds(path, row):
            return True
        return path in self._files and self._stored_row(path, self._files[path].content) is not None

    def _stored_row(self, path: bytes, content: int) -> Row | None:
        """Return a stored row of a file from another process or view state if it is still valid."""
        if self._stored is None or path in self._looked_up:
            return None
        self._looked_up.add(path)
        for row, is_of_state in self._stored.rows(path, content, self.state):
            if is_of_state or self._holds(path, row):
                self._checked.add(path)
                self._rows[path] = row
                return row
        return None

    def parts_of(self, path: bytes) -> int:
        """Return the number of partial results of a file."""
        return len(self._parts(path)) if path in self._files else 0

    def has_parts(self, path: bytes, names: Set[str]) -> bool:
        """Whether the edges to everything a file uses under some names are already resolved."""
        return names <= frozenset[str]().union(*self._parts(path))

    def edges_named(
        self, path: bytes, names: frozenset[str], spent: Callable[[], bool]
    ) -> list[Edge] | None:
        """Return at least the edges to what a file uses under some names; None if time ran out.

        Only for files whose language `keeps_names`.
        """
        rows = self._parts(path)
        touching = [group for group in rows if not group.isdisjoint(names)]
        holding = {group: row for group in touching if (row := self._part(path, group)) is not None}
        left = names.difference(*holding) if holding else names
        if left:
            row = self._row_of(path, spent, left)
            if row is None:
                return None
            rows[left] = [row]
            holding[left] = row
            self.known.checked_parts.add((path, left))
            self._new_parts.add((path, left))
        return [edge for row in holding.values() for edge in unpacked_rows(path, row.edges)]

    def _part(self, path: bytes, names: frozenset[str]) -> Row | None:
        """Return a partial result of a file if it is still valid; otherwise drop it."""
        parts = self.known.parts[path]
        is_checked = (path, names) in self.known.checked_parts
        for part in parts[names]:
            row = part if isinstance(part, Row) else part()
            if is_checked or self._is_current(path, row):
                parts[names] = [part]
                self.known.checked_parts.add((path, names))
                return row
        del parts[names]
        return None

    def _parts(self, path: bytes) -> dict[frozenset[str], list[Row | LatePart]]:
        """Return the partial results of a file by names; the first call reads the stored ones."""
        parts = self.known.parts.get(path)
        if parts is None:
            if len(self.known.parts) > _MOST_PARTS:
                self.known.parts.clear()
                self.known.checked_parts.clear()
            file = self._files.get(path)
            stored = self._stored
            parts = dict[frozenset[str], list[Row | LatePart]]()
            if stored is not None and file is not None:
                parts.update(stored.parts(path, file.content))
            self.known.parts[path] = parts
        return parts

    def pack(self, path: bytes, names: frozenset[str], late: LatePart) -> None:
        """Keep a partial result only in its stored form, which takes a tenth of the memory."""
        parts = self.known.parts.get(path, {})
        if names in parts:
            parts[names] = [late]

    @property
    def fresh_parts(self) -> list[tuple[bytes, frozenset[str], Row]]:
        """Partial results resolved here, not read, of files not yet fully resolved."""
        parts = self.known.parts
        new = sorted(self._new_parts, key=lambda part: (part[0], sorted(part[1])))
        rows = ((*part, row) for part in new for row in parts.get(part[0], {}).get(part[1], ()))
        return [(path, names, row) for path, names, row in rows if isinstance(row, Row)]

    def base_names(self, path: bytes) -> set[str]:
        """Return the names of the base types in a file."""
        return {name for _, name in base_places(self._view.model(path))}

    def trust(self, other: Graph) -> None:
        """Take over rows from the graph of another view; each one is validated before use."""
        for path, row in other.known.rows.items():
            self._rows.setdefault(path, row)

    @property
    def fresh(self) -> list[tuple[bytes, Row]]:
        """Rows resolved here, not read from the store."""
        return [(path, self._rows[path]) for path in sorted(self._new)]

    def rest(self) -> bool:
        """End a query: free the working memory, keep the edges.

        Returns True if that freed much memory.
        """
        self.known.models.rest()
        if self._edges.answers <= ANSWERS_KEPT:
            return False
        self._start(self._edges)
        return True

    def every(self) -> Iterator[Edge]:
        """Yield all certain edges of the view, by path."""
        for path in sorted(self._files):
            yield from self.edges(path)

    def namesakes(self, path: bytes, symbol: int) -> list[int]:
        """Return the definitions of the same name in the same scope, including this one."""
        model = self._view.model(path)
        if not 0 <= symbol < len(model.symbols):
            return []
        name, home = model.symbols[symbol].qualified, model.home
        named = enumerate(model.symbols)
        return [at for at, other in named if other.qualified == name and home[at] == home[symbol]]

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """Return the definitions in a file; an edge's `symbol` is an index into this list."""
        return self._view.model(path).symbols

    def _resolved(self, path: bytes, spent: Callable[[], bool]) -> Row | None:
        row = self._row_of(path, spent)
        if row is not None:
            self._rows[path] = row
            self._checked.add(path)
            self._new.add(path)
            self.known.parts.pop(path, None)
        return row

    def _row_of(
        self, path: bytes, spent: Callable[[], bool], names: frozenset[str] | None = None
    ) -> Row | None:
        if self._edges.answers > MOST_ANSWERS:
            self.known.models.clear()
            self._start(self._edges)
        view = self._view
        view.notes = set()
        edges = self._edges.within(path, spent, names)
        if edges is None:
            return None
        seen, answers = _Seen({}), _Answers({})
        for part in (self._basis(view.notes), *map(self._basis_of, groups_of(view.notes))):
            seen |= part[0]
            answers |= part[1]
        seen.pop(path, None)
        return Row(
            self._files[path].content, tuple(sorted(seen.items())), tuple(sorted(answers.items())),
            packed(edges),
        )  # fmt: skip

    def _basis_of(self, group: NoteGroup) -> tuple[_Seen, _Answers]:
        basis = self._bases.get(group)
        if basis is None:
            basis = self._bases[group] = self._basis(group.notes)
        return basis

    def _basis(self, notes: Iterable[Note]) -> tuple[_Seen, _Answers]:
        """Return the surfaces of the files and the answers to the queries among the notes."""
        seen, answers = _Seen({}), _Answers({})
        for note in notes:
            if isinstance(note, bytes):
                seen[note] = self._surface(note)
            elif not isinstance(note, NoteGroup):
                answers[note] = self._view.answer(note)
        return seen, answers

    def _surface(self, path: bytes) -> int:
        file = self._files.get(path)
        return file.surface if file is not None else _GONE

    def _holds(self, path: bytes, row: Row) -> bool:
        """Whether a row of an earlier state is still valid."""
        if path in self._checked:
            return True
        holds = self._is_current(path, row)
        if holds:
            self._checked.add(path)
        return holds

    def _is_current(self, path: bytes, row: Row) -> bool:
        """Whether everything a row depends on is unchanged."""
        file = self._files.get(path)
        if file is None or file.content != row.content:
            return False
        if any(self._surface(path_) != surface for path_, surface in row.seen):
            return False
        return all(self._view.answer(question) == files for question, files in row.answers)


def _depends_on_names(row: Row, names: Set[str] | None) -> bool:
    """Whether a row depends on which files define one of `names`; None means any name."""
    for (kind, _, _, name), _ in row.answers:
        # The answers are sorted, and those of DEFINED come first.
        if kind != DEFINED:
            return False
        if names is None or name in names:
            return True
    return False


# Building a graph from a stored view, and storing its edges.

logger = logging.getLogger(__name__)


def graph_of(
    snapshot: Snapshot,
    read: Callable[[bytes], bytes | None],
    known: GraphState | None = None,
) -> Graph:
    """Build the graph of a view.

    Args:
        snapshot: the view.
        read: reads a file of the view; None if it is unreadable. Called for a few settings files.
        known: the state of an earlier graph (`Graph.known`).
    """
    db = snapshot.db
    files = files_of(snapshot, known.files if known is not None else {})
    any_stored = stored_edges.any_kept(db)

    def load(content: int) -> FileModel | None:
        facts = contents.flowing(db, [content]).get(content)
        if facts is None:
            return None
        return FileModel(
            resolved_as(facts.language), facts.symbols, facts.references, facts.imports,
            scopes=facts.scopes, bindings=facts.bindings,
        )  # fmt: skip

    def stored(path: bytes, content: int, state: int) -> Iterator[tuple[Row, bool]]:
        if any_stored:
            rows = stored_edges.load(db, path, content, RESOLVER_VERSION)
            for row_state, data in sorted(rows, key=lambda row: row[0] != state):
                yield loaded_rows(content, data), row_state == state

    def stored_parts(path: bytes, content: int) -> dict[frozenset[str], list[Row | LatePart]]:
        parts: dict[frozenset[str], list[Row | LatePart]] = {}
        if any_stored:
            for names, data in stored_edges.load_parts(db, path, content, RESOLVER_VERSION):
                parts.setdefault(names, []).append(partial(loaded_rows, content, data))
        return parts

    def surveys(contents: Set[int]) -> dict[int, object]:
        return stored_edges.load_surveys(db, contents, RESOLVER_VERSION)

    return Graph(
        files,
        load,
        read,
        known,
        Stored(stored, stored_parts, partial(resolution_facts.contents_defining, db), surveys),
    )


def keep_graph(
    graph: Graph,
    db: Database,
    rows: Iterable[tuple[bytes, Row]],
    parts: Iterable[tuple[bytes, frozenset[str], Row]] = (),
) -> bool:
    """Store rows by path, and partial rows by path and names, for other processes.

    The graph then keeps the partial rows in their stored form. Returns False, without waiting, if
    another process is writing or the store is not writable. Call this outside of any transaction;
    it holds the write lease only while it writes data that is already packed.
    """
    packed = [stored_edges.Whole(path, row.content, graph.state, dumped(row)) for path, row in rows]
    packed_parts = [
        stored_edges.Part(path, row.content, names, dumped(row)) for path, names, row in parts
    ]
    try:
        lease = writer_lease.acquire(db, 0.0)
        try:
            with db.write(lease):
                stored_edges.save(db, RESOLVER_VERSION, packed)
                stored_edges.save_surveys(db, RESOLVER_VERSION, graph.fresh_surveys)
                if packed_parts:
                    stored_edges.save_parts(db, RESOLVER_VERSION, packed_parts)
        finally:
            lease.release(db)
    except StoreError as error:
        logger.debug("could not store edges: %s", error)
        return False
    graph.fresh_surveys.clear()
    for part in packed_parts:
        graph.pack(part.path, part.names, partial(loaded_rows, part.content, part.data))
    return True
