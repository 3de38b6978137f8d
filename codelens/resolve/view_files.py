"""Gives the resolver access to the files of a view, and records what each answer depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Protocol, TypeVar, cast

from codelens.resolve.file_model import NO_FACTS, FileModel
from codelens.resolve.path_tree import folder_of
from codelens.types import Import, Symbol

T = TypeVar("T")


class Importing(Protocol):
    """Resolves imports to files."""

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the files of the view that an import refers to."""
        ...

    def through(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the packages that a dotted name passes through."""
        ...


Asked = tuple[str, bytes, str, str]
"""A query that the paths of the view answer: kind, path, module, name."""


class NoteGroup:
    """The dependencies of one answer as a single shared object.

    A C++ answer depends on hundreds of headers, and there are tens of thousands of answers.
    """

    __slots__ = ("notes",)

    def __init__(self, notes: Collection[Note]) -> None:
        self.notes = notes


Place = tuple[bytes, int, *tuple[object, ...]]
"""A file and the position of a definition in it; referents and values begin with these."""
Surveyed = Callable[
    [Sequence[bytes], Callable[[FileModel], object]], Iterable[tuple[bytes, object]]
]
"""Takes files and a function; yields each file with the function's result for it."""
Note = bytes | Asked | NoteGroup
"""A dependency: a file, a query, or a group."""
Notes = frozenset[Note]
_FEW_NOTES, _MANY_NOTES = 4, 100
DEFINED = "defined"
"""The kind of a query for the files that define a name, regardless of how often."""
_MOST_DEFINING = 40
MANY = (b"\0many",)
"""The answer if so many files define a name that they are not inspected."""


class View:
    """The files of one view. Records what each answer depends on."""

    def __init__(
        self,
        languages: Mapping[bytes, str],
        load: Callable[[bytes], FileModel | None],
        importing: Importing,
        digest: Callable[[], bytes] = bytes,
        models: ModelCache | None = None,
        *,
        defining: Callable[[str], Iterable[bytes]] | None = None,
        surveyed: Surveyed | None = None,
    ) -> None:
        """Build a view.

        Args:
            languages: all files -> their language.
            load: loads the facts of a file.
            importing: resolves imports to files.
            digest: digest of the inputs to indexes over the whole view.
            models: cache of models, shared with earlier states.
            defining: yields at least all files that define a name; without it, all files are read.
            surveyed: `survey` from stored results; without it, all files are read.
        """
        self._surveyed = surveyed
        self._defining = defining
        self._definers: dict[str, set[bytes]] | None = None
        self._digest = digest
        self.languages = languages
        self._load = load
        self._importing = importing
        self._models = models if models is not None else ModelCache()
        self._answers: dict[Asked, tuple[bytes, ...]] = {}
        self._cache: dict[object, tuple[object, Notes]] = {}
        self._folders: dict[bytes, list[bytes]] | None = None
        self._indexes: dict[str, object] = {}
        self._groups: dict[Collection[Note], Notes] = {}
        self.notes: set[Note] = set()
        """The files looked into and queries made since this set was last replaced."""

    def model(self, path: bytes) -> FileModel:
        """Return the facts of a file, `NO_FACTS` if it has none."""
        self.notes.add(path)
        young = self._models.young
        return young[path] if path in young else self._models.take(path, self._loaded)

    def of_languages(self, languages: Set[str]) -> Iterator[tuple[bytes, FileModel]]:
        """Yield all files of some languages with their facts, by path."""
        for path, language in sorted(self.languages.items()):
            if language in languages:
                yield path, self.model(path)

    def symbol(self, place: Place) -> Symbol:
        """Return the definition that a referent or a value names by file and position."""
        return self.model(place[0]).symbols[place[1]]

    def _loaded(self, path: bytes) -> FileModel:
        return (self._load(path) if path in self.languages else None) or NO_FACTS

    def defining(self, name: str, languages: Set[str]) -> list[bytes]:
        """Return, by path, at least all files in some languages that define or declare a name."""
        paths = self._defining(name) if self._defining is not None else self._definers_of(name)
        return sorted(path for path in paths if self.languages.get(path) in languages)

    def defined_in(self, name: str, language: str) -> tuple[bytes, ...]:
        """As `defining`, recorded as a dependency; returns `MANY` for too many files."""
        return self.answer((DEFINED, b"", language, name))

    def _definers_of(self, name: str) -> Iterable[bytes]:
        if self._definers is None:
            definers: dict[str, set[bytes]] = {}
            for path in self.languages:
                model = self.aside(partial(self.model, path))
                for symbol in model.symbols:
                    definers.setdefault(symbol.name, set()).add(path)
            self._definers = definers
        return self._definers.get(name, ())

    def aside(self, make: Callable[[], T]) -> T:
        """Call `make` without recording its dependencies."""
        outer, self.notes = self.notes, set()
        try:
            return make()
        finally:
            self.notes = outer

    def modules(self, path: bytes, module: str, name: str = "") -> tuple[bytes, ...]:
        """Return the files of a module as `path` names it; with a name, those of its submodule."""
        return self.answer(("modules", path, module, name))

    def through(self, path: bytes, import_: Import) -> tuple[bytes, ...]:
        """Return the packages whose code also runs on an import."""
        return self.answer(("through", path, import_.module, import_.name))

    def folder(self, folder: bytes) -> tuple[bytes, ...]:
        """Return the files directly in a folder, by path."""
        return self.answer(("folder", folder, "", ""))

    def answer(self, question: Asked) -> tuple[bytes, ...]:
        """Answer a query from the paths of the view."""
        self.notes.add(question)
        files = self._answers.get(question)
        if files is None:
            files = self._answers[question] = self._answered(question)
        return files

    def _answered(self, question: Asked) -> tuple[bytes, ...]:
        kind, path, module, name = question
        if kind == DEFINED:
            files = tuple(self.defining(name, {module}))
            return files if len(files) <= _MOST_DEFINING else MANY
        if kind == "index":
            return (self._digest(),)
        if kind == "folder":
            return tuple(self._files_by_folder().get(path, ()))
        language = self.languages.get(path)
        if language is None:
            return ()
        import_ = Import(module, name, "", 0)
        if kind == "through":
            return self._importing.through(path, language, import_)
        return self._importing.targets(path, language, import_)

    def _files_by_folder(self) -> dict[bytes, list[bytes]]:
        if self._folders is None:
            self._folders = {}
            for path in sorted(self.languages):
                self._folders.setdefault(folder_of(path), []).append(path)
        return self._folders

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Cache the result of `make` with its dependencies; `make` must not request `key`."""
        cached = self._cache.get(key)
        if cached is not None:
            self.notes |= cached[1]
            return cast("T", cached[0])
        outer, self.notes = self.notes, set()
        try:
            value = make()
        finally:
            group, self.notes = self.grouped(self.notes), outer
            outer |= group
        self._cache[key] = (value, group)
        return value

    def forget(self) -> None:
        """Clear the caches; do not query the object afterwards."""
        for memory in (self._answers, self._cache, self._indexes, self._groups):
            memory.clear()

    def grouped(self, notes: set[Note]) -> Notes:
        """Return notes in cached form: many notes become one group."""
        if len(notes) <= _FEW_NOTES:
            few = frozenset(notes)
            return self._groups.setdefault(few, few)
        # A set takes five times the memory of a tuple. Sorting by hash makes equal sets of notes
        # equal tuples, except for rare hash collisions.
        many = len(notes) > _MANY_NOTES
        plain = tuple(sorted(notes, key=hash)) if many else frozenset(notes)
        cached = self._groups.get(plain)
        if cached is None:
            cached = self._groups[plain] = frozenset((NoteGroup(plain),))
        return cached

    def survey(
        self, language: str, take: Callable[[FileModel], object]
    ) -> Iterable[tuple[bytes, object]]:
        """Yield `take(model)` for each file of a language; the store may keep it as JSON."""
        paths = sorted(
            path for path, its_language in self.languages.items() if its_language == language
        )
        if self._surveyed is not None:
            return self._surveyed(paths, take)
        models = ((path, self.model(path)) for path in paths)
        return [(path, take(model)) for path, model in models if model is not NO_FACTS]

    def index(self, name: str, make: Callable[[], T]) -> T:
        """Return an index over files of the whole view, built once.

        An answer that uses the index depends on the query `name` and on the files that it takes
        from the index. Recording every indexed file for each answer would cost more than the
        answers.
        """
        self.notes.add(("index", b"", name, ""))
        cached = self._indexes.get(name)
        if cached is None:
            cached = self._indexes[name] = self.aside(make)
        return cast("T", cached)


def groups_of(notes: Iterable[Note]) -> Iterator[NoteGroup]:
    """Yield the groups among notes, including nested ones, each once."""
    seen: set[NoteGroup] = set()
    pending = [note for note in notes if isinstance(note, NoteGroup)]
    while pending:
        group = pending.pop()
        if group not in seen:
            seen.add(group)
            yield group
            pending += [note for note in group.notes if isinstance(note, NoteGroup)]


# The cache of the most recently used models, bounded by the number of rows in them.

LEAST_ROWS = 100_000
"""The initial limit of cached references, bindings and symbols; half of it between queries."""
MOST_ROWS = 400_000
"""The limit for a query that returns to the same files repeatedly; costs 60 MiB more."""


class ModelCache:
    """Models by path.

    The cache has two generations. When the young one holds half of the limit, it becomes the old
    one, and the models of the previous old generation are dropped unless they were used meanwhile.
    This approximates LRU at the cost of one dictionary lookup.

    If a query reloads as many rows as the limit, the limit doubles: too small a cache would add
    half to the time of `impact` for a class that a thousand files use. A large limit is not the
    default because freed small objects rarely empty a whole memory page: a server would keep that
    memory, and most queries need little.
    """

    def __init__(self, least_rows: int = LEAST_ROWS, most_rows: int = MOST_ROWS) -> None:
        self.young: dict[bytes, FileModel] = {}
        """Look here before calling `take`."""
        self._old: dict[bytes, FileModel] = {}
        self._rows = 0
        self._least_rows, self._most_rows = least_rows, most_rows
        self._bound = least_rows
        self._dropped: set[bytes] = set()
        """Files whose models were dropped during this query."""
        self._reloaded = 0
        """Rows of dropped models that were loaded again since the limit last grew."""

    def __len__(self) -> int:
        return len(self.young) + len(self._old)

    def take(self, path: bytes, load: Callable[[bytes], FileModel]) -> FileModel:
        """Return the model of a file that is not in `young`, from the old generation or loaded."""
        if path in self._old:
            model = self._old.pop(path)
            rows = _rows_of(model)
        else:
            model = load(path)
            rows = _rows_of(model)
            if path in self._dropped:
                self._note_reloaded(rows)
        if self._rows + rows > self._bound // 2:
            self._dropped.update(self._old)
            self._old, self.young, self._rows = self.young, {}, 0
        self._rows += rows
        self.young[path] = model
        return model

    def _note_reloaded(self, rows: int) -> None:
        self._reloaded += rows
        if self._reloaded > self._bound:
            self._bound = min(2 * self._bound, self._most_rows)
            self._reloaded = 0

    def rest(self) -> None:
        """End a query: keep at most half of the initial limit until the next one."""
        self._old = {}
        if self._rows > self._least_rows // 2:
            self.young, self._rows = {}, 0
        self._bound, self._reloaded = self._least_rows, 0
        self._dropped.clear()

    def keep(self, holds: Callable[[bytes], bool]) -> None:
        """Drop the models of all other files."""
        for models in (self.young, self._old):
            for path in [path for path in models if not holds(path)]:
                del models[path]

    def clear(self) -> None:
        """Drop all models."""
        self.young, self._old, self._rows = {}, {}, 0


def _rows_of(model: FileModel) -> int:
    return len(model.symbols) + len(model.references) + len(model.bindings) or 1
