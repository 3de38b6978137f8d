"""Computes the features of files: from paths, chunks, meaning, and names spelled out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from codelens.extract.tokenizer import (
    WORD,
    compound_of,
    count_terms,
    identifier_key,
    parts_of_word,
    terms_of_text,
    terms_of_word,
)
from codelens.meaning import word_table
from codelens.meaning.question_likeness import QuestionLikeness, by_vectors
from codelens.meaning.text_vectors import said_vector
from codelens.meaning.word_table import WordTableDamaged
from codelens.rank import ranking_weights
from codelens.rank.query import task_text
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.chunk_scores import ChunkScorer, Scored
from codelens.rank.view_statistics import Corpus
from codelens.store.database.database import Database
from codelens.store.facts import ranking_reads
from codelens.store.facts.ranking_reads import ChunkTable
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow, PathFacts
from codelens.wording import count_of

if TYPE_CHECKING:
    from codelens.rank.search_request import CommonScale


class PathMatch(NamedTuple):
    """Shares, 0 to 1."""

    stemcov: float
    """Weighted share of the stem's parts that are in the query. In a long query less if they are a
    small part of it: any one of ten words is the name of some file."""
    stemcov_q: float
    """Weighted share of the query that is in the stem."""
    stempfx: float
    """Share of the query's words that are a prefix of a part of the stem, or have one as prefix."""
    stemeq: float
    """1 if the stem is the query."""
    dircov: float
    """Share of the query's words that are in stem or folders."""
    dirwt: float
    """Weighted share of the query that is in the folders."""
    dirpfx: float
    """Share of the query's words that are a prefix of a folder's term, or have one as prefix."""


_Near = tuple[frozenset[str], frozenset[str]]
"""Words in some folders; words that are a prefix of a term there or have one as prefix."""


class PathQuery(NamedTuple):
    """A query prepared for comparing paths."""

    terms: dict[str, float]
    """Term -> weight, including compounds."""
    words: tuple[str, ...]
    """Typed terms, without compounds."""
    weight: float
    """Total weight of `words`."""
    other: float
    """Weight of a term that is not in the query."""
    whole: str
    """The query as one lower-case word."""
    folders: dict[str, _Near]
    """Cache of matches in folders, since files share folders."""
    names: dict[str, float]
    """Cache of the similarity of definition names, since files share names."""


def path_query(terms: Sequence[Weighed], words: Sequence[str], whole: str) -> PathQuery:
    """Prepare a query for comparing paths; `words` are its plain terms."""
    weights = {term.text: term.weight for term in terms}
    typed = tuple(word for word in words if word in weights)
    top = max(weights.values(), default=1.0)
    return PathQuery(
        weights,
        typed,
        sum(weights[word] for word in typed) or 1.0,
        top * ranking_weights.UNKNOWN_IDF,
        whole,
        {},
        {},
    )


def match_path(facts: PathFacts, query: PathQuery) -> PathMatch:
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
    match = query.folders.get(folders)
    if match is None:
        parts = frozenset(folders.split())
        inside = parts.intersection(query.words)
        begun = (word for word in query.words if word not in inside and _begun(word, parts))
        match = query.folders[folders] = (inside, frozenset(begun))
    return match


def _begun(word: str, parts: Iterable[str]) -> bool:
    """Whether a part starts with the word or the word with a part."""
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
    """Return the stem as one lower-case word, the terms of its parts, and the terms to look up."""
    *above, name = path.split(b"/")
    text = (name.split(b".")[0] or name).decode("utf-8", "replace")
    if above and " ".join(terms_of_text(text)) != stem:
        text = above[-1].decode("utf-8", "replace")  # index, __init__, ...: the folder's name
    parts = [part for word in WORD.findall(text) for part in parts_of_word(word)]
    terms = tuple(term for part in parts for term in terms_of_word(part))
    # `Serializer.Json.cs` has the same stem as `Serializer.cs` but is only a part of it.
    whole = "" if name.count(b".") > 1 and name[:1] != b"." else "".join(parts)
    return whole, terms, frozenset(stem.split())


# Compares the meaning of files and a question by the vectors of chunks.
#
# This is the only feature that matches files without any word of the question. It is computed for
# candidates only, and only if all of them have vectors by the shipped table: otherwise a file would
# rank lower because it was indexed later.


class Candidate(NamedTuple):
    """A file to judge."""

    content: int | None
    measured: bool
    """Whether it helps to define the scale: its role has no penalty."""


class Meaning(NamedTuple):
    """The feature of each candidate, in order, or why it is missing."""

    features: Sequence[float]
    missing: str = ""
    damaged: bool = False
    """The word table cannot be read."""


NOT_ASKED = Meaning(())


def meaning(
    db: Database,
    text: str,
    candidates: Sequence[Candidate],
    likeness: QuestionLikeness | None = None,
    common: CommonScale | None = None,
) -> Meaning:
    """Compare the meaning of each candidate with `text`: 1 for the best, 0 for the median.

    Uses `likeness` if given, which may lack candidates; else the word table, with `common` on the
    scale of all its views.
    """
    if common is not None and common.lacks_meaning:
        return Meaning([0.0] * len(candidates))
    compared = _by_vectors(db, text, candidates, likeness, common)
    if common is not None and compared.missing:
        common.lacks_meaning = True
    return compared


def _by_vectors(
    db: Database,
    text: str,
    candidates: Sequence[Candidate],
    likeness: QuestionLikeness | None,
    common: CommonScale | None,
) -> Meaning:
    if likeness is not None:
        values = [likeness.of_content(candidate.content) for candidate in candidates]
        return Meaning(_scaled(values, candidates, text, common))
    nothing = [0.0] * len(candidates)
    try:
        table = word_table.shipped()
    except WordTableDamaged as error:
        return Meaning(nothing, str(error), damaged=True)
    query_vector = said_vector(table, count_terms(WORD.findall(text)))
    if not query_vector:
        return Meaning(nothing, "the table of words has no word of the question")
    contents = {candidate.content for candidate in candidates if candidate.content is not None}
    vectors = ranking_reads.vectors_of(db, sorted(contents), table.head.version)
    if len(vectors) < len(contents):
        lacking = count_of(len(contents) - len(vectors), "candidate")
        return Meaning(nothing, f"{lacking} of {len(contents)} have no vectors yet")
    likeness = by_vectors("the table of words", query_vector, vectors, 1)
    values = [likeness.of_content(candidate.content) for candidate in candidates]
    return Meaning(_scaled(values, candidates, text, common))


def _scaled(
    values: Sequence[float | None],
    candidates: Sequence[Candidate],
    text: str = "",
    common: CommonScale | None = None,
) -> list[float]:
    cosines_of_scale = [
        value
        for value, candidate in zip(values, candidates, strict=True)
        if value is not None and candidate.measured
    ] or [value for value in values if value is not None]
    if common is not None:
        cosines_of_scale = common.cosines(text, cosines_of_scale)
    if not cosines_of_scale:
        return [0.0] * len(values)
    cosines_of_scale.sort()
    middle = (
        cosines_of_scale[(len(cosines_of_scale) - 1) // 2]
        + cosines_of_scale[len(cosines_of_scale) // 2]
    ) / 2
    span = cosines_of_scale[-1] - middle
    if span <= 0:
        return [0.0] * len(values)
    least = ranking_weights.LEAST_MEANING
    return [
        0.0 if value is None else min(1.0, max(least, (value - middle) / span)) for value in values
    ]


# Finds what a question spells out: identifiers of code, and names of files.
#
# `ERR_ACCESS_DENIED` among eight plain words is stronger evidence than they are, and so are
# `latex.py` and `no-constant-condition`.

# A word with signs inside, or in back-ticks: may be the name of a file.
_STEM = re.compile(r"`([\w-]{2,100})`|(?<![\w-])([^\W_]+(?:[-_][^\W_]+)+)(?![\w-])")
_FOLDER_SHARE = 0.5
"""Weight of a named folder, relative to a named file."""


class Written(NamedTuple):
    """The identifiers and paths that a query spells out."""

    weights: tuple[tuple[int, float], ...]
    """Numbers and weights of the terms that are whole identifiers."""
    total: float
    paths: tuple[bytes, ...]
    """Lower-case ends of paths, each with a leading slash."""
    stems: frozenset[str]
    """Possible file names, without their convention; stopwords in them count."""

    def share_of(self, bits: int) -> float:
        """Return the weighted share of the identifiers that a file with these terms has."""
        if not self.weights:
            return 0.0
        return sum(weight for number, weight in self.weights if bits >> number & 1) / self.total

    def named(self, path: bytes) -> float:
        """Return 1 if the query names the file, with or without extension; less for its folder."""
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


def identifiers_written(query: Query, terms: Sequence[Weighed]) -> Written:
    """Return the identifiers and paths in `query` that the view knows."""
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
    """Return the single term of an identifier; a plain word is one only in a qualified name."""
    pieces = [piece for word in WORD.findall(part) for piece in parts_of_word(word)]
    if len(pieces) > 1:
        return (compound_of(pieces),)
    return tuple(terms_of_word(part)) if len(parts) > 1 else ()


# Scores every candidate by its chunks and its path, which need no reads of their own.
#
# Features are about 0 to 1 over the candidates. Files whose role the query does not ask for (tests,
# prose, translations) neither define that scale nor take all places: a changelog with every word of
# a question would compress the scores of real answers.

_SCALED = ("cmax", "csum3", "csumall", "file", "head")
_DEEP, _DEEPEST = 5, 0.4
"""depth: this many folders below the shallowest candidate count as 1, and the maximum. Without a
maximum, files at the root would rank above `src/main/java/...` for their depth alone."""


class FileFeatures(NamedTuple):
    """The features of a candidate's chunks and path."""

    file: FileRow
    facts: PathFacts
    scored: Scored
    features: dict[str, float]
    pushed: float
    """The penalty of its role; 0 if the query asks for such files."""


def features_of_file(
    view: Snapshot,
    corpus: Corpus,
    query: Query,
    terms: Sequence[Weighed],
    *,
    question: PathQuery,
    candidates: Sequence[FileRow],
    chunks: Mapping[int, ChunkTable],
    likeness: QuestionLikeness | None = None,
    common: CommonScale | None = None,
) -> list[FileFeatures]:
    """Return features of every candidate with a term in a chunk or the stem, in order.

    With `likeness`, candidates with vectors count, too: they may answer in other words. With
    `common`, features are shares of the best in all its views.
    """
    facts = view.path_facts(candidate.path_id for candidate in candidates)
    scorer = ChunkScorer(corpus, terms, chunks)
    down = ranking_weights.pushed_down(query.single, query.roles, about_tests=query.about_tests)
    spelt = identifiers_written(query, terms)
    seen: list[FileFeatures] = []
    files_left = ranking_weights.PUSHED_DOWN_KEPT
    for file in candidates:
        about_path = facts[file.path_id]
        pushed = down.get(about_path.role, 0.0)
        if pushed:
            files_left -= 1
            if files_left < 0:
                continue
        candidate = _features_of(file, about_path, pushed, scorer, question=question, spelt=spelt)
        if query.signposts:
            candidate.features["signpost"] = task_text.likeness(query.signposts, file.path)
        if likeness is not None and not candidate.scored.chunks and file.content in likeness:
            place = [(0.0, likeness.best_chunk(file.content))]
            candidate = candidate._replace(scored=candidate.scored._replace(chunks=place))
        # A picture in a folder with a matching name answers no query.
        if candidate.scored.chunks or candidate.features["stemcov"] > 0:
            seen.append(candidate)
    _to_scale(seen, stage_of(query, "files"), common)
    return seen


def stage_of(query: Query, features: str) -> str:
    """Name some features of one question, since a search may rank several."""
    return f"{features} {query.single} {query.text}"


def add_meaning(
    view: Snapshot,
    text: str,
    seen: Sequence[FileFeatures],
    likeness: QuestionLikeness | None = None,
    common: CommonScale | None = None,
) -> Meaning:
    """Add the similarity in meaning to `text` to each candidate's features."""
    candidates = [Candidate(features.file.content, not features.pushed) for features in seen]
    compared = meaning(view.db, text, candidates, likeness, common)
    for features, value in zip(seen, compared.features, strict=True):
        features.features["meaning"] = value
    return compared


def _features_of(
    file: FileRow,
    facts: PathFacts,
    pushed: float,
    scorer: ChunkScorer,
    *,
    question: PathQuery,
    spelt: Written,
) -> FileFeatures:
    scored = scorer.score(file, facts)
    chunks = scored.chunks
    path = match_path(facts, question)
    top3 = zip(ranking_weights.CHUNK_SHARES, chunks, strict=False)
    features = {
        "cmax": chunks[0][0] if chunks else 0.0,
        "csum3": sum(share * score for share, (score, _) in top3),
        "file": scored.whole,
        "head": next((score for score, number in chunks if number == 0), 0.0),
        "depth": file.path.count(b"/") / _DEEP,
        "stemcov": path.stemcov,
        "stemcov_q": path.stemcov_q,
        "stempfx": path.stempfx,
        "stemeq": path.stemeq,
        "dircov": path.dircov,
        "dirwt": path.dirwt,
        "dirpfx": path.dirpfx,
        "verbatim": spelt.share_of(scored.term_bits),
        "pathnamed": spelt.named(file.path),
    }
    return FileFeatures(file, facts, scored, features, pushed)


def _to_scale(seen: Sequence[FileFeatures], stage: str, common: CommonScale | None) -> None:
    measured = [candidate for candidate in seen if not candidate.pushed] or seen
    measure = [candidate.features for candidate in measured]
    top = _tops(measure, ("cmax",), stage, common)["cmax"]
    shallow = min((values["depth"] for values in measure), default=0.0)
    for candidate in seen:
        candidate.features["csumall"] = _mass(_scores(candidate), top)
        candidate.features["depth"] = min(candidate.features["depth"] - shallow, _DEEPEST)
    tops = dict(_tops(measure, _SCALED, stage, common))
    if common is not None:
        # This depends on the highest value in all views, which is only known at the end.
        tops["csumall"] = common.masses(
            stage, [_scores(candidate) for candidate in measured], lambda each: _mass(each, top)
        )
    _divide((candidate.features for candidate in seen), tops)


def _scores(candidate: FileFeatures) -> list[float]:
    return [score for score, _ in candidate.scored.chunks]


def _mass(scores: Sequence[float], top: float) -> float:
    if not top:
        return 0.0
    floor = ranking_weights.CHUNK_SUM_FLOOR * top
    return math.log1p(sum(score for score in scores if score > floor) / top)


def _tops(
    measure: Sequence[Mapping[str, float]],
    features: Sequence[str],
    stage: str,
    common: CommonScale | None,
) -> Mapping[str, float]:
    if common is not None:
        return common.tops(stage, measure, features)
    return {name: max((row[name] for row in measure), default=0.0) for name in features}


def scale(
    rows: Iterable[dict[str, float]],
    measure: Sequence[Mapping[str, float]],
    features: Sequence[str],
    stage: str,
    common: CommonScale | None,
) -> None:
    """Divide unbounded features by their maximum over `measure`; cap the result at 1.

    With `common`, use the maximum over all its views, at this `stage`.
    """
    _divide(rows, _tops(measure, features, stage, common))


def _divide(rows: Iterable[dict[str, float]], tops: Mapping[str, float]) -> None:
    for row in rows:
        for name, top in tops.items():
            if top > 0:
                row[name] = min(1.0, row[name] / top)
