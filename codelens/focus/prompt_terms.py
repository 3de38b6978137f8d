"""Splits a prompt into terms (words of identifiers, without stop words, stemmed) and compares them.

The stemmer makes two passes: it removes a plural ending, then the longest derivational suffix that
fits. It keeps `er`, since a parser is not what it parses. The index's stemmer (Porter's, in
`codelens.extract`) is not better (`benchmarks/focus_replay.py`), and its import is too slow for a
hook. So is the import of `re`: this module reads character by character, except for words of
lower-case ASCII letters, which are the most frequent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

LONGEST_TEXT = 2_000
"""How many characters of a prompt decide its topic; pasted text below says little about it."""
_LONGEST_TERM = 32
_SHORTEST_STEM = 3

_TO_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_UNSPACED = (
    ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uac00", "\ud7af"),
)  # fmt: skip
"""First and last characters of Thai and Lao, Burmese, Khmer, Japanese, Chinese and Korean."""
_NOT_TOLD_APART = dict.fromkeys(
    code
    for first, last in (
        (0x0300, 0x036F), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F), (0x0670, 0x0670),
        (0x06D6, 0x06ED), (0x180B, 0x180D), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x200C, 0x200D),
        (0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F),
    )
    for code in range(first, last + 1)
)  # fmt: skip
"""Accents, the optional points of Hebrew and Arabic, and characters that join or vary letters.
Vowel signs stay: without them a word of Hindi or Tamil is another word."""
_JOINERS: dict[int, None] = {0x200C: None, 0x200D: None}
_SMALL, _CAPITAL, _DIGIT, _OTHER = range(4)

FUNCTION_WORDS = frozenset(
    "a about above after again all also am an and any anyway are aren as at be because been before "
    "being below between both but by can cannot could couldn d did didn do does doesn doing don "
    "done down during each either else even every few first for from further get gets getting give "
    "go goes going got had has have having he hello her here hers hey hi him his how however i if "
    "in instead into is isn it its itself just keep kind know let lets like ll look m made make "
    "makes making may maybe me might mine more most much must my need needs no nor not now of off "
    "ok okay on once one only onto or other others our ours out over own perhaps please put rather "
    "re really s same see seem seems shall she should shouldn since so some something still such "
    "sure t take than thank thanks that the their theirs them then there these they thing things "
    "think this those though through to too try trying two under until up us use used using ve "
    "very via wanna want wants was way we well were what when where whether which while who whom "
    "why will with within without won would wouldn yeah yes yet you your yours".split()
)
"""English stop words, including the usual words of requests."""

_SUFFIXES = frozenset(
    "mentation ization isation menting ational ousness iveness fulness mented ating ation ative "
    "ingly ility izing ising able ably ance ated edly ence ible ibly ions ized ised less ment "
    "ness tion ate ful ing ion ity ive ize ise ous al ed ic ly e".split()
)
"""Derivational suffixes; the longest that fits is removed."""
_LONGEST_SUFFIX = max(map(len, _SUFFIXES))
_KEPT = {"tion": "t", "ility": "il"}
"""The part of a suffix that stays."""
_LONGER_STEM = ("ly", "ment")
"""Suffixes that must leave at least four letters: `apply` is not `app`, `comment` not `com`."""


def terms_of(text: str) -> list[str]:
    """The terms of a text in order, with repetitions."""
    return [stem(word) for word in words_of(text)]


def words_of(text: str) -> list[str]:
    """The lower-case words that `terms_of` stems.

    Scripts without spaces give overlapping pairs of characters; an emoji is a word.
    """
    text = text[:LONGEST_TEXT]
    if text.isascii():
        return _plain(text)
    import unicodedata

    result: list[str] = []
    text = unicodedata.normalize("NFKC", text).translate(_JOINERS)
    for piece in _pieces(text):
        if not any(map(str.isalnum, piece)) and any(map(_is_mark, piece)):
            continue
        if any(first <= character <= last for character in piece for first, last in _UNSPACED):
            folded = piece.casefold()
            pairs = [folded[at : at + 2] for at in range(len(folded) - 1)]
            result += pairs or [folded]
        elif len(piece) == 1 and unicodedata.category(piece) == "So":
            result.append(piece)
        else:
            result += _plain(unicodedata.normalize("NFKD", piece).translate(_NOT_TOLD_APART))
    return result


def _plain(text: str) -> list[str]:
    words: list[str] = []
    for run in text.translate(_TO_SPACES).split():
        words += [run] if run.isascii() and run.isalpha() and run.islower() else _parts(run)
    return [
        word[:_LONGEST_TERM]
        for word in words
        if word not in FUNCTION_WORDS and (len(word) > 1 or not word.isascii())
    ]


def _pieces(text: str) -> list[str]:
    """Runs of letters, digits, `_` and their marks, and each other visible character."""
    pieces: list[str] = []
    start = 0
    for at, character in enumerate(text):
        if character.isalnum() or character == "_" or _is_mark(character):
            continue
        if start < at:
            pieces.append(text[start:at])
        if not character.isspace():
            pieces.append(character)
        start = at + 1
    return [*pieces, text[start:]] if start < len(text) else pieces


def _parts(run: str) -> list[str]:
    """The parts of an identifier in lower case: `HTTPServer2` gives `http`, `server` and `2`.

    A part is a run of lower-case ASCII letters with an optional capital before it, of capitals, of
    digits, or of other letters.
    """
    kinds = [*map(_kind_of, run), -1]
    parts: list[str] = []
    start, part_kind = 0, kinds[0]
    for at in range(1, len(run)):
        kind = kinds[at]
        if part_kind == _CAPITAL and kind == _SMALL:
            part_kind = _SMALL
        elif kind != part_kind or (kind == _CAPITAL and kinds[at + 1] == _SMALL):
            parts.append(run[start:at])
            start, part_kind = at, kind
    return [part.lower() for part in [*parts, run[start:]] if _kind_of(part[0]) >= 0]


def _kind_of(character: str) -> int:
    """The kind of a character in an identifier; -1 if it cannot be in one."""
    if character.isascii():
        if character.islower():
            return _SMALL
        if character.isupper():
            return _CAPITAL
        return _DIGIT if character.isdigit() else -1
    if character.isdecimal():
        return _DIGIT
    return _OTHER if character.isalnum() or _is_mark(character) else -1


def _is_mark(character: str) -> bool:
    """Whether a character belongs to the letter before it: an accent, a vowel sign."""
    if character < "\u0300":
        return False
    import unicodedata

    return unicodedata.category(character) in {"Mn", "Mc"}


def stem(word: str) -> str:
    """The stem of a word: `rotated`, `rotations` and `rotating` give `rot`."""
    if not word.isascii() or not word.isalpha():
        return word
    return _without_suffix(_singular(word))


def _singular(word: str) -> str:
    if len(word) <= _SHORTEST_STEM or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1]


def _without_suffix(word: str) -> str:
    for size in range(min(_LONGEST_SUFFIX, len(word) - _SHORTEST_STEM), 0, -1):
        suffix, rest = word[-size:], word[:-size]
        if suffix not in _SUFFIXES:
            continue
        least = _SHORTEST_STEM + (suffix in _LONGER_STEM)
        if len(rest) < least or not _has_vowel(rest):
            continue
        rest += _KEPT.get(suffix, "")
        if suffix in {"ing", "ed"} and _is_doubled(rest):
            return rest[:-1]
        return rest
    return word


def _has_vowel(text: str) -> bool:
    return any(letter in "aeiouy" for letter in text)


def _is_doubled(text: str) -> bool:
    """Whether the last consonant was doubled for a suffix: `running`, but not `calling`."""
    return len(text) > _SHORTEST_STEM and text[-1] == text[-2] and text[-1] not in "aeioulsz"


# TF-IDF vectors of prompts, sparse and sorted by term, and their cosine by a merge join.
#
# TF = count / length; IDF = log2(1 + N / df), where N is the number of indexed prompts and df the
# number of those with the term. Both are at least 1, so that a new term has a weight.

DIGITS = 12
"""Digits of compared values: values that are equal by the formula must be equal, so age decides."""

Counts = dict[str, int]
"""Term -> its number of occurrences in a text."""


class Vector(NamedTuple):
    """A sparse vector: the sorted terms with their weights, and its length."""

    parts: tuple[tuple[str, float], ...]
    norm: float


class DocumentCounts:
    """The number of indexed prompts, and the number of them with each term."""

    __slots__ = ("documents", "holding")

    def __init__(self) -> None:
        self.documents = 0
        self.holding: dict[str, int] = {}

    def add(self, terms: Mapping[str, int]) -> None:
        """Add a prompt to the counts."""
        self.documents += 1
        for term in terms:
            self.holding[term] = self.holding.get(term, 0) + 1

    def remove(self, terms: Mapping[str, int]) -> None:
        """Remove a prompt from the counts."""
        self.documents -= 1
        for term in terms:
            left = self.holding[term] - 1
            if left:
                self.holding[term] = left
            else:
                del self.holding[term]

    def idf(self, term: str) -> float:
        """The inverse document frequency of a term."""
        return math.log2(1 + max(self.documents, 1) / max(self.holding.get(term, 0), 1))

    def vector(self, terms: Mapping[str, int]) -> Vector:
        """The vector of a text with these counted terms."""
        length = sum(terms.values())
        parts = tuple((term, terms[term] / length * self.idf(term)) for term in sorted(terms))
        return Vector(parts, math.sqrt(math.fsum(weight * weight for _, weight in parts)))


def counted(terms: list[str]) -> Counts:
    """Count the terms in a list."""
    counts: Counts = {}
    for term in terms:
        counts[term] = counts.get(term, 0) + 1
    return counts


def cosine(left: Vector, right: Vector) -> float:
    """The cosine of two vectors; 0 if one is empty."""
    if not left.norm or not right.norm:
        return 0.0
    products: list[float] = []
    here, there = left.parts, right.parts
    at = other = 0
    while at < len(here) and other < len(there):
        term, weight = here[at]
        other_term, other_weight = there[other]
        if term == other_term:
            products.append(weight * other_weight)
            at += 1
            other += 1
        elif term < other_term:
            at += 1
        else:
            other += 1
    if not products:
        return 0.0
    return round(math.fsum(products) / (left.norm * right.norm), DIGITS)
