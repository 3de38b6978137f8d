"""Saved notes beside code, a line each: their names and whether that code is still the same."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.answers.context_answers import TiedNote
from codelens.render.text_pieces import count_of, one_line

LONGEST = 160
"""Characters of a note's first line."""


def with_text(one: TiedNote) -> str:
    """A note with the beginning of its text."""
    text = one_line(one.note)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return f"{named(one)}{text and f': {text}'}"


def named(one: TiedNote) -> str:
    """A note by its name, with what it is about."""
    changed = ", the code has changed since" if one.status == "changed" else ""
    about = ", ".join(one_line(handle) for handle in one.handles)
    return f"saved note {one_line(one.name)} ({one.category}{changed}) on {about}"


def gone(count: int) -> str:
    """How many notes are on code that is there no more."""
    return f"{count_of(count, 'saved note')} here on code that is gone"


def all_named(notes: Sequence[TiedNote], most: int = 3) -> list[str]:
    """Notes by their names, a few lines."""
    rows = [named(one) for one in notes[:most]]
    if len(notes) > most:
        rest = ", ".join(one_line(one.name) for one in notes[most : most + 10])
        more = len(notes) - most - 10
        rows.append(f"more saved notes: {rest}{f' and {more} more' if more > 0 else ''}")
    return rows
