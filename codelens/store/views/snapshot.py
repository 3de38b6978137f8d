"""A reader's immutable state of a view: its row, its files, and queries on them.

`index` makes it after a look at the disk; `rank`, `handles` and the outline use it. It never shows
a file of another view: every id from a shared table is filtered here.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from codelens.store.database.database import Database
from codelens.store.facts import contents
from codelens.store.facts.contents import Content, ScoredChunk
from codelens.store.views import views
from codelens.store.views.views import FileRow, PathFacts, ViewRow, changed_places, places_with
from codelens.types import Symbol

if TYPE_CHECKING:
    from typing import TypeVar

    K = TypeVar("K")
    V = TypeVar("V")

_CONTENT = itemgetter(FileRow._fields.index("content"))
_TEXT = itemgetter(FileRow._fields.index("path_id"), FileRow._fields.index("content"))
_DECODED = "symbols, decoded"
_MOST_DECODED = 256
"""Files whose symbols are held between questions: some megabytes."""
_FEW_OF = 8
"""If more than one in this many files has changed, all tables are computed from scratch."""


class Snapshot:
    """One state of one view. Not for more than one thread at a time."""

    def __init__(
        self,
        db: Database,
        row: ViewRow,
        files: list[FileRow],
        stale: Container[bytes] = (),
        unread: int = 0,
    ) -> None:
        self.db = db
        self.row = row
        self.files = files
        """All paths of the view, in no stated order; `content` is None if no text is known."""
        self.stale = stale
        """Paths whose stored text is known to be older than the disk."""
        self.unread = unread
        """Files that may match but are not indexed yet: while there are any, an answer may not
        state that something does not exist."""

    def after(self, db: Database, row: ViewRow, files: list[FileRow]) -> Snapshot:
        """A later state of the same view, which reuses the tables computed for this one.

        After an edit this costs a copy of each table instead of a loop over all files.
        """
        later = Snapshot(db, row, files)
        places = changed_places(self.files, files)
        if places is None or len(places) > len(files) // _FEW_OF:
            return later
        gone = [self.files[at] for at in places if at < len(self.files)]
        new = [files[at] for at in places]
        computed = self.__dict__
        if "by_path" in computed:
            by_path = dict(self.by_path)
            _move(by_path, [file.path for file in gone], {file.path: file for file in new})
            later.__dict__["by_path"] = by_path
        if "by_path_id" in computed:
            by_id = dict(self.by_path_id)
            _move(by_id, [file.path_id for file in gone], {file.path_id: file for file in new})
            later.__dict__["by_path_id"] = by_id
        if "by_content" in computed:
            touched = {file.content for file in (*gone, *new) if file.content is not None}
            by_content = dict(self.by_content)
            _move(by_content, touched, _by_content(files, touched))
            later.__dict__["by_content"] = by_content
        return later

    def has_texts_of(self, files: Sequence[FileRow]) -> bool:
        """Whether each path has the same text as in these files of another state of the view.

        The row of a view cannot show this: while files are still being indexed, the row stays the
        same.
        """
        if files is self.files:
            return True
        places = changed_places(files, self.files) if len(files) == len(self.files) else None
        return places is not None and all(
            _TEXT(files[at]) == _TEXT(self.files[at]) for at in places
        )

    @cached_property
    def by_content(self) -> Mapping[int, list[FileRow]]:
        """Content id -> the files that have it; nearly always one."""
        files_by_content = {file.content: [file] for file in self.files if file.content is not None}
        before: dict[int, list[FileRow]] = {}
        for file in self.files:
            content = file.content
            if content is not None and files_by_content[content][0] is not file:
                before.setdefault(content, []).append(file)
        for content, files in before.items():
            files_by_content[content] = files + files_by_content[content]
        return files_by_content

    @cached_property
    def by_path(self) -> Mapping[bytes, FileRow]:
        """Path -> file."""
        return {file.path: file for file in self.files}

    @cached_property
    def contents(self) -> Mapping[bytes, int | None]:
        """Path -> content, to compare two views."""
        return {file.path: file.content for file in self.files}

    @cached_property
    def by_path_id(self) -> Mapping[int, FileRow]:
        """Path id -> file."""
        return {file.path_id: file for file in self.files}

    def symbols(self, ids: Iterable[int]) -> dict[int, list[Symbol]]:
        """Symbols of contents of this view; the most recently read ones stay decoded in memory."""
        needed_ids = dict.fromkeys(ids)
        decoded = self.db.remembered(_DECODED, dict[int, list[Symbol]])
        read = contents.symbols_of(self.db, needed_ids.keys() - decoded.keys())
        symbols = {id_: (decoded if id_ in decoded else read).get(id_) for id_ in needed_ids}
        if len(decoded) + len(read) > _MOST_DECODED:
            decoded.clear()
        if len(read) <= _MOST_DECODED:
            # A question about a whole repository would hold all of it.
            decoded |= read
        return {id_: rows for id_, rows in symbols.items() if rows is not None}

    def chunks(self, ids: Iterable[int]) -> dict[int, list[ScoredChunk]]:
        """Chunks of contents of this view."""
        return contents.chunks_of(self.db, ids)

    def about(self, ids: Iterable[int]) -> dict[int, Content]:
        """Language, outcome and size of contents of this view."""
        return contents.about(self.db, ids)

    def path_facts(self, ids: Iterable[int]) -> dict[int, PathFacts]:
        """Stem, folders and role of paths of this view, by path id."""
        return views.path_facts(self.db, ids)

    def symbols_with_key(self, key: str) -> list[tuple[FileRow, int, Symbol]]:
        """Definitions in this view whose name has this key, as (file, ordinal, symbol).

        `key` is a name without its naming convention (`resolution_facts.key_of`). Ordered by path
        and ordinal.
        """
        rows = [
            (file, ordinal, symbol)
            for content, ordinal, symbol in contents.symbols_named(self.db, key)
            for file in self.by_content.get(content, ())
        ]
        return sorted(rows, key=lambda row: (row[0].path, row[1]))

    def paths_with_terms(self, terms: Sequence[str]) -> dict[str, list[FileRow]]:
        """Files of this view with each of the terms in their stem or last folders."""
        by_id = self.by_path_id
        return {
            term: [by_id[id_] for id_ in ids if id_ in by_id]
            for term, ids in views.paths_with_terms(self.db, terms).items()
        }

    def paths_with_prefix(self, prefix: str) -> list[tuple[str, FileRow]]:
        """Path terms that start with `prefix`, each with a file of this view that has it."""
        pairs = views.paths_with_prefix(self.db, prefix)
        return [(term, self.by_path_id[count]) for term, count in pairs if count in self.by_path_id]


def _move(table: dict[K, V], gone: Iterable[K], new: Mapping[K, V]) -> None:
    for key in gone:
        table.pop(key, None)
    table.update(new)


def _by_content(files: Sequence[FileRow], touched: Container[int]) -> dict[int, list[FileRow]]:
    """Content id -> the files that have it, in order."""
    having: dict[int, list[FileRow]] = {}
    for at in places_with(map(_CONTENT, files), touched):
        content = files[at].content
        if content is not None:
            having.setdefault(content, []).append(files[at])
    return having


# A cache of values computed from a state of a view, valid as long as the view stays in that state.

T = TypeVar("T")


class _State(NamedTuple):
    mark: tuple[object, ...]
    files: list[FileRow]


class StateCache(Generic[T]):
    """One value for each of the most recently used views of a database.

    Args:
        most: the number of views per database.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._states: WeakKeyDictionary[Database, dict[int, tuple[_State, T]]] = WeakKeyDictionary()

    def value_of(self, view: Snapshot, make: Callable[[T | None], T], *marks: object) -> T:
        """Return the value of a state.

        Args:
            view: the state. Its row alone does not identify it: see `Snapshot.has_texts_of`.
            make: computes the value, from that of the previous state if there is one.
            marks: what else the value depends on.
        """
        mark = (view.row.generation, *marks)
        states = self._states.setdefault(view.db, {})
        state, value = states.pop(view.row.id, (None, None))
        if state is None or state.mark != mark or not view.has_texts_of(state.files):
            state, value = _State(mark, view.files), make(value)
        assert value is not None
        states[view.row.id] = state, value
        while len(states) > self._most:
            del states[next(iter(states))]
        return value
