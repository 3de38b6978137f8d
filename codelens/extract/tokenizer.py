"""Splits words of code and of questions into index terms, by the same rules for both.

A word is a run of letters, digits and underscores. An identifier gives its parts (camelCase,
snake_case, letters against digits), each stemmed by Porter's algorithm (M. F. Porter, "An algorithm
for suffix stripping", 1980). If it has several parts it also gives their compound:
`validateSession` -> `valid`, `session`, `validatesess`. The conventions `validateSession`,
`validate_session` and `ValidateSession` thus give one term. Scripts without spaces give overlapping
pairs of characters.

Tokenizing in plain Python is the largest cost of a cold index, but the vocabulary of code is small,
so `terms_of_word` caches its results.
"""

from __future__ import annotations

import re
import struct
import threading
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import Stemmer

from codelens.types import Chunk, Symbol

WORD = re.compile(r"\w+")
_ASCII_WORDS = bytes(
    byte if byte < 0x80 and (chr(byte).isalnum() or byte == ord("_")) else ord(" ")
    for byte in range(256)
)
_MAX_WORD = 64
_MAX_DIGITS = 8
# A word of this length with a quarter digits is a hash or key, and its parts mean nothing.
_BLOB = 16
_MEMO_LIMIT = 400_000

_PART = re.compile(
    r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
    r"|[^\W\d_A-Za-z]+"  # letters of other scripts stay together; see _UNSPACED
)
_UNSPACED = r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
"""Compiled for the first non-ASCII word, because it is the most expensive expression."""

STOPWORDS = frozenset(
    "a about above after all also an and any are as at be because been before being below between "
    "both but by can could did do does doing down during each few for from further had has have "
    "having he her here hers him his how i if in into is it its itself just me more most my no nor "
    "not now of off on once only or other our ours out over own s same she should so some such t "
    "than that the their theirs them then there these they this those through to too under until "
    "up very was we were what when where which while who whom why will with would you your "
    "yours".split()
)
"""English function words. They carry no topic; without them the index is a tenth smaller."""

_local = threading.local()


def _stem(word: str) -> str:
    # A Stemmer object is not thread-safe.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("porter", 0)
    return stemmer.stemWord(word)


def parts_of_word(word: str) -> list[str]:
    """Returns the lower-case parts of an identifier in order: `HTTPServer2` -> http, server, 2."""
    return [part.lower() for part in _PART.findall(word)]


def words_of(text: bytes) -> list[str]:
    """Returns the words of a UTF-8 text in order, like `WORD` but twice as fast for ASCII."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).decode().split()
    return WORD.findall(text.decode("utf-8", "replace"))


class _Memo(dict[str, tuple[str, ...]]):
    """A cache of word -> terms. A known word costs one lookup in C."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        terms = self[word] = _terms(word)
        return terms


class _PartMemo(dict[str, tuple[str, ...]]):
    """A cache of lower-case part -> term, if any. Half of all words have two parts."""

    def __missing__(self, part: str) -> tuple[str, ...]:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        idle = part in STOPWORDS or (len(part) > _MAX_DIGITS and part.isdigit())
        terms = self[part] = () if idle else (_stem(part),)
        return terms


_memo = _Memo()
_part_memo = _PartMemo()


def terms_of_word(word: str) -> tuple[str, ...]:
    """Returns the index terms of one word; empty for stopwords, long numbers and blobs."""
    return _memo[word]


def terms_of_text(text: str) -> list[str]:
    """Returns the index terms of a text in order, with repetitions."""
    terms: list[str] = []
    for word in WORD.findall(text):
        terms.extend(terms_of_word(word))
    return terms


def count_terms(words: Iterable[str]) -> dict[str, int]:
    """Counts the occurrences of each term in `words`."""
    counts: dict[str, int] = {}
    get, memo = counts.get, _memo
    for word, times in Counter(words).items():
        for term in memo[word]:
            counts[term] = get(term, 0) + times
    return counts


def compound_of(words: list[str]) -> str:
    """Returns the compound term of `words` written as one identifier."""
    return _stem("".join(words))


def identifier_key(name: str) -> str:
    """Returns the lower-case letters and digits of an identifier, without its convention."""
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
    # Without letters in both cases it splits nothing.
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
    """Removes accents from letters: people type `cafe` for `café`."""
    plain = unicodedata.normalize("NFKD", word)
    return "".join(char for char in plain if not unicodedata.combining(char))


def _pairs(word: str) -> Iterator[str]:
    folded = word.casefold()
    if len(folded) == 1:
        yield folded
    for left, right in pairwise(folded):
        yield left + right


# Occurrences of terms in the chunks of one text, packed for the postings of the index.
#
# Each term of a text has native unsigned 32-bit integers: first its count in the whole file (`body
# << 16 | doc << 8 | name`), then one entry per chunk that contains it (`chunk << 16 | body << 8 |
# doc << 4 | name`). Counts are capped at their bits. BM25 saturates, so a larger count adds next to
# nothing (k1 = 1.2: 255 occurrences score .995 of infinitely many).

# A posting counts its words, a total and one per chunk, in 16 bits.
MAX_CHUNKS = 65_534
_PAIR = struct.Struct("=II").pack
_MOST_PAIRS = 1 << 14
Lengths = tuple[tuple[int, int, int], ...]


class _Pairs(dict[int, bytes]):
    """A cache of a term's only entry -> its count and entry. Equal ones are sent once."""

    def __missing__(self, entry: int) -> bytes:
        if len(self) >= _MOST_PAIRS:
            self.clear()
        count = (entry & 0xFF00) << 8 | (entry & 0xF0) << 4 | entry & 15
        words = self[entry] = _PAIR(count, entry)
        return words


_packed_pairs = _Pairs()


def pack_terms(
    text: bytes, chunks: Sequence[Chunk], symbols: Sequence[Symbol]
) -> tuple[dict[str, bytes], Lengths]:
    """Returns packed occurrences by term, and the number of body, name and doc terms per chunk.

    Names and docs of a symbol count in the chunk where the symbol starts.
    """
    entries: defaultdict[str, list[int]] = defaultdict(list)
    lengths: list[tuple[int, int, int]] = []
    names, docs = _fields_by_chunk(chunks, symbols)
    pairs = _packed_pairs
    for ordinal, chunk in enumerate(chunks[:MAX_CHUNKS]):
        body = count_terms(words_of(text[chunk.start_byte : chunk.end_byte]))
        base = ordinal << 16
        for term, times in body.items():
            entries[term].append(base | (times << 8 if times < 255 else 0xFF00))
        name = _add_field(entries, body, base, names.get(ordinal), 0)
        doc = _add_field(entries, body, base, docs.get(ordinal), 4)
        lengths.append((sum(body.values()), name, doc))
    # Most terms are in one chunk of a file.
    return {
        term: pairs[numbers[0]] if len(numbers) == 1 else _packed(numbers)
        for term, numbers in entries.items()
    }, tuple(lengths)


def _add_field(
    entries: dict[str, list[int]],
    body: dict[str, int],
    base: int,
    words: list[str] | None,
    shift: int,
) -> int:
    """Adds the words of a field to their terms' last entries. Returns the number of words."""
    if not words:
        return 0
    counts = count_terms(words)
    for term, times in counts.items():
        if term not in body:
            body[term] = 0
            entries[term].append(base)
        entries[term][-1] |= (times if times < 15 else 15) << shift
    return sum(counts.values())


def _packed(numbers: list[int]) -> bytes:
    body = doc = name = 0
    for entry in numbers:
        body += entry >> 8 & 255
        if entry & 255:
            doc += entry >> 4 & 15
            name += entry & 15
    if body > 0xFFFF or doc > 255 or name > 255:
        body, doc, name = min(body, 0xFFFF), min(doc, 255), min(name, 255)
    return array("I", (body << 16 | doc << 8 | name, *numbers)).tobytes()


def _fields_by_chunk(
    chunks: Sequence[Chunk], symbols: Sequence[Symbol]
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    names: dict[int, list[str]] = {}
    docs: dict[int, list[str]] = {}
    ordinal = 0
    last = len(chunks) - 1
    for symbol in sorted(symbols, key=lambda symbol: symbol.start_byte):
        while ordinal < last and chunks[ordinal].end_byte <= symbol.start_byte:
            ordinal += 1
        names.setdefault(ordinal, []).extend(WORD.findall(symbol.name))
        if symbol.doc:
            docs.setdefault(ordinal, []).extend(WORD.findall(symbol.doc))
    return names, docs
