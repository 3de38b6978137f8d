"""Words of code and of questions to index terms: the one tokenizer, used on both sides.

A word is a run of letters, digits and underscores. An identifier gives its parts
(camelCase, snake_case, letters against digits), each stemmed by Porter's algorithm
(M. F. Porter, "An algorithm for suffix stripping", 1980), and, if it has several, their
compound: `validateSession` -> `valid`, `session`, `validatesess`. So the conventions
`validateSession`, `validate_session` and `ValidateSession` are one term. Scripts written
without spaces give overlapping pairs of characters.

Tokenising in plain Python is what costs most in a cold index, but the vocabulary of code is
small: `terms_of_word` remembers what it has seen.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

import Stemmer

WORD = re.compile(r"\w+")
_ASCII_WORDS = bytes(
    byte if byte < 0x80 and (chr(byte).isalnum() or byte == ord("_")) else ord(" ")
    for byte in range(256)
)
_MAX_WORD = 64
_MAX_DIGITS = 8
# From this length a word that is a quarter digits is a hash or key: its parts say nothing.
_BLOB = 16
_MEMO_LIMIT = 400_000

_PART = re.compile(
    r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
    r"|[^\W\d_A-Za-z]+"  # letters of other scripts stay together, then see _UNSPACED
)
_UNSPACED = r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
"""Compiled at the first word that is not ASCII: it is the costliest of all expressions."""

STOPWORDS = frozenset(
    "a about above after all also an and any are as at be because been before being below between "
    "both but by can could did do does doing down during each few for from further had has have "
    "having he her here hers him his how i if in into is it its itself just me more most my no nor "
    "not now of off on once only or other our ours out over own s same she should so some such t "
    "than that the their theirs them then there these they this those through to too under until "
    "up very was we were what when where which while who whom why will with would you your "
    "yours".split()
)
"""English function words: they carry no topic, and leaving them out saves a tenth of the index."""

_local = threading.local()


def _stem(word: str) -> str:
    # A Stemmer object is not safe to share between threads.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("porter", 0)
    return stemmer.stemWord(word)


def parts_of_word(word: str) -> list[str]:
    """The lower-case parts of an identifier, in order: `HTTPServer2` -> http, server, 2."""
    return [part.lower() for part in _PART.findall(word)]


def words_of(text: bytes) -> list[str]:
    """The words of a UTF-8 text, in order: what `WORD` finds, at half its price in ASCII."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).decode().split()
    return WORD.findall(text.decode("utf-8", "replace"))


class _Memo(dict[str, tuple[str, ...]]):
    """Word -> terms, worked out when first asked: one look-up in C for a known word."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        terms = self[word] = _terms(word)
        return terms


class _PartMemo(dict[str, tuple[str, ...]]):
    """Lower-case part of a word -> its term, if it has one. Half of all words have two parts."""

    def __missing__(self, part: str) -> tuple[str, ...]:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        idle = part in STOPWORDS or (len(part) > _MAX_DIGITS and part.isdigit())
        terms = self[part] = () if idle else (_stem(part),)
        return terms


_memo = _Memo()
_part_memo = _PartMemo()


def terms_of_word(word: str) -> tuple[str, ...]:
    """Index terms of one word; empty for stopwords, long numbers and blobs."""
    return _memo[word]


def terms_of_text(text: str) -> list[str]:
    """Index terms of a text, in order, repeats kept."""
    terms: list[str] = []
    for word in WORD.findall(text):
        terms.extend(terms_of_word(word))
    return terms


def count_terms(words: Iterable[str]) -> dict[str, int]:
    """How often each term stands in `words`."""
    counts: dict[str, int] = {}
    get, memo = counts.get, _memo
    for word, times in Counter(words).items():
        for term in memo[word]:
            counts[term] = get(term, 0) + times
    return counts


def compound_of(words: list[str]) -> str:
    """The term that `words`, written as one identifier, would have as its compound."""
    return _stem("".join(words))


def identifier_key(name: str) -> str:
    """What stays of an identifier when its convention is taken away: lower-case letters, digits."""
    return "".join(char for char in name.casefold() if char.isalnum())


def _terms(word: str) -> tuple[str, ...]:
    if len(word) > _MAX_WORD:
        return ()
    if not word.isascii():
        if re.search(_UNSPACED, word):
            return tuple(_pairs(unicodedata.normalize("NFKC", word)))
        word = _without_marks(word)
    if len(word) >= _BLOB and sum(map(str.isdigit, word)) * 4 >= len(word):
        return (word.lower(),)
    # Where the case is one it parts nothing.
    letters = word.replace("_", "")
    if letters.isascii() and letters.isalpha() and (letters.islower() or letters.isupper()):
        parts = [part for part in word.lower().split("_") if part]
    else:
        parts = parts_of_word(word)
    if len(parts) == 1:
        return _part_memo[parts[0]]
    terms = [term for part in parts for term in _part_memo[part]]
    if parts:
        terms.append(_stem("".join(parts)))
    return tuple(terms)


def _without_marks(word: str) -> str:
    """Letters without their accents: people type `cafe` for `café`."""
    plain = unicodedata.normalize("NFKD", word)
    return "".join(char for char in plain if not unicodedata.combining(char))


def _pairs(word: str) -> Iterator[str]:
    folded = word.casefold()
    if len(folded) == 1:
        yield folded
    for left, right in pairwise(folded):
        yield left + right
