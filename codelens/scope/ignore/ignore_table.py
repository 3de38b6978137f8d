"""The patterns of one ignore file, made ready to be asked in a microsecond or two.

Plain names and `*.ext` are looked up in dictionaries; all other patterns go into one regular
expression per kind, whose first alternative that matches is the last line that does. Of a file with
very many (`ignore_wildcards.Scattered`), only those are read that have to do with what is asked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from codelens.scope.ignore.ignore_pattern import Matcher, Pattern, is_wild, matcher, parse, reduced
from codelens.scope.ignore.ignore_wildcards import NONE, Scattered, Wild, compiled

_MANY: Final = 500
"""More patterns than these are not made ready before they are asked for: each costs 0.2 ms."""


class _Line(NamedTuple):
    """A pattern, and how it is matched."""

    pattern: Pattern
    on_name: bool
    how: Matcher | None
    """None: it is not made ready yet."""


class Table:
    """Patterns of one file that can apply to one kind of entry."""

    __slots__ = (
        "_all_suffixes",
        "_extensions",
        "_names",
        "_negative",
        "_path_wild",
        "_paths",
        "_plain",
        "_suffixes",
        "_wild",
        "asks_path",
    )

    def __init__(self, lines: list[_Line], *, fold: bool) -> None:
        self._negative = tuple(line.pattern.negative for line in lines)
        self._plain = not any(self._negative)
        on_name = [(line, row.how) for line, row in enumerate(lines) if row.on_name and row.how]
        on_path = [(line, row.how) for line, row in enumerate(lines) if not row.on_name and row.how]
        # A dictionary keeps the last of equal keys, which is the line that decides.
        self._names = {how.literal: line for line, how in on_name if how.literal is not None}
        suffixes = {how.suffix: line for line, how in on_name if how.suffix is not None}
        self._extensions = {
            suffix: line for suffix, line in suffixes.items() if _is_extension(suffix)
        }
        self._suffixes = {
            suffix: line for suffix, line in suffixes.items() if not _is_extension(suffix)
        }
        self._all_suffixes = tuple(self._suffixes)
        self._wild = _wild(lines, on_name=True, fold=fold)
        self._paths = {how.literal: line for line, how in on_path if how.literal is not None}
        self._path_wild = _wild(lines, on_name=False, fold=fold)
        self.asks_path = any(not line.on_name for line in lines)

    def decide(self, name: bytes, path: bytes) -> bool | None:
        """Whether the last pattern that matches ignores; None if none matches.

        `path` is relative to the ignore file's folder and ends in `name`; it is looked at only
        if `asks_path`.
        """
        if self._plain:
            return self._any(name, path) or None
        line = self._last(name, path)
        return None if line == NONE else not self._negative[line]

    def _any(self, name: bytes, path: bytes) -> bool:
        """Without a `!` the order of lines is of no matter."""
        if name in self._names or name[name.rfind(b".") :] in self._extensions:
            return True
        if self._all_suffixes and name.endswith(self._all_suffixes):
            return True
        if self._wild is not None and self._wild.any(name):
            return True
        if not self.asks_path:
            return False
        if path in self._paths:
            return True
        return self._path_wild is not None and self._path_wild.any(path)

    def _last(self, name: bytes, path: bytes) -> int:
        line = self._names.get(name, NONE)
        line = max(line, self._extensions.get(name[name.rfind(b".") :], NONE))
        if self._all_suffixes and name.endswith(self._all_suffixes):
            line = max(line, *(at for end, at in self._suffixes.items() if name.endswith(end)))
        if self._wild is not None:
            line = max(line, self._wild.last(name))
        if self.asks_path:
            line = max(line, self._paths.get(path, NONE))
            if self._path_wild is not None:
                line = max(line, self._path_wild.last(path))
        return line


def _is_extension(suffix: bytes) -> bool:
    """Found by looking up what follows the last dot of a name, dot included."""
    return suffix.rfind(b".") == 0


def _wild(lines: list[_Line], *, on_name: bool, fold: bool) -> Wild | Scattered | None:
    mine = [(number, line) for number, line in enumerate(lines) if line.on_name == on_name]
    unready = [(number, line.pattern) for number, line in mine if line.how is None]
    if unready:
        return Scattered(unready, fold=fold)
    return compiled([(number, line.how.regex) for number, line in mine if line.how])


class Tables(NamedTuple):
    """One ignore file, for the two kinds of entries; None where no pattern can apply."""

    files: Table | None
    folders: Table | None


@lru_cache(maxsize=1024)
def tables(data: bytes, *, fold: bool) -> Tables:
    """The tables of an ignore file's text; equal texts are compiled once."""
    # Of equal lines the last decides, whatever stands before.
    parsed = parse(data)
    last = {(pattern.text, pattern.folder_only): line for line, pattern in enumerate(parsed)}
    patterns = [parsed[line] for line in sorted(last.values())]
    wild = sum(is_wild(reduced(pattern)) for pattern in patterns)
    lines = [_line(pattern, fold=fold, at_once=wild <= _MANY) for pattern in patterns]
    known = [line for line in lines if line is not None]
    of_files = [line for line in known if not line.pattern.folder_only]
    folders = _table(known, fold=fold)
    return Tables(folders if len(of_files) == len(known) else _table(of_files, fold=fold), folders)


def _table(lines: list[_Line], *, fold: bool) -> Table | None:
    return Table(lines, fold=fold) if lines else None


def _line(pattern: Pattern, *, fold: bool, at_once: bool) -> _Line | None:
    less = reduced(pattern)
    if not at_once and is_wild(less):
        return _Line(pattern, less.basename, None)
    matcher_found = matcher(pattern, fold=fold)
    return _Line(pattern, *matcher_found) if matcher_found else None
