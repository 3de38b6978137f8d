"""The second stage: what each candidate is scored by; features are about 0 to 1.

Chunks and paths are looked at for every candidate (`codelens.rank.scoring.file_features`),
definitions for the best of them by that. Features over the graph of imports and references were
measured and left out: they added .003 to the retrieval benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from codelens.meaning.question_likeness import QuestionLikeness
from codelens.rank import ranking_weights
from codelens.rank.query import query_names
from codelens.rank.query.query_analysis import Query
from codelens.rank.query.query_names import Defined
from codelens.rank.scoring import path_coverage, symbol_match
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.chunk_scores import Scored
from codelens.rank.scoring.file_features import (
    FileFeatures,
    add_meaning,
    file_features,
    scale,
    stage_of,
)
from codelens.rank.scoring.meaning_signal import NOT_ASKED, Meaning
from codelens.rank.scoring.symbol_match import SymbolMatch
from codelens.rank.view_statistics import Corpus
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.contents import Content
from codelens.store.facts.ranking_reads import ChunkTable, Definition
from codelens.store.facts.symbol_keys import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow, PathFacts

if TYPE_CHECKING:
    from codelens.rank.common_scale import CommonScale

_SCALED = ("symsum", "deflen", "logsize")


class Evidence(NamedTuple):
    """All that is known of one candidate."""

    file: FileRow
    facts: PathFacts
    about: Content | None
    chunks: ChunkTable
    scored: Scored
    symbols: SymbolMatch
    definitions: Sequence[Definition]
    """Of the whole file; empty where no name has a term of the query."""
    defined: Sequence[Defined]
    """What the names of the query stand for, here."""
    single: bool
    """The query is one name."""
    features: Mapping[str, float]


class Examined(NamedTuple):
    """The candidates, and what came of the look at their meaning."""

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
    """The candidates that are worth it with all their features, in no stated order."""
    chunks = reads.chunks(
        view.db, {candidate.content for candidate in candidates if candidate.content is not None}
    )
    question = path_coverage.path_query(terms, query.typed, query.whole)
    seen = file_features(
        view, corpus, query, terms,
        question=question, candidates=candidates, chunks=chunks, likeness=likeness,
        common=common,
    )  # fmt: skip
    known = add_meaning(view, query.text, seen, likeness, common) if by_meaning else NOT_ASKED
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
        like = symbol_match.match(definitions, question)
        here = defined.get(promising.file.path_id, ())
        # The words as one name mean that definition, not another that one of them is called.
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
    return Examined(
        [candidate._replace(features=row) for candidate, row in zip(evidence, rows, strict=True)],
        known,
    )


def _definitions_of(
    view: Snapshot, best: Sequence[FileFeatures], defined: Mapping[int, list[Defined]]
) -> Mapping[int, Sequence[Definition]]:
    """The definitions of files of which a name has a term of the query."""
    named = {
        features.file.content
        for features in best
        if features.file.content is not None
        and (features.scored.named or features.file.path_id in defined)
    }
    return reads.definitions(view.db, named)


def _is_empty(about: Content | None) -> bool:
    """Whether a file is there in name alone: an `__init__.py` answers nothing."""
    return about is not None and about.size_bytes == 0


def _most_promising(
    seen: list[FileFeatures], query: Query, defined: Mapping[int, list[Defined]]
) -> list[FileFeatures]:
    """Those whose definitions are worth a read, by what a look tells of their score."""
    promise = ranking_weights.TOKEN if query.single else ranking_weights.WORDS

    def key(candidate: FileFeatures) -> tuple[bool, float, bytes]:
        here = candidate.file.path_id in defined
        features = candidate.features
        score = sum(share * features.get(name, 0.0) for name, share in promise.items())
        score += ranking_weights.WORDS["embdef"] if here else 0.0
        return (not (query.single and here), candidate.pushed - score, candidate.file.path)

    looked_at = ranking_weights.LOOKED_AT
    if query.single:
        # Forty translations may define the name before the one place that is meant.
        looked_at += sum(features.file.path_id in defined for features in seen)
    return sorted(seen, key=key)[:looked_at]


def _named(like: SymbolMatch, defined: Sequence[Defined]) -> dict[str, float]:
    best = max(defined, key=query_names.telling, default=None)
    lines = best.symbol.end_line - best.symbol.start_line + 1 if best else 0
    return {
        "symsum": like.total,
        "bestsym": like.best,
        "embdef": 1.0 if best else 0.0,
        "defexact": 1.0 if best and best.grade == query_names.EXACT else 0.0,
        "def_ci": 1.0 if best else 0.0,
        "container_def": 1.0 if best and best.symbol.kind in query_names.CONTAINERS else 0.0,
        "deflen": math.log1p(lines),
    }


def _spelled(defined: Sequence[Defined], query: Query) -> Sequence[Defined]:
    """Those that are called as all words of the query together."""
    if query.spelled is None:
        return ()
    key = key_of(query.spelled.text)
    return [definition for definition in defined if key_of(definition.symbol.name) == key]


def with_definitions(view: Snapshot, candidates: Sequence[Evidence]) -> list[Evidence]:
    """The same with the definitions of every file, also where no name has a term."""
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
