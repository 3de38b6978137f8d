"""The text that one handle names, or why there is none."""

from __future__ import annotations

import os
from collections.abc import Callable

from codelens.engine.adhoc_reader import reader_of
from codelens.engine.answers.reading_answers import Excerpt
from codelens.engine.current_view import Look
from codelens.errors import AmbiguousHandle, HandleError, HandleNotFound, NoSuchRef, ReadError
from codelens.handles.handle_grammar import Handle, lines_handle, parse_handle
from codelens.handles.handle_lookup import Finder
from codelens.paths import can_be_named, printed
from codelens.types import RelPath

_NEAR_SHOWN = 20


def excerpt(
    asked: str, look: Look, look_at: Callable[[str], Look], context: int, max_lines: int
) -> Excerpt:
    """Read one handle; what cannot be followed or read is told in the excerpt's `error`.

    Args:
        asked: the handle.
        look: the view that is asked.
        look_at: gives the view of another ref, for a handle that names one.
        context: lines to add before and after.
        max_lines: lines at most, context included.
    """
    try:
        handle = parse_handle(asked, look.scope.root)
        there = look
        if handle.ref and handle.ref != look.scope.ref:
            there = look_at(handle.ref)
        return _read(asked, handle, there, context, max_lines)
    except (HandleError, NoSuchRef, ReadError) as error:
        said, near = str(error), _near(error)
    raw = RelPath(os.fsencode(asked) if can_be_named(asked) else b"")
    if raw in look.snapshot.by_path:
        # The file's own name, not escaped as a handle would have it.
        try:
            return _read(asked, Handle(raw), look, context, max_lines)
        except (HandleError, ReadError) as error:
            said, near = str(error), _near(error)
    return Excerpt(asked, asked, error=said, near=near)


def _read(asked: str, handle: Handle, look: Look, context: int, max_lines: int) -> Excerpt:
    ref = look.scope.ref if look.scope.kind == "ref" else ""
    reader = reader_of(look)
    try:
        place = Finder(look.snapshot, reader.symbols, ref).find(handle)
    except HandleNotFound as error:
        folder = _whole_folder(handle, look)
        if not folder:
            raise
        raise HandleError(
            f"{folder!r} is a folder, which has no text: outline it, or expand a file in it"
        ) from error
    text = reader.read(place, context, max_lines)
    return Excerpt(
        handle=place.handle,
        asked=asked,
        path=printed(place.file.path),
        start_line=text.start_line,
        end_line=text.end_line,
        language=text.language,
        text=text.text,
        moved=place.moved,
        truncated=text.truncated,
        last_line=text.last_line,
    )


def rest_of(one: Excerpt) -> str:
    """The handle of the lines that were cut off after the last one shown; empty if there are none.

    Args:
        one: an excerpt without an error.
    """
    if one.last_line <= one.end_line:
        return ""
    handle = parse_handle(one.handle)
    return lines_handle(handle.path or b"", one.end_line + 1, one.last_line, handle.ref)


def _whole_folder(handle: Handle, look: Look) -> str:
    """The path of the folder that a handle names, to be shown; empty if it names none."""
    if handle.path is None or (handle.symbol and not handle.bare):
        return ""
    prefix = handle.path + b"/"
    if handle.path and not any(path.startswith(prefix) for path in look.snapshot.by_path):
        return ""
    return printed(handle.path) or "."


def _near(error: Exception) -> tuple[str, ...]:
    if isinstance(error, AmbiguousHandle):
        return error.owners[:_NEAR_SHOWN]
    if isinstance(error, HandleNotFound | NoSuchRef):
        return error.near
    return ()
