"""What a question writes out to the letter: identifiers of code, and names of files.

`ERR_ACCESS_DENIED` among eight plain words is evidence of another kind than they are, and so are
`latex.py` and `no-constant-condition`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from codelens.extract.tokenizer import (
    WORD,
    compound_of,
    identifier_key,
    parts_of_word,
    terms_of_word,
)
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring.candidates import Weighed

# A word with signs or humps inside, or one in back-ticks: written as a file may be called.
_STEM = re.compile(r"`([\w-]{2,100})`|(?<![\w-])([^\W_]+(?:[-_][^\W_]+)+)(?![\w-])")
_FOLDER_SHARE = 0.5
"""A folder that is named says half of what a file says."""


class Written(NamedTuple):
    """The identifiers and paths of one query."""

    weights: tuple[tuple[int, float], ...]
    """Number of a term, its weight: those that are whole identifiers."""
    total: float
    paths: tuple[bytes, ...]
    """Lower-case ends of paths, each with a slash before it."""
    stems: frozenset[str]
    """Names written as a file's may be, without their convention; stopwords in them count."""

    def share_of(self, bits: int) -> float:
        """The share of the identifiers, by weight, that a file with these terms has."""
        if not self.weights:
            return 0.0
        return sum(weight for number, weight in self.weights if bits >> number & 1) / self.total

    def named(self, path: bytes) -> float:
        """1 if the query names the file, with its extension or without; less for its folder."""
        if self.stems:
            stem = path.rpartition(b"/")[2].split(b".", 1)[0]
            if identifier_key(stem.decode("utf-8", "replace")) in self.stems:
                return 1.0
        if not self.paths:
            return 0.0
        whole = b"/" + path.lower()
        bare = whole.rpartition(b".")[0].removesuffix(b"/__init__").removesuffix(b"/index")
        best = 0.0
        for end in self.paths:
            if whole.endswith(end) or bare.endswith(end):
                return 1.0
            if b"/" in end[1:] and end + b"/" in whole:
                best = _FOLDER_SHARE
        return best


def written(query: Query, terms: Sequence[Weighed]) -> Written:
    """What `query` writes out, as far as the view knows it."""
    if query.single:
        return Written((), 0.0, (), frozenset())
    identifiers = {
        term for name in query.names for part in name.parts for term in _whole(part, name.parts)
    }
    weights = tuple(
        (number, term.weight) for number, term in enumerate(terms) if term.text in identifiers
    )
    paths = [place.path for place in query.places]
    paths += ["/".join(name.parts) for name in query.names if len(name.parts) > 1]
    ends = (b"/" + path.strip("/").lower().encode("utf-8", "replace") for path in paths if path)
    stems = {identifier_key(match[1] or match[2]) for match in _STEM.finditer(query.text)}
    total = sum(weight for _, weight in weights)
    return Written(weights, total, tuple(dict.fromkeys(ends)), frozenset(stems - {""}))


def _whole(part: str, parts: Sequence[str]) -> tuple[str, ...]:
    """The one term of an identifier; a plain word is one only in a qualified name."""
    pieces = [piece for word in WORD.findall(part) for piece in parts_of_word(word)]
    if len(pieces) > 1:
        return (compound_of(pieces),)
    return tuple(terms_of_word(part)) if len(parts) > 1 else ()
