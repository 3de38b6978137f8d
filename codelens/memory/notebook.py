"""What was saved of one repository: put, found, forgotten, taken over from elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from codelens.dates import day_of
from codelens.memory import former_places
from codelens.memory.context_errors import ContextExists, NoSuchContext
from codelens.memory.context_terms import names_for, terms_of
from codelens.store.database.database_opening import has_content
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import ADOPTED, COMMON_DIR, ROOTS, WAITING, Context
from codelens.store.saved.contexts_file import ContextsFile, Glance, open_contexts
from codelens.store.saved.contexts_verification import Owner

_NEAR_SHOWN = 3


class Home(NamedTuple):
    """Whose contexts a notebook has."""

    common_dir: str
    root: str
    """The commit that its history begins with; empty where it has none."""


class ContextQuery(NamedTuple):
    """Which contexts to find."""

    query: str = ""
    """A name, or words; empty: all."""
    category: str = ""
    tags: tuple[str, ...] = ()
    expired: bool = False
    """Expired ones too."""


class FoundContexts(NamedTuple):
    """Contexts that were found, best or newest first."""

    contexts: list[Context]
    exact: bool
    former: list[Glance]
    """What may be of this repository, from where it was before."""
    notes: list[str]
    hidden: int = 0
    """Contexts that were left out because their time is over."""


class Merged(NamedTuple):
    """Names of contexts that were to be taken over."""

    added: list[str]
    replaced: list[str]
    same: list[str]
    refused: list[str]
    notes: list[str]


class Notebook:
    """The contexts database of a repository.

    Args:
        path: of the database.
        owner: the repository whose it must be; None: the one that the file's name states.
    """

    def __init__(self, path: Path, owner: Owner | None = None) -> None:
        self.path = path
        self._owner = owner

    def put(
        self, context: Context, home: Home, *, replace: bool
    ) -> tuple[Context, bool, list[str]]:
        """Save a context; as it was saved, whether it replaced one, and what is to be said.

        Raises:
            ContextExists: the name is taken, if only by an expired one, and `replace` is not set.
            StoreError: nothing was saved.
        """
        former = [] if has_content(self.path) else former_places.former(self.path, home.root)
        with self._opened() as file, file.changed() as notes:
            old = context_rows.named(file.db, context.name)
            if old is not None and not replace:
                raise ContextExists(old.name, _about(old, context.saved_s))
            if old is not None:
                context = context._replace(created_s=old.created_s)
            context_rows.put(file.db, context, terms_of(context))
            self._know(file, home, former)
        if former:
            notes.append(_offer(former))
        return context, old is not None, [*file.notes, *notes]

    def update(
        self, name: str, change: Callable[[Context], Context], home: Home
    ) -> tuple[Context, list[str]]:
        """Change some fields of a context; as it is now, and what is to be said.

        Args:
            name: of a context that is there.
            change: gives the context as it shall be.
            home: whose it is.

        Raises:
            NoSuchContext: nothing has the name.
            StoreError: nothing was changed.
        """
        if not self.every()[0]:
            raise NoSuchContext(name)
        with self._opened() as file, file.changed() as notes:
            old = context_rows.named(file.db, name)
            if old is None:
                raise NoSuchContext(name, _near(name, file))
            context = change(old)
            context_rows.put(file.db, context, terms_of(context))
            self._know(file, home, [])
        return context, [*file.notes, *notes]

    def find(self, filters: ContextQuery, root: str, now_s: float) -> FoundContexts:
        """The contexts that are wanted.

        Args:
            filters: which.
            root: the commit that the repository's history begins with, where nothing is saved yet.
            now_s: seconds since 1970.
        """
        file = open_contexts(self.path, terms_of, make=False, owner=self._owner)
        if file is None:
            return FoundContexts([], False, former_places.former(self.path, root), [])
        with file, file.db.read():
            notes = list(file.notes)
            waiting = context_rows.about(file.db, WAITING)
            named = context_rows.named(file.db, filters.query) if filters.query else None
            exact = named is not None and (filters.expired or not named.expired(now_s))
            matching = [named] if named is not None and exact else self._matching(file, filters)
        former = former_places.waiting(self.path, waiting)
        over = {
            context.name for context in matching if context.expired(now_s) and not filters.expired
        }
        if named is not None and not exact:
            over.add(named.name)
            notes.append(f"{named.name!r} expired on {day_of(named.expires_s)}")
        shown = [context for context in matching if context.name not in over]
        return FoundContexts(shown, exact, former, notes, len(over))

    def _matching(self, file: ContextsFile, filters: ContextQuery) -> list[Context]:
        every = {context.name: context for context in context_rows.every(file.db)}
        if filters.query:
            contexts = [every[name] for name in names_for(file.db, filters.query) if name in every]
        else:
            contexts = sorted(
                every.values(),
                key=lambda context: (not context.pinned, -context.saved_s, context.name),
            )
        return [
            context
            for context in contexts
            if filters.category in {"", context.category} and set(filters.tags) <= set(context.tags)
        ]

    def every(self) -> tuple[list[Context], list[str]]:
        """All contexts, oldest first, expired ones too; and what is to be said."""
        file = open_contexts(self.path, terms_of, make=False, owner=self._owner)
        if file is None:
            return [], []
        with file, file.db.read():
            return context_rows.every(file.db), list(file.notes)

    def forget(self, names: Sequence[str]) -> list[str]:
        """Delete contexts, all or none; what is to be said.

        Raises:
            NoSuchContext: nothing has one of the names.
            StoreError: nothing was deleted.
        """
        if not self.every()[0]:
            raise NoSuchContext(names[0])
        with self._opened() as file, file.changed() as notes:
            known = [context.name for context in context_rows.every(file.db)]
            for name in names:
                if name not in known:
                    raise NoSuchContext(name, _near(name, file))
                context_rows.remove(file.db, name)
        return [*file.notes, *notes]

    def forget_expired(self, now_s: float) -> tuple[list[str], list[str]]:
        """Delete the contexts whose time is over; their names, and what is to be said.

        Only ever because somebody asked for it: a clock that is wrong must not delete anything.

        Raises:
            StoreError: nothing was deleted.
        """
        every, notes = self.every()
        if not any(context.expired(now_s) for context in every):
            return [], notes
        with self._opened() as file, file.changed() as notes:
            # Asked again: one that was saved anew in between has another time to live.
            due = [
                context.name for context in context_rows.every(file.db) if context.expired(now_s)
            ]
            for name in due:
                context_rows.remove(file.db, name)
        return due, [*file.notes, *notes]

    def take_over(
        self, contexts: Iterable[Context], home: Home, *, replace: bool, adopted: Sequence[str] = ()
    ) -> Merged:
        """Add contexts from elsewhere; one of a name that is taken is left out unless `replace`.

        Args:
            contexts: from elsewhere.
            home: whose they are now.
            replace: one from elsewhere counts more.
            adopted: files of former places that they are of, which are not to be offered again.

        Raises:
            StoreError: nothing was added.
        """
        merged = Merged([], [], [], [], [])
        with self._opened() as file, file.changed() as notes:
            for context in contexts:
                old = context_rows.named(file.db, context.name)
                if old == context:
                    merged.same.append(context.name)
                elif old is not None and not replace:
                    merged.refused.append(context.name)
                else:
                    (merged.added if old is None else merged.replaced).append(context.name)
                    context_rows.put(file.db, context, terms_of(context))
            self._know(file, home, [])
            if adopted:
                self._answered(file, adopted)
        merged.notes.extend((*file.notes, *notes))
        return merged

    def _opened(self) -> ContextsFile:
        file = open_contexts(self.path, terms_of, make=True, owner=self._owner)
        assert file is not None  # `make` is set
        return file

    def _answered(self, file: ContextsFile, adopted: Sequence[str]) -> None:
        waiting = context_rows.about(file.db, WAITING).split()
        before = context_rows.about(file.db, ADOPTED).split()
        remaining = [place for place in before if place.rpartition("@")[0] not in adopted]
        now_s = int(time.time())
        taken = " ".join((*remaining, *(f"{name}@{now_s}" for name in adopted)))
        left = " ".join(name for name in waiting if name not in adopted)
        context_rows.put_about(file.db, [(WAITING, left), (ADOPTED, taken)])

    def _know(self, file: ContextsFile, home: Home, former: Sequence[Glance]) -> None:
        """Keep by what the repository is known again; in the caller's transaction."""
        values = [(COMMON_DIR, home.common_dir)]
        roots = context_rows.about(file.db, ROOTS).split()
        if home.root and home.root not in roots:
            values.append((ROOTS, " ".join((*roots, home.root))))
        if former:
            values.append((WAITING, " ".join(features.path.name for features in former)))
        context_rows.put_about(file.db, values)


def _near(name: str, file: ContextsFile) -> list[str]:
    known = [context.name for context in context_rows.every(file.db)]
    import difflib

    return difflib.get_close_matches(name, known, _NEAR_SHOWN, 0.5)


def _about(context: Context, now_s: float) -> str:
    over = f", expired on {day_of(context.expires_s)}" if context.expired(now_s) else ""
    first = context.note.partition("\n")[0]
    shown = first if len(first) <= 60 else f"{first[:59]}…"
    return f"saved on {day_of(context.saved_s)}{over}{shown and f': {shown}'}"


def _offer(former: Sequence[Glance]) -> str:
    where = ", ".join(
        f"{features.size} more saved at {features.common_dir!r}" for features in former
    )
    return f"this repository was moved: {where}: `codelens load --adopt` takes them over"
