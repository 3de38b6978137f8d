"""Saved notes beside code, a line each: their names and whether that code is still the same."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.answers.tied_notes import TiedNote
from codelens.plurals import count_of
from codelens.render.text_pieces import one_line
from codelens.render.token_budget import BYTES_A_TOKEN, size_of

LONGEST = 160
"""Characters of a note's first line."""
_SHARE = 10


def with_text(tied_note: TiedNote) -> str:
    """A note with the beginning of its text."""
    text = one_line(tied_note.note)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return f"{named(tied_note)}{text and f': {text}'}"


def named(tied_note: TiedNote) -> str:
    """A note by its name, with what it is about."""
    changed = ", the code has changed since" if tied_note.status == "changed" else ""
    about = ", ".join(one_line(handle) for handle in tied_note.handles)
    left = tied_note.handle_count - len(tied_note.handles)
    about += f" and {left} more" if left > 0 else ""
    return f"saved note {one_line(tied_note.name)} ({tied_note.category}{changed}) on {about}"


def gone(count: int) -> str:
    """How many notes are on code that is there no more."""
    return f"{count_of(count, 'saved note')} here on code that is gone"


def fitting(notes: Sequence[TiedNote], max_tokens: int) -> tuple[TiedNote, ...]:
    """The first notes whose lines take a tenth of an answer's tokens at most."""
    room = max_tokens * BYTES_A_TOKEN // _SHARE
    count = 0
    for note in notes:
        room -= size_of(named(note)) + 1
        if room < 0:
            break
        count += 1
    return tuple(notes[:count])


def all_named(notes: Sequence[TiedNote], count: int = 0, most: int = 3) -> list[str]:
    """Notes by their names, a few lines; of `count` notes in all."""
    rows = [named(note) for note in notes[:most]]
    rest = [one_line(note.name) for note in notes[most : most + 10]]
    more = max(count, len(notes)) - len(rows) - len(rest)
    if more > 0:
        rest.append(f"{more} more")
    return [*rows, f"more saved notes: {', '.join(rest)}"] if rest else rows
