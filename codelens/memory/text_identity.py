"""The text of a place, and the hashes by which it is known again.

Line ends and the indentation of the first line do not count: a checkout with other line ends, or
a function that became a method, has the same text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from codelens.errors import HandleNotFound, OutsideWorktree, ReadError
from codelens.handles.handle_lookup import Place
from codelens.handles.handle_reading import Reader
from codelens.store.views.views import FileRow
from codelens.types import Symbol

_ALL_LINES = 1 << 60


def body_of(lines: Sequence[str]) -> bytes:
    """16 bytes that tell this text from others."""
    first = lines[0] if lines else ""
    indent = first[: len(first) - len(first.lstrip())]
    return _hash("\n".join(line.removeprefix(indent) for line in lines))


def shape_of(lines: Sequence[str], name: str) -> bytes:
    """As `body_of`, of the text without the name of what it defines: the same when renamed."""
    if not name:
        return body_of(lines)
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return body_of([word.sub("\0", line) for line in lines])


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


class Texts:
    """Lines and definitions of the files of one view, as they are now; each file is read once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lines: dict[bytes, list[str] | None] = {}

    def lines(self, file: FileRow) -> list[str] | None:
        """Its lines without their ends; None where it has no text or it cannot be read."""
        if file.path not in self._lines:
            whole = Place(file, None, None, "", "")
            try:
                text = self._reader.read(whole, 0, _ALL_LINES).text
                bare_lines = [
                    line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")
                ]
                self._lines[file.path] = bare_lines if text else []
            except (ReadError, HandleNotFound, OutsideWorktree):
                self._lines[file.path] = None
        return self._lines[file.path]

    def whole(self, file: FileRow) -> bytes | None:
        """The hash of a whole file, text or not; None where it cannot be read."""
        try:
            data = self._reader.data(file).replace(b"\r\n", b"\n")
        except (ReadError, HandleNotFound, OutsideWorktree):
            return None
        return blake2b(data, digest_size=16).digest()

    def symbols(self, file: FileRow) -> Sequence[Symbol]:
        """Its definitions."""
        return self._reader.symbols(file)

    def of(self, file: FileRow, symbol: Symbol) -> list[str]:
        """The lines of a definition."""
        return (self.lines(file) or [])[symbol.start_line - 1 : symbol.end_line]
