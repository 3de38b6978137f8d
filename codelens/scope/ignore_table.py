"""The patterns of one ignore file, made ready to be asked in a microsecond or two.

Plain names and `*.ext` are looked up in dictionaries; all other patterns go into one regular
expression per kind, whose first alternative that matches is the last line that does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from codelens.scope.ignore_pattern import Matcher, Pattern, matcher, parse

_NONE: Final = -1


class _Wild(NamedTuple):
    """Alternatives in one expression; group `n` is the line `lines[n]`."""

    regex: re.Pattern[bytes]
    lines: tuple[int, ...]

    def last(self, text: bytes) -> int:
        found = self.regex.match(text)
        return _NONE if found is None else self.lines[found.lastindex or 0]


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

    def __init__(self, patterns: list[tuple[bool, bool, Matcher]]) -> None:
        self._negative = tuple(negative for negative, _, _ in patterns)
        self._plain = not any(self._negative)
        numbered = [(line, name, how) for line, (_, name, how) in enumerate(patterns)]
        on_name = [(line, how) for line, name, how in numbered if name]
        on_path = [(line, how) for line, name, how in numbered if not name]
        # A dictionary keeps the last of equal keys, which is the line that decides.
        self._names = {how.literal: line for line, how in on_name if how.literal is not None}
        suffixes = {how.suffix: line for line, how in on_name if how.suffix is not None}
        self._extensions = {one: line for one, line in suffixes.items() if _is_extension(one)}
        self._suffixes = {one: line for one, line in suffixes.items() if not _is_extension(one)}
        self._all_suffixes = tuple(self._suffixes)
        self._wild = _wild(on_name)
        self._paths = {how.literal: line for line, how in on_path if how.literal is not None}
        self._path_wild = _wild(on_path)
        self.asks_path = bool(on_path)

    def decide(self, name: bytes, path: bytes) -> bool | None:
        """Whether the last pattern that matches ignores; None if none matches.

        `path` is relative to the ignore file's folder and ends in `name`; it is looked at only
        if `asks_path`.
        """
        if self._plain:
            return self._any(name, path) or None
        line = self._last(name, path)
        return None if line == _NONE else not self._negative[line]

    def _any(self, name: bytes, path: bytes) -> bool:
        """Without a `!` the order of lines is of no matter."""
        if name in self._names or name[name.rfind(b".") :] in self._extensions:
            return True
        if self._all_suffixes and name.endswith(self._all_suffixes):
            return True
        if self._wild is not None and self._wild.regex.match(name):
            return True
        if not self.asks_path:
            return False
        if path in self._paths:
            return True
        return self._path_wild is not None and self._path_wild.regex.match(path) is not None

    def _last(self, name: bytes, path: bytes) -> int:
        line = self._names.get(name, _NONE)
        line = max(line, self._extensions.get(name[name.rfind(b".") :], _NONE))
        if self._all_suffixes and name.endswith(self._all_suffixes):
            line = max(line, *(at for end, at in self._suffixes.items() if name.endswith(end)))
        if self._wild is not None:
            line = max(line, self._wild.last(name))
        if self.asks_path:
            line = max(line, self._paths.get(path, _NONE))
            if self._path_wild is not None:
                line = max(line, self._path_wild.last(path))
        return line


def _is_extension(suffix: bytes) -> bool:
    """Found by looking up what follows the last dot of a name, dot included."""
    return suffix.rfind(b".") == 0


def _wild(patterns: list[tuple[int, Matcher]]) -> _Wild | None:
    found = [(line, how.regex) for line, how in reversed(patterns) if how.regex is not None]
    if not found:
        return None
    body = b"|".join(b"(" + regex + b")" for _, regex in found)
    regex = re.compile(b"(?:" + body + b")\\Z", re.DOTALL)
    return _Wild(regex, (_NONE, *(line for line, _ in found)))


class Tables(NamedTuple):
    """One ignore file, for the two kinds of entries; None where no pattern can apply."""

    files: Table | None
    folders: Table | None


@lru_cache(maxsize=1024)
def tables(data: bytes, *, fold: bool) -> Tables:
    """The tables of an ignore file's text; equal texts are compiled once."""
    known = [(pattern, matcher(pattern, fold=fold)) for pattern in parse(data)]
    return Tables(_table(known, folders=False), _table(known, folders=True))


def _table(
    known: list[tuple[Pattern, tuple[bool, Matcher] | None]], *, folders: bool
) -> Table | None:
    apply = [
        (pattern.negative, *found)
        for pattern, found in known
        if found is not None and (folders or not pattern.folder_only)
    ]
    return Table(apply) if apply else None
