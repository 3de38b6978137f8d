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
