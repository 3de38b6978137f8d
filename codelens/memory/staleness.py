"""How what was saved fares in the view one stands in: current, moved, changed or gone.

A definition is looked for in its file by its name, then where its file went, then anywhere by its
name and its very text, then under another name with its very text in its file. Nothing else
counts as the same: a namesake with another text in another file is only named as near.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codelens.errors import AmbiguousHandle, HandleError
from codelens.handles.handle_grammar import (
    Handle,
    file_handle,
    lines_handle,
    symbol_handle,
)
from codelens.handles.handle_lookup import Finder, Place
from codelens.handles.handle_naming import handle_among
from codelens.handles.handle_reading import Reader
from codelens.memory.rename_detection import ReadFile, Renames
from codelens.memory.text_identity import Texts, body_of, shape_of
from codelens.scope.repository import Repository, Scope
from codelens.store.facts.raw_hashes import hashes
from codelens.store.facts.symbol_keys import key_of
from codelens.store.saved.context_rows import Item
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import RelPath, Span, Symbol

CURRENT, MOVED, CHANGED, GONE, UNKNOWN = "current", "moved", "changed", "gone", "unknown"
_NEAR_SHOWN = 3
_NAMESAKES_READ = 100


class Verdict(NamedTuple):
    """How one item fares."""

    status: str
    """`current`, `moved`, `changed` (moved or not), `gone`; `unknown` where there is no view."""
    saved_handle: str
    """Its handle when it was saved."""
    handle: str
    """Its handle now; as it was where it is gone."""
    start_line: int = 0
    end_line: int = 0
    near: tuple[str, ...] = ()
    """Handles of what resembles one that is gone."""


class Judge:
    """Looks at items in one view.

    Args:
        repository: for the commits that items were seen at.
        scope: of the view.
        snapshot: the view.
        reader: reads its files as they are now.
        read: the text of a file as it is now, or None.
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
        self._ref = scope.ref if scope.kind == "ref" else ""
        self._texts = Texts(reader)
        self._finder = Finder(snapshot, self._texts.symbols, self._ref)
        self._renames = Renames(repository, snapshot, read, reader.text_of)

    def item_of(self, place: Place, ref: str = "") -> Item:
        """What is to be kept of a place, to know it again.

        Args:
            place: in this view.
            ref: that the handle named.

        Raises:
            HandleNotFound: it has no such lines.
        """
        file, texts = place.file, self._texts
        known = {} if file.content is None else hashes(self._snapshot.db, [file.content])
        content = bytes(known.get(file.content or 0, b""))
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
        """How an item fares in this view."""
        file = self._snapshot.by_path.get(item.path)
        if item.kind == "symbol":
            judged = self._symbol(item, file)
        else:
            there = file or self._target(item)
            of_kind = self._file if item.kind == "file" else self._lines
            judged = None if there is None else of_kind(item, there)
        return judged or Verdict(GONE, handle_of(item), handle_of(item), near=self._near(item))

    def _target(self, item: Item) -> FileRow | None:
        return self._renames.target(item.path, item.content, item.head)

    def _symbol(self, item: Item, file: FileRow | None) -> Verdict | None:
        there = file or self._target(item)
        verdict = self._of_name(item, there) if there else None
        return (
            verdict
            or self._elsewhere(item)
            or (self._of_other_name(item, there) if there else None)
        )

    def _of_name(self, item: Item, file: FileRow) -> Verdict | None:
        """By its name in a file; the same text counts more than the same number."""
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
        """By its own name and its very text; only where one definition alone has both."""
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
        # Where they would be if all that changed stands above the definition that they lie in.
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
            return self._these(CURRENT if is_same_place else MOVED, item, file, at, size)
        if start > len(lines):
            return Verdict(CHANGED, handle_of(item), file_handle(file.path, self._ref))
        return self._these(CHANGED, item, file, max(start, 1), min(size, len(lines) - start + 1))

    def _these(self, status: str, item: Item, file: FileRow, start: int, size: int) -> Verdict:
        handle = lines_handle(file.path, start, start + size - 1, self._ref)
        return Verdict(status, handle_of(item), handle, start, start + size - 1)

    def _shift(self, item: Item, file: FileRow) -> int:
        """How many lines further down the definition stands that the lines lie in."""
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
    """The handle of an item as it was when saved, without a ref."""
    if item.kind == "symbol":
        return symbol_handle(item.path, item.symbol, item.number)
    if item.kind == "lines":
        return lines_handle(item.path, item.start_line, item.end_line)
    return file_handle(item.path)


def unseen(item: Item) -> Verdict:
    """The verdict where no view could be had."""
    return Verdict(UNKNOWN, handle_of(item), handle_of(item))


def _number(symbols: Sequence[Symbol], symbol: Symbol) -> int:
    """Which of its name a definition is in its file, from 1."""
    named = [other for other in symbols if other.qualified == symbol.qualified]
    return next((at for at, other in enumerate(named, 1) if other == symbol), 1)


def _innermost(symbols: Sequence[Symbol], start: int, end: int) -> Symbol | None:
    around = [symbol for symbol in symbols if symbol.start_line <= start and symbol.end_line >= end]
    return max(around, key=lambda symbol: (symbol.start_line, -symbol.end_line), default=None)
