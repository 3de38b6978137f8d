"""Finds and ranks the texts that may answer a question, from their bytes, before they are indexed.

A scan costs a hundredth of an extraction. It searches for words as given and in the other
conventions of an identifier (`read_file`, `readFile`, `read-file`). A text that seems to define a
word ranks before texts that only use it. The guess only affects the order and never excludes a
text.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokenizer import STOPWORDS, parts_of_word, terms_of_word

_MOST_WORDS = 16
_LEAST_CHARS = 3
_STEM_CHARS = 4
_PLACES = 40
"""The number of occurrences of a word to check for a definition, usually among the first."""
_LINE_BYTES = 200
_DEFINING = 8.0
_NAMED = 4.0
_TARGET = 1e6
_WORD = re.compile(r"\w{2,}")
SEPARATORS = re.compile(rb"[_-]+")
"""Separators between the parts of a name."""
_INSIDE = re.compile(rb"[\w\x80-\xff]")
# Text before a use of a name that looks like a type or the keyword of a definition.
_USING = re.compile(
    rb"(?:^|\W)(?:return|await|new|throw|case|in|and|or|not|is|import|from|else|yield|if|elif|while"
    rb"|when|raise|assert|delete|goto|use|using|include|require|extends|implements|instanceof"
    rb"|typeof|sizeof|echo|print|do|then|match|with|where|as|to|of|a|the|this|that)\s+$"
)
# A keyword or a type, and blanks: `def `, `class `, `static int `, `impl<T> `, `fn (s *T) `.
_BEFORE = re.compile(rb"[\w>\]\)*&?][ \t]+[*&]*$|[\w>][*&]+$|#[ \t]*define[ \t]+$")
_BEHIND = re.compile(rb"[ \t]*(?::?=(?!=)|:(?!:)|\()")


class Wanted(NamedTuple):
    """The words and paths that a question asks for."""

    words: tuple[tuple[bytes, ...], ...] = ()
    """The spellings of each word in lower case. A text needs to have only one of them."""
    paths: frozenset[bytes] = frozenset()
    """Files, or folders with everything below, that the question names."""

    def __bool__(self) -> bool:
        return bool(self.words or self.paths)


NOTHING_ASKED = Wanted()


class Sight(NamedTuple):
    """Which words a file has in its text, defines, and has in its name."""

    holds: frozenset[int]
    defines: frozenset[int]
    named: frozenset[int]


def wanted(question: str, paths: Iterable[bytes] = ()) -> Wanted:
    """Returns what a question in words, names or paths asks for."""
    words = [word for word in _WORD.findall(question) if word.lower() not in STOPWORDS]
    words = list(dict.fromkeys(words)) or _WORD.findall(question)
    long = [word for word in words if len(word) >= _LEAST_CHARS] or words
    spelled = dict.fromkeys(_spellings(word) for word in long[:_MOST_WORDS])
    return Wanted(tuple(spelled), frozenset(paths))


def _spellings(word: str) -> tuple[bytes, ...]:
    if not word.isascii():
        # Bytes are folded as ASCII, so other letters are searched in each case.
        forms = (word.lower(), word, word.upper(), word.capitalize())
        return tuple(dict.fromkeys(_encoded(form).lower() for form in forms))
    parts = parts_of_word(word)
    if len(parts) < 2:
        # The word itself finds a definition; the stem of its forms finds a topic.
        return tuple(dict.fromkeys(map(_encoded, (word.lower(), _stem(word.lower())))))
    forms = (word.lower(), "".join(parts), "_".join(parts), "-".join(parts))
    return tuple(dict.fromkeys(map(_encoded, forms)))


def _stem(word: str) -> str:
    """Returns the common prefix of a word's forms, or the word itself if the prefix is short."""
    for term in terms_of_word(word):
        shared = next(
            (word[:at] for at, (letter, other) in enumerate(zip(word, term, strict=False))
             if letter != other), term[: len(word)],
        )  # fmt: skip
        # Porter's stem of `query` and `queries` is `queri`.
        shared = shared.removesuffix("i") if shared == term else shared
        if len(shared) >= _STEM_CHARS:
            return shared
    return word


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


NOTHING_SEEN = Sight(frozenset(), frozenset(), frozenset())


def sight(request: Wanted, path: bytes, data: bytes) -> Sight:
    """Returns which words a file holds, defines or is named after."""
    lowered = data.lower()
    name = path.rpartition(b"/")[2].lower()
    holds: set[int] = set()
    defines: set[int] = set()
    named: set[int] = set()
    for number, (spellings, may_hold) in enumerate(
        zip(request.words, _probes(request.words), strict=True)
    ):
        if may_hold(name) is not None and any(spelling in name for spelling in spellings):
            named.add(number)
        if may_hold(lowered) is None:
            continue
        for spelling in spellings:
            at = lowered.find(spelling)
            if at < 0:
                continue
            holds.add(number)
            if number not in defines and _defines(lowered, spelling, at):
                defines.add(number)
    if not holds and not named:
        return NOTHING_SEEN
    return Sight(frozenset(holds), frozenset(defines), frozenset(named))


@lru_cache(maxsize=16)
def _probes(
    words: tuple[tuple[bytes, ...], ...],
) -> tuple[Callable[[bytes], object], ...]:
    """Returns for each word a quick test, which nearly all texts without the word fail."""
    return tuple(re.compile(_in_all(spellings)).search for spellings in words)


def _in_all(spellings: Sequence[bytes]) -> bytes:
    """Returns a pattern that matches in each of some spellings; a literal prefix makes it fast."""
    shortest = min(spellings, key=len)
    if all(shortest in spelling for spelling in spellings):
        return re.escape(shortest)
    bare = {SEPARATORS.sub(b"", spelling) for spelling in spellings}
    # `a_http_server` has all the separators of `a_httpserver`, so the longest split is used.
    parts = max(
        ([part for part in SEPARATORS.split(spelling) if part] for spelling in spellings), key=len
    )
    if len(bare) == 1 and len(parts[0]) >= _LEAST_CHARS:
        return b"[_-]*".join(map(re.escape, parts))
    return b"|".join(map(re.escape, spellings))


def _defines(text: bytes, word: bytes, at: int) -> bool:
    for _ in range(_PLACES):
        end = at + len(word)
        before = text[max(text.rfind(b"\n", 0, at) + 1, at - _LINE_BYTES) : at]
        whole = not _INSIDE.match(text[end : end + 1]) and not _INSIDE.match(before[-1:])
        if whole and _introduces(before, text[end : end + 4]):
            return True
        at = text.find(word, end)
        if at < 0:
            return False
    return False


def _introduces(before: bytes, behind: bytes) -> bool:
    """Whether the text before and after a name looks like a definition of it."""
    if not before.strip():
        return bool(_BEHIND.match(behind))
    return bool(_BEFORE.search(before)) and not _USING.search(before)


def is_target(request: Wanted, path: bytes) -> bool:
    """Whether the question names a file or one of its folders."""
    while path and request.paths:
        if path in request.paths:
            return True
        path = os.path.dirname(path)
    return False


def ordered(request: Wanted, seen: dict[bytes, Sight]) -> list[bytes]:
    """Returns the matching files, best first.

    A rare word counts more; so do its definition and a file named after it.
    """
    count = len(seen) + 1
    matching = {path: sight for path, sight in seen.items() if sight is not NOTHING_SEEN}
    rarity = [
        math.log(count / (1 + sum(number in sight.holds for sight in matching.values()))) + 1.0
        for number in range(len(request.words))
    ]
    scores: list[tuple[float, bytes]] = []
    for path, sight in (seen if request.paths else matching).items():
        score = sum(rarity[number] for number in sight.holds)
        score += _DEFINING * sum(rarity[number] for number in sight.defines)
        score += _NAMED * sum(rarity[number] for number in sight.named)
        score += _TARGET * is_target(request, path)
        if score > 0:
            scores.append((-score, path))
    return [path for _, path in sorted(scores)]
