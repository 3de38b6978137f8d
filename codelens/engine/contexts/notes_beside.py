"""The saved notes beside an answer about code.

Most repositories have none, and then no more than this is imported.
"""

from __future__ import annotations

from collections.abc import Sequence

from codelens.engine.contexts.shown_places import FoundNotes, ShownPlace
from codelens.engine.current_view import CurrentView
from codelens.paths import contexts_file
from codelens.store.database.database_opening import has_content

_MOST_BESIDE = 12
"""Notes that an answer names which is about code."""


def notes_beside(
    view: CurrentView, places: Sequence[ShownPlace], question: str, now_s: float
) -> FoundNotes:
    """The notes on what an answer shows, by their names alone.

    Args:
        view: the view that the answer stands on.
        places: what it shows.
        question: what was asked, in words; empty where it was handles.
        now_s: seconds since 1970.
    """
    opened = view.opened
    if not has_content(contexts_file(opened.settings.home, opened.scope.repo_id)):
        return FoundNotes()
    from codelens.engine.contexts.notes_here import NotesHere

    here = NotesHere(view, question, now_s, seeks_lost=False).on(places)
    return here._replace(notes=here.notes[:_MOST_BESIDE], every=len(here.notes))
