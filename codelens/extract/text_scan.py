"""Which texts hold what a question asks for, told from their bytes alone, before any is indexed.

A scan costs a hundredth of an extraction. Words are looked for as they are and in the other
conventions of an identifier (`read_file`, `readFile`, `read-file`); a text that seems to define
one comes before those that only use it. It may hold back nothing: that a line looks like a
definition orders texts, and never leaves one out.
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
"""So many places of a word are looked at for its definition; it mostly is among the first."""
_LINE_BYTES = 200
_DEFINING = 8.0
_NAMED = 4.0
_TARGET = 1e6
_WORD = re.compile(r"\w{2,}")
SEPARATORS = re.compile(rb"[_-]+")
"""What stands between the parts of a name."""
_INSIDE = re.compile(rb"[\w\x80-\xff]")
# What stands before a name where it is used, and looks like a type or a keyword of a definition.
_USING = re.compile(
    rb"(?:^|\W)(?:return|await|new|throw|case|in|and|or|not|is|import|from|else|yield|if|elif|while"
    rb"|when|raise|assert|delete|goto|use|using|include|require|extends|implements|instanceof"
    rb"|typeof|sizeof|echo|print|do|then|match|with|where|as|to|of|a|the|this|that)\s+$"
)
# A keyword or a type, and blanks: `def `, `class `, `static int `, `impl<T> `, `fn (s *T) `.
_BEFORE = re.compile(rb"[\w>\]\)*&?][ \t]+[*&]*$|[\w>][*&]+$|#[ \t]*define[ \t]+$")
_BEHIND = re.compile(rb"[ \t]*(?::?=(?!=)|:(?!:)|\()")


class Wanted(NamedTuple):
    """What a question asks for."""

    words: tuple[tuple[bytes, ...], ...] = ()
    """Each word in its spellings, in lower case; one of them in a text is enough."""
    paths: frozenset[bytes] = frozenset()
    """Files, or folders with all below, that are asked for by name."""

    def __bool__(self) -> bool:
        return bool(self.words or self.paths)


NOTHING_ASKED = Wanted()


class Sight(NamedTuple):
    """What a text shows of the words: which it holds, defines, and has in its name."""

    holds: frozenset[int]
    defines: frozenset[int]
    named: frozenset[int]


def wanted(question: str, paths: Iterable[bytes] = ()) -> Wanted:
    """What a question in words, names or paths asks for."""
    words = [word for word in _WORD.findall(question) if word.lower() not in STOPWORDS]
    words = list(dict.fromkeys(words)) or _WORD.findall(question)
    long = [word for word in words if len(word) >= _LEAST_CHARS] or words
    spelled = dict.fromkeys(_spellings(word) for word in long[:_MOST_WORDS])
    return Wanted(tuple(spelled), frozenset(paths))


def _spellings(word: str) -> tuple[bytes, ...]:
    if not word.isascii():
        # Bytes are folded as ASCII is; other letters are looked for in each case.
        forms = (word.lower(), word, word.upper(), word.capitalize())
        return tuple(dict.fromkeys(_encoded(form).lower() for form in forms))
    parts = parts_of_word(word)
    if len(parts) < 2:
        # The word itself tells a definition; what its forms share tells a topic.
        return tuple(dict.fromkeys(map(_encoded, (word.lower(), _stem(word.lower())))))
    forms = (word.lower(), "".join(parts), "_".join(parts), "-".join(parts))
    return tuple(dict.fromkeys(map(_encoded, forms)))


def _stem(word: str) -> str:
    """The beginning that the forms of a word share; the word itself where that is short."""
    for term in terms_of_word(word):
        shared = next(
            (word[:at] for at, (letter, other) in enumerate(zip(word, term, strict=False))
             if letter != other), term[: len(word)],
        )  # fmt: skip
        # Porter writes `queri` for `query` and `queries`.
        shared = shared.removesuffix("i") if shared == term else shared
        if len(shared) >= _STEM_CHARS:
            return shared
    return word


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


NOTHING_SEEN = Sight(frozenset(), frozenset(), frozenset())


def sight(request: Wanted, path: bytes, data: bytes) -> Sight:
    """What a file shows of the words."""
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
    """For each word what finds nothing in a text without it: nearly all texts, so once through."""
    return tuple(re.compile(_in_all(spellings)).search for spellings in words)


def _in_all(spellings: Sequence[bytes]) -> bytes:
    """A pattern of what matches in each of some spellings; a literal start makes it fast."""
    shortest = min(spellings, key=len)
    if all(shortest in spelling for spelling in spellings):
        return re.escape(shortest)
    bare = {SEPARATORS.sub(b"", spelling) for spelling in spellings}
    # Of `a_http_server` and `a__httpserver` the first has all cuts of the second.
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
    """Whether a name between these two parts of its line looks like one that is defined there."""
    if not before.strip():
        return bool(_BEHIND.match(behind))
    return bool(_BEFORE.search(before)) and not _USING.search(before)


def is_target(request: Wanted, path: bytes) -> bool:
    """Whether a file is asked for by its name, or lies in a folder that is."""
    while path and request.paths:
        if path in request.paths:
            return True
        path = os.path.dirname(path)
    return False


def ordered(request: Wanted, seen: dict[bytes, Sight]) -> list[bytes]:
    """The files that show anything of what is asked, the most telling first.

    A word counts by how few files hold it; a definition of it, and a file called so, count more.
    """
    count = len(seen) + 1
    telling = {path: sight for path, sight in seen.items() if sight is not NOTHING_SEEN}
    rarity = [
        math.log(count / (1 + sum(number in sight.holds for sight in telling.values()))) + 1.0
        for number in range(len(request.words))
    ]
    scores: list[tuple[float, bytes]] = []
    for path, sight in (seen if request.paths else telling).items():
        score = sum(rarity[number] for number in sight.holds)
        score += _DEFINING * sum(rarity[number] for number in sight.defines)
        score += _NAMED * sum(rarity[number] for number in sight.named)
        score += _TARGET * is_target(request, path)
        if score > 0:
            scores.append((-score, path))
    return [path for _, path in sorted(scores)]
