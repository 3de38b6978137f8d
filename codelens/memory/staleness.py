"""Judges by hashes whether saved places are current, moved, changed or gone in a view.

Line ends and the indentation of the first line do not count: a checkout with other line ends, or a
function that became a method, has the same text.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from codelens.errors import AmbiguousHandle, HandleError, HandleNotFound, OutsideWorktree, ReadError
from codelens.handles.handle_grammar import (
    Handle,
    file_handle,
    handle_among,
    lines_handle,
    symbol_handle,
)
from codelens.handles.handle_lookup import Finder, Place
from codelens.handles.handle_reading import Reader
from codelens.scope.commits import read_tree
from codelens.scope.repository import Repository, Scope
from codelens.scope.text_diff import RENAME_SIMILARITY, line_weights, similarity
from codelens.store.facts.contents import hashes, with_hash
from codelens.store.facts.resolution_facts import key_of
from codelens.store.saved.context_rows import Item
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import CommitId, RelPath, Span, Symbol

_ALL_LINES = 1 << 60


def body_of(lines: Sequence[str]) -> bytes:
    """A 16-byte hash of a text."""
    first = lines[0] if lines else ""
    indent = first[: len(first) - len(first.lstrip())]
    return _hash("\n".join(line.removeprefix(indent) for line in lines))


def shape_of(lines: Sequence[str], name: str) -> bytes:
    """Like `body_of`, without the definition's name in the text: equal after a rename."""
    if not name:
        return body_of(lines)
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return body_of([word.sub("\0", line) for line in lines])


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


class Texts:
    """Current lines and definitions of the files of one view; each file is read once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lines: dict[bytes, list[str] | None] = {}

    def lines(self, file: FileRow) -> list[str] | None:
        """The file's lines without line ends; None if it is not text or cannot be read."""
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
        """The hash of a whole file, text or binary; None if it cannot be read."""
        try:
            data = self._reader.data(file).replace(b"\r\n", b"\n")
        except (ReadError, HandleNotFound, OutsideWorktree):
            return None
        return blake2b(data, digest_size=16).digest()

    def symbols(self, file: FileRow) -> Sequence[Symbol]:
        """The file's definitions."""
        return self._reader.symbols(file)

    def of(self, file: FileRow, symbol: Symbol) -> list[str]:
        """The lines of a definition."""
        return (self.lines(file) or [])[symbol.start_line - 1 : symbol.end_line]


# Follows renamed files: by identical content, else like git by shared lines.
#
# A file that existed together with the old one is a copy, not its new name, so only files that the
# old file's commit lacks are candidates. Measure and threshold are git's (diffcore-rename: shared
# bytes as a share of the larger file, at least half), counted in lines.

_COMPARED = 200

ReadFile = Callable[[FileRow], bytes | None]
TextOf = Callable[[bytes], bytes]


class Renames:
    """Follows files from commits into one view.

    Args:
        repository: the repository of the commits.
        snapshot: the view.
        read: returns the current text of a file of the view.
        text_of: decodes a file's bytes.
    """

    def __init__(
        self, repository: Repository, snapshot: Snapshot, read: ReadFile, text_of: TextOf
    ) -> None:
        self._repository = repository
        self._snapshot = snapshot
        self._read = read
        self._text_of = text_of
        self._trees: dict[str, dict[bytes, bytes]] = {}
        self._targets: dict[tuple[bytes, bytes, str], FileRow | None] = {}

    def target(self, path: bytes, content: bytes, head: str) -> FileRow | None:
        """The file of the view that was once `path`; None if it is gone.

        Args:
            path: the former path.
            content: hash of the former content; empty if unknown.
            head: the commit at which it was seen; empty if there was none.
        """
        key = (path, content, head)
        if key not in self._targets:
            before = self._tree(head)
            self._targets[key] = self._same(path, content, before) or self._alike(path, before)
        return self._targets[key]

    def _same(self, path: bytes, content: bytes, before: dict[bytes, bytes]) -> FileRow | None:
        if not content:
            return None
        files = [
            file
            for row in with_hash(self._snapshot.db, content)
            for file in self._snapshot.by_content.get(row, ())
            if file.path not in before
        ]
        named = [file for file in files if _name(file.path) == _name(path)]
        chosen = named or files
        return chosen[0] if len(chosen) == 1 else None

    def _alike(self, path: bytes, before: dict[bytes, bytes]) -> FileRow | None:
        if path not in before:
            return None
        try:
            old = self._text_of(self._repository.read_blob(before[path]))
        except ReadError:
            return None
        added = [file for file in self._snapshot.files if file.path not in before]
        added.sort(key=lambda file: (_name(file.path) != _name(path), _kind(file.path, path)))
        best, highest = None, RENAME_SIMILARITY
        lines = _weights(old)
        for file in added[:_COMPARED]:
            data = self._read(file)
            if data is None or min(len(data), len(old)) < RENAME_SIMILARITY * max(
                len(data), len(old)
            ):
                continue
            score = similarity(lines, _weights(data))
            if score > highest or (best is None and score >= highest):
                best, highest = file, score
        return best

    def _tree(self, head: str) -> dict[bytes, bytes]:
        """Path -> object id at a commit; empty if the commit is not in this clone."""
        if head not in self._trees:
            entries: dict[bytes, bytes] = {}
            if head and self._repository.is_git:
                try:
                    files = read_tree(self._repository, CommitId(head)).files
                    entries = {file.path: file.oid for file in files}
                except ReadError:
                    # The clone lacks the commit, as after a rebase and a `git gc`, so only the
                    # content can identify the file.
                    entries = {}
            self._trees[head] = entries
        return self._trees[head]


def _weights(data: bytes) -> Counter[bytes]:
    """Bytes per distinct line, regardless of line ends."""
    return line_weights(line.removesuffix(b"\r") + b"\n" for line in data.split(b"\n"))


def _name(path: bytes) -> bytes:
    return os.path.basename(path)


def _kind(path: bytes, other: bytes) -> tuple[bool, bytes]:
    return os.path.splitext(path)[1] != os.path.splitext(other)[1], path


# Judges saved items in the current view: current, moved, changed or gone.
#
# A definition is searched for by its name in its file, then in the file's new place, then anywhere
# by name and identical text, then in its file under another name with identical text. Nothing else
# counts as the same: a definition with the same name but another text elsewhere is only suggested.

CURRENT, MOVED, CHANGED, GONE, UNKNOWN = "current", "moved", "changed", "gone", "unknown"
_NEAR_SHOWN = 3
_NAMESAKES_READ = 100


class Verdict(NamedTuple):
    """The state of one item."""

    status: str
    """`current`, `moved`, `changed` (moved or not), `gone`; `unknown` without a view."""
    saved_handle: str
    """Its handle when it was saved."""
    handle: str
    """Its current handle; the saved one if it is gone."""
    start_line: int = 0
    end_line: int = 0
    near: tuple[str, ...] = ()
    """Handles of what resembles a gone item."""


class Judge:
    """Judges items in one view.

    Args:
        repository: the repository of the commits at which items were seen.
        scope: the scope of the view.
        snapshot: the view.
        reader: reads the view's files as they are now.
        read: returns the current text of a file, or None.
    """

    def __init__(
        self,
        repository: Repository,
        scope: Scope,
        snapshot: Snapshot,
        reader: Reader,
        read: ReadFile,
    ) -> None:
        self._snapshot = snapshot
        self._scope = scope
        self._ref = scope.ref
        self._texts = Texts(reader)
        self._finder = Finder(snapshot, self._texts.symbols, self._ref)
        self._renames = Renames(repository, snapshot, read, reader.text_of)

    def item_of(self, place: Place, ref: str = "") -> Item:
        """Make an item that identifies a place later.

        Args:
            place: a place in this view.
            ref: the ref in its handle.

        Raises:
            HandleNotFound: the file lacks these lines.
        """
        file, texts = place.file, self._texts
        content_hashes = {} if file.content is None else hashes(self._snapshot.db, [file.content])
        content = bytes(content_hashes.get(file.content or 0, b""))
        item = Item("file", file.path, content=content, ref=ref, head=self._scope.head)
        if place.symbol is not None:
            lines = texts.of(file, place.symbol)
            return item._replace(
                kind="symbol",
                symbol=place.symbol.qualified,
                number=_number(texts.symbols(file), place.symbol),
                body=body_of(lines),
                shape=shape_of(lines, place.symbol.name),
            )
        if place.lines is None:
            return item._replace(body=texts.whole(file) or b"")
        whole = texts.lines(file) or []
        start, end = place.lines.start_line, min(place.lines.end_line, len(whole))
        around = _innermost(texts.symbols(file), start, end)
        return item._replace(
            kind="lines",
            symbol=around.qualified if around else "",
            number=_number(texts.symbols(file), around) if around else 1,
            start_line=start,
            end_line=end,
            below=start - around.start_line if around else 0,
            body=body_of(whole[start - 1 : end]),
            shape=body_of(whole[start - 1 : start]),
        )

    def verdict(self, item: Item) -> Verdict:
        """Judge an item in this view."""
        file = self._snapshot.by_path.get(item.path)
        if item.kind == "symbol":
            judged = self._symbol(item, file)
        else:
            target = file or self._target(item)
            of_kind = self._file if item.kind == "file" else self._lines
            judged = None if target is None else of_kind(item, target)
        return judged or Verdict(GONE, handle_of(item), handle_of(item), near=self._near(item))

    def _target(self, item: Item) -> FileRow | None:
        return self._renames.target(item.path, item.content, item.head)

    def _symbol(self, item: Item, file: FileRow | None) -> Verdict | None:
        target = file or self._target(item)
        verdict = self._of_name(item, target) if target else None
        return (
            verdict
            or self._elsewhere(item)
            or (self._of_other_name(item, target) if target else None)
        )

    def _of_name(self, item: Item, file: FileRow) -> Verdict | None:
        """Find the item by name in a file; the same text counts more than the same ordinal."""
        symbols = self._texts.symbols(file)
        named = [at for at, symbol in enumerate(symbols) if symbol.qualified == item.symbol]
        if not named:
            return None
        same = [at for at in named if body_of(self._texts.of(file, symbols[at])) == item.body]
        at = named[min(item.number, len(named)) - 1]
        if same:
            is_same_place = at in same and item.number <= len(named)
            at = at if is_same_place else same[0]
            status = CURRENT if is_same_place and file.path == item.path else MOVED
        else:
            status = CHANGED
        return self._place_of(status, item, file, symbols, at)

    def _elsewhere(self, item: Item) -> Verdict | None:
        """Find the item by its name and identical text, if only one definition matches."""
        own = item.symbol.rpartition(".")[2]
        files = {
            file.path: file
            for key in {key_of(own), key_of(item.symbol)}
            for file, _, symbol in self._snapshot.symbols_with_key(key)
            if symbol.name in {own, item.symbol}
        }
        matches: list[tuple[FileRow, Sequence[Symbol], int]] = []
        for file in list(files.values())[:_NAMESAKES_READ]:
            symbols = self._texts.symbols(file)
            matches += [
                (file, symbols, at)
                for at, symbol in enumerate(symbols)
                if symbol.name in {own, item.symbol}
                and body_of(self._texts.of(file, symbol)) == item.body
            ]
        return self._place_of(MOVED, item, *matches[0]) if len(matches) == 1 else None

    def _of_other_name(self, item: Item, file: FileRow) -> Verdict | None:
        symbols = self._texts.symbols(file)
        ordinals = [
            at
            for at, symbol in enumerate(symbols)
            if shape_of(self._texts.of(file, symbol), symbol.name) == item.shape
        ]
        return (
            self._place_of(MOVED, item, file, symbols, ordinals[0]) if len(ordinals) == 1 else None
        )

    def _place_of(
        self, status: str, item: Item, file: FileRow, symbols: Sequence[Symbol], at: int
    ) -> Verdict:
        symbol = symbols[at]
        handle = handle_among(file.path, symbols, at, self._ref)
        return Verdict(status, handle_of(item), handle, symbol.start_line, symbol.end_line)

    def _file(self, item: Item, file: FileRow) -> Verdict | None:
        whole = self._texts.whole(file)
        if whole is None:
            return None
        status = CURRENT if file.path == item.path else MOVED
        if whole != item.body:
            status = CHANGED
        return Verdict(status, handle_of(item), file_handle(file.path, self._ref))

    def _lines(self, item: Item, file: FileRow) -> Verdict | None:
        lines = self._texts.lines(file)
        if lines is None:
            return None
        # Where the lines are if nothing but the text above their definition changed.
        start = item.start_line + self._shift(item, file)
        size = item.end_line - item.start_line + 1
        places = [
            at
            for at in range(1, len(lines) - size + 2)
            if body_of(lines[at - 1 : at]) == item.shape
            and body_of(lines[at - 1 : at - 1 + size]) == item.body
        ]
        if places:
            at = min(places, key=lambda line: (abs(line - start), line))
            is_same_place = at == item.start_line and file.path == item.path
            return self._lines_verdict(CURRENT if is_same_place else MOVED, item, file, at, size)
        if start > len(lines):
            return Verdict(CHANGED, handle_of(item), file_handle(file.path, self._ref))
        return self._lines_verdict(
            CHANGED, item, file, max(start, 1), min(size, len(lines) - start + 1)
        )

    def _lines_verdict(
        self, status: str, item: Item, file: FileRow, start: int, size: int
    ) -> Verdict:
        handle = lines_handle(file.path, start, start + size - 1, self._ref)
        return Verdict(status, handle_of(item), handle, start, start + size - 1)

    def _shift(self, item: Item, file: FileRow) -> int:
        """How many lines the definition around the lines has moved down."""
        if not item.symbol:
            return 0
        named = [symbol for symbol in self._texts.symbols(file) if symbol.qualified == item.symbol]
        if not named:
            return 0
        now = named[min(item.number, len(named)) - 1].start_line + item.below
        return now - item.start_line

    def _near(self, item: Item) -> tuple[str, ...]:
        path = RelPath(item.path)
        if item.kind == "symbol":
            handle = Handle(path, item.symbol)
        else:
            span = Span(item.start_line, item.end_line) if item.kind == "lines" else None
            handle = Handle(path, lines=span)
        try:
            return (self._finder.find(handle).handle,)
        except AmbiguousHandle as error:
            return error.owners[:_NEAR_SHOWN]
        except HandleError as error:
            near: tuple[str, ...] = getattr(error, "near", ())
            return near[:_NEAR_SHOWN]


def handle_of(item: Item) -> str:
    """The saved handle of an item, without a ref."""
    if item.kind == "symbol":
        return symbol_handle(item.path, item.symbol, item.number)
    if item.kind == "lines":
        return lines_handle(item.path, item.start_line, item.end_line)
    return file_handle(item.path)


def unseen(item: Item) -> Verdict:
    """The verdict without a view."""
    return Verdict(UNKNOWN, handle_of(item), handle_of(item))


def _number(symbols: Sequence[Symbol], symbol: Symbol) -> int:
    """The definition's position among those with its name in its file, from 1."""
    named = [other for other in symbols if other.qualified == symbol.qualified]
    return next((at for at, other in enumerate(named, 1) if other == symbol), 1)


def _innermost(symbols: Sequence[Symbol], start: int, end: int) -> Symbol | None:
    around = [symbol for symbol in symbols if symbol.start_line <= start and symbol.end_line >= end]
    return max(around, key=lambda symbol: (symbol.start_line, -symbol.end_line), default=None)
