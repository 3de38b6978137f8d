"""What is said of code that was sent before in a session."""

from __future__ import annotations

from codelens.answers.reading_answers import Excerpt
from codelens.render.text_pieces import lines_of


def sent_line(one: Excerpt, *, typed: bool = False) -> str:
    """That an excerpt was sent earlier, and how to have it again; or that it has changed."""
    if one.sent == "changed":
        return "changed since it was sent"
    then = f", then at line {one.sent_at}" if one.sent_at != one.start_line else ""
    again = "--again prints it" if typed else "again true sends it"
    lines = lines_of(one.start_line, one.end_line)
    return f"lines {lines} sent earlier, unchanged{then}; {again} anew"
