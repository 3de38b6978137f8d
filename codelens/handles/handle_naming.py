"""From a place in a view to its handle."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.handles.handle_grammar import file_handle, lines_handle, symbol_handle
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import Symbol


def handle_of(snapshot: Snapshot, file: FileRow, at: int, ref: str = "") -> str:
    """The handle of a file's symbol by its position; of the file where there is no such symbol."""
    return handle_among(file.path, known_symbols(snapshot, file), at, ref)


def known_symbols(snapshot: Snapshot, file: FileRow) -> Sequence[Symbol]:
    """The symbols of a file as the view has them; it may be behind the disk."""
    if file.content is None:
        return ()
    return snapshot.symbols([file.content]).get(file.content, ())


def handle_among(path: bytes, symbols: Sequence[Symbol], at: int, ref: str = "") -> str:
    """As `handle_of`, where the file's symbols are known."""
    if not 0 <= at < len(symbols):
        return file_handle(path, ref)
    return symbol_handle(path, symbols[at].qualified, ordinal_of(symbols, at), ref)


def handles_of(path: bytes, symbols: Sequence[Symbol], ref: str = "") -> list[str]:
    """The handle of each symbol of a file, in order."""
    seen: dict[str, int] = {}
    handles: list[str] = []
    for symbol in symbols:
        seen[symbol.qualified] = ordinal = seen.get(symbol.qualified, 0) + 1
        handles.append(symbol_handle(path, symbol.qualified, ordinal, ref))
    return handles


def handle_of_lines(path: bytes, start_line: int, end_line: int, ref: str = "") -> str:
    """The handle of lines of a file; of the whole file where there are none."""
    if start_line < 1 or end_line < start_line:
        return file_handle(path, ref)
    return lines_handle(path, start_line, end_line, ref)


def ordinal_of(symbols: Sequence[Symbol], at: int) -> int:
    """Which of its name a symbol is in its file, from 1."""
    name = symbols[at].qualified
    return sum(symbol.qualified == name for symbol in symbols[: at + 1])
