"""Finds the saved notes on the code that an answer shows, and whether that code changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from codelens.answers.reading_answers import LinkedNote
from codelens.engine.current_view import CurrentView, OpenRepository
from codelens.errors import BadHandle, OutsideWorktree, StoreError
from codelens.handles.handle_grammar import parse_handle
from codelens.memory.notebook import Notebook, NoteOrder
from codelens.memory.staleness import CHANGED, GONE, UNKNOWN, Verdict
from codelens.paths import contexts_file, from_printed
from codelens.scope.repository import has_commit
from codelens.store.database.database_opening import has_content
from codelens.store.saved.context_rows import Context, Item, Owner


class ShownPlace(NamedTuple):
    """A place in an answer."""

    path: str
    """Printed."""
    start_line: int
    end_line: int
    nearness: float = 1.0
    """1 for a match, less for related code."""


class FoundNotes(NamedTuple):
    """The saved notes for an answer."""

    notes: tuple[LinkedNote, ...] = ()
    """Notes on unchanged code first; within both groups the best first."""
    gone: int = 0
    """The number of notes on deleted code of these files."""
    warnings: tuple[str, ...] = ()
    every: int = 0
    """The number of all notes on existing code; 0: as many as `notes` has."""


# Decides which saved notes are about the code of an answer, and whether that code has changed.
#
# A `NotesHere` serves one answer. It judges only notes that may be on one of its places: those
# whose file or name is shown, and those whose file was moved.

_MOST_JUDGED = 200
"""Maximum number of items; each may require reading and parsing its file."""
_HANDLES_SHOWN = 3
_WHOLE_FILE = 0.3
"""Nearness of a note on a whole file to a place in it."""


class _Tie(NamedTuple):
    context: Context
    path: bytes
    verdict: Verdict
    whole: bool
    """Whether the note is on a whole file."""


def notebook_of(opened: OpenRepository) -> Notebook:
    """The saved contexts of a repository."""
    owner = Owner(opened.scope.repo_id, partial(has_commit, opened.repository))
    return Notebook(contexts_file(opened.settings.home, opened.scope.repo_id), owner)


class NotesHere:
    """The saved notes of a repository, with their states in one view.

    Args:
        view: the view of the answer.
        question: the words of the call; empty if it gave handles.
        now_s: seconds since 1970.
        seeks_lost: find the code of notes on deleted files by text, which costs more.
    """

    def __init__(
        self, view: CurrentView, question: str, now_s: float, *, seeks_lost: bool = True
    ) -> None:
        self._view = view
        self._seeks_lost = seeks_lost
        self._warnings: list[str] = []
        every = self._every()
        valid = [context for context in every if not context.expired(now_s)]
        self._contexts = sorted(valid, key=lambda context: (-context.saved_s, context.name))
        self._order = NoteOrder(self._contexts, question, now_s) if self._contexts else None
        self._ties: dict[tuple[str, int], _Tie] = {}

    def _every(self) -> list[Context]:
        notebook = notebook_of(self._view.opened)
        if not has_content(notebook.path):
            return []
        try:
            contexts, notes = notebook.every()
        except StoreError as error:
            # Unreadable notes must not fail an answer about code.
            self._warnings.append(f"saved notes could not be read: {error}")
            return []
        self._warnings += notes
        return contexts

    def on(self, places: Sequence[ShownPlace]) -> FoundNotes:
        """The notes on some places."""
        if self._order is None:
            return FoundNotes(warnings=tuple(self._warnings))
        self._judge(places)
        files: dict[bytes, list[ShownPlace]] = {}
        for place in places:
            files.setdefault(from_printed(place.path), []).append(place)
        nearest: dict[str, float] = {}
        ties: dict[str, list[_Tie]] = {}
        gone: set[str] = set()
        for tie in self._ties.values():
            near = _nearness(tie, files.get(tie.path, ()))
            if near <= 0 or tie.verdict.status == UNKNOWN:
                continue
            if tie.verdict.status == GONE:
                gone.add(tie.context.name)
                continue
            name = tie.context.name
            nearest[name] = max(nearest.get(name, 0.0), near)
            ties.setdefault(name, []).append(tie)
        notes = [
            (
                _tied(ties_of_note),
                self._order.score(
                    ties_of_note[0].context, nearest[name], stale=_stale(ties_of_note)
                ),
            )
            for name, ties_of_note in ties.items()
        ]
        notes.sort(key=lambda pair: (pair[0].status == CHANGED, -pair[1], pair[0].name))
        return FoundNotes(
            tuple(tied_note for tied_note, _ in notes),
            len(gone - ties.keys()),
            tuple(self._warnings),
        )

    def _judge(self, places: Sequence[ShownPlace]) -> None:
        """Judge the items that may be on one of the places, unless judged before."""
        paths = {from_printed(place.path) for place in places}
        names = self._names_in(paths, places)
        by_path = self._view.snapshot.by_path
        undecided: list[tuple[Context, int, Item]] = []
        for context in self._contexts:
            for at, item in enumerate(context.items):
                if (context.name, at) in self._ties or len(undecided) >= _MOST_JUDGED:
                    continue
                own = item.symbol.rpartition(".")[2]
                lost = self._seeks_lost and item.path not in by_path
                if item.path in paths or lost or own in names:
                    undecided.append((context, at, item))
        if not undecided:
            return
        # Most answers show no code with a saved context.
        from codelens.engine.contexts import context_items

        verdicts = context_items.judged(self._view, [item for _, _, item in undecided])
        for (context, at, item), verdict in zip(undecided, verdicts, strict=True):
            path = item.path if verdict.status == GONE else _path_of(verdict.handle)
            self._ties[context.name, at] = _Tie(context, path, verdict, item.kind == "file")

    def _names_in(self, paths: Iterable[bytes], places: Sequence[ShownPlace]) -> set[str]:
        """The names defined in the places: a note on such a name may be on it."""
        snapshot = self._view.snapshot
        names: set[str] = set()
        for path in paths:
            file = snapshot.by_path.get(path)
            if file is None or file.content is None:
                continue
            shown = [place for place in places if from_printed(place.path) == path]
            for symbol in snapshot.symbols([file.content]).get(file.content, ()):
                if any(
                    shown_place.start_line <= symbol.end_line
                    and shown_place.end_line >= symbol.start_line
                    for shown_place in shown
                ):
                    names.add(symbol.name)
        return names


def _nearness(tie: _Tie, places: Sequence[ShownPlace]) -> float:
    if tie.whole or tie.verdict.status == GONE:
        return max((place.nearness * _WHOLE_FILE for place in places), default=0.0)
    start, end = tie.verdict.start_line, tie.verdict.end_line
    return max(
        (place.nearness for place in places if place.start_line <= end and place.end_line >= start),
        default=0.0,
    )


def _stale(ties: Sequence[_Tie]) -> bool:
    return any(tie.verdict.status == CHANGED for tie in ties)


def _tied(ties: Sequence[_Tie]) -> LinkedNote:
    context = ties[0].context
    handles = tuple(dict.fromkeys(tie.verdict.handle for tie in ties))
    return LinkedNote(
        name=context.name,
        category=context.category,
        status=CHANGED if _stale(ties) else "current",
        note=context.note.partition("\n")[0],
        handles=handles[:_HANDLES_SHOWN],
        handle_count=len(handles),
    )


def _path_of(handle: str) -> bytes:
    try:
        return bytes(parse_handle(handle).path or b"")
    except (BadHandle, OutsideWorktree):
        return os.fsencode(handle)


# The saved notes that accompany an answer about code.
#
# Most repositories have no notes; then only this part is imported.

_MOST_BESIDE = 12
"""Maximum number of notes in an answer about code."""


def notes_on(
    view: CurrentView, places: Sequence[ShownPlace], question: str, now_s: float
) -> FoundNotes:
    """The notes on what an answer shows, by name only.

    Args:
        view: the view of the answer.
        places: what the answer shows.
        question: the words of the call; empty if it gave handles.
        now_s: seconds since 1970.
    """
    opened = view.opened
    if not has_content(contexts_file(opened.settings.home, opened.scope.repo_id)):
        return FoundNotes()

    here = NotesHere(view, question, now_s, seeks_lost=False).on(places)
    return here._replace(notes=here.notes[:_MOST_BESIDE], every=len(here.notes))
