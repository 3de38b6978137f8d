"""From features to an order: a weighted sum, less what a file's role takes off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring import definition_features
from codelens.rank.scoring.definition_features import Evidence
from codelens.store.views.snapshot import Snapshot


class Judged(NamedTuple):
    """A candidate with its score."""

    evidence: Evidence
    score: float
    shares: dict[str, float]
    """Feature -> its part of the score; their sum is the score."""


def judge(candidates: Sequence[Evidence], query: Query) -> list[Judged]:
    """Every candidate with its score, best first; ties by path."""
    chosen = ranking_weights.TOKEN if query.single else ranking_weights.WORDS
    down = ranking_weights.pushed_down(query.single, query.roles)
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


def with_definitions(view: Snapshot, judged: Sequence[Judged], first: int) -> list[Judged]:
    """The same, the first so many with the definitions of their files."""
    ready = definition_features.with_definitions(
        view, [scored.evidence for scored in judged[:first]]
    )
    return [
        *(scored._replace(evidence=more) for scored, more in zip(judged, ready, strict=False)),
        *judged[first:],
    ]


def role_of(candidate: Evidence) -> str:
    """The path's role; else `generated` where the text says so."""
    if not candidate.facts.role and candidate.about is not None and candidate.about.generated:
        return "generated"
    return candidate.facts.role
