"""The grammar of handles: `Handle` and its text, in both directions.

    src/auth.py#Session.validate      a definition, by its qualified name
    src/auth.py#Session.validate~2    the second with that name in the file
    src/auth.py:10-42                 lines
    src/auth.py                       a whole file
    feature-b:src/auth.py#Session     any of these, in another ref
    Session.validate                  a name alone (`#Session.validate` if a file has that name)

`path:10:5`, as compilers print a place, means line 10; blanks around a handle are ignored.

In a path and a ref, `:`, `#`, `%`, control characters and bytes that are not UTF-8 are
percent-escaped (`codelens.paths`). So the first `#` ends the path, and the one remaining `:` ends
the ref. A symbol's name may contain all characters except control characters; `%` is escaped, and
so is a `~2` that belongs to the name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelens.errors import BadHandle, HandleError, OutsideWorktree, ScopeError
from codelens.paths import HIDDEN, can_be_named, from_printed, percent_escaped, printed
from codelens.scope.location import locate
from codelens.types import RelPath, Span, Symbol

if TYPE_CHECKING:
    from codelens.store.views.snapshot import Snapshot
    from codelens.store.views.views import FileRow

_LINES = re.compile(r":([0-9]{1,9})(?:-([0-9]{1,9}))?\Z")
# `path:line:column`, as compilers print it.
_COLUMN = re.compile(r"(:[0-9]{1,9}):[0-9]{1,9}\Z")
_BLANKS = " \t\r\n"
_EDGE = re.compile(r"\A | \Z")
_ORDINAL = re.compile(r"~([1-9][0-9]{0,5})\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SYMBOL_ESCAPED = re.compile(rf"[%\x00-\x1f{HIDDEN}\udc80-\udcff]")
_COMPONENTS = (b".vue", b".svelte", b".astro", b".mdx", b".razor")
_DEFAULT = "default"
"""The index's name for a file's component, since the text does not contain the real name."""
_ON_WINDOWS = os.name == "nt"


@dataclass(frozen=True, slots=True)
class Handle:
    """A parsed handle: exactly one of a file, lines of a file, or a symbol."""

    path: RelPath | None = None
    """None: a name alone, in any file that defines it."""
    symbol: str = ""
    """Qualified name, or its last parts; empty for a file or lines."""
    ordinal: int = 1
    """Position among the file's symbols with that name, in text order, from 1."""
    lines: Span | None = None
    ref: str = ""
    bare: bool = False
    """Written without `#`: the file at `path`, or if it does not exist, the name `symbol`."""


def parse_handle(text: str, root: str = "") -> Handle:
    """Parse a handle.

    Args:
        text: a handle; its path may also be absolute and inside `root`, or start with `./`;
            blanks around it are ignored.
        root: top of the worktree.

    Raises:
        BadHandle: it does not follow the grammar.
        OutsideWorktree: its path leads out of the worktree.
    """
    text = text.strip(_BLANKS)
    if not text:
        raise BadHandle(text, "it is empty")
    if not can_be_named(text):
        raise BadHandle(text, "it contains a NUL or an incomplete character")
    left, sign, name = text.partition("#")
    if sign and not name:
        raise BadHandle(text, "a name must follow the #")
    left = left if sign else _COLUMN.sub(r"\1", left)
    lines = None if sign else _LINES.search(left)
    ref, path_text = _ref_and_path(left[: lines.start()] if lines else left)
    if not path_text:
        if ref or not sign:
            raise BadHandle(text, "it has no path")
        symbol, ordinal = _name_and_ordinal(name)
        return Handle(None, symbol, ordinal)
    path = _inside(path_text, root)
    if sign:
        symbol, ordinal = _name_and_ordinal(name)
        return Handle(path, symbol, ordinal, ref=ref)
    if lines:
        return Handle(path, lines=_span(text, lines), ref=ref)
    if ref:
        return Handle(path, ref=ref)
    # A file may have the name `~2`; a number without a name before it is not an ordinal.
    numbered = _ORDINAL.match(path_text) is None
    symbol, ordinal = _name_and_ordinal(path_text) if numbered else (path_text, 1)
    return Handle(path, symbol, ordinal, bare=True)


def format_handle(handle: Handle) -> str:
    """The text of a handle, which `parse_handle` can parse."""
    if handle.path is None:
        return _edged(f"#{symbol_text(handle.symbol, handle.ordinal)}")
    if handle.lines is not None:
        return lines_handle(handle.path, handle.lines.start_line, handle.lines.end_line, handle.ref)
    if handle.symbol and not handle.bare:
        return symbol_handle(handle.path, handle.symbol, handle.ordinal, handle.ref)
    return file_handle(handle.path, handle.ref)


def file_handle(path: bytes, ref: str = "") -> str:
    """The handle of a whole file."""
    shown = path_text(path)
    # Only the part after a `:` could be read as lines, and a printed path has no `:`.
    return _edged(f"{_ref_text(ref)}{_guarded(shown) if ref else shown}")


def lines_handle(path: bytes, start_line: int, end_line: int, ref: str = "") -> str:
    """The handle of lines of a file."""
    last = "" if end_line == start_line else f"-{end_line}"
    shown = path_text(path)
    return _edged(f"{_ref_text(ref)}{_guarded(shown) if ref else shown}:{start_line}{last}")


def symbol_handle(path: bytes, qualified: str, ordinal: int = 1, ref: str = "") -> str:
    """The handle of a definition."""
    shown = path_text(path)
    name = symbol_text(shown_name(path, qualified), ordinal)
    return _edged(f"{_ref_text(ref)}{_guarded(shown) if ref else shown}#{name}")


def shown_name(path: bytes, qualified: str) -> str:
    """A definition's name; a component is named after its file."""
    head, dot, rest = qualified.partition(".")
    if head != _DEFAULT or not path.endswith(_COMPONENTS):
        return qualified
    stem = path.rpartition(b"/")[2].rpartition(b".")[0].decode("utf-8", "surrogateescape")
    return f"{stem}{dot}{rest}" if stem else qualified


def stored_name(path: bytes, name: str) -> str:
    """The name that the index has for a definition whose name is shown as `name`."""
    stem = shown_name(path, _DEFAULT)
    if name == stem:
        return _DEFAULT
    return _DEFAULT + name[len(stem) :] if name.startswith(f"{stem}.") else name


def is_component(path: bytes) -> bool:
    """Whether a file is a component, whose definition has the file's name."""
    return path.endswith(_COMPONENTS)


def path_text(path: bytes) -> str:
    """The printed path; on Windows, parts that would be read as another path are escaped."""
    shown = printed(path)
    return shown.replace("\\", "%5C") if _ON_WINDOWS else shown


def symbol_text(qualified: str, ordinal: int = 1) -> str:
    """A symbol's name as written in a handle, with its ordinal from the second on."""
    shown = _SYMBOL_ESCAPED.sub(percent_escaped, qualified)
    own = _ORDINAL.search(shown)
    if own:
        shown = f"{shown[: own.start()]}%7E{own[1]}"
    return shown if ordinal == 1 else f"{shown}~{ordinal}"


def _edged(text: str) -> str:
    """Escape blanks at the ends of a handle, since blanks around a handle are ignored."""
    return _EDGE.sub("%20", text)


def _ref_text(ref: str) -> str:
    return f"{printed(os.fsencode(ref))}:" if ref else ""


def _guarded(shown: str) -> str:
    """Guard a path after `ref:` from being read as lines or as the rest of a drive's path."""
    if _LINES.match(f":{shown}") or shown.startswith(("\\", "/")):
        return f"%{ord(shown[0]):02X}{shown[1:]}"
    return shown


def _ref_and_path(left: str) -> tuple[str, str]:
    """Split `ref:path` at the last `:`; a printed path has none, but a ref may have several."""
    if _DRIVE.match(left):
        return "", left
    ref, sign, path = left.rpartition(":")
    # C++, Rust and Ruby write names like `Foo::bar`; no ref ends with a colon.
    if not sign or ref.endswith(":"):
        return "", left
    return os.fsdecode(from_printed(ref)), path


def _name_and_ordinal(text: str) -> tuple[str, int]:
    own = _ORDINAL.search(text)
    name = text[: own.start()] if own else text
    if not name:
        raise BadHandle(text, "a name must precede the ~")
    raw = bytes(from_printed(name))
    return raw.decode("utf-8", "surrogateescape"), int(own[1]) if own else 1


def _span(text: str, lines: re.Match[str]) -> Span:
    start = int(lines[1])
    end = int(lines[2]) if lines[2] else start
    if start < 1:
        raise BadHandle(text, "lines count from 1")
    if end < start:
        raise BadHandle(text, f"its last line {end} is before its first line {start}")
    return Span(start, end)


def _inside(text: str, root: str) -> RelPath:
    """The path relative to the root, with `.` and `..` resolved by text alone."""
    shown = text.replace("\\", "/") if _ON_WINDOWS or _DRIVE.match(text) else text
    path = bytes(from_printed(shown))
    if path.startswith(b"/") or _DRIVE.match(shown):
        path = _relative(path, root, text)
    parts: list[bytes] = []
    for part in path.split(b"/"):
        if part == b"..":
            if not parts:
                raise OutsideWorktree(text)
            parts.pop()
        elif part not in {b"", b"."}:
            parts.append(part)
    return RelPath(b"/".join(parts))


def _relative(path: bytes, root: str, text: str) -> bytes:
    """An absolute path relative to the root, following links in all parts but the last."""
    if not root:
        raise OutsideWorktree(text)
    top = os.path.realpath(os.fsencode(root))
    folder, name = os.path.split(os.path.normpath(path))
    for candidate in (os.path.normpath(path), os.path.join(os.path.realpath(folder), name)):
        try:
            if os.path.commonpath([_same_case(top), _same_case(candidate)]) == _same_case(top):
                return os.path.relpath(candidate, top).replace(os.sep.encode(), b"/")
        except ValueError:  # another drive
            continue
    raise OutsideWorktree(text)


def _same_case(path: bytes) -> bytes:
    return os.path.normcase(path)


# Handles with an absolute path, which identifies their worktree.
#
# /src/shop/auth.py#Session.validate main:/src/shop/auth.py:10-42

_REF = re.compile(r"[^:#/][^:#]*:(?=/|[A-Za-z]:[\\/])")
_LINE_RANGE = re.compile(r":[0-9]+(?:[-:][0-9]+)?\Z")


def in_worktree(handle: str, root: str, ref: str = "") -> str:
    """Make the path of a handle of the worktree at `root` absolute.

    Args:
        handle: with a path relative to the root, and with its ref, if any.
        root: top of the worktree.
        ref: the ref that the handle begins with.
    """
    sign = f"{printed(os.fsencode(ref))}:" if ref else ""
    top = printed(os.fsencode(root)).rstrip("/")
    return f"{sign}{top}/{handle.removeprefix(sign)}"


def common_worktree(handles: Sequence[str]) -> str:
    """The top of the git worktree that contains all these absolute handles; empty if none does."""
    roots = {_root_of(handle) for handle in handles}
    return roots.pop() if len(roots) == 1 else ""


def _root_of(handle: str) -> str:
    folder = _folder_of(handle)
    try:
        place = locate(folder) if folder else None
    except ScopeError:
        return ""
    # Outside of git, a folder is only used if the handle names it, not for a file in it.
    return place.root if place is not None and place.git_dir else ""


def _folder_of(handle: str) -> str:
    """An existing folder above the place of an absolute handle; empty for any other handle."""
    text = handle.strip()
    ref = None if _DRIVE.match(text) else _REF.match(text)
    path = text[ref.end() :] if ref else text
    if not (path.startswith("/") or _DRIVE.match(path)):
        return ""
    path = _LINE_RANGE.sub("", path.partition("#")[0])
    folder = os.path.dirname(os.fsdecode(from_printed(path)))
    while folder and not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


# Parses handles typed by a user: a file whose name looks like a handle is found by that name.


def typed_handle(text: str, root: str, files: Container[bytes]) -> Handle:
    """Parse a handle, or find a file with exactly this name (`a#b.py`, `50%.txt`, `x:1`).

    Args:
        text: as typed.
        root: top of the worktree, for absolute paths.
        files: the paths of the view.

    Raises:
        BadHandle: the text is neither.
        OutsideWorktree: it leads out of the worktree.
    """
    named = RelPath(os.fsencode(text) if can_be_named(text) else b"")
    try:
        handle = parse_handle(text, root)
    except HandleError:
        if named in files:
            return Handle(named)
        raise
    # The parsed handle comes first, so that handles printed by codelens keep their meaning.
    leads_on = handle.path is None or handle.path in files
    return handle if leads_on or named not in files else Handle(named)


# Builds the handle of a place in a view.


def handle_of(snapshot: Snapshot, file: FileRow, at: int, ref: str = "") -> str:
    """The handle of a file's symbol by position; of the file if there is no such symbol."""
    return handle_among(file.path, known_symbols(snapshot, file), at, ref)


def known_symbols(snapshot: Snapshot, file: FileRow) -> Sequence[Symbol]:
    """The symbols of a file as stored in the view, which may be older than the disk."""
    if file.content is None:
        return ()
    return snapshot.symbols([file.content]).get(file.content, ())


def handle_among(path: bytes, symbols: Sequence[Symbol], at: int, ref: str = "") -> str:
    """Like `handle_of`, for a list of the file's symbols."""
    if not 0 <= at < len(symbols):
        return file_handle(path, ref)
    return symbol_handle(path, symbols[at].qualified, ordinal_of(symbols, at), ref)


def handles_of(path: bytes, symbols: Sequence[Symbol], ref: str = "") -> list[str]:
    """The handle of each symbol of a file, in order."""
    return [
        symbol_handle(path, symbol.qualified, ordinal, ref)
        for symbol, ordinal in zip(symbols, ordinals_of(symbols), strict=True)
    ]


def ends_in(qualified: str, name: str) -> bool:
    """Whether a qualified name is a name, or ends with it: `Session.refresh` with `refresh`."""
    return qualified == name or qualified.endswith(f".{name}")


class ShortNames:
    """The shortest names of a file's definitions that are handles after `path#`.

    Args:
        path: the file.
        symbols: its definitions.
    """

    def __init__(self, path: bytes, symbols: Sequence[Symbol]) -> None:
        self._path = path
        self._symbols = symbols
        self._alike: dict[str, list[str]] = {}
        for symbol in symbols:
            name = symbol.qualified
            self._alike.setdefault(name.rpartition(".")[2], []).append(name)

    def of(self, at: int) -> str:
        """The name of a definition, with as few of its owners as make it the only one."""
        qualified = self._symbols[at].qualified
        parts = qualified.split(".")
        alike = self._alike[parts[-1]]
        if shown_name(self._path, qualified) == qualified:
            for first in range(len(parts) - 1, 0, -1):
                name = ".".join(parts[first:])
                if sum(ends_in(other, name) for other in alike) == 1:
                    return symbol_text(name)
        return symbol_text(shown_name(self._path, qualified), ordinal_of(self._symbols, at))


def ordinals_of(symbols: Sequence[Symbol]) -> list[int]:
    """The position of each symbol among those of its file with the same name, from 1."""
    seen: dict[str, int] = {}
    ordinals: list[int] = []
    for symbol in symbols:
        seen[symbol.qualified] = ordinal = seen.get(symbol.qualified, 0) + 1
        ordinals.append(ordinal)
    return ordinals


def handle_of_lines(path: bytes, start_line: int, end_line: int, ref: str = "") -> str:
    """The handle of lines of a file; of the whole file for an empty span."""
    if start_line < 1 or end_line < start_line:
        return file_handle(path, ref)
    return lines_handle(path, start_line, end_line, ref)


def ordinal_of(symbols: Sequence[Symbol], at: int) -> int:
    """The symbol's position among the symbols of its file with the same name, from 1."""
    name = symbols[at].qualified
    return sum(symbol.qualified == name for symbol in symbols[: at + 1])
