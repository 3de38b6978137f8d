"""What the path of a file says about a query: how well stem and folders cover it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokens import WORD, parts_of_word, terms_of_text, terms_of_word
from codelens.rank import weights
from codelens.rank.candidates import Weighed
from codelens.store.views import PathFacts


class PathMatch(NamedTuple):
    """Shares, 0 to 1."""

    stemcov: float
    """Of the stem's parts, by weight, those that the query has."""
    stemcov_q: float
    """Of the query, by weight, what stands in the stem."""
    stempfx: float
    """Of the query's words, those that begin a part of the stem or are begun by one."""
    stemeq: float
    """1 when the stem is the query."""
    dircov: float
    """Of the query's words, those that stand in stem or folders."""


class Asked(NamedTuple):
    """A query as far as paths are concerned; worked out once."""

    terms: dict[str, float]
    """Term -> weight, compounds included."""
    words: tuple[str, ...]
    """Terms that were typed, compounds left out."""
    weight: float
    """Of all `words`."""
    other: float
    """Weight of a term that the query has not."""
    whole: str
    """The query as one lower-case word."""


def asked(terms: Sequence[Weighed], words: Sequence[str], whole: str) -> Asked:
    """What paths are compared with; `words` are the plain terms of the query."""
    known = {one.text: one.weight for one in terms}
    typed = tuple(word for word in words if word in known)
    top = max(known.values(), default=1.0)
    return Asked(
        known, typed, sum(known[word] for word in typed) or 1.0, top * weights.UNKNOWN_IDF, whole
    )


def match(facts: PathFacts, query: Asked) -> PathMatch:
    """Compare one path with a query."""
    joined, parts, stem, folders = _taken_apart(facts.path, facts.stem, facts.folders)
    terms = query.terms
    covered = total = 0.0
    for part in parts:
        weight = terms.get(part)
        if weight is None:
            total += query.other
        else:
            total += weight
            covered += weight
    in_stem = begun = in_path = 0.0
    for word in query.words:
        if word in stem:
            in_stem += terms[word]
            in_path += 1.0
            continue
        if word in folders:
            in_path += 1.0
        if _begun(word, parts):
            begun += 1.0
    count = len(query.words) or 1
    return PathMatch(
        covered / total if total else 0.0,
        in_stem / query.weight,
        begun / count,
        1.0 if joined and joined == query.whole else 0.0,
        in_path / count,
    )


def _begun(word: str, parts: Sequence[str]) -> bool:
    """Whether a part begins with the word or the word with a part."""
    least = weights.SHORTEST_PREFIX
    if len(word) < least:
        return False
    for part in parts:
        if len(part) >= least and (part.startswith(word) or word.startswith(part)):
            return True
    return False


_Parts = tuple[str, tuple[str, ...], frozenset[str], frozenset[str]]


@lru_cache(maxsize=20_000)
def _taken_apart(path: bytes, stem: str, folders: str) -> _Parts:
    """The stem as one lower-case word and the terms of its parts; terms of stem and folders."""
    *above, name = path.split(b"/")
    text = (name.split(b".")[0] or name).decode("utf-8", "replace")
    if above and " ".join(terms_of_text(text)) != stem:
        text = above[-1].decode("utf-8", "replace")  # index, __init__, ...: the folder's name
    parts = [part for word in WORD.findall(text) for part in parts_of_word(word)]
    terms = tuple(term for part in parts for term in terms_of_word(part))
    return "".join(parts), terms, frozenset(stem.split()), frozenset(folders.split())
