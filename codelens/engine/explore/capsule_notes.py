"""Saved notes of a capsule: those on what it shows, within their share of the budget."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.answers.tied_notes import TiedNote
from codelens.capsule.packing import Shown
from codelens.capsule.shown_lines import runs
from codelens.engine.contexts.shown_places import FoundNotes, ShownPlace
from codelens.paths import printed
from codelens.render import explore_text

SHARE = 0.10
"""Of the budget, for notes."""
_BESIDE = 0.5
"""Nearness of what stands beside what was looked for."""


def places_of(shown: Sequence[Shown]) -> list[ShownPlace]:
    """The lines that are shown, as places that notes may be on."""
    return [
        ShownPlace(
            printed(piece.candidate.path), *span,
            1.0 if piece.candidate.part == "pivot" else _BESIDE,
        )
        for piece in shown
        for span in runs(sorted(piece.lines))
    ]  # fmt: skip


def fitting(here: FoundNotes, room: int) -> tuple[tuple[TiedNote, ...], int]:
    """The notes that fit into some bytes, the best first; and how many gone ones are told of."""
    gone, count = here.gone, len(here.notes)
    if gone and size((), gone, count) > room:
        gone = 0
    tied_notes: list[TiedNote] = []
    for note in here.notes:
        if size((*tied_notes, note), gone, count) <= room:
            tied_notes.append(note)
    return tuple(tied_notes), gone


def size(notes: Sequence[TiedNote], gone: int, count: int) -> int:
    """Bytes that notes take in an answer, of so many."""
    return sum(map(explore_text.cost, explore_text.context_lines(notes, gone, count)))
