"""Finds the place that a handle names in a view, and joins declarations with their definitions.

In C and C++ a function, or an `extern` variable, may be declared in one place and defined in
another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from codelens.errors import AmbiguousHandle, HandleError, HandleNotFound, ReadError
from codelens.extract.language_settings import TEXT, language_info
from codelens.handles.handle_grammar import (
    Handle,
    ends_in,
    file_handle,
    format_handle,
    handle_among,
    handle_of,
    is_component,
    known_symbols,
    lines_handle,
    ordinal_of,
    path_text,
    shown_name,
    stored_name,
    symbol_text,
)
from codelens.store.facts.contents import symbol_keys
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import OVERSIZED, FileRow
from codelens.types import Span, Symbol

_CALLABLE = frozenset({"function", "method"})
_VARIABLES = frozenset({"variable", "constant"})
_DECLARED = re.compile(r"extern\b(?!\s*\")[^=]*\Z")
"""A declared variable: a value would make it a definition, and `extern "C"` only sets the
linkage."""
_BRACKETS = re.compile(r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)")


def may_be_apart(symbol: Symbol, language: str) -> bool:
    """Whether a symbol of this kind may be declared in one place and defined in another."""
    return (
        bool(language)
        and symbol.kind in _CALLABLE | _VARIABLES
        and language_info(language).declared_apart
    )


def has_body(symbol: Symbol, data: bytes) -> bool:
    """Whether a symbol is defined in its file's text, and not only declared."""
    if symbol.kind in _VARIABLES:
        return not _DECLARED.match(symbol.signature)
    return data[symbol.start_byte : symbol.end_byte].rstrip(b" \t\r\n;").endswith(b"}")


def is_same(symbol: Symbol, other: Symbol) -> bool:
    """Whether both symbols may be places of the same function or variable.

    Functions must agree in name and number of parameters. Of two variables one must be `extern`,
    and both must be visible in other files.
    """
    if symbol.qualified != other.qualified:
        return False
    if {symbol.kind, other.kind} & _VARIABLES:
        return (
            {symbol.kind, other.kind} <= _VARIABLES
            and symbol.exported
            and other.exported
            and any(_DECLARED.match(place.signature) for place in (symbol, other))
        )
    counts = _parameters(symbol), _parameters(other)
    return None in counts or counts[0] == counts[1]


def _parameters(symbol: Symbol) -> int | None:
    """The number of parameters in the signature; None if unclear."""
    at = symbol.signature.rfind(f"{symbol.name}(")
    start = at + len(symbol.name) if at >= 0 else symbol.signature.find("(")
    if start < 0:
        return None
    depth = 0
    for end, sign in enumerate(symbol.signature[start:], start):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            inside = symbol.signature[start + 1 : end]
            break
    else:
        return None
    before = ""
    while before != inside:
        before, inside = inside, _BRACKETS.sub("", inside)
    return 0 if inside.strip() in {"", "void"} else inside.count(",") + 1


# Finds the place that a handle names in a view.
#
# `Finder.find` never silently answers with another symbol. It raises for a name with several
# definitions, and lists their handles. It follows a symbol that moved and says so. For a missing
# symbol it raises with the nearest candidates.

_NEAR_SHOWN = 5
_OWNERS_READ = 20
_NOT_PARSED = {
    "oversized": "is larger than `max_file_bytes` allows",
    "minified": "is minified",
    "binary": "is binary",
    "timeout": "takes too long to parse",
    "broken": "is nested too deeply",
}
_KEYS_COMPARED = 2000
_NAMESAKES_COMPARED = 200
_PATHS_COMPARED = 5000

SymbolsOf = Callable[[FileRow], Sequence[Symbol]]


class Place(NamedTuple):
    """The place that a handle names."""

    file: FileRow
    symbol: Symbol | None
    """None: the whole file, or lines of it."""
    lines: Span | None
    handle: str
    """The current handle of the place."""
    moved: str
    """A sentence if the place is not where the handle said; else empty."""
    also: tuple[str, ...] = ()
    """Handles of other places of the same function: declarations, or definitions."""


class _Owner(NamedTuple):
    """A symbol among those of its file."""

    file: FileRow
    symbols: Sequence[Symbol]
    at: int

    @property
    def symbol(self) -> Symbol:
        return self.symbols[self.at]

    @property
    def ordinal(self) -> int:
        return ordinal_of(self.symbols, self.at)

    def handle(self, ref: str) -> str:
        return handle_among(self.file.path, self.symbols, self.at, ref)


class Finder:
    """Finds the places that handles name in one view.

    Args:
        snapshot: the view.
        symbols_of: the symbols in a file's current text; the view may be older than the disk.
        ref: prefix of the returned handles.
        data_of: the bytes of a file, to join declarations with definitions; None: do not join.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        symbols_of: SymbolsOf,
        ref: str = "",
        data_of: Callable[[FileRow], bytes] | None = None,
    ) -> None:
        self._snapshot = snapshot
        self._symbols_of = symbols_of
        self._ref = ref
        self._data_of = data_of

    def find(self, handle: Handle) -> Place:
        """Find the place that `handle` names.

        Raises:
            HandleNotFound: it does not exist; has the nearest candidates.
            AmbiguousHandle: several definitions have the name; has their handles.
        """
        if handle.path is None:
            return self._by_name(handle)
        file = self._snapshot.by_path.get(handle.path)
        if handle.bare or not handle.symbol:
            if file is not None:
                return self._file(file, handle.lines)
            if handle.bare and handle.symbol and b"/" not in handle.path:
                return self._by_name(handle)
            raise HandleNotFound(format_handle(handle), self._near_files(handle))
        if file is None:
            return self._moved(handle, "does not exist")
        return self._in_file(file, handle)

    def _file(self, file: FileRow, lines: Span | None) -> Place:
        if lines is None:
            return Place(file, None, None, file_handle(file.path, self._ref), "")
        named = lines_handle(file.path, lines.start_line, lines.end_line, self._ref)
        return Place(file, None, lines, named, "")

    def _in_file(self, file: FileRow, handle: Handle) -> Place:
        symbols = self._symbols_of(file)
        defining = self._matching(file, symbols, handle)
        if len(defining) > 1:
            defining = self._joined(defining)
        if len(defining) > 1:
            raise AmbiguousHandle(format_handle(handle), self._handles(defining))
        if defining:
            return self._place(defining[0])
        same = [at for at, symbol in enumerate(symbols) if symbol.qualified == handle.symbol]
        if same:
            owners = [_Owner(file, symbols, at) for at in same]
            why = f"{len(same)} with that name in the file"
            raise HandleNotFound(format_handle(handle), self._handles(owners), why)
        return self._moved(handle, self._unparsed(file) or "does not define it")

    def _unparsed(self, file: FileRow) -> str:
        """Why a file's definitions are unknown; empty if they are known."""
        outcome = "oversized" if file.state == OVERSIZED else ""
        if file.content is not None:
            about = self._snapshot.about([file.content]).get(file.content)
            outcome = about.outcome if about is not None else ""
        why = _NOT_PARSED.get(outcome, "")
        return (
            f"was not parsed because it {why}; name lines instead: {path_text(file.path)}:1-100"
            if (why)
            else ""
        )

    def _matching(self, file: FileRow, symbols: Sequence[Symbol], handle: Handle) -> list[_Owner]:
        """The symbol with exactly this name in the file; else all whose qualified name ends so."""
        for name in _spellings(stored_name(file.path, handle.symbol)):
            exact = [at for at, symbol in enumerate(symbols) if symbol.qualified == name]
            if exact:
                chosen = exact[handle.ordinal - 1 : handle.ordinal]
                return [_Owner(file, symbols, at) for at in chosen]
            ending = [
                _Owner(file, symbols, at)
                for at, symbol in enumerate(symbols)
                if symbol.qualified.endswith(f".{name}")
            ]
            if ending and handle.ordinal > 1:
                return [owner for owner in ending if owner.ordinal == handle.ordinal]
            if ending:
                return ending
        return []

    def _by_name(self, handle: Handle) -> Place:
        owners = self._owners(handle.symbol)
        if handle.ordinal > 1:
            owners = [owner for owner in owners if owner.ordinal == handle.ordinal]
        if len(owners) > 1:
            owners = self._joined(self._without_examples(owners))
        if len(owners) > 1:
            raise AmbiguousHandle(symbol_text(handle.symbol), self._handles(owners))
        if owners:
            return self._place(owners[0])
        near, why = self._near_members(handle.symbol)
        if not near and self._may_be_file(handle):
            near = self._near_files(handle)
        near = near or self._near_names(handle.symbol) or self._near_files(handle)
        raise HandleNotFound(symbol_text(handle.symbol, handle.ordinal), near, why)

    def _moved(self, handle: Handle, why: str) -> Place:
        """Follow a symbol that its file lacks, if exactly one other file defines it."""
        assert handle.path is not None
        exact = [
            owner
            for name in _spellings(handle.symbol)
            for owner in self._owners(name)
            if owner.symbol.qualified == name and owner.file.path != handle.path
        ]
        shown = path_text(handle.path)
        if len(exact) == 1 and handle.ordinal == 1:
            name = symbol_text(handle.symbol)
            moved = (
                f"{shown} {why}; followed to {path_text(exact[0].file.path)}, "
                f"the only place that defines {name}"
            )
            return self._place(exact[0], moved)
        near = (*self._near_in_file(handle), *self._handles(self._likeliest(handle, exact)))
        if not near:
            near = (*self._near_files(handle), *self._near_names(handle.symbol))
        raise HandleNotFound(format_handle(handle), near[:_NEAR_SHOWN], f"{shown} {why}")

    def _likeliest(self, handle: Handle, owners: Sequence[_Owner]) -> list[_Owner]:
        """Sort definitions of one name: code before prose, then by how their paths resemble it."""
        import difflib

        languages = self._languages(owner.file for owner in owners)
        matcher = difflib.SequenceMatcher(None, b=(handle.path or b"").decode("utf-8", "replace"))

        def order(owner: _Owner) -> tuple[bool, float]:
            matcher.set_seq1(owner.file.path.decode("utf-8", "replace"))
            return language_info(languages[owner.file.path]).prose, -matcher.ratio()

        return sorted(owners, key=order)

    def _place(self, owner: _Owner, moved: str = "") -> Place:
        also = tuple(self._handles(self._elsewhere(owner)))
        return Place(owner.file, owner.symbol, None, self._handles([owner])[0], moved, also)

    def _without_examples(self, owners: list[_Owner]) -> list[_Owner]:
        """Drop examples in prose if code defines the name, since nobody refers to an example."""
        languages = self._languages(owner.file for owner in owners)
        in_prose = [owner for owner in owners if language_info(languages[owner.file.path]).prose]
        if len(in_prose) == len(owners):
            return owners
        examples = {
            (owner.file.path, owner.at) for owner in in_prose if owner.symbol.kind != "heading"
        }
        return [owner for owner in owners if (owner.file.path, owner.at) not in examples]

    def _languages(self, files: Iterable[FileRow]) -> dict[bytes, str]:
        """The language of each file, by path."""
        content_of = {file.path: file.content for file in files}
        about = self._snapshot.about({item for item in content_of.values() if item is not None})
        return {
            path: about[content].language if content in about else TEXT
            for path, content in content_of.items()
        }

    def _joined(self, owners: list[_Owner]) -> list[_Owner]:
        """Drop declarations whose definition is among the owners; without one, keep the first."""
        if self._data_of is None or len(owners) > _OWNERS_READ:
            return owners
        apart = [owner for owner in owners if self._may_be_apart(owner)]
        whole = [owner for owner in apart if self._is_whole(owner)]
        joined: list[_Owner] = []
        for owner in owners:
            if owner in apart and owner not in whole:
                others = (*whole, *joined)
                if any(is_same(owner.symbol, other.symbol) for other in others if other in apart):
                    continue
            joined.append(owner)
        return joined

    def _elsewhere(self, owner: _Owner) -> list[_Owner]:
        """The declarations of a definition; for a declaration, first the definitions."""
        if self._data_of is None or not self._may_be_apart(owner):
            return []
        others = [
            candidate
            for candidate in self._owners(owner.symbol.qualified)
            if (candidate.file.path, candidate.at) != (owner.file.path, owner.at)
            and (candidate.symbol.exported or candidate.file.path == owner.file.path)
            and self._may_be_apart(candidate)
            and is_same(candidate.symbol, owner.symbol)
        ]
        if len(others) > _OWNERS_READ:
            return []
        declared = [other for other in others if not self._is_whole(other)]
        if self._is_whole(owner):
            return declared
        return [other for other in others if other not in declared] + declared

    def _may_be_apart(self, owner: _Owner) -> bool:
        return may_be_apart(owner.symbol, self._languages([owner.file])[owner.file.path])

    def _is_whole(self, owner: _Owner) -> bool:
        try:
            data = self._data_of(owner.file) if self._data_of is not None else b""
        except (ReadError, HandleError):
            return False
        return has_body(owner.symbol, data)

    def _owners(self, name: str) -> list[_Owner]:
        """All definitions whose qualified name is or ends with `name`, in the current text."""
        if not _is_text(name):
            return []
        files = {
            file.path: file
            for spelling in _spellings(name)
            for last in _endings(spelling)
            for file, _, symbol in self._snapshot.symbols_with_key(key_of(last))
            if ends_in(symbol.qualified, spelling)
        }
        stem = name.partition(".")[0].encode("utf-8", "surrogateescape")
        files |= {
            path: file
            for path, file in self._snapshot.by_path.items()
            if is_component(path) and path.rpartition(b"/")[2].rpartition(b".")[0] == stem
        }
        # Many owners are ambiguous in any case, so their files need not be read.
        few = len(files) <= _OWNERS_READ
        owners: list[_Owner] = []
        for _, file in sorted(files.items()):
            symbols = self._symbols_of(file) if few else known_symbols(self._snapshot, file)
            owners.extend(
                _Owner(file, symbols, at)
                for at, symbol in enumerate(symbols)
                if any(
                    ends_in(shown_name(file.path, symbol.qualified), spelling)
                    for spelling in _spellings(name)
                )
            )
        return owners

    def _handles(self, owners: Iterable[_Owner]) -> list[str]:
        return [owner.handle(self._ref) for owner in owners]

    def _near_in_file(self, handle: Handle) -> list[str]:
        file = self._snapshot.by_path.get(handle.path or b"")
        if file is None:
            return []
        symbols = self._symbols_of(file)
        by_name: dict[str, int] = {}
        for at, symbol in enumerate(symbols):
            by_name.setdefault(symbol.qualified, at)
        import difflib

        names = difflib.get_close_matches(handle.symbol, by_name, 3, 0.6)
        last = handle.symbol.rpartition(".")[2]
        names += [name for name in by_name if ends_in(name, last) and name not in names]
        return [
            handle_among(file.path, symbols, by_name[name], self._ref)
            for name in names[:_NEAR_SHOWN]
        ]

    def _near_members(self, name: str) -> tuple[list[str], str]:
        """The members that resemble the name in `Owner.name`, or the owner itself, if it exists."""
        owner_name, dot, last = name.replace("::", ".").rpartition(".")
        owners = self._owners(owner_name) if dot and last else []
        owners = self._without_examples(owners)
        owners = [owner for owner in owners if owner.symbol.kind != "heading"] or owners
        if not owners or len(owners) > _OWNERS_READ:
            return [], ""
        import difflib

        # Overloads and declarations of one owner count once.
        members: dict[str, dict[tuple[bytes, str], _Owner]] = {}
        for owner in owners:
            for at, symbol in enumerate(owner.symbols):
                if symbol.qualified == f"{owner.symbol.qualified}.{symbol.name}":
                    place = owner.file.path, symbol.qualified
                    members.setdefault(symbol.name, {}).setdefault(
                        place, _Owner(owner.file, owner.symbols, at)
                    )
        alike = difflib.get_close_matches(last, members, 3, 0.6)
        near = [member for match in alike for member in members[match].values()] or owners
        return self._handles(near[:_NEAR_SHOWN]), f"{owner_name} has no {last}"

    def _may_be_file(self, handle: Handle) -> bool:
        """Whether a bare name ends like the files of this view: `contxt.go`."""
        extension = os.path.splitext(handle.path or b"")[1]
        return bool(extension) and any(path.endswith(extension) for path in self._snapshot.by_path)

    def _near_names(self, name: str) -> list[str]:
        """Definitions whose name resembles the last part of `name`: code before prose and data.

        Among definitions of one name, those whose owner resembles the written one come first.
        """
        name = name.replace("::", ".")
        key = key_of(name.rpartition(".")[2])
        if len(key) < 2 or not _is_text(key):
            return []
        import difflib

        keys = symbol_keys(self._snapshot.db, key[:2], key[:2] + "\U0010ffff", _KEYS_COMPARED)
        near: list[tuple[bool, str]] = []
        for match in difflib.get_close_matches(key, keys, 8, 0.7):
            # Overloads and declarations in one file count once.
            by_place: dict[tuple[bytes, str], tuple[FileRow, int, Symbol]] = {}
            for file, at, symbol in self._snapshot.symbols_with_key(match)[:_NAMESAKES_COMPARED]:
                by_place.setdefault((file.path, symbol.qualified), (file, at, symbol))
            rows = list(by_place.values())
            languages = self._languages(file for file, _, _ in rows)
            ranked = sorted(
                (
                    language_info(languages[file.path]).prose or symbol.kind == "key",
                    -difflib.SequenceMatcher(None, symbol.qualified, name).ratio(),
                    row,
                )
                for row, (file, _, symbol) in enumerate(rows)
            )
            near += [
                (in_prose, handle_of(self._snapshot, rows[row][0], rows[row][1], self._ref))
                for in_prose, _, row in ranked[:3]
            ]
        near.sort(key=lambda pair: pair[0])
        return list(dict.fromkeys(handle for _, handle in near))[:_NEAR_SHOWN]

    def _near_files(self, handle: Handle) -> list[str]:
        """Files with the same name, or with a similar name and path."""
        if not handle.path:
            return []
        rel_path = handle.path
        name = os.path.basename(rel_path)
        paths = self._snapshot.by_path
        same = sorted(path for path in paths if os.path.basename(path) == name)
        if not same:
            import difflib

            # A name without a folder may be in any.
            text = rel_path.decode("utf-8", "replace")
            is_bare = b"/" not in rel_path
            by_text: dict[str, list[bytes]] = {}
            for path in sorted(paths):
                base = os.path.basename(path)
                if base[:1].lower() == name[:1].lower():
                    key = base if is_bare else path
                    by_text.setdefault(key.decode("utf-8", "replace"), []).append(path)
            pool = list(by_text)[:_PATHS_COMPARED]
            matches = difflib.get_close_matches(text, pool, 3, 0.6)
            same = [path for match in matches for path in by_text[match]]
            shown = self._shown_files(handle, same[:3])
            return shown if shown or handle.lines is not None else self._near_folders(rel_path)
        near = sorted(same, key=lambda path: -_shared(path, rel_path))[:3]
        return self._shown_files(handle, near)

    def _near_folders(self, rel_path: bytes) -> list[str]:
        """Folders with a similar path, each with `/` at its end; without a folder, a similar name.

        An extension suggests a file.
        """
        import difflib

        target_path = rel_path.rstrip(b"/")
        if os.path.splitext(target_path)[1]:
            return []
        by_text: dict[str, list[bytes]] = {}
        folders = {
            b"/".join(parts[:end])
            for path in self._snapshot.by_path
            for parts in [path.split(b"/")]
            for end in range(1, len(parts))
        }
        for folder in sorted(folders):
            key = folder if b"/" in target_path else os.path.basename(folder)
            by_text.setdefault(key.decode("utf-8", "replace"), []).append(folder)
        pool = list(by_text)[:_PATHS_COMPARED]
        matches = difflib.get_close_matches(target_path.decode("utf-8", "replace"), pool, 3, 0.75)
        near = [folder for match in matches for folder in by_text[match]]
        return [f"{path_text(folder)}/" for folder in near[:3]]

    def _shown_files(self, handle: Handle, near: Sequence[bytes]) -> list[str]:
        if handle.lines is not None:
            span = handle.lines
            return [lines_handle(path, span.start_line, span.end_line, self._ref) for path in near]
        return [file_handle(path, self._ref) for path in near]


def _is_text(name: str) -> bool:
    """Whether the name is valid UTF-8, like all names of definitions."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _spellings(name: str) -> list[str]:
    """The name as given, and with the dots that codelens writes for a language's `::`."""
    return [name, name.replace("::", ".")] if "::" in name else [name]


def _endings(name: str) -> Iterable[str]:
    """The possible last names: a name may contain dots."""
    parts = name.split(".")
    return [".".join(parts[at:]) for at in range(len(parts)) if any(parts[at:])]


def _shared(path: bytes, other: bytes) -> int:
    """The number of folder names that two paths share."""
    left, right = path.split(b"/")[:-1], other.split(b"/")[:-1]
    return len(set(left) & set(right))
