"""Saves, finds, ranks and forgets the contexts of a repository, and takes over former ones.

A repository's contexts are stored under the path of its git folder. After a move, contexts saved at
the former path are found by the commit that the history begins with. They are offered, and taken
over only on request: a clone is another repository as long as the first one exists.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from codelens.extract.tokenizer import terms_of_text
from codelens.memory.context_fields import ContextExists, NoSuchContext
from codelens.memory.staleness import handle_of
from codelens.store.database.database import Database
from codelens.store.database.database_opening import has_content
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import (
    ADOPTED,
    COMMON_DIR,
    ROOTS,
    WAITING,
    Context,
    Owner,
    Terms,
)
from codelens.store.saved.contexts_file import ContextsFile, Glance, glance, open_contexts
from codelens.wording import day_of


def former_contexts(own: Path, root: str) -> list[Glance]:
    """Contexts of places that no longer exist and whose history begins with `root`, newest first.

    Leaves out those that were taken over since: contexts forgotten there must not come back.
    """
    if not root:
        return []
    every = list(_all(own))
    places = [
        place
        for place in every
        if place.path != own
        and place.size
        and root in place.roots
        and not os.path.exists(place.common_dir)
        and not any(
            root in other.roots and other.adopted.get(place.path.name, -1) >= place.newest_s
            for other in every
            if other.path == own or not os.path.exists(other.common_dir)
        )
    ]
    return sorted(places, key=lambda place: (-place.newest_s, -place.size, place.common_dir))


def waiting_contexts(own: Path, names: str) -> list[Glance]:
    """The contexts files in `names` whose repository or folder still does not exist."""
    places = (glance(own.with_name(name)) for name in names.split() if own.with_name(name).exists())
    return [
        place for place in places if place and place.size and not os.path.exists(place.common_dir)
    ]


def contexts_of_place(own: Path, place: str) -> list[Glance]:
    """Contexts of the repository that is or was at `place`, or of a contexts file."""
    here = os.path.abspath(os.path.expanduser(place))
    if os.path.isfile(here):
        header = glance(Path(here))
        return [header] if header else []
    named = {here, os.path.realpath(here)}
    named |= {os.path.join(root, ".git") for root in named}
    return [other for other in _others(own) if other.common_dir in named]


def _others(own: Path) -> Iterator[Glance]:
    return (place for place in _all(own) if place.path != own and place.size)


def _all(own: Path) -> Iterator[Glance]:
    for path in sorted(own.parent.glob("contexts-*.db")):
        place = glance(path)
        if place is not None:
            yield place


# The search terms of saved contexts, by codelens's own tokenizer, as in the index.


def terms_of(context: Context) -> Terms:
    """The terms of a context, by the field that contains them."""
    return Terms(
        name=_joined(context.name),
        tags=_joined(f"{context.category} {' '.join(context.tags)}"),
        note=_joined(context.note),
        places=_joined(" ".join(handle_of(item) for item in context.items)),
    )


def names_for(db: Database, words: str) -> list[str]:
    """Names of the contexts that match `words`, best first: with all terms, else with some."""
    terms = list(dict.fromkeys(terms_of_text(words)))
    if not terms:
        return []
    return context_rows.matching(db, terms, every_term=True) or context_rows.matching(
        db, terms, every_term=False
    )


def _joined(text: str) -> str:
    return " ".join(terms_of_text(text))


# Ranks notes by their text, their age, and their nearness to what an answer shows.
#
# `NoteOrder` scores each note. Its weights are chosen, not fitted; `benchmarks/note_weights.py`
# measures what each contributes.

HALF_LIFE_S = 7 * 86_400
"""A note's recency halves in this time."""
_SATURATION, _LENGTH = 1.2, 0.75
"""k1 and b of BM25."""


class NoteWeights(NamedTuple):
    """The weight of each signal of a note."""

    text: float = 0.45
    """BM25 of the question over name, tags, note and places, as a share of the best note's."""
    cosine: float = 0.25
    """Cosine of the term vectors (tf-idf) of question and note."""
    recency: float = 0.10
    """1 for a note that was just saved, half as much after each `HALF_LIFE_S`."""
    nearness: float = 0.20
    """1 for a note on a searched definition, less for one on its neighbors."""
    stale: float = -0.15
    """1 for a note whose code has changed since."""


class NoteOrder:
    """Scores notes for one question.

    Args:
        notes: all notes of a repository, which determine how rare each term is.
        question: the question; empty if it was not text.
        now_s: seconds since 1970.
        weights: the weight of each signal.
    """

    def __init__(
        self,
        notes: Sequence[Context],
        question: str,
        now_s: float,
        weights: NoteWeights | None = None,
    ) -> None:
        self._weights = weights or NoteWeights()
        self._now_s = now_s
        self._terms = {note.name: Counter(_terms_of(note)) for note in notes}
        counts = Counter(term for terms in self._terms.values() for term in terms)
        count = len(notes)
        self._rarity = {
            term: math.log(1 + (count - seen + 0.5) / (seen + 0.5)) for term, seen in counts.items()
        }
        lengths = [sum(terms.values()) for terms in self._terms.values()]
        self._mean = sum(lengths) / len(lengths) if lengths else 1.0
        self._asked = Counter(term for term in terms_of_text(question) if term in self._rarity)
        self._text = {name: self._bm25(terms) for name, terms in self._terms.items()}
        self._best = max(self._text.values(), default=0.0)

    def score(self, note: Context, nearness: float, *, stale: bool) -> float:
        """The score of a note; higher is better.

        Args:
            note: one of the notes given to the constructor.
            nearness: 0 to 1, how near it is to what the answer shows.
            stale: its code has changed.
        """
        weights = self._weights
        age_s = max(self._now_s - note.saved_s, 0.0)
        return (
            weights.text * (self._text[note.name] / self._best if self._best else 0.0)
            + weights.cosine * self._cosine(self._terms[note.name])
            + weights.recency * 0.5 ** (age_s / HALF_LIFE_S)
            + weights.nearness * nearness
            + weights.stale * stale
        )

    def _bm25(self, terms: Mapping[str, int]) -> float:
        length = sum(terms.values())
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * length / self._mean)
        return sum(
            self._rarity[term] * terms[term] * (_SATURATION + 1) / (terms[term] + norm)
            for term in sorted(self._asked)
            if term in terms
        )

    def _cosine(self, terms: Mapping[str, int]) -> float:
        shared = sorted(term for term in self._asked if term in terms)
        if not shared:
            return 0.0
        product = sum(self._asked[term] * terms[term] * self._rarity[term] ** 2 for term in shared)
        return product / (self._norm(self._asked) * self._norm(terms))

    def _norm(self, terms: Mapping[str, int]) -> float:
        return math.sqrt(sum((terms[term] * self._rarity[term]) ** 2 for term in sorted(terms)))


def _terms_of(note: Context) -> Iterable[str]:
    # Its places do not count: the note was already selected by the code it is tied to.
    return terms_of_text(" ".join((note.name, note.category, *note.tags, note.note)))


# The notebook of one repository saves, finds, forgets and takes over contexts.

_NEAR_SHOWN = 3


class Home(NamedTuple):
    """The repository of a notebook."""

    common_dir: str
    root: str
    """The commit that its history begins with, or an empty string."""


class ContextQuery(NamedTuple):
    """Which contexts to find."""

    query: str = ""
    """A name, or words; empty: all."""
    category: str = ""
    tags: tuple[str, ...] = ()
    expired: bool = False
    """Include expired contexts."""


class FoundContexts(NamedTuple):
    """The contexts that match a query, best or newest first."""

    contexts: list[Context]
    exact: bool
    former: list[Glance]
    """Contexts that may belong to this repository, from its former places."""
    notes: list[str]
    hidden: int = 0
    """How many contexts were left out as expired."""


class Merged(NamedTuple):
    """The names of the contexts that `take_over` was given, by outcome."""

    added: list[str]
    replaced: list[str]
    same: list[str]
    refused: list[str]
    notes: list[str]


class Notebook:
    """The contexts database of a repository.

    Args:
        path: the database file.
        owner: the repository that it must belong to; None: the one in the file's name.
    """

    def __init__(self, path: Path, owner: Owner | None = None) -> None:
        self.path = path
        self._owner = owner

    def put(
        self, context: Context, home: Home, *, replace: bool
    ) -> tuple[Context, bool, list[str]]:
        """Save a context.

        Returns:
            The context as saved, whether it replaced one, and notes for the user.

        Raises:
            ContextExists: the name is taken, even by an expired one, and `replace` is not set.
            StoreError: nothing was saved.
        """
        former = [] if has_content(self.path) else former_contexts(self.path, home.root)
        with self._opened() as file, file.changed() as notes:
            old = context_rows.named(file.db, context.name)
            if old is not None and not replace:
                raise ContextExists(old.name, _about(old, context.saved_s))
            if old is not None:
                context = context._replace(created_s=old.created_s)
            context_rows.put(file.db, context, terms_of(context))
            self._note_home(file, home, former)
        if former:
            notes.append(_adoption_note(former))
        return context, old is not None, [*file.notes, *notes]

    def update(
        self, name: str, change: Callable[[Context], Context], home: Home
    ) -> tuple[Context, list[str]]:
        """Change some fields of a context.

        Args:
            name: the name of an existing context.
            change: returns the changed context.
            home: the repository.

        Returns:
            The changed context, and notes for the user.

        Raises:
            NoSuchContext: no context has the name.
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
            self._note_home(file, home, [])
        return context, [*file.notes, *notes]

    def find(self, filters: ContextQuery, root: str, now_s: float) -> FoundContexts:
        """Find the contexts that match a query.

        Args:
            filters: the query.
            root: the commit that the repository's history begins with; used if nothing is saved
                yet.
            now_s: seconds since 1970.
        """
        file = open_contexts(self.path, terms_of, make=False, owner=self._owner)
        if file is None:
            return FoundContexts([], False, former_contexts(self.path, root), [])
        with file, file.db.read():
            notes = list(file.notes)
            waiting = context_rows.about(file.db, WAITING)
            named = context_rows.named(file.db, filters.query) if filters.query else None
            exact = named is not None and (filters.expired or not named.expired(now_s))
            matching = [named] if named is not None and exact else self._matching(file, filters)
        former = waiting_contexts(self.path, waiting)
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
        """All contexts, oldest first, including expired ones; and notes for the user."""
        file = open_contexts(self.path, terms_of, make=False, owner=self._owner)
        if file is None:
            return [], []
        with file, file.db.read():
            return context_rows.every(file.db), list(file.notes)

    def forget(self, names: Sequence[str]) -> list[str]:
        """Delete contexts, all or none; return notes for the user.

        Raises:
            NoSuchContext: no context has one of the names.
            StoreError: nothing was deleted.
        """
        if not self.every()[0]:
            raise NoSuchContext(names[0])
        with self._opened() as file, file.changed() as notes:
            saved_names = [context.name for context in context_rows.every(file.db)]
            for name in names:
                if name not in saved_names:
                    raise NoSuchContext(name, _near(name, file))
                context_rows.remove(file.db, name)
        return [*file.notes, *notes]

    def forget_expired(self, now_s: float) -> tuple[list[str], list[str]]:
        """Delete expired contexts; return their names, and notes for the user.

        Runs only on request: a wrong clock must not delete anything.

        Raises:
            StoreError: nothing was deleted.
        """
        every, notes = self.every()
        if not any(context.expired(now_s) for context in every):
            return [], notes
        with self._opened() as file, file.changed() as notes:
            # Read again: a context saved again in between has a new time to live.
            due = [
                context.name for context in context_rows.every(file.db) if context.expired(now_s)
            ]
            for name in due:
                context_rows.remove(file.db, name)
        return due, [*file.notes, *notes]

    def take_over(
        self, contexts: Iterable[Context], home: Home, *, replace: bool, adopted: Sequence[str] = ()
    ) -> Merged:
        """Add contexts from elsewhere; without `replace`, skip those whose name is taken.

        Args:
            contexts: contexts from elsewhere.
            home: the repository that gets them.
            replace: replace existing contexts with the same name.
            adopted: files of former places with these contexts, which are not offered again.

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
            self._note_home(file, home, [])
            if adopted:
                self._note_adopted(file, adopted)
        merged.notes.extend((*file.notes, *notes))
        return merged

    def _opened(self) -> ContextsFile:
        file = open_contexts(self.path, terms_of, make=True, owner=self._owner)
        assert file is not None  # `make` is set
        return file

    def _note_adopted(self, file: ContextsFile, adopted: Sequence[str]) -> None:
        waiting = context_rows.about(file.db, WAITING).split()
        before = context_rows.about(file.db, ADOPTED).split()
        remaining = [place for place in before if place.rpartition("@")[0] not in adopted]
        now_s = int(time.time())
        taken = " ".join((*remaining, *(f"{name}@{now_s}" for name in adopted)))
        left = " ".join(name for name in waiting if name not in adopted)
        context_rows.put_about(file.db, [(WAITING, left), (ADOPTED, taken)])

    def _note_home(self, file: ContextsFile, home: Home, former: Sequence[Glance]) -> None:
        """Store what identifies the repository after a move; in the caller's transaction."""
        values = [(COMMON_DIR, home.common_dir)]
        roots = context_rows.about(file.db, ROOTS).split()
        if home.root and home.root not in roots:
            values.append((ROOTS, " ".join((*roots, home.root))))
        if former:
            values.append((WAITING, " ".join(place.path.name for place in former)))
        context_rows.put_about(file.db, values)


def _near(name: str, file: ContextsFile) -> list[str]:
    saved_names = [context.name for context in context_rows.every(file.db)]
    import difflib

    return difflib.get_close_matches(name, saved_names, _NEAR_SHOWN, 0.5)


def _about(context: Context, now_s: float) -> str:
    over = f", expired on {day_of(context.expires_s)}" if context.expired(now_s) else ""
    first = context.note.partition("\n")[0]
    shown = first if len(first) <= 60 else f"{first[:59]}…"
    return f"saved on {day_of(context.saved_s)}{over}{shown and f': {shown}'}"


def _adoption_note(former: Sequence[Glance]) -> str:
    where = ", ".join(f"{place.size} more saved at {place.common_dir!r}" for place in former)
    return f"this repository was moved: {where}: `codelens load --adopt` takes them over"
