"""What was saved of one repository: put, found, forgotten, taken over from elsewhere."""

from __future__ import annotations

import difflib
import logging
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from codelens.errors import ContextError, ContextExists, NoSuchContext, StoreError
from codelens.memory import places
from codelens.memory.entries import KEPT_EXPIRED_S
from codelens.memory.words import names_for, terms_of
from codelens.store import contexts
from codelens.store.contexts import ADOPTED, COMMON_DIR, ROOTS, WAITING, Context
from codelens.store.contexts_file import ContextsFile, Glance, glance, open_contexts
from codelens.store.database import has_content

logger = logging.getLogger(__name__)

_NEAR_SHOWN = 3


class Home(NamedTuple):
    """Whose contexts a notebook has."""

    common_dir: str
    root: str
    """The commit that its history begins with; empty where it has none."""


class Wanted(NamedTuple):
    """Which contexts to find."""

    query: str = ""
    """A name, or words; empty: all."""
    category: str = ""
    tags: tuple[str, ...] = ()
    expired: bool = False
    """Expired ones too."""


class Found(NamedTuple):
    """Contexts that were found, best or newest first."""

    contexts: list[Context]
    exact: bool
    former: list[Glance]
    """What may be of this repository, from where it was before."""
    notes: list[str]


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
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(
        self, context: Context, home: Home, *, replace: bool
    ) -> tuple[Context, bool, list[str]]:
        """Save a context; as it was saved, whether it replaced one, and what is to be said.

        Raises:
            ContextExists: the name is taken and `replace` is not set.
            StoreError: nothing was saved.
        """
        former = [] if has_content(self.path) else places.former(self.path, home.root)
        with self._opened() as file, file.changed() as notes:
            old = contexts.named(file.db, context.name)
            if old is not None and not replace and not old.expired(context.saved_s):
                raise ContextExists(old.name, _about(old))
            if old is not None:
                context = context._replace(created_s=old.created_s)
            contexts.put(file.db, context, terms_of(context))
            self._know(file, home, former)
        if former:
            notes.append(_offer(former))
        return context, old is not None, [*file.notes, *notes]

    def find(self, wanted: Wanted, root: str, now_s: float) -> Found:
        """The contexts that are wanted.

        Args:
            wanted: which.
            root: the commit that the repository's history begins with, where nothing is saved yet.
            now_s: seconds since 1970.
        """
        file = open_contexts(self.path, terms_of, make=False)
        if file is None:
            return Found([], False, places.former(self.path, root), [])
        with file:
            notes = list(file.notes)
            former = places.waiting(self.path, contexts.about(file.db, WAITING))
            named = contexts.named(file.db, wanted.query) if wanted.query else None
            if named is not None and (wanted.expired or not named.expired(now_s)):
                return Found([named], True, former, notes)
            found = self._matching(file, wanted, now_s)
        if named is not None:
            day = time.strftime("%Y-%m-%d", time.localtime(named.expires_s))
            notes.append(f"{named.name!r} expired on {day}; expired ones are shown with expired")
        return Found(found, False, former, notes)

    def _matching(self, file: ContextsFile, wanted: Wanted, now_s: float) -> list[Context]:
        every = {one.name: one for one in contexts.every(file.db)}
        if wanted.query:
            found = [every[name] for name in names_for(file.db, wanted.query) if name in every]
        else:
            found = sorted(every.values(), key=lambda one: (not one.pinned, -one.saved_s, one.name))
        return [
            one
            for one in found
            if (wanted.expired or not one.expired(now_s))
            and wanted.category in {"", one.category}
            and set(wanted.tags) <= set(one.tags)
        ]

    def every(self) -> tuple[list[Context], list[str]]:
        """All contexts, oldest first, expired ones too; and what is to be said."""
        file = open_contexts(self.path, terms_of, make=False)
        if file is None:
            return [], []
        with file:
            return contexts.every(file.db), list(file.notes)

    def forget(self, names: Sequence[str]) -> list[str]:
        """Delete contexts, all or none; what is to be said.

        Raises:
            NoSuchContext: nothing has one of the names.
            StoreError: nothing was deleted.
        """
        if not self.every()[0]:
            raise NoSuchContext(names[0])
        with self._opened() as file, file.changed() as notes:
            known = [one.name for one in contexts.every(file.db)]
            for name in names:
                if name not in known:
                    near = difflib.get_close_matches(name, known, _NEAR_SHOWN, 0.5)
                    raise NoSuchContext(name, near)
                contexts.remove(file.db, name)
        return [*file.notes, *notes]

    def forget_expired(self, now_s: float, *, only_tell: bool = False) -> list[str]:
        """Delete what expired a month ago or longer; the names."""
        due = [
            one.name
            for one in self.every()[0]
            if one.expired(now_s) and (one.expires_s or 0) + KEPT_EXPIRED_S <= now_s
        ]
        if due and not only_tell:
            self.forget(due)
        return due

    def take_over(
        self, given: Iterable[Context], home: Home, *, replace: bool, adopted: Sequence[str] = ()
    ) -> Merged:
        """Add contexts from elsewhere; one of a name that is taken is left out unless `replace`.

        Args:
            given: the contexts.
            home: whose they are now.
            replace: one from elsewhere counts more.
            adopted: files of former places that they are of, which are not to be offered again.

        Raises:
            StoreError: nothing was added.
        """
        merged = Merged([], [], [], [], [])
        with self._opened() as file, file.changed() as notes:
            for one in given:
                old = contexts.named(file.db, one.name)
                if old == one:
                    merged.same.append(one.name)
                elif old is not None and not replace:
                    merged.refused.append(one.name)
                else:
                    (merged.added if old is None else merged.replaced).append(one.name)
                    contexts.put(file.db, one, terms_of(one))
            self._know(file, home, [])
            if adopted:
                self._answered(file, adopted)
        merged.notes.extend((*file.notes, *notes))
        return merged

    def _opened(self) -> ContextsFile:
        file = open_contexts(self.path, terms_of, make=True)
        assert file is not None  # `make` is set
        return file

    def _answered(self, file: ContextsFile, adopted: Sequence[str]) -> None:
        waiting = contexts.about(file.db, WAITING).split()
        before = contexts.about(file.db, ADOPTED).split()
        kept = [one for one in before if one.rpartition("@")[0] not in adopted]
        now_s = int(time.time())
        taken = " ".join((*kept, *(f"{name}@{now_s}" for name in adopted)))
        left = " ".join(name for name in waiting if name not in adopted)
        contexts.put_about(file.db, [(WAITING, left), (ADOPTED, taken)])

    def _know(self, file: ContextsFile, home: Home, former: Sequence[Glance]) -> None:
        """Keep by what the repository is known again; in the caller's transaction."""
        values = [(COMMON_DIR, home.common_dir)]
        roots = contexts.about(file.db, ROOTS).split()
        if home.root and home.root not in roots:
            values.append((ROOTS, " ".join((*roots, home.root))))
        if former:
            values.append((WAITING, " ".join(one.path.name for one in former)))
        contexts.put_about(file.db, values)


def forget_expired_in(
    home: Path, now_s: float, *, only_tell: bool = False
) -> list[tuple[str, str]]:
    """Delete what expired a month ago or longer, in all repositories: their places, and names.

    A database that cannot be read or written is left as it is.
    """
    found: list[tuple[str, str]] = []
    for path in sorted((home / "contexts").glob("contexts-*.db")):
        told = glance(path)
        if told is None or not told.size:
            continue
        try:
            names = Notebook(path).forget_expired(now_s, only_tell=only_tell)
        except (StoreError, ContextError) as error:
            logger.warning("expired contexts stay: %s", error)
            continue
        found += [(told.common_dir, name) for name in names]
    return found


def _about(one: Context) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(one.saved_s))
    first = one.note.partition("\n")[0]
    shown = first if len(first) <= 60 else f"{first[:59]}…"
    return f"saved on {day}{shown and f': {shown}'}"


def _offer(former: Sequence[Glance]) -> str:
    where = ", ".join(f"{one.size} more saved at {one.common_dir!r}" for one in former)
    return f"this repository was moved: {where}: `codelens load --adopt` takes them over"
