"""What resolving needs of a view: its files, their facts, and what was asked of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Protocol, TypeVar, cast

from codelens.resolve.file_model import FileModel, ModelCache
from codelens.resolve.path_tree import folder_of
from codelens.types import Import

T = TypeVar("T")


class Importing(Protocol):
    """Tells which files an import names."""

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Files of the view that an import in a file names."""
        ...

    def through(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Packages that a dotted name passes."""
        ...


Asked = tuple[str, bytes, str, str]
"""A question that the paths of the view answer: what, path, module, name."""


class NoteGroup:
    """What one answer stands on, as one object wherever the answer is used.

    An answer in C++ stands on hundreds of headers, and there are tens of thousands of answers.
    """

    __slots__ = ("notes",)

    def __init__(self, notes: Collection[Note]) -> None:
        self.notes = notes


Surveyed = Callable[
    [Sequence[bytes], Callable[[FileModel], object]], Iterable[tuple[bytes, object]]
]
"""Files, and what to take from each -> each with that."""
Note = bytes | Asked | NoteGroup
"""A file looked into, a question asked, or all those of an answer."""
Notes = frozenset[Note]
_FEW_NOTES, _MANY_NOTES = 4, 100
DEFINED = "defined"
"""The question which files define a name; its answer says nothing of how often."""
_MOST_DEFINING = 40
MANY = (b"\0many",)
"""The answer where more files define a name than are worth looking into."""


class View:
    """The files of one view. Notes what an answer stands on."""

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
        """Take a view.

        Args:
            languages: all files -> their language.
            load: facts of a file.
            importing: leads from imports to files.
            digest: of all that indexes over the whole view are made of.
            models: facts of files that were read before; what is read is put there.
            defining: all files, and perhaps others, that define a name; without it all are read.
            surveyed: `survey` by what is kept; without it all are read.
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
        self._known: dict[object, tuple[object, Notes]] = {}
        self._folders: dict[bytes, list[bytes]] | None = None
        self._indexes: dict[str, object] = {}
        self._groups: dict[Collection[Note], Notes] = {}
        self.notes: set[Note] = set()
        """Files looked into, and questions asked, since it was replaced."""

    def model(self, path: bytes) -> FileModel | None:
        """Facts of a file, None if it has none."""
        self.notes.add(path)
        young = self._models.young
        return young[path] if path in young else self._models.take(path, self._loaded)

    def _loaded(self, path: bytes) -> FileModel | None:
        return self._load(path) if path in self.languages else None

    def defining(self, name: str, languages: Set[str]) -> list[bytes]:
        """Files in some languages that define or declare a name, and perhaps others, by path."""
        paths = self._defining(name) if self._defining is not None else self._definers_of(name)
        return sorted(path for path in paths if self.languages.get(path) in languages)

    def defined_in(self, name: str, language: str) -> tuple[bytes, ...]:
        """As `defining`, as an answer that others stand on; `MANY` for too many."""
        return self.answer((DEFINED, b"", language, name))

    def _definers_of(self, name: str) -> Iterable[bytes]:
        if self._definers is None:
            definers: dict[str, set[bytes]] = {}
            for path in self.languages:
                model = self.aside(partial(self.model, path))
                for symbol in model.symbols if model is not None else ():
                    definers.setdefault(symbol.name, set()).add(path)
            self._definers = definers
        return self._definers.get(name, ())

    def aside(self, make: Callable[[], T]) -> T:
        """What `make` gives, without a note of what it stands on."""
        outer, self.notes = self.notes, set()
        try:
            return make()
        finally:
            self.notes = outer

    def modules(self, path: bytes, module: str, name: str = "") -> tuple[bytes, ...]:
        """Files that a module is, as `path` names it; with a name, of the submodule so called."""
        return self.answer(("modules", path, module, name))

    def through(self, path: bytes, import_: Import) -> tuple[bytes, ...]:
        """Packages whose text runs as well when an import does."""
        return self.answer(("through", path, import_.module, import_.name))

    def folder(self, folder: bytes) -> tuple[bytes, ...]:
        """Files right in a folder, by path."""
        return self.answer(("folder", folder, "", ""))

    def answer(self, question: Asked) -> tuple[bytes, ...]:
        """What the paths of the view answer."""
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
        """What `make` gives, remembered with what it stands on. It must not ask for itself."""
        known = self._known.get(key)
        if known is not None:
            self.notes |= known[1]
            return cast("T", known[0])
        outer, self.notes = self.notes, set()
        try:
            value = make()
        finally:
            mine, self.notes = self.grouped(self.notes), outer
            outer |= mine
        self._known[key] = (value, mine)
        return value

    def forget(self) -> None:
        """Let go what is remembered; not to be asked any more."""
        for memory in (self._answers, self._known, self._indexes, self._groups):
            memory.clear()

    def grouped(self, notes: set[Note]) -> Notes:
        """Notes as they are remembered: more than a few as one group."""
        if len(notes) <= _FEW_NOTES:
            few = frozenset(notes)
            return self._groups.setdefault(few, few)
        # A set takes five times what a tuple does. By their hashes: equal notes come as one tuple,
        # but for the rare ones of which two have the same.
        many = len(notes) > _MANY_NOTES
        plain = tuple(sorted(notes, key=hash)) if many else frozenset(notes)
        known = self._groups.get(plain)
        if known is None:
            known = self._groups[plain] = frozenset((NoteGroup(plain),))
        return known

    def survey(
        self, language: str, take: Callable[[FileModel], object]
    ) -> Iterable[tuple[bytes, object]]:
        """What `take` takes from each file of a language, by path; it may be kept as JSON."""
        paths = sorted(path for path, its in self.languages.items() if its == language)
        if self._surveyed is not None:
            return self._surveyed(paths, take)
        models = ((path, self.model(path)) for path in paths)
        return [(path, take(model)) for path, model in models if model is not None]

    def index(self, name: str, make: Callable[[], T]) -> T:
        """An index over files of the whole view, made once.

        What is taken from it stands on the files that it names, and on the question `name`: to
        note all files with each answer would cost more than the answers.
        """
        self.notes.add(("index", b"", name, ""))
        known = self._indexes.get(name)
        if known is None:
            known = self._indexes[name] = self.aside(make)
        return cast("T", known)


def groups_of(notes: Iterable[Note]) -> Iterator[NoteGroup]:
    """The groups among notes, and those inside of these, each once."""
    seen: set[NoteGroup] = set()
    pending = [note for note in notes if isinstance(note, NoteGroup)]
    while pending:
        group = pending.pop()
        if group not in seen:
            seen.add(group)
            yield group
            pending += [note for note in group.notes if isinstance(note, NoteGroup)]
