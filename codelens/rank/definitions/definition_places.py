"""The definitions of the first files as places: what is shown of a file, and what beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codelens.rank.definitions import definition_ranking
from codelens.rank.query import query_names
from codelens.rank.query.query_analysis import Query
from codelens.rank.results import answer_lines
from codelens.rank.results.answer_lines import Place
from codelens.rank.results.shown_texts import Texts
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.weighted_score import Judged

_FILES = 8
"""Files whose definitions are ranked: those that somebody reads on."""
_ALSO, _FIRST = 3, 3
"""Further definitions that are named beside a result, and beside how many results."""
_AS_GOOD = 0.5
"""What is named beside a definition scores at least such a share of it."""


def of_files(
    judged: Sequence[Judged], query: Query, terms: Sequence[Weighed], texts: Texts
) -> Mapping[int, tuple[Place, ...]]:
    """Path id -> the place to show of a file, then the next best definitions.

    Only of the first files of code. A definition that the query names stays the place that it is,
    and so do lines that stand in no definition.
    """
    best = definition_ranking.code_files(judged[: 2 * _FILES], query, _FILES)
    chosen = {scored.evidence.file.path_id: answer_lines.best(scored, texts) for scored in best}
    places_by_file: dict[int, list[Place]] = {}
    tops: dict[int, float] = {}
    still_open = set(chosen)
    """Files of which a definition with a lower score may still be named."""
    for row in definition_ranking.ranked(best, query, terms, texts, chosen):
        number = row.judged.evidence.file.path_id
        if number not in still_open:
            if not still_open:
                break
            continue
        places = places_by_file.setdefault(number, [])
        top = tops.setdefault(number, row.score)
        if places and (len(places) > _ALSO or row.score < _AS_GOOD * top):
            still_open.remove(number)
            continue
        if row.symbol < 0:
            if not places:
                places.append(chosen[number])
            continue
        if not places and _is_named(row.judged):
            places.append(chosen[number])
        place = answer_lines.of_symbol(row.judged, row.definition)
        if not any(answer_lines.overlap(place, other) for other in places):
            places.append(place)
    return {number: tuple(places) for number, places in places_by_file.items()}


def with_also(shown: Sequence[Place], inside: Mapping[int, Sequence[Place]]) -> list[Place]:
    """The places; the first with what else answers in their files."""
    seen: dict[int, list[Place]] = {}
    for place in shown:
        seen.setdefault(place.judged.evidence.file.path_id, []).append(place)
    places: list[Place] = []
    for at, place in enumerate(shown):
        number = place.judged.evidence.file.path_id
        mine = seen[number]
        if at >= _FIRST or mine[0] is not place:
            places.append(place)
            continue
        also = [
            place
            for place in inside.get(number, ())
            if not any(answer_lines.overlap(place, other) for other in mine)
        ]
        places.append(place._replace(also=tuple(also[:_ALSO])))
    return places


def _is_named(judge: Judged) -> bool:
    """Whether the query writes out a definition of the file."""
    candidate = judge.evidence
    return bool(candidate.defined) and (
        candidate.features["spelled"] > 0
        or any(
            known.grade > query_names.LAST and known.symbol.kind not in query_names.WEAK
            for known in candidate.defined
        )
    )
