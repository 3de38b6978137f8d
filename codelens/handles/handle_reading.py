"""Reads what a handle names: from the disk, or for a ref from the git object; never stored text.

`Reader` reads each file once, so that a symbol's lines are those of the very bytes that are
given back, even where the file changed since the view last looked at it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from codelens.errors import HandleNotFound, OutsideWorktree, ReadError
from codelens.extract.file_kinds import classify, decode, readable
from codelens.extract.language_detection import language_of
from codelens.handles.handle_grammar import lines_handle
from codelens.handles.handle_lookup import Place
from codelens.paths import printed
from codelens.scan.content_hash import hash_of, read_file
from codelens.scope.commits import file_at
from codelens.scope.repository import Repository, Scope
from codelens.store.facts.contents import TIER_FULL, find, symbols_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import RelPath, Symbol

READ_LIMIT_BYTES = 64 * 1024 * 1024
"""Larger files are refused: their lines cannot be told without reading all of them."""

Extract = Callable[[bytes, str], Sequence[Symbol]]
"""The symbols of a text in a language."""


class Text(NamedTuple):
    """Lines of a file, as they are now."""

    start_line: int
    end_line: int
    """Of `text`: context included, what was cut off not."""
    text: str
    """With the line ends that the file has; bytes that are no UTF-8 replaced."""
    truncated: bool
    last_line: int
    """Of the place and its context, cut off or not."""
    language: str
    file_lines: int


class Reader:
    """Reads files of one view.

    Args:
        extract: for texts that the store does not know.
        languages: path glob -> language, as the settings have it.
    """

    def __init__(
        self,
        repository: Repository,
        scope: Scope,
        snapshot: Snapshot,
        extract: Extract,
        languages: Mapping[str, str] | None = None,
    ) -> None:
        self._repository = repository
        self._scope = scope
        self._snapshot = snapshot
        self._extract = extract
        self._overrides = languages or {}
        self._data: dict[bytes, bytes] = {}
        self._symbols: dict[bytes, Sequence[Symbol]] = {}

    def data(self, file: FileRow) -> bytes:
        """The file's bytes, read once.

        Raises:
            ReadError: it cannot be read, or is too large.
            HandleNotFound: it is gone.
            OutsideWorktree: a folder above it was replaced by a link that leads out.
        """
        known = self._data.get(file.path)
        if known is None:
            path = RelPath(file.path)
            known = self._blob(path) if self._scope.kind == "ref" else self._disk(path)
            self._data[file.path] = known
        return known

    @staticmethod
    def text_of(data: bytes) -> bytes:
        """The text of a file that has these bytes, as the index has it."""
        return readable(data)

    def symbols(self, file: FileRow) -> Sequence[Symbol]:
        """The file's symbols as its text is now; none where it cannot be read."""
        known = self._symbols.get(file.path)
        if known is None:
            try:
                known = self.symbols_in(file.path, self.data(file))
            except (ReadError, HandleNotFound, OutsideWorktree):
                known = ()
            self._symbols[file.path] = known
        return known

    def symbols_in(self, path: bytes, data: bytes) -> Sequence[Symbol]:
        """The symbols of any text, as a file of this name has them."""
        if classify(data)[0] != "parsed":
            return ()
        language = self._language(path, data)
        key = (hash_of(data), language)
        known = find(self._snapshot.db, [key]).get(key)
        if known is not None and known.tier == TIER_FULL:
            return symbols_of(self._snapshot.db, [known.id]).get(known.id, ())
        return self._extract(data, language)

    def language(self, file: FileRow) -> str:
        """The language that the file is read in."""
        return self._language(file.path, self.data(file))

    def outcome(self, file: FileRow) -> str:
        """What its text is: `parsed`, `text`, `minified`, `binary`, ..."""
        existing = classify(self.data(file))[0]
        return "text" if existing == "parsed" and self.language(file) == "text" else existing

    def read(self, place: Place, context: int, max_lines: int) -> Text:
        """The text of a place, with `context` lines before and after, at most `max_lines` in all.

        Raises:
            HandleNotFound: the file has no such lines, or is gone.
            ReadError: it cannot be read, is too large, or is no text.
        """
        file = place.file
        data = self.data(file)
        if classify(data)[0] == "binary":
            raise ReadError(
                f"{printed(file.path)!r} is a binary file of {len(data):,} bytes; it has no text"
            )
        lines = _lines(data)
        start, end = self._span(place, len(lines))
        start, end = max(1, start - context), min(len(lines), end + context)
        shown = min(end, start + max_lines - 1)
        return Text(
            start_line=start if lines else 0,
            end_line=shown,
            text="".join(lines[start - 1 : shown]),
            truncated=shown < end,
            last_line=end,
            language=self.language(file),
            file_lines=len(lines),
        )

    def _span(self, place: Place, count: int) -> tuple[int, int]:
        if place.symbol is not None:
            return place.symbol.start_line, place.symbol.end_line
        if place.lines is None:
            return 1, count
        if place.lines.start_line > count:
            near = [lines_handle(place.file.path, 1, count)] if count else []
            raise HandleNotFound(place.handle, near, f"the file has {count:,} lines")
        return place.lines.start_line, min(place.lines.end_line, count)

    def _language(self, path: bytes, data: bytes) -> str:
        return language_of(RelPath(path), data, self._overrides)

    def _blob(self, path: RelPath) -> bytes:
        oid = file_at(self._repository, self._scope.head, path)
        if oid is None:
            raise HandleNotFound(printed(path), why=f"no file at {self._scope.ref}")
        return self._repository.read_blob(oid)

    def _disk(self, path: RelPath) -> bytes:
        root = os.path.realpath(os.fsencode(self._scope.root))
        target = os.path.join(root, path)
        folder = os.path.dirname(target)
        # The file itself is opened without following a link; the folders above must not be any.
        if os.path.normcase(os.path.realpath(folder)) != os.path.normcase(os.path.normpath(folder)):
            raise OutsideWorktree(printed(path))
        try:
            return read_file(target, READ_LIMIT_BYTES).data
        except FileNotFoundError as error:
            raise HandleNotFound(printed(path), why="the file is gone") from error


def _lines(data: bytes) -> list[str]:
    """Lines as the extractor counts them: LF ends one, and nothing else does."""
    text = decode(data).decode("utf-8", "replace")
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])
