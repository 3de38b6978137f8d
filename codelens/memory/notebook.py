"""What was saved of a repository before it moved: found by the commit that its history begins with.

A repository's contexts lie under the path of its git folder. What was saved at a path that is gone
is offered where the same history is now, and taken over only when asked: a clone is another
repository, as long as the first one is still there.
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
    """Contexts of places that are gone and whose history begins with `root`, newest first.

    Without those that were taken over since: what was forgotten there does not come back.
    """
    if not root:
        return []
    every = list(_all(own))
    features = [
        features
        for features in every
        if features.path != own
        and features.size
        and root in features.roots
        and not os.path.exists(features.common_dir)
        and not any(
            root in other.roots and other.adopted.get(features.path.name, -1) >= features.newest_s
            for other in every
            if other.path == own or not os.path.exists(other.common_dir)
        )
    ]
    return sorted(
        features, key=lambda features: (-features.newest_s, -features.size, features.common_dir)
    )


def waiting_contexts(own: Path, names: str) -> list[Glance]:
    """Of files that were found to be of a former place, those that still are."""
    features = (
        glance(own.with_name(name)) for name in names.split() if own.with_name(name).exists()
    )
    return [
        header
        for header in features
        if header and header.size and not os.path.exists(header.common_dir)
    ]


def contexts_of_place(own: Path, place: str) -> list[Glance]:
    """Contexts of a repository or folder that is, or was, at `place`; or of a contexts file."""
    here = os.path.abspath(os.path.expanduser(place))
    if os.path.isfile(here):
        seen = glance(Path(here))
        return [seen] if seen else []
    named = {here, os.path.realpath(here)}
    named |= {os.path.join(root, ".git") for root in named}
    return [other for other in _others(own) if other.common_dir in named]


def _others(own: Path) -> Iterator[Glance]:
    return (features for features in _all(own) if features.path != own and features.size)


def _all(own: Path) -> Iterator[Glance]:
    for path in sorted(own.parent.glob("contexts-*.db")):
        features = glance(path)
        if features is not None:
            yield features


# What saved contexts are found by: the terms of codelens's own tokenizer, as in the index.


def terms_of(context: Context) -> Terms:
    """The terms of a context, by where they stand in it."""
    return Terms(
        name=_joined(context.name),
        tags=_joined(f"{context.category} {' '.join(context.tags)}"),
        note=_joined(context.note),
        places=_joined(" ".join(handle_of(item) for item in context.items)),
    )


def names_for(db: Database, words: str) -> list[str]:
    """Names of the contexts that `words` find, best first: those with all terms, else with some."""
    terms = list(dict.fromkeys(terms_of_text(words)))
    if not terms:
        return []
    return context_rows.matching(db, terms, every_term=True) or context_rows.matching(
        db, terms, every_term=False
    )


def _joined(text: str) -> str:
    return " ".join(terms_of_text(text))


# In which order notes are shown: by their text, their age, and how near they are to what is shown.
#
# `NoteOrder` is asked for the score of each note. Its weights are chosen, not fitted;
# `benchmarks/note_weights.py` measures what each is worth.

HALF_LIFE_S = 7 * 86_400
"""After so many seconds the recency of a note is half of what it was."""
_SATURATION, _LENGTH = 1.2, 0.75
"""k1 and b of BM25."""


class NoteWeights(NamedTuple):
    """What each signal of a note counts."""

    text: float = 0.45
    """BM25 of the question over name, tags, note and places, as a share of the best note's."""
    cosine: float = 0.25
    """Cosine of the term vectors (tf-idf) of question and note."""
    recency: float = 0.10
    """1 for a note of now, half as much for each `HALF_LIFE_S`."""
    nearness: float = 0.20
    """1 for a note on what was looked for, less for one on what stands beside it."""
    stale: float = -0.15
    """1 for a note whose code has changed since."""


class NoteOrder:
    """The scores of notes for one question.

    Args:
        notes: all of a repository: how rare a term is is told by them.
        question: what was asked; empty where it was no text.
        now_s: seconds since 1970.
        weights: what each signal counts.
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
        """The score of a note; the higher the better.

        Args:
            note: one of those given at first.
            nearness: 0 to 1, how near it is to what is shown.
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
    # The code that a note is tied to is what brings it here: its places tell nothing more.
    return terms_of_text(" ".join((note.name, note.category, *note.tags, note.note)))


# What was saved of one repository: put, found, forgotten, taken over from elsewhere.

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
        former = [] if has_content(self.path) else former_contexts(self.path, home.root)
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
