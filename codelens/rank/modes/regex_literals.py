"""What texts a regular expression cannot match without: told from the pattern, sought as bytes.

Of a pattern come *clauses*, as Russ Cox describes for Google's code search: every line that matches
holds one of the alternatives of each clause. To find those as bytes is some fifty times faster than
to try the pattern on each line, and a file or line that lacks a clause needs no look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.rank.modes.long_lines import ODD_LETTERS
from codelens.rank.modes.regex_analysis import Part

_MOST_WAYS = 16
"""Alternatives of one clause: more are slower to look for than they save."""
_ODD_BYTES = tuple(letter.encode() for letter in ODD_LETTERS)

_Ways = frozenset[str]
_NOTHING: _Ways = frozenset({""})


class _Known(NamedTuple):
    """What is known of the text that a part of a pattern matches."""

    exact: _Ways | None
    """It is one of these; None where that cannot be said."""
    clauses: tuple[_Ways, ...] = ()
    """It holds one of each; given where it is not exact."""


class Required(NamedTuple):
    """What a line must hold to match."""

    clauses: tuple[tuple[bytes, ...], ...]
    """One of each; those that tell most first. In lower case where case does not count."""
    fold: bool

    def lines(self, data: bytes) -> list[int] | None:
        """Numbers of the lines that may match, ascending; None: any may."""
        if not self.clauses:
            return None
        searched = data.lower() if self.fold else data
        for clause in self.clauses:
            # Loops and no generators: this is done for every file of a view.
            for way in clause:
                if way in searched:
                    break
            else:
                return None if self._odd(data) else []
        return None if self._odd(data) else _lines_with(searched, self.clauses[0])

    def _odd(self, data: bytes) -> bool:
        """Whether letters stand in it that these bytes do not show."""
        if not self.fold or data.isascii():
            return False
        dotted, dotless, long_s, kelvin = _ODD_BYTES
        return dotted in data or dotless in data or long_s in data or kelvin in data


def required(pattern: re.Pattern[str], parts: Iterable[Part]) -> Required:
    """What every line that matches holds; nothing is said for what cannot be told."""
    fold = bool(pattern.flags & re.IGNORECASE)
    known = _sequence(parts, fold)
    clauses = known.clauses if known.exact is None else _clause(known.exact)
    ordered = sorted(set(clauses), key=lambda ways: (-_worth(ways), sorted(ways)))
    return Required(tuple(tuple(way.encode() for way in sorted(ways)) for ways in ordered), fold)


def _worth(ways: _Ways) -> int:
    """How much a clause tells: a short alternative stands in most texts."""
    return min(map(len, ways))


def _clause(ways: _Ways) -> tuple[_Ways, ...]:
    return (ways,) if "" not in ways else ()


def _sequence(parts: Iterable[Part], fold: bool) -> _Known:
    """Parts one after the other: what is exact grows until something is not."""
    run = _NOTHING
    clauses: list[_Ways] = []
    whole = True
    for part in parts:
        known = _of(part, fold)
        joined = _joined(run, known.exact) if known.exact is not None else None
        if joined is not None and _repeats(part):
            # The text goes on with the same once more, or with what follows.
            clauses += _clause(joined)
            run, whole = _NOTHING, False
        elif joined is not None:
            run = joined
        else:
            clauses += [*_clause(run), *known.clauses, *_clause(known.exact or _NOTHING)]
            run, whole = _NOTHING, False
    if whole:
        return _Known(run)
    return _Known(None, (*clauses, *_clause(run)))


def _repeats(part: Part) -> bool:
    return part.kind == "repeat" and part.most > 1


def _joined(before: _Ways, after: _Ways) -> _Ways | None:
    if len(before) * len(after) > _MOST_WAYS:
        return None
    return frozenset(start + end for start in before for end in after)


def _of(part: Part, fold: bool) -> _Known:
    if part.kind in {"literal", "other"} and part.text:
        spellings = {_spelling(char, fold) for char in part.text}
        ways = frozenset(spelling for spelling in spellings if spelling is not None)
        is_exact = len(ways) == len(spellings) <= _MOST_WAYS
        return _Known(ways if is_exact else None)
    if part.kind == "group":
        return _sequence(part.inside[0], fold)
    if part.kind == "branch":
        return _branch([_sequence(choice, fold) for choice in part.inside])
    if part.kind == "repeat":
        once = _sequence(part.inside[0], fold)
        if part.least:
            return once
        if part.most == 1 and once.exact is not None:
            return _Known(once.exact | _NOTHING)
    return _Known(None)


def _spelling(char: str, fold: bool) -> str | None:
    """A character as the bytes of a text show it; None if several ways of writing it match."""
    if char.isascii():
        return char.lower() if fold else char
    # U+FFFD stands for any bytes that are no UTF-8; surrogates are in no text.
    if char == "\ufffd" or "\ud800" <= char <= "\udfff":
        return None
    return None if fold and not char.lower() == char == char.upper() else char


def _branch(choices: Sequence[_Known]) -> _Known:
    """One of several: it holds the best clause of one of them."""
    if all(known.exact is not None for known in choices):
        exact = frozenset[str]().union(*(known.exact or () for known in choices))
        return _Known(exact) if len(exact) <= _MOST_WAYS else _Known(None)
    either: set[str] = set()
    for known in choices:
        clauses = known.clauses if known.exact is None else _clause(known.exact)
        if not clauses:
            return _Known(None)
        either |= max(clauses, key=_worth)
    return _Known(None, (frozenset(either),)) if len(either) <= _MOST_WAYS else _Known(None)


def _lines_with(text: bytes, ways: Sequence[bytes]) -> list[int]:
    """Numbers of the lines that hold one of `ways`."""
    numbers: set[int] = set()
    for way in ways:
        number, counted = 1, 0
        at = text.find(way)
        while at >= 0:
            number += text.count(b"\n", counted, at)
            numbers.add(number)
            counted = text.find(b"\n", at)
            if counted < 0:
                break
            at = text.find(way, counted)
    return sorted(numbers)
