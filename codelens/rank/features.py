"""The second stage: what each candidate is scored by; features are about 0 to 1.

Chunks and paths are looked at for every candidate, definitions for the best of them by that.
The recipe's features over the graph (nbr_imp, nbr_ref, indeg) belong here and in
`codelens.rank.weights` once there are edges between files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from codelens.rank import names, stems, symbols, weights
from codelens.rank.candidates import Weighed
from codelens.rank.chunks import ChunkScorer, Scored
from codelens.rank.corpus import Corpus
from codelens.rank.names import Defined
from codelens.rank.query import Query
from codelens.rank.stems import Asked
from codelens.rank.symbols import SymbolMatch
from codelens.store import rankreads as reads
from codelens.store.contents import Content, key_of
from codelens.store.rankreads import ChunkTable, Definition
from codelens.store.snapshot import Snapshot
from codelens.store.views import FileRow, PathFacts


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


class _Glance(NamedTuple):
    """A candidate after a look at its chunks and its path."""

    file: FileRow
    facts: PathFacts
    scored: Scored
    features: dict[str, float]


def examine(
    view: Snapshot,
    corpus: Corpus,
    query: Query,
    terms: Sequence[Weighed],
    candidates: Sequence[FileRow],
    defined: Mapping[int, list[Defined]],
) -> list[Evidence]:
    """The candidates that are worth it with all their features, in no stated order."""
    contents = {one.content for one in candidates if one.content is not None}
    chunks = reads.chunks(view.db, contents)
    facts = view.path_facts(one.path_id for one in candidates)
    question = stems.asked(terms, query.typed, query.whole)
    scorer = ChunkScorer(corpus, terms, chunks)
    seen = [_glance(one, facts[one.path_id], scorer, question) for one in candidates]
    # A picture in a folder that is called so answers nothing.
    seen = [one for one in seen if one.scored.chunks or one.features["stemcov"] > 0]
    top = max((one.features["cmax"] for one in seen), default=0.0)
    for one in seen:
        one.features["csumall"] = _mass(one.scored.chunks, top)
    _scale([one.features for one in seen], ("cmax", "csum3", "csumall", "file"))
    promise = weights.TOKEN if query.single else weights.WORDS
    down = weights.PUSHED_DOWN["token" if query.single else "words"]
    seen.sort(
        key=lambda one: (
            not (query.single and one.file.path_id in defined),
            (-weights.WORDS["embdef"] if one.file.path_id in defined else 0.0)
            + down.get(one.facts.role, 0.0)
            - sum(share * one.features.get(name, 0.0) for name, share in promise.items()),
            one.file.path,
        )
    )
    best = seen[: weights.LOOKED_AT]
    own = reads.definitions(
        view.db,
        {
            one.file.content
            for one in best
            if one.file.content is not None and (one.scored.named or one.file.path_id in defined)
        },
    )
    about = view.about({one.file.content for one in best if one.file.content is not None})
    found: list[Evidence] = []
    rows: list[dict[str, float]] = []
    for one in best:
        content = one.file.content or 0
        definitions = own.get(content, ())
        like = symbols.match(definitions, question)
        here = defined.get(one.file.path_id, ())
        features = {**one.features, **_named(like, here), "logsize": 0.0}
        features["spelled"] = 1.0 if _is_spelled(here, query) else 0.0
        if content in about:
            features["logsize"] = math.log1p(about[content].size_bytes)
        found.append(
            Evidence(
                one.file, one.facts, about.get(content), chunks.get(content) or ChunkTable(),
                one.scored, like, definitions, here, query.single, features,
            )
        )  # fmt: skip
        rows.append(features)
    _scale(rows, ("symsum", "deflen", "logsize"))
    return found


def _glance(file: FileRow, facts: PathFacts, scorer: ChunkScorer, question: Asked) -> _Glance:
    scored = scorer.score(file, facts)
    chunks = scored.chunks
    path = stems.match(facts, question)
    return _Glance(
        file,
        facts,
        scored,
        {
            "cmax": chunks[0][0] if chunks else 0.0,
            "csum3": sum(
                share * score
                for share, (score, _) in zip(weights.CHUNK_SHARES, chunks, strict=False)
            ),
            "file": scored.whole,
            "stemcov": path.stemcov,
            "stemcov_q": path.stemcov_q,
            "stempfx": path.stempfx,
            "stemeq": path.stemeq,
            "dircov": path.dircov,
        },
    )


def _named(like: SymbolMatch, defined: Sequence[Defined]) -> dict[str, float]:
    best = max(defined, key=names.telling, default=None)
    lines = best.symbol.end_line - best.symbol.start_line + 1 if best else 0
    return {
        "symsum": like.total,
        "bestsym": like.best,
        "embdef": 1.0 if best else 0.0,
        "defexact": 1.0 if best and best.grade == names.EXACT else 0.0,
        "def_ci": 1.0 if best else 0.0,
        "container_def": 1.0 if best and best.symbol.kind in names.CONTAINERS else 0.0,
        "deflen": math.log1p(lines),
    }


def _is_spelled(defined: Sequence[Defined], query: Query) -> bool:
    if query.spelled is None:
        return False
    key = key_of(query.spelled.text)
    return any(key_of(one.symbol.name) == key for one in defined)


def _mass(chunks: Sequence[tuple[float, int]], top: float) -> float:
    if not top:
        return 0.0
    floor = weights.CHUNK_SUM_FLOOR * top
    return math.log1p(sum(score for score, _ in chunks if score > floor) / top)


def _scale(rows: Sequence[dict[str, float]], features: Iterable[str]) -> None:
    """Divide open-ended features by their maximum."""
    for name in features:
        most = max((row[name] for row in rows), default=0.0)
        if most > 0:
            for row in rows:
                row[name] /= most


def with_definitions(view: Snapshot, found: Sequence[Evidence]) -> list[Evidence]:
    """The same with the definitions of every file, also where no name has a term."""
    missing = {
        one.file.content for one in found if one.file.content is not None and not one.definitions
    }
    read = reads.definitions(view.db, missing)
    return [
        one._replace(
            definitions=read[one.file.content],
            symbols=one.symbols._replace(cosines=[0.0] * len(read[one.file.content])),
        )
        if one.file.content in read and not one.definitions
        else one
        for one in found
    ]
