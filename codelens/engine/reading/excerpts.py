"""The text that one handle names, or why there is none."""

from __future__ import annotations

import os
from collections.abc import Callable

from codelens.answers.reading_answers import Excerpt
from codelens.engine.adhoc_reader import reader_of
from codelens.engine.current_view import CurrentView
from codelens.engine.sessions.sent_answers import without_repeats
from codelens.errors import AmbiguousHandle, HandleError, HandleNotFound, NoSuchRef, ReadError
from codelens.handles.handle_grammar import Handle, parse_handle
from codelens.handles.handle_lookup import Finder, Place
from codelens.paths import can_be_named, printed
from codelens.trail.sent_log import SentBodies
from codelens.types import RelPath

_NEAR_SHOWN = 20
_ALSO_SHOWN = 4


def excerpt(
    requested: str,
    view: CurrentView,
    view_at: Callable[[str], CurrentView],
    context: int,
    max_lines: int,
    sent: SentBodies | None = None,
) -> Excerpt:
    """Read one handle; what cannot be followed or read is told in the excerpt's `error`.

    Args:
        requested: the handle.
        view: the view that is asked.
        view_at: gives the view of another ref, for a handle that names one.
        context: number of lines to add before and after.
        max_lines: lines at most, context included.
        sent: what was sent before in the session.
    """
    try:
        handle = parse_handle(requested, view.scope.root)
        there = view
        if handle.ref and handle.ref != view.scope.ref:
            there = view_at(handle.ref)
        return _read(requested, handle, there, context, max_lines, sent)
    except (HandleError, NoSuchRef, ReadError) as error:
        message, near = _said(error, view), _near(error)
    raw = RelPath(os.fsencode(requested) if can_be_named(requested) else b"")
    if raw in view.snapshot.by_path:
        # The file's own name, not escaped as a handle would have it.
        try:
            return _read(requested, Handle(raw), view, context, max_lines, sent)
        except (HandleError, ReadError) as error:
            message, near = _said(error, view), _near(error)
    return Excerpt(requested, requested, error=message, near=near)


def _read(
    requested: str,
    handle: Handle,
    view: CurrentView,
    context: int,
    max_lines: int,
    sent: SentBodies | None,
) -> Excerpt:
    ref = view.scope.ref if view.scope.kind == "ref" else ""
    reader = reader_of(view)
    try:
        place = Finder(view.snapshot, reader.symbols, ref, reader.data).find(handle)
    except HandleNotFound as error:
        folder = _whole_folder(handle, view)
        if not folder:
            raise
        raise HandleError(f"{folder!r} is a folder: outline it, or expand a file in it") from error
    text = reader.read(place, context, max_lines)
    found = Excerpt(
        handle=place.handle,
        asked=requested,
        path=printed(place.file.path),
        start_line=text.start_line,
        end_line=text.end_line,
        language=text.language,
        text=text.text,
        moved="; ".join(filter(None, (place.moved, also_at(place)))),
        truncated=text.truncated,
        last_line=text.last_line,
    )
    if sent is None:
        return found
    named = place.symbol.name_line if place.symbol is not None else 0
    whole = reader.read(Place(place.file, None, None, "", ""), 0, text.file_lines).text
    return without_repeats(found, sent, named, whole.splitlines())


def also_at(place: Place) -> str:
    """A sentence on the other places of the same function; empty if there are none."""
    if not place.also:
        return ""
    more = f" and {len(place.also) - _ALSO_SHOWN} more" if len(place.also) > _ALSO_SHOWN else ""
    return f"the same function also at {', '.join(place.also[:_ALSO_SHOWN])}{more}"


def _whole_folder(handle: Handle, view: CurrentView) -> str:
    """The path of the folder that a handle names, to be shown; empty if it names none."""
    if handle.path is None or (handle.symbol and not handle.bare):
        return ""
    prefix = handle.path + b"/"
    if handle.path and not any(path.startswith(prefix) for path in view.snapshot.by_path):
        return ""
    return printed(handle.path) or "."


def _said(error: Exception, view: CurrentView) -> str:
    """What an error says; nothing is denied while files are unread."""
    unread = view.refreshed.unread
    if unread and isinstance(error, HandleNotFound):
        error = error.while_reading(unread)
    return str(error)


def _near(error: Exception) -> tuple[str, ...]:
    if isinstance(error, AmbiguousHandle):
        return error.owners[:_NEAR_SHOWN]
    if isinstance(error, HandleNotFound | NoSuchRef):
        return error.near
    return ()
