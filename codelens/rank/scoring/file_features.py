"""The first look at every candidate: its chunks and its path, nothing that costs a read of its own.

Features are about 0 to 1 over the candidates. Files whose role the query does not ask for (tests,
prose, translations) neither set that scale nor take all the places: a changelog that has every
word of a question would press real answers together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from codelens.meaning.question_likeness import QuestionLikeness
from codelens.rank import ranking_weights
from codelens.rank.query import literal_identifiers
from codelens.rank.query.literal_identifiers import Written
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring import meaning_signal, path_coverage
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.chunk_scores import ChunkScorer, Scored
from codelens.rank.scoring.meaning_signal import Candidate, Meaning
from codelens.rank.scoring.path_coverage import PathQuery
from codelens.rank.view_statistics import Corpus
from codelens.store.facts.ranking_reads import ChunkTable
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow, PathFacts

if TYPE_CHECKING:
    from codelens.rank.common_scale import CommonScale

_SCALED = ("cmax", "csum3", "csumall", "file", "head")
_DEEP, _DEEPEST = 5, 0.4
"""depth: so many folders below the shallowest candidate count as 1, and that much at most: else
what lies at the root of a repository would stand above `src/main/java/...` for that alone."""


class FileFeatures(NamedTuple):
    """What the chunks and the path of a candidate say."""

    file: FileRow
    facts: PathFacts
    scored: Scored
    features: dict[str, float]
    pushed: float
    """What its role takes off the score; 0 where the query asks for such files."""


def file_features(
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
    """Every candidate that has a chunk or a stem with a term, in the order of `candidates`.

    With `likeness` those as well that have vectors: they may answer in words of their own. With
    `common` features are shares of the best of all its views.
    """
    facts = view.path_facts(candidate.path_id for candidate in candidates)
    scorer = ChunkScorer(corpus, terms, chunks)
    down = ranking_weights.pushed_down(query.single, query.roles)
    spelt = literal_identifiers.written(query, terms)
    seen: list[FileFeatures] = []
    files_left = ranking_weights.PUSHED_DOWN_KEPT
    for file in candidates:
        known = facts[file.path_id]
        pushed = down.get(known.role, 0.0)
        if pushed:
            files_left -= 1
            if files_left < 0:
                continue
        candidate = _features_of(file, known, pushed, scorer, question=question, spelt=spelt)
        if likeness is not None and not candidate.scored.chunks and file.content in likeness:
            place = [(0.0, likeness.best_chunk(file.content))]
            candidate = candidate._replace(scored=candidate.scored._replace(chunks=place))
        # A picture in a folder that is called so answers nothing.
        if candidate.scored.chunks or candidate.features["stemcov"] > 0:
            seen.append(candidate)
    _to_scale(seen, stage_of(query, "files"), common)
    return seen


def stage_of(query: Query, features: str) -> str:
    """A name for some features of one question: a search may put several."""
    return f"{features} {query.single} {query.text}"


def add_meaning(
    view: Snapshot,
    text: str,
    seen: Sequence[FileFeatures],
    likeness: QuestionLikeness | None = None,
    common: CommonScale | None = None,
) -> Meaning:
    """Add how much each candidate means what `text` says to its features."""
    candidates = [Candidate(features.file.content, not features.pushed) for features in seen]
    known = meaning_signal.meaning(view.db, text, candidates, likeness, common)
    for features, value in zip(seen, known.features, strict=True):
        features.features["meaning"] = value
    return known


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
    path = path_coverage.match(facts, question)
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
        # It depends on the top of all views, which is known last.
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
    """Divide open-ended features by their maximum over `measure`; what is beyond it counts as 1.

    With `common` by the maximum over those of all its views, at this `stage`.
    """
    _divide(rows, _tops(measure, features, stage, common))


def _divide(rows: Iterable[dict[str, float]], tops: Mapping[str, float]) -> None:
    for row in rows:
        for name, top in tops.items():
            if top > 0:
                row[name] = min(1.0, row[name] / top)
