"""What of an excerpt was cut off, as a handle to ask for next."""

from __future__ import annotations

from codelens.answers.reading_answers import Excerpt
from codelens.handles.handle_grammar import lines_handle, parse_handle


def rest_of(item: Excerpt) -> str:
    """The handle of the lines that were cut off after the last one shown; empty if there are none.

    Args:
        item: an excerpt without an error.
    """
    if item.folded or item.last_line <= item.end_line:
        return ""
    handle = parse_handle(item.handle)
    return lines_handle(handle.path or b"", item.end_line + 1, item.last_line, handle.ref)
