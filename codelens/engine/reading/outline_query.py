"""A file or folder, folded: what is defined where, and what reading all of it would cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codelens.answers.reading_answers import OutlineAnswer, OutlineFile, OutlineFolder, OutlineItem
from codelens.engine.adhoc_reader import reader_of
from codelens.engine.current_view import CurrentView
from codelens.errors import BadHandle, HandleNotFound, ReadError
from codelens.handles.handle_grammar import Handle
from codelens.handles.handle_lookup import Finder, Place
from codelens.handles.handle_naming import handles_of, known_symbols
from codelens.handles.handle_reading import Reader
from codelens.handles.typed_handle import typed_handle
from codelens.paths import printed
from codelens.plurals import count_of
from codelens.render.text_pieces import first_doc_line
from codelens.store.facts.contents import Content, references_of
from codelens.store.views.views import OVERSIZED, PENDING, UNREADABLE, FileRow
from codelens.types import Symbol

DETAILS = ("names", "signatures", "docs")
"""How much is shown of each definition; imports of a file with all but the first."""
_FILE_ITEMS = 500
_FOLDER_FILES = 60
_FOLDER_ITEMS = 12
_NOTES = 8
_BYTES_PER_TOKEN = 4
_VALUES = frozenset({"constant", "variable", "type", "key"})
_STATES = {OVERSIZED: "oversized", UNREADABLE: "unreadable", PENDING: "pending"}


def outline(view: CurrentView, target: str) -> OutlineAnswer:
    """The outline of a folder, a file, or what one definition holds.

    Args:
        view: the view.
        target: a folder (`.` is the root), or any handle.

    Raises:
        HandleNotFound, AmbiguousHandle: as `Finder.find`.
        BadHandle: it cannot be read, or names another ref than the one looked at.
        OutsideWorktree: it leads out of the worktree.
    """
    handle = typed_handle(target, view.scope.root, view.snapshot.by_path)
    ref = view.scope.ref if view.scope.kind == "ref" else ""
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
    """The answer with as much of each definition as is wanted.

    Args:
        answer: with all of it.
        detail: one of `DETAILS`.
    """
    if detail == DETAILS[-1]:
        return answer
    if detail == DETAILS[0]:
        files = (
            replace(file, imports=(), items=tuple(_named(item) for item in file.items))
            for file in answer.files
        )
    else:
        files = (
            replace(file, items=tuple(replace(item, doc="") for item in file.items))
            for file in answer.files
        )
    return replace(answer, files=tuple(files))


def _named(item: OutlineItem) -> OutlineItem:
    return replace(item, signature="", doc="", owner="")


def tokens_of(size_bytes: int) -> int:
    """What a text of so many bytes costs a model, about."""
    return -(-size_bytes // _BYTES_PER_TOKEN)


def _below(view: CurrentView, handle: Handle) -> list[FileRow] | None:
    """The files below a folder; None if the handle names no folder."""
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
    """One file, as its text is now; as the view has it where it cannot be read."""
    file = place.file
    try:
        data = reader.data(file)
    except (ReadError, HandleNotFound) as error:
        notes.append(str(error))
        return _known(view, file, known_symbols(view.snapshot, file), ref)
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
    """What a file imports, by module in their order; nothing of a file that is behind."""
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
    """What stands in a place, without bodies; a definition with those in it.

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
    """The folder, or the one in it where it holds nothing but that, and so on."""
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
        _known(view, file, symbols.get(file.content or 0, ()), ref, about=about, more=more)
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


def _known(
    view: CurrentView,
    file: FileRow,
    symbols: Sequence[Symbol],
    ref: str,
    *,
    about: dict[int, Content] | None = None,
    more: list[str] | None = None,
) -> OutlineFile:
    """One file as the view has it, its top-level definitions alone."""
    if about is None:
        about = view.snapshot.about([file.content] if file.content is not None else [])
    known = about.get(file.content) if file.content is not None else None
    top = [at for at, symbol in enumerate(symbols) if symbol.parent < 0]
    left = len(top) - _FOLDER_ITEMS
    # Where not all can be shown, values give way to what does something.
    weighty = sorted(top, key=lambda at: symbols[at].kind in _VALUES)[:_FOLDER_ITEMS]
    if more is not None and left > 0:
        more.append(f"{count_of(left, 'more definition')} in {printed(file.path)}: outline it")
    return OutlineFile(
        path=printed(file.path),
        language=known.language if known else "",
        outcome=known.outcome if known else _STATES.get(file.state, "unknown"),
        lines=known.lines if known else 0,
        tokens=tokens_of(_size(about, file)),
        items=tuple(items_of(file.path, symbols, sorted(weighty), ref)),
        stale=file.path in view.snapshot.stale,
    )


def _size(about: dict[int, Content], file: FileRow) -> int:
    known = about.get(file.content) if file.content is not None else None
    return known.size_bytes if known else 0


def items_of(
    path: bytes, symbols: Sequence[Symbol], ordinals: Sequence[int], ref: str
) -> Iterator[OutlineItem]:
    """Some definitions of a file, folded; what lies in another of them is deeper."""
    handles = handles_of(path, symbols, ref)
    depths: dict[int, int] = {}
    for at in ordinals:
        symbol = symbols[at]
        # A parent that is left out indents nothing.
        depths[at] = depths.get(symbol.parent, -1) + 1
        yield OutlineItem(
            handle=handles[at],
            name=symbol.qualified,
            kind=symbol.kind,
            signature=symbol.signature,
            doc=first_doc_line(symbol.doc),
            start_line=symbol.start_line,
            end_line=symbol.end_line,
            depth=depths[at],
            exported=symbol.exported,
            owner=_owner(symbols, symbol),
        )


def _owner(symbols: Sequence[Symbol], symbol: Symbol) -> str:
    """What stands in a qualified name between the definition around it and its own name."""
    around = f"{symbols[symbol.parent].qualified}." if symbol.parent >= 0 else ""
    inside = symbol.qualified.removeprefix(around)
    return inside.removesuffix(symbol.name).rstrip(".") if inside != symbol.name else ""
