"""A regular expression's syntax tree, as far as it tells how long it may take and what it needs.

The tree comes from `re._parser`, which has no types and is private: `Part` is all that the rest
sees of it. Its shape has been the same from Python 3.11 to 3.14.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple, cast

from codelens.errors import QueryError
from codelens.extract.tokens import WORD

MAX_PATTERN = 1000
_FEW, _LONG, _ENDLESS, _TAME_WAYS = 8, 500, 10**9, 4000
"""A repeat of more than 8 counts as 500 ways to match, and one around another choice as endless.
So one open repeat beside a few choices is tame, and two are not."""
_EDGE, _ANY = "\0", "\1"


class Part(NamedTuple):
    """One element of a pattern."""

    kind: str
    """`literal`, `edge` (an end of a word or line, or white space), `repeat`, `branch`, `group`
    (capturing or not), `inner` (look-around, atomic), `backref`, or `other`."""
    text: str = ""
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
            tree = cast("_Tree", _parser.parse(text, flags))
        return pattern, _parts(tree)
    except (re.error, RecursionError, OverflowError) as error:
        raise QueryError(f"bad pattern {text[:100]!r}: {error}") from error


_Tree = Iterable[tuple[object, Any]]


def _parts(tree: _Tree) -> tuple[Part, ...]:
    return tuple(_part(str(code), *_fields(value)) for code, value in tree)


def _fields(value: object) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _part(code: str, *value: Any) -> Part:  # noqa: ANN401 - the tree's fields differ by code
    if code == "LITERAL":
        return Part("literal", chr(value[0]))
    if code == "AT":
        return Part("other" if str(value[0]) == "AT_NON_BOUNDARY" else "edge")
    if code == "IN":
        only = [str(field) for one in value[0] for field in one]
        return Part("edge" if only == ["CATEGORY", "CATEGORY_SPACE"] else "other")
    if code in {"MAX_REPEAT", "MIN_REPEAT"}:
        return Part("repeat", "", int(value[0]), int(value[1]), (_parts(value[2]),))
    if code == "SUBPATTERN":
        changed = value[1] or value[2]
        return Part("inner" if changed else "group", inside=(_parts(value[3]),))
    if code == "BRANCH":
        return Part("branch", inside=tuple(_parts(one) for one in value[1]))
    if code in {"ASSERT", "ASSERT_NOT"}:
        return Part("inner", inside=(_parts(value[1]),))
    if code == "ATOMIC_GROUP":
        return Part("inner", inside=(_parts(value[0]),))
    if code == "POSSESSIVE_REPEAT":
        return Part("inner", inside=(_parts(value[2]),))
    if code == "GROUPREF_EXISTS":
        return Part("branch", inside=tuple(_parts(one) for one in value[1:] if one is not None))
    return Part("backref" if code == "GROUPREF" else "other")


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
    inside = [_ways(one) for one in part.inside]
    if part.kind == "repeat":
        each = inside[0]
        if part.most > _FEW:
            return _LONG if each == 1 else _ENDLESS
        return min(sum(each**times for times in range(part.least, part.most + 1)), _ENDLESS)
    if part.kind == "backref":
        return _LONG
    return sum(inside) if inside else 1


def sure_words(parts: Iterable[Part]) -> tuple[str, ...]:
    """Words that stand, bounded on both sides, in whatever the pattern matches."""
    text = "".join(_literals(parts))
    found: list[str] = []
    for match in WORD.finditer(text):
        start, end = match.span()
        if start and end < len(text) and _ANY not in {text[start - 1], text[end]}:
            found.append(match[0])
    return tuple(found)


def _literals(parts: Iterable[Part]) -> Iterator[str]:
    r"""The pattern as text, with `\0` for the end of a word and `\1` for what may be anything."""
    for part in parts:
        if part.kind == "literal":
            yield part.text
        elif part.kind == "edge":
            yield _EDGE
        elif part.kind == "group":
            yield from _literals(part.inside[0])
        elif part.kind == "repeat" and part.least and len(part.inside[0]) == 1:
            inner = "".join(_literals(part.inside[0]))
            yield _EDGE if inner and inner != _ANY and not WORD.search(inner) else _ANY
        else:
            yield _ANY
