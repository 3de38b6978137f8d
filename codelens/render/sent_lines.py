"""What is said of code that was sent before in a session."""

from __future__ import annotations

from codelens.answers.reading_answers import Excerpt
from codelens.render.text_pieces import lines_of


def sent_line(excerpt: Excerpt, *, typed: bool = False) -> str:
    """That an excerpt was sent earlier, and how to have it again; or that it has changed."""
    if excerpt.sent == "changed":
        return "changed since it was sent"
    then = f", then at line {excerpt.sent_at}" if excerpt.sent_at != excerpt.start_line else ""
    again = "--again prints it once more" if typed else "again=true sends it once more"
    lines = lines_of(excerpt.start_line, excerpt.end_line)
    return f"lines {lines} sent earlier, unchanged{then}; {again}"
