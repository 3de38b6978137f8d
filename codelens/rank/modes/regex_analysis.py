"""Analyses a regular expression: how long it may take, and which literals every match contains.

The syntax tree comes from `re._parser`, which is private and untyped; the rest of codelens sees
only `Part`. Its shape has not changed from Python 3.11 to 3.14.
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
"""A repeat of more than 8 counts as 500 ways to match, and a repeat around another choice as
unbounded. So a pattern with one open repeat and a few choices is tame; one with two is not."""
_EDGE, _ANY, _MAYBE = "\0", "\1", "\2"
"""Marks for non-literal parts in a pattern's text: `_EDGE`, where no word continues; `_ANY` text;
`_MAYBE`, for an edge or nothing."""


class Part(NamedTuple):
    """One element of a pattern."""

    kind: str
    """`literal`, `edge` (an end of a word or line, or white space), `repeat`, `branch`, `group`
    (capturing or not), `inner` (look-around, atomic, `\\B`), `backref`, or `other`."""
    text: str = ""
    """The literal text; for `other`, its possible characters, if they are enumerable."""
    least: int = 0
    most: int = 0
    inside: tuple[tuple[Part, ...], ...] = ()


def compiled(text: str) -> tuple[re.Pattern[str], tuple[Part, ...]]:
    """Compile a pattern and return its parts; case matters if the text has a capital.

    Raises:
        QueryError: the text is not a regular expression, or too long.
    """
    if len(text) > MAX_PATTERN:
        raise QueryError(f"the pattern has {len(text)} characters; the maximum is {MAX_PATTERN}")
    # `\S`, `\W` and the like do not count as capitals.
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
            typed="--mode text finds it literally",
            called="mode text finds it literally",
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
"""Index of the inner pattern among the fields."""


def is_tame(parts: Iterable[Part]) -> bool:
    """Whether the pattern is fast on every line."""
    return _ways(parts) <= _TAME_WAYS


def _ways(parts: Iterable[Part]) -> int:
    """Estimate an upper bound of the ways to match at one place of a line."""
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
    """Return the maximum characters of a match, including those it looks at around itself."""
    return min(sum(map(_reach_of, parts)), _ENDLESS)


def shortest(parts: Sequence[Part]) -> Sequence[Part]:
    """Shorten repeats at both ends to their minimum; the result matches the same lines.

    Only valid for a pattern that does not look around its match.
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
    """Whether a match can only start at the start of a line."""
    # A word boundary is an `edge`, too; the text shows which one it is.
    return bool(parts and parts[0].kind == "edge" and _ANCHORED.match(pattern.pattern))


_ANCHORED = re.compile(r"(?:\(\?[a-z]+\))?(?:\^|\\A)")


def looks_around(parts: Iterable[Part], over: int) -> bool:
    """Whether a match looks at more than `over` characters around those that it takes."""
    return any(
        (part.kind in {"edge", "inner"} and _reach_of(part) > over)
        or any(looks_around(inside, over) for inside in part.inside)
        for part in parts
    )


def sure_words(pattern: re.Pattern[str], parts: Iterable[Part]) -> tuple[str, ...]:
    """Return words that every match contains, bounded on both sides."""
    if pattern.flags & re.ASCII:
        # ASCII word boundaries differ from those of the index: `\bfoo` matches in `éfoo`.
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
    """Yield the pattern as text, with marks for non-literal parts."""
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


# Derives literals that a text must contain to match, and finds them as bytes.
#
# A pattern yields *clauses*, as Russ Cox describes for Google Code Search: every matching line
# contains one alternative of each clause. Finding them as bytes is some fifty times faster than
# trying the pattern on each line, and a file or line that lacks a clause is skipped.

_MOST_WAYS = 16
"""Maximum alternatives of a clause: more take longer to find than they save."""
_ODD_BYTES = tuple(letter.encode() for letter in ODD_LETTERS)

_Ways = frozenset[str]
_NOTHING: _Ways = frozenset({""})


class _PartText(NamedTuple):
    """What a part of a pattern implies about the text that it matches."""

    exact: _Ways | None
    """All possible texts; None if unknown."""
    clauses: tuple[_Ways, ...] = ()
    """Clauses of the text; used if it is not exact."""


class Required(NamedTuple):
    """What a line must contain to match."""

    clauses: tuple[tuple[bytes, ...], ...]
    """Clauses, the most selective first. In lower case if case is ignored."""
    fold: bool

    def lines(self, data: bytes) -> list[int] | None:
        """Return ascending numbers of lines that may match; None if any may."""
        if not self.clauses:
            return None
        searched = data.lower() if self.fold else data
        for clause in self.clauses:
            # Loops instead of generators, since this runs for every file of a view.
            for way in clause:
                if way in searched:
                    break
            else:
                return None if self._odd(data) else []
        return None if self._odd(data) else _lines_with(searched, self.clauses[0])

    def _odd(self, data: bytes) -> bool:
        """Whether the data has letters that the clauses' bytes do not cover."""
        if not self.fold or data.isascii():
            return False
        dotted, dotless, long_s, kelvin = _ODD_BYTES
        return dotted in data or dotless in data or long_s in data or kelvin in data


def required_literals(pattern: re.Pattern[str], parts: Iterable[Part]) -> Required:
    """Return the clauses of every matching line; none for undecidable parts."""
    fold = bool(pattern.flags & re.IGNORECASE)
    part_text = _sequence(parts, fold)
    clauses = part_text.clauses if part_text.exact is None else _clause(part_text.exact)
    ordered = sorted(set(clauses), key=lambda ways: (-_worth(ways), sorted(ways)))
    return Required(tuple(tuple(way.encode() for way in sorted(ways)) for ways in ordered), fold)


def _worth(ways: _Ways) -> int:
    """Rate the selectivity of a clause: short alternatives are in most texts."""
    return min(map(len, ways))


def _clause(ways: _Ways) -> tuple[_Ways, ...]:
    return (ways,) if "" not in ways else ()


def _sequence(parts: Iterable[Part], fold: bool) -> _PartText:
    """Combine parts in sequence: exact text grows until a part is not exact."""
    run = _NOTHING
    clauses: list[_Ways] = []
    whole = True
    for part in parts:
        part_text = _of(part, fold)
        joined = _joined(run, part_text.exact) if part_text.exact is not None else None
        if joined is not None and _repeats(part):
            # Either this part repeats, or the next part follows.
            clauses += _clause(joined)
            run, whole = _NOTHING, False
        elif joined is not None:
            run = joined
        else:
            clauses += [*_clause(run), *part_text.clauses, *_clause(part_text.exact or _NOTHING)]
            run, whole = _NOTHING, False
    if whole:
        return _PartText(run)
    return _PartText(None, (*clauses, *_clause(run)))


def _repeats(part: Part) -> bool:
    return part.kind == "repeat" and part.most > 1


def _joined(before: _Ways, after: _Ways) -> _Ways | None:
    if len(before) * len(after) > _MOST_WAYS:
        return None
    return frozenset(start + end for start in before for end in after)


def _of(part: Part, fold: bool) -> _PartText:
    if part.kind in {"literal", "other"} and part.text:
        spellings = {_spelling(char, fold) for char in part.text}
        ways = frozenset(spelling for spelling in spellings if spelling is not None)
        is_exact = len(ways) == len(spellings) <= _MOST_WAYS
        return _PartText(ways if is_exact else None)
    if part.kind == "group":
        return _sequence(part.inside[0], fold)
    if part.kind == "branch":
        return _branch([_sequence(choice, fold) for choice in part.inside])
    if part.kind == "repeat":
        once = _sequence(part.inside[0], fold)
        if part.least:
            return once
        if part.most == 1 and once.exact is not None:
            return _PartText(once.exact | _NOTHING)
    return _PartText(None)


def _spelling(char: str, fold: bool) -> str | None:
    """Return the character in the form of the text's bytes; None if several spellings match it."""
    if char.isascii():
        return char.lower() if fold else char
    # U+FFFD represents any invalid UTF-8; surrogates are in no text.
    if char == "\ufffd" or "\ud800" <= char <= "\udfff":
        return None
    return None if fold and not char.lower() == char == char.upper() else char


def _branch(choices: Sequence[_PartText]) -> _PartText:
    """Combine alternatives: the text contains the best clause of one of them."""
    if all(choice.exact is not None for choice in choices):
        exact = frozenset[str]().union(*(choice.exact or () for choice in choices))
        return _PartText(exact) if len(exact) <= _MOST_WAYS else _PartText(None)
    either: set[str] = set()
    for choice in choices:
        clauses = choice.clauses if choice.exact is None else _clause(choice.exact)
        if not clauses:
            return _PartText(None)
        either |= max(clauses, key=_worth)
    return _PartText(None, (frozenset(either),)) if len(either) <= _MOST_WAYS else _PartText(None)


def _lines_with(text: bytes, ways: Sequence[bytes]) -> list[int]:
    """Return the numbers of lines that contain one of `ways`."""
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
