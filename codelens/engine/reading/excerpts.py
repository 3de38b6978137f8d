"""Reads what handles name: excerpts of text, and outlines of files and folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens.answers.reading_answers import (
    Excerpt,
    OutlineAnswer,
    OutlineFile,
    OutlineFolder,
    OutlineItem,
)
from codelens.engine.contexts.session_trail import without_repeats
from codelens.engine.current_view import CurrentView, reader_of
from codelens.errors import (
    AmbiguousHandle,
    BadHandle,
    HandleError,
    HandleNotFound,
    NoSuchRef,
    ReadError,
)
from codelens.extract.file_kinds import decode
from codelens.handles.handle_grammar import (
    Handle,
    handles_of,
    known_symbols,
    parse_handle,
    shown_name,
    typed_handle,
)
from codelens.handles.handle_lookup import Finder, Place
from codelens.handles.handle_reading import Reader
from codelens.paths import printed
from codelens.rank.scoring.body_terms import comment_start
from codelens.render.text_pieces import first_doc_line, folded, lines_of
from codelens.store.facts.contents import Content, references_of
from codelens.store.views.views import OVERSIZED, PENDING, UNREADABLE, FileRow
from codelens.trail.sent_log import SentBodies
from codelens.types import Span, Symbol
from codelens.wording import count_of, some_of

DETAILS = ("names", "signatures", "docs")
"""How much of each definition is shown; all but `names` also show the imports of a file."""
_FILE_ITEMS = 500
_FOLDER_FILES = 60
_FOLDER_ITEMS = 12
_NOTES = 8
_BYTES_PER_TOKEN = 4
_VALUES = frozenset({"constant", "variable", "type", "key"})
_STATES = {OVERSIZED: "oversized", UNREADABLE: "unreadable", PENDING: "pending"}


def outline(view: CurrentView, target: str) -> OutlineAnswer:
    """The outline of a folder, a file, or the members of a definition.

    Args:
        view: the view.
        target: a folder (`.` is the root), or any handle.

    Raises:
        HandleNotFound, AmbiguousHandle: see `Finder.find`.
        BadHandle: the target cannot be read, or names another ref than the view's.
        OutsideWorktree: the target is outside of the worktree.
    """
    handle = typed_handle(target, view.scope.root, view.snapshot.by_path)
    ref = view.scope.ref
    if handle.ref and handle.ref != ref:
        raise BadHandle(target, f"it is at another ref, {handle.ref!r}; ask at that ref")
    below = _below(view, handle)
    if below is not None:
        return _folder(view, _descended(handle.path or b"", below), below, ref)
    reader = reader_of(view)
    place = Finder(view.snapshot, reader.symbols, ref).find(handle)
    notes = [place.moved] if place.moved else []
    file = _file(view, reader, place, ref, notes)
    return OutlineAnswer(view.receipt(), place.handle, (file,), (), tuple(notes))


def with_detail(answer: OutlineAnswer, detail: str) -> OutlineAnswer:
    """Reduce an outline to a level of detail.

    Args:
        answer: the full outline.
        detail: one of `DETAILS`.
    """
    if detail == DETAILS[-1]:
        return answer
    if detail == DETAILS[0]:
        files = (
            replace(
                file,
                imports=(),
                items=tuple(replace(item, signature="", doc="", owner="") for item in file.items),
            )
            for file in answer.files
        )
    else:
        files = (
            replace(file, items=tuple(replace(item, doc="") for item in file.items))
            for file in answer.files
        )
    return replace(answer, files=tuple(files))


def tokens_of(size_bytes: int) -> int:
    """Estimated cost of a text, in tokens of a model."""
    return -(-size_bytes // _BYTES_PER_TOKEN)


def _below(view: CurrentView, handle: Handle) -> list[FileRow] | None:
    """The files below a folder; None if the handle does not name a folder."""
    if handle.path is None or not (handle.bare or not handle.symbol) or handle.lines:
        return None
    if not handle.path:
        return list(view.snapshot.files)
    if handle.path in view.snapshot.by_path:
        return None
    prefix = handle.path + b"/"
    return [file for file in view.snapshot.files if file.path.startswith(prefix)] or None


def _file(
    view: CurrentView, reader: Reader, place: Place, ref: str, notes: list[str]
) -> OutlineFile:
    """One file with its current text; from the view if it cannot be read."""
    file = place.file
    try:
        data = reader.data(file)
    except (ReadError, HandleNotFound) as error:
        notes.append(str(error))
        return _from_view(view, file, known_symbols(view.snapshot, file), ref)
    symbols = reader.symbols(file)
    shown_ordinals = [
        at for at, symbol in enumerate(symbols) if _belongs(place, symbols, at, symbol)
    ]
    if len(shown_ordinals) > _FILE_ITEMS:
        notes.append(
            f"{count_of(len(shown_ordinals) - _FILE_ITEMS, 'more definition')} in "
            f"{printed(file.path)} left "
            "out; outline one by its handle"
        )
    return OutlineFile(
        path=printed(file.path),
        language=reader.language(file),
        outcome=reader.outcome(file),
        lines=data.count(b"\n") + (not data.endswith(b"\n") and bool(data)),
        tokens=tokens_of(len(data)),
        items=tuple(items_of(file.path, symbols, shown_ordinals[:_FILE_ITEMS], ref)),
        imports=_imports(view, file) if place.symbol is None and place.lines is None else (),
    )


def _imports(view: CurrentView, file: FileRow) -> tuple[str, ...]:
    """What a file imports, by module in their order; empty for a stale file."""
    if file.content is None or file.path in view.snapshot.stale:
        return ()
    names: dict[str, list[str]] = {}
    for imported in references_of(view.snapshot.db, file.content)[1]:
        listed = names.setdefault(imported.module, [])
        text = f"{imported.name} as {imported.alias}" if imported.alias else imported.name
        if imported.name and text not in listed:
            listed.append(text)
    return tuple(
        f"{module} ({', '.join(listed)})" if listed else module for module, listed in names.items()
    )


def declarations(reader: Reader, place: Place, ref: str) -> list[OutlineItem]:
    """The declarations in a place, without bodies; those of a definition include its members.

    Raises:
        ReadError: it cannot be read.
        HandleNotFound: it is gone.
    """
    reader.data(place.file)
    symbols = reader.symbols(place.file)
    ordinals = [at for at, symbol in enumerate(symbols) if _belongs(place, symbols, at, symbol)]
    return list(items_of(place.file.path, symbols, ordinals[:_FILE_ITEMS], ref))


def _belongs(place: Place, symbols: Sequence[Symbol], at: int, symbol: Symbol) -> bool:
    if place.lines is not None:
        lines = place.lines
        return symbol.start_line <= lines.end_line and symbol.end_line >= lines.start_line
    if place.symbol is None:
        return True
    while at >= 0:
        if symbols[at] == place.symbol:
            return True
        at = symbols[at].parent
    return False


def _descended(path: bytes, below: list[FileRow]) -> bytes:
    """Descend through folders that contain nothing but one folder."""
    shared = os.path.commonpath([os.path.dirname(file.path) for file in below]) if below else b""
    return shared if len(shared) > len(path) else path


def _folder(view: CurrentView, path: bytes, below: list[FileRow], ref: str) -> OutlineAnswer:
    snapshot = view.snapshot
    about = snapshot.about({file.content for file in below if file.content is not None})
    prefix = path + b"/" if path else b""
    own: list[FileRow] = []
    folders: dict[bytes, tuple[int, int]] = {}
    inside: dict[bytes, list[FileRow]] = {}
    for file in below:
        name, sign, _ = file.path[len(prefix) :].partition(b"/")
        if not sign:
            own.append(file)
            continue
        inside.setdefault(name, []).append(file)
        count, size = folders.get(name, (0, 0))
        folders[name] = (count + 1, size + _size(about, file))
    own.sort(key=lambda file: file.path)
    shown = own[:_FOLDER_FILES]
    symbols = snapshot.symbols({file.content for file in shown if file.content is not None})
    more: list[str] = []
    files = tuple(
        _from_view(view, file, symbols.get(file.content or 0, ()), ref, about=about, more=more)
        for file in shown
    )
    return OutlineAnswer(
        receipt=view.receipt(),
        target=printed(path) or ".",
        files=files,
        folders=tuple(
            OutlineFolder(printed(_descended(prefix + name, inside[name])), count, tokens_of(size))
            for name, (count, size) in sorted(folders.items())
        ),
        notes=tuple(_folder_notes(more, len(own) - len(shown), printed(path) or ".")),
    )


def _folder_notes(more: list[str], files: int, shown: str) -> Iterator[str]:
    yield from more[:_NOTES]
    if len(more) > _NOTES:
        yield f"more definitions also in {count_of(len(more) - _NOTES, 'other file')}"
    if files:
        yield f"{count_of(files, 'more file')} in {shown}; search, or outline one by its path"


def _from_view(
    view: CurrentView,
    file: FileRow,
    symbols: Sequence[Symbol],
    ref: str,
    *,
    about: dict[int, Content] | None = None,
    more: list[str] | None = None,
) -> OutlineFile:
    """One file as the view has it, with top-level definitions only."""
    if about is None:
        about = view.snapshot.about([file.content] if file.content is not None else [])
    content = about.get(file.content) if file.content is not None else None
    top = [at for at, symbol in enumerate(symbols) if symbol.parent < 0]
    left = len(top) - _FOLDER_ITEMS
    # If not all fit, definitions with behavior are preferred to values.
    weighty = sorted(top, key=lambda at: symbols[at].kind in _VALUES)[:_FOLDER_ITEMS]
    if more is not None and left > 0:
        more.append(f"{count_of(left, 'more definition')} in {printed(file.path)}: outline it")
    return OutlineFile(
        path=printed(file.path),
        language=content.language if content else "",
        outcome=content.outcome if content else _STATES.get(file.state, "unknown"),
        lines=content.lines if content else 0,
        tokens=tokens_of(_size(about, file)),
        items=tuple(items_of(file.path, symbols, sorted(weighty), ref)),
        stale=file.path in view.snapshot.stale,
    )


def _size(about: dict[int, Content], file: FileRow) -> int:
    content = about.get(file.content) if file.content is not None else None
    return content.size_bytes if content else 0


def items_of(
    path: bytes, symbols: Sequence[Symbol], ordinals: Sequence[int], ref: str
) -> Iterator[OutlineItem]:
    """Some definitions of a file, folded; members are indented below their parent."""
    handles = handles_of(path, symbols, ref)
    depths: dict[int, int] = {}
    for at in ordinals:
        symbol = symbols[at]
        # A parent that is left out does not indent its members.
        depths[at] = depths.get(symbol.parent, -1) + 1
        yield OutlineItem(
            handle=handles[at],
            name=shown_name(path, symbol.qualified),
            kind=symbol.kind,
            signature=_signature(path, symbol),
            doc=first_doc_line(symbol.doc),
            start_line=symbol.start_line,
            end_line=symbol.end_line,
            depth=depths[at],
            exported=symbol.exported,
            owner=_owner(symbols, symbol),
        )


def _signature(path: bytes, symbol: Symbol) -> str:
    """The signature of a definition; that of a component with the name of its file."""
    name = shown_name(path, symbol.qualified)
    if name == symbol.qualified or symbol.kind != "class":
        return symbol.signature
    return symbol.signature.replace("component", f"component {name}", 1)


def _owner(symbols: Sequence[Symbol], symbol: Symbol) -> str:
    """The part of a qualified name between the enclosing definition and the name itself."""
    around = f"{symbols[symbol.parent].qualified}." if symbol.parent >= 0 else ""
    inside = symbol.qualified.removeprefix(around)
    return inside.removesuffix(symbol.name).rstrip(".") if inside != symbol.name else ""


# Reads the text that a handle names, or reports why it cannot.

_NEAR_SHOWN = 20
_ALSO_SHOWN = 4
_DEFINITIONS_SHOWN = 10
_MOST_OWNERS = 6
"""Maximum definitions of one name; with more, they are only listed for a choice."""
_LEAST_LINES = 20


class Reading(NamedTuple):
    """How much of a handle is read."""

    context: int = 0
    """Extra lines before and after."""
    max_lines: int = 400
    """Maximum lines, including context."""
    sent: SentBodies | None = None
    """What the session was already sent."""
    folded: bool = False
    """Only declarations, without bodies."""


def excerpts(
    requested: str,
    view: CurrentView,
    view_at: Callable[[str], CurrentView],
    reading: Reading,
) -> list[Excerpt]:
    """Read one handle; the excerpt's `error` says what cannot be followed or read.

    If a few definitions share a name, returns each of them, with an equal share of the lines.

    Args:
        requested: the handle.
        view: the current view.
        view_at: returns the view of another ref, for a handle with a ref.
        reading: how much to read.
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
    """Each of several definitions of a name, with a note that there are others."""
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
    reader = reader_of(view)
    try:
        place = Finder(view.snapshot, reader.symbols, view.scope.ref, reader.data).find(handle)
    except HandleNotFound as error:
        folder = _whole_folder(handle, view)
        if not folder:
            raise _with_definitions(error, handle, view, reader) from error
        raise HandleError(f"{folder!r} is a folder: outline it, or expand a file in it") from error
    if reading.folded:
        return _declarations(requested, place, reader, view.scope.ref, reading.max_lines)
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
    """Widen a definition to include the comment directly above it, as lines."""
    if place.symbol is None:
        return place
    start, end = place.symbol.start_line, place.symbol.end_line
    lines = decode(reader.data(place.file)).decode("utf-8", "replace").split("\n")
    first = comment_start(lines, start) if start <= len(lines) else start
    return place if first == start else place._replace(symbol=None, lines=Span(first, end))


def _declarations(
    requested: str, place: Place, reader: Reader, ref: str, max_lines: int
) -> Excerpt:
    """The declarations in a place, without bodies, one line each."""
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
    """An error about a missing name, extended by the names that the file has."""
    file = view.snapshot.by_path.get(handle.path) if handle.path is not None else None
    if file is None or not handle.symbol or handle.bare:
        return error
    names = list(
        dict.fromkeys(shown_name(file.path, symbol.qualified) for symbol in reader.symbols(file))
    )
    if not names:
        return error
    import difflib

    # Names that resemble the missing one come first, then those at the top of the file.
    alike = difflib.get_close_matches(handle.symbol, names, _DEFINITIONS_SHOWN, 0.5)
    names = list(dict.fromkeys([*alike, *names]))
    more = ": outline it" if len(names) > _DEFINITIONS_SHOWN else ""
    shown = some_of(names, _DEFINITIONS_SHOWN)
    why = f"{error.why}; " if error.why else ""
    return HandleNotFound(
        error.text, error.near, f"{why}{printed(file.path)} defines {shown}{more}"
    )


def also_at(place: Place) -> str:
    """A sentence on the other places of the same definition; empty if there are none."""
    if not place.also:
        return ""
    symbol = place.symbol
    kind = "variable" if symbol and symbol.kind in {"variable", "constant"} else "function"
    return f"the same {kind} also at {some_of(place.also, _ALSO_SHOWN)}"


def _whole_folder(handle: Handle, view: CurrentView) -> str:
    """The printed path of the folder that a handle names; empty if it names none."""
    if handle.path is None or (handle.symbol and not handle.bare):
        return ""
    prefix = handle.path + b"/"
    if handle.path and not any(path.startswith(prefix) for path in view.snapshot.by_path):
        return ""
    return printed(handle.path) or "."


def _message(error: Exception, view: CurrentView) -> str:
    """The message of an error; while files are unread, it does not deny existence."""
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
