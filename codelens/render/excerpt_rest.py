"""What of an excerpt was cut off, as a handle to ask for next."""

from __future__ import annotations

from codelens.answers.reading_answers import Excerpt
from codelens.handles.handle_grammar import lines_handle, parse_handle


def rest_of(one: Excerpt) -> str:
    """The handle of the lines that were cut off after the last one shown; empty if there are none.

    Args:
        one: an excerpt without an error.
    """
    if one.last_line <= one.end_line:
        return ""
    handle = parse_handle(one.handle)
    return lines_handle(handle.path or b"", one.end_line + 1, one.last_line, handle.ref)
