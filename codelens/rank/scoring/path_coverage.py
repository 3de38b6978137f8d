"""What the path of a file says about a query: how well stem and folders cover it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokenizer import WORD, parts_of_word, terms_of_text, terms_of_word
from codelens.rank import ranking_weights
from codelens.rank.scoring.candidates import Weighed
from codelens.store.views.views import PathFacts


class PathMatch(NamedTuple):
    """Shares, 0 to 1."""

    stemcov: float
    """Of the stem's parts, by weight, those that the query has. In a long query less where they
    are little of it: any one of ten words is some file's name."""
    stemcov_q: float
    """Of the query, by weight, what stands in the stem."""
    stempfx: float
    """Of the query's words, those that begin a part of the stem or are begun by one."""
    stemeq: float
    """1 when the stem is the query."""
    dircov: float
    """Of the query's words, those that stand in stem or folders."""
    dirwt: float
    """Of the query, by weight, what stands in the folders."""
    dirpfx: float
    """Of the query's words, those that begin a folder's term or are begun by one."""


_Near = tuple[frozenset[str], frozenset[str]]
"""Words that stand in some folders; words that begin a term there or are begun by one."""


class PathQuery(NamedTuple):
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
    folders: dict[str, _Near]
    """What the words have in folders, by the folders' terms; grows, since files share folders."""
    names: dict[str, float]
    """How like the query the names of definitions are; grows, since files share names."""


def path_query(terms: Sequence[Weighed], words: Sequence[str], whole: str) -> PathQuery:
    """What paths are compared with; `words` are the plain terms of the query."""
    known = {term.text: term.weight for term in terms}
    typed = tuple(word for word in words if word in known)
    top = max(known.values(), default=1.0)
    return PathQuery(
        known,
        typed,
        sum(known[word] for word in typed) or 1.0,
        top * ranking_weights.UNKNOWN_IDF,
        whole,
        {},
        {},
    )


def match(facts: PathFacts, query: PathQuery) -> PathMatch:
    """Compare one path with a query."""
    joined, parts, stem = _taken_apart(facts.path, facts.stem)
    inside, near_by = _in_folders(facts.folders, query)
    terms = query.terms
    covered = total = 0.0
    for part in parts:
        weight = terms.get(part)
        if weight is None:
            total += query.other
        else:
            total += weight
            covered += weight
    in_stem = begun = in_path = in_folders = near = 0.0
    for word in query.words:
        if word in inside:
            in_folders += terms[word]
        if word in stem:
            in_stem += terms[word]
            in_path += 1.0
            continue
        if word in inside:
            in_path += 1.0
        elif word in near_by:
            near += 1.0
        if _begun(word, parts):
            begun += 1.0
    count = len(query.words) or 1
    of_query = in_stem / query.weight
    coverage = covered / total if total else 0.0
    if count > ranking_weights.LONG_QUERY:
        coverage *= min(1.0, ranking_weights.LONG_QUERY * of_query)
    return PathMatch(
        coverage,
        of_query,
        begun / count,
        1.0 if joined and joined == query.whole else 0.0,
        in_path / count,
        in_folders / query.weight,
        near / count,
    )


def _in_folders(folders: str, query: PathQuery) -> _Near:
    known = query.folders.get(folders)
    if known is None:
        parts = frozenset(folders.split())
        inside = parts.intersection(query.words)
        begun = (word for word in query.words if word not in inside and _begun(word, parts))
        known = query.folders[folders] = (inside, frozenset(begun))
    return known


def _begun(word: str, parts: Iterable[str]) -> bool:
    """Whether a part begins with the word or the word with a part."""
    least = ranking_weights.SHORTEST_PREFIX
    if len(word) < least:
        return False
    for part in parts:
        if len(part) >= least and (part.startswith(word) or word.startswith(part)):
            return True
    return False


_Parts = tuple[str, tuple[str, ...], frozenset[str]]


@lru_cache(maxsize=20_000)
def _taken_apart(path: bytes, stem: str) -> _Parts:
    """The stem as one lower-case word, the terms of its parts, and those that are looked up."""
    *above, name = path.split(b"/")
    text = (name.split(b".")[0] or name).decode("utf-8", "replace")
    if above and " ".join(terms_of_text(text)) != stem:
        text = above[-1].decode("utf-8", "replace")  # index, __init__, ...: the folder's name
    parts = [part for word in WORD.findall(text) for part in parts_of_word(word)]
    terms = tuple(term for part in parts for term in terms_of_word(part))
    # `Serializer.Json.cs` is not all of `Serializer.cs`, though its stem is the same.
    whole = "" if name.count(b".") > 1 and name[:1] != b"." else "".join(parts)
    return whole, terms, frozenset(stem.split())
