"""The second stage: what each candidate is scored by; features are about 0 to 1.

The recipe's features over the graph (nbr_imp, nbr_ref, indeg) belong here and in
`codelens.rank.weights` once there are edges between files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.rank import names, reads, stems, symbols, weights
from codelens.rank.candidates import Candidate, Weighed
from codelens.rank.chunks import ChunkScorer, Scored
from codelens.rank.corpus import Corpus
from codelens.rank.names import Defined
from codelens.rank.query import Query
from codelens.rank.reads import Definition
from codelens.rank.stems import PathMatch
from codelens.rank.symbols import SymbolMatch
from codelens.store.contents import Content, ScoredChunk
from codelens.store.snapshot import Snapshot
from codelens.store.views import FileRow, PathFacts


class Evidence(NamedTuple):
    """All that is known of one candidate."""

    file: FileRow
    facts: PathFacts
    about: Content | None
    chunks: Sequence[ScoredChunk]
    scored: Scored
    symbols: SymbolMatch
    definitions: Sequence[Definition]
    """Of the whole file; empty where no name has a term of the query."""
    defined: Sequence[Defined]
    """What the names of the query stand for, here."""
    single: bool
    """The query is one name."""
    features: Mapping[str, float]


def examine(
    view: Snapshot,
    corpus: Corpus,
    query: Query,
    terms: Sequence[Weighed],
    candidates: Sequence[Candidate],
    defined: Mapping[int, list[Defined]],
) -> list[Evidence]:
    """Look at each candidate closely, in the order given."""
    contents = {one.file.content for one in candidates if one.file.content is not None}
    chunks = view.chunks(contents)
    about = view.about(contents)
    facts = view.path_facts(one.file.path_id for one in candidates)
    scorer = ChunkScorer(corpus, terms, chunks)
    scored = [scorer.score(one, facts[one.file.path_id]) for one in candidates]
    wanted = {
        one.file.content
        for one, score in zip(candidates, scored, strict=True)
        if one.file.content is not None and (score.named or one.file.path_id in defined)
    }
    own = reads.definitions(view.db, wanted)
    question = stems.asked(terms, query.typed, query.whole)
    found: list[Evidence] = []
    for one, score in zip(candidates, scored, strict=True):
        content = one.file.content
        place = facts[one.file.path_id]
        definitions = own.get(content, ()) if content is not None else ()
        evidence = Evidence(
            one.file,
            place,
            about.get(content) if content is not None else None,
            chunks.get(content, ()) if content is not None else (),
            score,
            symbols.match(definitions, question) if definitions else symbols.NOTHING,
            definitions,
            defined.get(one.file.path_id, ()),
            query.single,
            {},
        )
        found.append(evidence._replace(features=_raw(evidence, stems.match(place, question))))
    return _scaled(found)


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


def _raw(one: Evidence, path: PathMatch) -> dict[str, float]:
    chunks = one.scored.chunks
    exact = [known for known in one.defined if known.grade == names.EXACT]
    best = max(one.defined, key=names.telling, default=None)
    return {
        "cmax": chunks[0][0] if chunks else 0.0,
        "csum3": sum(
            share * score for share, (score, _) in zip(weights.CHUNK_SHARES, chunks, strict=False)
        ),
        "file": one.scored.whole,
        **path._asdict(),
        "symsum": one.symbols.total,
        "bestsym": one.symbols.best,
        "embdef": 1.0 if one.defined else 0.0,
        "defexact": 1.0 if exact else 0.0,
        "def_ci": 1.0 if one.defined else 0.0,
        "container_def": 1.0 if best and best.symbol.kind in names.CONTAINERS else 0.0,
        "deflen": math.log1p(_lines(best)) if best else 0.0,
        "logsize": math.log1p(one.about.size_bytes) if one.about else 0.0,
    }


def _lines(one: Defined) -> int:
    return one.symbol.end_line - one.symbol.start_line + 1


_SCALED = ("cmax", "csum3", "csumall", "file", "symsum", "deflen", "logsize")


def _scaled(found: list[Evidence]) -> list[Evidence]:
    """With `csumall`, and every open-ended feature divided by its maximum."""
    top = max((one.features["cmax"] for one in found), default=0.0)
    rows = [{**one.features, "csumall": _mass(one.scored.chunks, top)} for one in found]
    for name in _SCALED:
        most = max((row[name] for row in rows), default=0.0)
        if most > 0:
            for row in rows:
                row[name] /= most
    return [one._replace(features=row) for one, row in zip(found, rows, strict=True)]


def _mass(chunks: Sequence[tuple[float, int]], top: float) -> float:
    if not top:
        return 0.0
    floor = weights.CHUNK_SUM_FLOOR * top
    return math.log1p(sum(score for score, _ in chunks if score > floor) / top)
