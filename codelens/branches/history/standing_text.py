"""The whole lines of a definition, and whether and where a text has them."""

from __future__ import annotations

from codelens.branches.file_definitions import Definition, Lines


def lines_of(data: bytes, text: bytes) -> Lines | None:
    """Where some lines stand, first and last from 1; None unless they stand at one place."""
    plain = b"\n" + data.replace(b"\r\n", b"\n") + b"\n"
    block = b"\n" + text + b"\n"
    at = plain.find(block)
    if at < 0 or plain.find(block, at + 1) >= 0:
        return None
    first = plain.count(b"\n", 0, at) + 1
    return first, first + text.count(b"\n")


def whole_text(symbol: Definition) -> bytes:
    """All lines of a definition, the comments above it included."""
    if symbol.inline:
        return b"\n".join(symbol.file.lines[symbol.symbol.start_line - 1 : symbol.symbol.end_line])
    return b"\n".join(symbol.file.lines[symbol.start : symbol.stop])


def holds(data: bytes, text: bytes) -> bool:
    """Whether a file has some lines as they are."""
    if text not in data:
        return b"\r\n" in data and holds(data.replace(b"\r\n", b"\n"), text)
    return b"\n" + text + b"\n" in b"\n" + data + b"\n"
