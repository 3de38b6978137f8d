"""Scores candidates: adds features of their definitions, and sums all features to an order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from codelens.extract.tokenizer import terms_of_text, terms_of_word
from codelens.meaning.question_likeness import QuestionLikeness
from codelens.rank import ranking_weights
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Defined, Query
from codelens.rank.scoring import chunk_scores, file_features
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.chunk_scores import Scored
from codelens.rank.scoring.file_features import (
    NOT_ASKED,
    FileFeatures,
    Meaning,
    PathQuery,
    add_meaning,
    features_of_file,
    scale,
    stage_of,
)
from codelens.rank.scoring.sibling_versions import Versions
from codelens.rank.view_statistics import Corpus
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.contents import Content
from codelens.store.facts.ranking_reads import ChunkTable, Definition, Definitions
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow, PathFacts

if TYPE_CHECKING:
    from codelens.rank.search_request import CommonScale


class SymbolMatch(NamedTuple):
    """The similarity of one file's definitions to a query."""

    total: float
    """ln(1 + sum of squared cosines) over those above `weights.SYMBOL_COSINE`."""
    best: float
    """The best cosine."""
    at: int
    """Position of the definition with the best cosine, -1 if none has any."""
    cosines: Sequence[float]
    """The cosine of each definition."""


NOTHING = SymbolMatch(0.0, 0.0, -1, ())


def match_symbols(definitions: Sequence[Definition], query: PathQuery) -> SymbolMatch:
    """Compare definitions with a query by the IDF-weighted cosine of their names."""
    cosines = [0.0] * len(definitions)
    length = math.sqrt(sum(weight * weight for weight in query.terms.values()))
    if not length or not definitions:
        return NOTHING._replace(cosines=cosines)
    names = definitions.names if isinstance(definitions, Definitions) else [
        definition.name for definition in definitions
    ]  # fmt: skip
    seen = query.names
    total = best = 0.0
    for at in chunk_scores.holding(names, chunk_scores.beginnings(tuple(query.terms))):
        name = names[at]
        cosine = seen.get(name)
        if cosine is None:
            cosine = seen[name] = _cosine(name, query, length)
        cosines[at] = cosine
        if cosine >= ranking_weights.SYMBOL_COSINE:
            total += cosine * cosine
        best = max(best, cosine)
    return SymbolMatch(math.log1p(total), best, cosines.index(best) if best else -1, cosines)


def _cosine(name: str, query: PathQuery, length: float) -> float:
    weights = query.terms
    terms = _terms_of_name(name)
    if weights.keys().isdisjoint(terms):
        return 0.0
    common = squares = 0.0
    for term in terms:
        weight = weights.get(term)
        if weight is None:
            squares += query.other * query.other
        else:
            common += weight * weight
            squares += weight * weight
    return common / (length * math.sqrt(squares)) if common else 0.0


@lru_cache(maxsize=50_000)
def _terms_of_name(name: str) -> tuple[str, ...]:
    is_word = name.isascii() and name.isidentifier()
    return tuple(dict.fromkeys(terms_of_word(name) if is_word else terms_of_text(name)))


# The second stage computes the features of each candidate, about 0 to 1.
#
# Features of chunks and paths cover every candidate (`codelens.rank.scoring.file_features`),
# features of definitions only the best of them. Features of the graph of imports and references
# were measured and left out: they added .003 on the retrieval benchmark.

_SCALED = ("symsum", "deflen", "logsize")


class Evidence(NamedTuple):
    """The features of one candidate and their sources."""

    file: FileRow
    facts: PathFacts
    about: Content | None
    chunks: ChunkTable
    scored: Scored
    symbols: SymbolMatch
    definitions: Sequence[Definition]
    """Definitions of the whole file; empty if no name has a term of the query."""
    defined: Sequence[Defined]
    """Definitions of the file that names of the query refer to."""
    single: bool
    """The query is one name."""
    features: Mapping[str, float]


class Examined(NamedTuple):
    """The candidates, and the result of comparing meanings."""

    evidence: list[Evidence]
    meaning: Meaning


def examine(
    view: Snapshot,
    corpus: Corpus,
    query: Query,
    terms: Sequence[Weighed],
    *,
    candidates: Sequence[FileRow],
    defined: Mapping[int, list[Defined]],
    by_meaning: bool,
    likeness: QuestionLikeness | None = None,
    common: CommonScale | None = None,
) -> Examined:
    """Compute all features of the promising candidates, in no defined order."""
    chunks = reads.chunks(
        view.db, {candidate.content for candidate in candidates if candidate.content is not None}
    )
    question = file_features.path_query(terms, query.typed, query.whole)
    seen = features_of_file(
        view, corpus, query, terms,
        question=question, candidates=candidates, chunks=chunks, likeness=likeness,
        common=common,
    )  # fmt: skip
    compared_meaning = (
        add_meaning(view, query.text, seen, likeness, common) if by_meaning else NOT_ASKED
    )
    best = _most_promising(seen, query, defined)
    own = _definitions_of(view, best, defined)
    about = view.about(
        {features.file.content for features in best if features.file.content is not None}
    )
    best = [features for features in best if not _is_empty(about.get(features.file.content or 0))]
    evidence: list[Evidence] = []
    for promising in best:
        content = promising.file.content or 0
        definitions = own.get(content, ())
        like = match_symbols(definitions, question)
        here = defined.get(promising.file.path_id, ())
        # All words joined to one name mean that definition, rather than one named by a single word.
        spelled = _spelled(here, query)
        here = spelled or here
        features = {**promising.features, **_named(like, here), "logsize": 0.0}
        features["spelled"] = 1.0 if spelled else 0.0
        if content in about:
            features["logsize"] = math.log1p(about[content].size_bytes)
        evidence.append(
            Evidence(
                promising.file, promising.facts, about.get(content),
                chunks.get(content) or ChunkTable(),
                promising.scored, like, definitions, here, query.single, features,
            )
        )  # fmt: skip
    rows = [dict(candidate.features) for candidate in evidence]
    asked_for = [row for row, features in zip(rows, best, strict=True) if not features.pushed]
    scale(rows, asked_for or rows, _SCALED, stage_of(query, "definitions"), common)
    return Examined(list(_compared_by_version(evidence, rows, query)), compared_meaning)


def _compared_by_version(
    evidence: Sequence[Evidence], rows: Sequence[dict[str, float]], query: Query
) -> Iterator[Evidence]:
    """Yield the candidates with their scaled features and whether newer versions exist."""
    superseded = Versions(evidence, query).superseded_files()
    for candidate, features in zip(evidence, rows, strict=True):
        features["superseded"] = float(candidate.file.path_id in superseded)
        yield candidate._replace(features=features)


def _definitions_of(
    view: Snapshot, best: Sequence[FileFeatures], defined: Mapping[int, list[Defined]]
) -> Mapping[int, Sequence[Definition]]:
    """Read the definitions of files in which a name has a term of the query."""
    named = {
        features.file.content
        for features in best
        if features.file.content is not None
        and (features.scored.named or features.file.path_id in defined)
    }
    return reads.definitions(view.db, named)


def _is_empty(about: Content | None) -> bool:
    """Whether a file has no content, such as an empty `__init__.py`, which answers nothing."""
    return about is not None and about.size_bytes == 0


def _most_promising(
    seen: list[FileFeatures], query: Query, defined: Mapping[int, list[Defined]]
) -> list[FileFeatures]:
    """Return the candidates whose definitions are worth reading, by their score so far."""
    promise = ranking_weights.TOKEN if query.single else ranking_weights.WORDS

    def key(candidate: FileFeatures) -> tuple[bool, float, bytes]:
        here = candidate.file.path_id in defined
        features = candidate.features
        score = sum(share * features.get(name, 0.0) for name, share in promise.items())
        score += ranking_weights.WORDS["embdef"] if here else 0.0
        return (not (query.single and here), candidate.pushed - score, candidate.file.path)

    looked_at = ranking_weights.LOOKED_AT
    if query.single:
        # Dozens of translations may define the name and rank above the intended file.
        looked_at += sum(features.file.path_id in defined for features in seen)
    return sorted(seen, key=key)[:looked_at]


def _named(like: SymbolMatch, defined: Sequence[Defined]) -> dict[str, float]:
    best = max(defined, key=query_analysis.prominence, default=None)
    lines = best.symbol.end_line - best.symbol.start_line + 1 if best else 0
    return {
        "symsum": like.total,
        "bestsym": like.best,
        "embdef": 1.0 if best else 0.0,
        "defexact": 1.0 if best and best.grade == query_analysis.EXACT else 0.0,
        "def_ci": 1.0 if best else 0.0,
        "container_def": 1.0 if best and best.symbol.kind in query_analysis.CONTAINERS else 0.0,
        "deflen": math.log1p(lines),
    }


def _spelled(defined: Sequence[Defined], query: Query) -> Sequence[Defined]:
    """Return the definitions named by all words of the query together."""
    if query.spelled is None:
        return ()
    key = key_of(query.spelled.text)
    return [definition for definition in defined if key_of(definition.symbol.name) == key]


def with_definitions(view: Snapshot, candidates: Sequence[Evidence]) -> list[Evidence]:
    """Add the definitions of every file, even if no name has a term."""
    missing = {
        candidate.file.content
        for candidate in candidates
        if candidate.file.content is not None and not candidate.definitions
    }
    read = reads.definitions(view.db, missing)
    return [
        candidate._replace(
            definitions=read[candidate.file.content],
            symbols=candidate.symbols._replace(cosines=[0.0] * len(read[candidate.file.content])),
        )
        if candidate.file.content in read and not candidate.definitions
        else candidate
        for candidate in candidates
    ]


# Orders candidates by the weighted sum of their features minus the penalty of their role.


class Judged(NamedTuple):
    """A candidate with its score."""

    evidence: Evidence
    score: float
    shares: dict[str, float]
    """Feature -> its part of the score; their sum is the score."""


def judge(candidates: Sequence[Evidence], query: Query) -> list[Judged]:
    """Score every candidate, best first; ties are broken by path."""
    chosen = ranking_weights.TOKEN if query.single else ranking_weights.WORDS
    down = ranking_weights.pushed_down(query.single, query.roles, about_tests=query.about_tests)
    judged: list[Judged] = []
    for candidate in candidates:
        shares = {
            name: weight * candidate.features.get(name, 0.0) for name, weight in chosen.items()
        }
        role = role_of(candidate)
        if role in down:
            shares[role] = -down[role]
        judged.append(Judged(candidate, sum(shares.values()), shares))
    judged.sort(key=lambda scored: (-scored.score, scored.evidence.file.path))
    return judged


def judged_with_definitions(view: Snapshot, judged: Sequence[Judged], first: int) -> list[Judged]:
    """Add definitions to the first files."""
    ready = with_definitions(view, [scored.evidence for scored in judged[:first]])
    return [
        *(scored._replace(evidence=more) for scored, more in zip(judged, ready, strict=False)),
        *judged[first:],
    ]


def role_of(candidate: Evidence) -> str:
    """Return the path's role; else `generated` if the text is marked so."""
    if not candidate.facts.role and candidate.about is not None and candidate.about.generated:
        return "generated"
    return candidate.facts.role
