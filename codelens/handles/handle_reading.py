"""Reads the text of a handle from the disk, or for a ref from the git object; never stored text.

`Reader` reads each file once, so that a symbol's lines match the returned bytes even if the file
changed since the view's last look.
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
from codelens.scan.content_hash import hash_of
from codelens.scan.files_below import FilesBelow
from codelens.scope.commits import CommitFolders
from codelens.scope.repository import Repository, Scope
from codelens.store.facts.contents import TIER_FULL, find, symbols_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import RelPath, Symbol

READ_LIMIT_BYTES = 64 * 1024 * 1024
"""Larger files are refused: finding their lines requires reading all of them."""

Extract = Callable[[bytes, str], Sequence[Symbol]]
"""The symbols of a text in a language."""


class Text(NamedTuple):
    """Lines of a file, as they are now."""

    start_line: int
    end_line: int
    """Last line of `text`, including context, after cutting."""
    text: str
    """With the line ends of the file; bytes that are not UTF-8 are replaced."""
    truncated: bool
    last_line: int
    """Last line of the place and its context, before cutting."""
    language: str
    file_lines: int


class Reader:
    """Reads files of one view.

    Args:
        extract: extracts the symbols of texts that the store lacks.
        languages: path glob -> language, as in the settings.
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
            HandleNotFound: it no longer exists.
            OutsideWorktree: a folder above it was replaced by a link out of the worktree.
        """
        content = self._data.get(file.path)
        if content is None:
            path = RelPath(file.path)
            content = self._blob(path) if self._scope.kind == "ref" else self._disk(path)
            self._data[file.path] = content
        return content

    @staticmethod
    def text_of(data: bytes) -> bytes:
        """The text of these bytes, decoded as for the index."""
        return readable(data)

    def symbols(self, file: FileRow) -> Sequence[Symbol]:
        """The symbols in the file's current text; empty if it cannot be read."""
        extracted = self._symbols.get(file.path)
        if extracted is None:
            try:
                extracted = self.symbols_in(file.path, self.data(file))
            except (ReadError, HandleNotFound, OutsideWorktree):
                extracted = ()
            self._symbols[file.path] = extracted
        return extracted

    def symbols_in(self, path: bytes, data: bytes) -> Sequence[Symbol]:
        """The symbols of any text, in the language of this file name."""
        if classify(data)[0] != "parsed":
            return ()
        language = self._language(path, data)
        key = (hash_of(data), language)
        stored = find(self._snapshot.db, [key]).get(key)
        if stored is not None and stored.tier == TIER_FULL:
            return symbols_of(self._snapshot.db, [stored.id]).get(stored.id, ())
        return self._extract(data, language)

    def language(self, file: FileRow) -> str:
        """The file's language."""
        return self._language(file.path, self.data(file))

    def outcome(self, file: FileRow) -> str:
        """The outcome of its text: `parsed`, `text`, `minified`, `binary`, ..."""
        existing = classify(self.data(file))[0]
        return "text" if existing == "parsed" and self.language(file) == "text" else existing

    def read(self, place: Place, context: int, max_lines: int) -> Text:
        """Read a place with `context` lines before and after, at most `max_lines` in all.

        Raises:
            HandleNotFound: the file lacks these lines, or no longer exists.
            ReadError: it cannot be read, is too large, or is not text.
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
        oid = CommitFolders(self._repository, self._scope.head).oid_of(path)
        if oid is None:
            raise HandleNotFound(printed(path), why=f"no file at {self._scope.ref}")
        return self._repository.read_blob(oid)

    def _disk(self, path: RelPath) -> bytes:
        root = os.path.realpath(os.fsencode(self._scope.root))
        target = os.path.join(root, path)
        folder = os.path.dirname(target)
        # Opening does not follow a link at the file; the folders above must not be links either.
        if os.path.normcase(os.path.realpath(folder)) != os.path.normcase(os.path.normpath(folder)):
            raise OutsideWorktree(printed(path))
        try:
            return FilesBelow(root).read(path, READ_LIMIT_BYTES).data
        except FileNotFoundError as error:
            raise HandleNotFound(printed(path), why="the file is gone") from error


def _lines(data: bytes) -> list[str]:
    """Lines as the extractor counts them: only LF ends a line."""
    text = decode(data).decode("utf-8", "replace")
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])
