"""The text that one handle names, or why there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens.answers.reading_answers import Excerpt
from codelens.engine.adhoc_reader import reader_of
from codelens.engine.current_view import CurrentView
from codelens.engine.reading.outline_query import declarations
from codelens.engine.sessions.sent_answers import without_repeats
from codelens.errors import AmbiguousHandle, HandleError, HandleNotFound, NoSuchRef, ReadError
from codelens.extract.file_kinds import decode
from codelens.handles.handle_grammar import Handle, parse_handle
from codelens.handles.handle_lookup import Finder, Place
from codelens.handles.handle_reading import Reader
from codelens.handles.typed_handle import typed_handle
from codelens.paths import printed
from codelens.rank.definitions.body_terms import comment_start
from codelens.render.text_pieces import folded, lines_of
from codelens.trail.sent_log import SentBodies
from codelens.types import Span

_NEAR_SHOWN = 20
_ALSO_SHOWN = 4
_DEFINITIONS_SHOWN = 40
_MOST_OWNERS = 6
"""Definitions of one name; more are listed, for one of them to be named."""
_LEAST_LINES = 20


class Reading(NamedTuple):
    """How much of a handle is read."""

    context: int = 0
    """Lines to add before and after."""
    max_lines: int = 400
    """Lines at most, context included."""
    sent: SentBodies | None = None
    """What was sent before in the session."""
    folded: bool = False
    """Declarations alone, without bodies."""


def excerpts(
    requested: str,
    view: CurrentView,
    view_at: Callable[[str], CurrentView],
    reading: Reading,
) -> list[Excerpt]:
    """Read one handle; what cannot be followed or read is told in the excerpt's `error`.

    A name that a few definitions have gives each of them, with an equal share of the lines.

    Args:
        requested: the handle.
        view: the view that is asked.
        view_at: gives the view of another ref, for a handle that names one.
        reading: how much of it.
    """
    there = view
    try:
        handle = typed_handle(requested, view.scope.root, view.snapshot.by_path)
        if handle.ref and handle.ref != view.scope.ref:
            there = view_at(handle.ref)
        return [_read(requested, handle, there, reading)]
    except AmbiguousHandle as error:
        if len(error.owners) <= _MOST_OWNERS:
            return _of_owners(requested, error.owners, there, reading)
        reason = error
    except (HandleError, NoSuchRef, ReadError) as error:
        reason = error
    return [Excerpt(requested, requested, error=_message(reason, view), near=_near(reason))]


def _of_owners(
    requested: str, owners: Sequence[str], view: CurrentView, reading: Reading
) -> list[Excerpt]:
    """Each definition of a name that several have, told as one of them."""
    share = reading._replace(max_lines=max(reading.max_lines // len(owners), _LEAST_LINES))
    items: list[Excerpt] = []
    for number, owner in enumerate(owners, 1):
        try:
            item = _read(owner, parse_handle(owner, view.scope.root), view, share)
        except (HandleError, ReadError) as error:
            item = Excerpt(owner, owner, error=_message(error, view), near=_near(error))
        note = f"{number} of {len(owners)} definitions of {printed(os.fsencode(requested))}"
        items.append(replace(item, moved="; ".join(filter(None, (note, item.moved)))))
    return items


def _read(requested: str, handle: Handle, view: CurrentView, reading: Reading) -> Excerpt:
    ref = view.scope.ref if view.scope.kind == "ref" else ""
    reader = reader_of(view)
    try:
        place = Finder(view.snapshot, reader.symbols, ref, reader.data).find(handle)
    except HandleNotFound as error:
        folder = _whole_folder(handle, view)
        if not folder:
            raise _with_definitions(error, handle, view, reader) from error
        raise HandleError(f"{folder!r} is a folder: outline it, or expand a file in it") from error
    if reading.folded:
        return _declarations(requested, place, reader, ref, reading.max_lines)
    text = reader.read(_with_comment(place, reader), reading.context, reading.max_lines)
    item = Excerpt(
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
    if reading.sent is None:
        return item
    named = place.symbol.name_line if place.symbol is not None else 0
    whole = reader.read(Place(place.file, None, None, "", ""), 0, text.file_lines).text
    return without_repeats(item, reading.sent, named, whole.splitlines())


def _with_comment(place: Place, reader: Reader) -> Place:
    """A definition with the comment right above it, as lines; other places as they are."""
    if place.symbol is None:
        return place
    start, end = place.symbol.start_line, place.symbol.end_line
    lines = decode(reader.data(place.file)).decode("utf-8", "replace").split("\n")
    first = comment_start(lines, start) if start <= len(lines) else start
    return place if first == start else place._replace(symbol=None, lines=Span(first, end))


def _declarations(
    requested: str, place: Place, reader: Reader, ref: str, max_lines: int
) -> Excerpt:
    """The declarations in a place, without bodies, a line each."""
    items = declarations(reader, place, ref)
    rows = [
        f"{lines_of(item.start_line, item.end_line)}  {'  ' * item.depth}{folded(item)}\n"
        for item in items
    ]
    whole = reader.read(place, 0, 1)
    return Excerpt(
        handle=place.handle,
        asked=requested,
        path=printed(place.file.path),
        start_line=whole.start_line,
        end_line=whole.last_line,
        language=whole.language,
        text="".join(rows[:max_lines]) or "no definitions\n",
        moved=place.moved,
        truncated=len(rows) > max_lines,
        last_line=whole.last_line,
        folded=True,
    )


def _with_definitions(
    error: HandleNotFound, handle: Handle, view: CurrentView, reader: Reader
) -> HandleNotFound:
    """A name that a file does not have, told with those that it has."""
    file = view.snapshot.by_path.get(handle.path) if handle.path is not None else None
    if file is None or not handle.symbol or handle.bare:
        return error
    names = list(dict.fromkeys(symbol.qualified for symbol in reader.symbols(file)))
    if not names:
        return error
    shown = ", ".join(names[:_DEFINITIONS_SHOWN])
    left = len(names) - _DEFINITIONS_SHOWN
    more = f" and {left:,} more: outline it" if left > 0 else ""
    why = f"{error.why}; " if error.why else ""
    return HandleNotFound(
        error.text, error.near, f"{why}{printed(file.path)} defines {shown}{more}"
    )


def also_at(place: Place) -> str:
    """A sentence on the other places of the same thing; empty if there are none."""
    if not place.also:
        return ""
    more = f" and {len(place.also) - _ALSO_SHOWN} more" if len(place.also) > _ALSO_SHOWN else ""
    symbol = place.symbol
    kind = "variable" if symbol and symbol.kind in {"variable", "constant"} else "function"
    return f"the same {kind} also at {', '.join(place.also[:_ALSO_SHOWN])}{more}"


def _whole_folder(handle: Handle, view: CurrentView) -> str:
    """The path of the folder that a handle names, to be shown; empty if it names none."""
    if handle.path is None or (handle.symbol and not handle.bare):
        return ""
    prefix = handle.path + b"/"
    if handle.path and not any(path.startswith(prefix) for path in view.snapshot.by_path):
        return ""
    return printed(handle.path) or "."


def _message(error: Exception, view: CurrentView) -> str:
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
