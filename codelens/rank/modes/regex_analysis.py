"""A regular expression's syntax tree, as far as it tells how long it may take and what it needs.

The tree comes from `re._parser`, which has no types and is private: `Part` is all that the rest
sees of it. Its shape has been the same from Python 3.11 to 3.14.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple, cast

from codelens.errors import QueryError
from codelens.extract.tokenizer import WORD
from codelens.rank.modes.long_lines import ODD_LETTERS

MAX_PATTERN = 1000
_FEW, _LONG, _ENDLESS, _TAME_WAYS = 8, 500, 10**9, 4000
"""A repeat of more than 8 counts as 500 ways to match, and one around another choice as endless.
So one open repeat beside a few choices is tame, and two are not."""
_EDGE, _ANY, _MAYBE = "\0", "\1", "\2"
"""In a pattern as text: no word goes on here; anything may stand here; the first or nothing."""


class Part(NamedTuple):
    """One element of a pattern."""

    kind: str
    """`literal`, `edge` (an end of a word or line, or white space), `repeat`, `branch`, `group`
    (capturing or not), `inner` (look-around, atomic, `\\B`), `backref`, or `other`."""
    text: str = ""
    """The literal; of `other` the characters of which it is one, if they are told one by one."""
    least: int = 0
    most: int = 0
    inside: tuple[tuple[Part, ...], ...] = ()


def compiled(text: str) -> tuple[re.Pattern[str], tuple[Part, ...]]:
    """A pattern and its parts; letter case counts once the text has a capital.

    Raises:
        QueryError: the text is no regular expression, or too long.
    """
    if len(text) > MAX_PATTERN:
        raise QueryError(f"the pattern has {len(text)} characters; at most {MAX_PATTERN} are taken")
    # `\S`, `\W` and the like are no capitals.
    capitals = any(char.isupper() for char in re.sub(r"\\.", "", text))
    flags = re.NOFLAG if capitals else re.IGNORECASE
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern = re.compile(text, flags)
            tree = _parse(text, int(flags))
        return pattern, _parts(tree)
    except (re.error, RecursionError, OverflowError) as error:
        raise QueryError(
            f"bad pattern {text[:100]!r}: {error}",
            typed="--mode text finds it as it is written",
            called="mode text finds it as it is written",
        ) from error


_Tree = Iterable[tuple[object, Any]]
_parse = cast("Callable[[str, int], _Tree]", import_module("re._parser").parse)


def _parts(tree: _Tree) -> tuple[Part, ...]:
    return tuple(_part(str(code), *_fields(value)) for code, value in tree)


def _fields(value: object) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _part(code: str, *value: Any) -> Part:  # noqa: ANN401 - fields differ by code
    if code == "LITERAL":
        return Part("literal", chr(value[0]))
    if code == "AT":
        return Part("inner" if str(value[0]) == "AT_NON_BOUNDARY" else "edge")
    if code == "IN":
        return _one_of(value[0])
    if code in {"MAX_REPEAT", "MIN_REPEAT"}:
        return Part("repeat", "", int(value[0]), int(value[1]), (_parts(value[2]),))
    if code == "SUBPATTERN":
        changed = value[1] or value[2]
        return Part("inner" if changed else "group", inside=(_parts(value[3]),))
    if code in {"BRANCH", "GROUPREF_EXISTS"}:
        choices = value[1] if code == "BRANCH" else value[1:]
        return Part("branch", inside=tuple(_parts(choice or ()) for choice in choices))
    if code in _INNER:
        times = int(value[1]) if code == "POSSESSIVE_REPEAT" else 1
        return Part("inner", "", times, times, (_parts(value[_INNER[code]]),))
    return Part("backref" if code == "GROUPREF" else "other")


def _one_of(items: Sequence[tuple[object, Any]]) -> Part:
    if [str(field) for item in items for field in item] == ["CATEGORY", "CATEGORY_SPACE"]:
        return Part("edge")
    characters = [chr(value) for code, value in items if str(code) == "LITERAL"]
    return Part("other", "".join(characters) if len(characters) == len(items) else "")


_INNER = {"ASSERT": 1, "ASSERT_NOT": 1, "ATOMIC_GROUP": 0, "POSSESSIVE_REPEAT": 2}
"""Where the inner pattern stands among the fields."""


def is_tame(parts: Iterable[Part]) -> bool:
    """Whether no line can make a pattern take long."""
    return _ways(parts) <= _TAME_WAYS


def _ways(parts: Iterable[Part]) -> int:
    """An upper estimate of how many ways of matching are tried at one place of a line."""
    total = 1
    for part in parts:
        total = min(total * _ways_of(part), _ENDLESS)
    return total


def _ways_of(part: Part) -> int:
    inside = [_ways(parts) for parts in part.inside]
    if part.kind == "repeat":
        ways = inside[0]
        if part.most > _FEW:
            return _LONG if ways == 1 else _ENDLESS
        return min(sum(ways**times for times in range(part.least, part.most + 1)), _ENDLESS)
    if part.kind == "backref":
        return _LONG
    return sum(inside) if inside else 1


def reach(parts: Iterable[Part]) -> int:
    """How many characters a match takes at most, with those that it looks at around itself."""
    return min(sum(map(_reach_of, parts)), _ENDLESS)


def shortest(parts: Sequence[Part]) -> Sequence[Part]:
    """Parts that match somewhere if these do: a repeat at an end is done no more than it must.

    Of a pattern that looks at nothing around its match.
    """
    ends = {0, len(parts) - 1}
    return [
        part._replace(most=part.least) if part.kind == "repeat" and at in ends else part
        for at, part in enumerate(parts)
    ]


def _reach_of(part: Part) -> int:
    if part.kind == "backref":
        return _ENDLESS
    if not part.inside:
        return 1
    times = part.most if part.kind in {"repeat", "inner"} else 1
    return max(map(reach, part.inside)) * times


def is_anchored(pattern: re.Pattern[str], parts: Sequence[Part]) -> bool:
    """Whether a match begins where the line does."""
    # An end of a word is an `edge`, too; which one it is says the text.
    return bool(parts and parts[0].kind == "edge" and _ANCHORED.match(pattern.pattern))


_ANCHORED = re.compile(r"(?:\(\?[a-z]+\))?(?:\^|\\A)")


def looks_around(parts: Iterable[Part], over: int) -> bool:
    """Whether it looks at more than `over` characters beside those that it takes."""
    return any(
        (part.kind in {"edge", "inner"} and _reach_of(part) > over)
        or any(looks_around(inside, over) for inside in part.inside)
        for part in parts
    )


def sure_words(pattern: re.Pattern[str], parts: Iterable[Part]) -> tuple[str, ...]:
    """Words that stand, bounded on both sides, in whatever the pattern matches."""
    if pattern.flags & re.ASCII:
        # Its words end at letters that go on with those of the index: `\bfoo` matches in `éfoo`.
        return ()
    text = "".join(_literals(parts))
    words: list[str] = []
    for match in WORD.finditer(text):
        before = text[: match.start()].rstrip(_MAYBE)[-1:]
        after = text[match.end() :].lstrip(_MAYBE)[:1]
        if _ends_word(before) and _ends_word(after):
            words.append(match[0])
    return tuple(words)


def _ends_word(char: str) -> bool:
    return bool(char) and char != _ANY and not WORD.match(char)


def _literals(parts: Iterable[Part]) -> Iterator[str]:
    """The pattern as text, with signs for what is no literal."""
    for part in parts:
        if part.kind == "literal":
            yield part.text
        elif part.kind == "edge":
            yield _EDGE
        elif part.kind == "group":
            yield from _literals(part.inside[0])
        elif part.kind == "repeat" and len(part.inside[0]) == 1:
            inner = "".join(_literals(part.inside[0]))
            sign = _EDGE if part.least and inner.strip(_MAYBE) else _MAYBE
            yield _ANY if not inner or _ANY in inner or WORD.search(inner) else sign
        else:
            yield _ANY


# What texts a regular expression cannot match without: told from the pattern, sought as bytes.
#
# Of a pattern come *clauses*, as Russ Cox describes for Google's code search: every line that
# matches holds one of the alternatives of each clause. To find those as bytes is some fifty times
# faster than to try the pattern on each line, and a file or line that lacks a clause needs no look.

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


def required_literals(pattern: re.Pattern[str], parts: Iterable[Part]) -> Required:
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
