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
    joined, parts = stem_parts(facts.path, facts.stem)
    covered = total = 0.0
    for part in parts:
        weight = query.terms.get(part)
        total += query.other if weight is None else weight
        covered += weight or 0.0
    stem = set(facts.stem.split())
    folders = set(facts.folders.split())
    in_stem = in_path = begun = 0.0
    for word in query.words:
        if word in stem:
            in_stem += query.terms[word]
        elif any(_begins(word, part) for part in parts):
            begun += 1.0
        if word in stem or word in folders:
            in_path += 1.0
    count = len(query.words) or 1
    return PathMatch(
        covered / total if total else 0.0,
        in_stem / query.weight,
        begun / count,
        1.0 if joined and joined == query.whole else 0.0,
        in_path / count,
    )


def _begins(word: str, part: str) -> bool:
    shorter, longer = (word, part) if len(word) < len(part) else (part, word)
    return len(shorter) >= weights.SHORTEST_PREFIX and longer.startswith(shorter)


@lru_cache(maxsize=20_000)
def stem_parts(path: bytes, stem: str) -> tuple[str, tuple[str, ...]]:
    """The stem as one lower-case word, and the terms of its parts without their compound."""
    *folders, name = path.split(b"/")
    text = (name.split(b".")[0] or name).decode("utf-8", "replace")
    if folders and " ".join(terms_of_text(text)) != stem:
        text = folders[-1].decode("utf-8", "replace")  # index, __init__, ...: the folder's name
    parts = [part for word in WORD.findall(text) for part in parts_of_word(word)]
    return "".join(parts), tuple(term for part in parts for term in terms_of_word(part))
