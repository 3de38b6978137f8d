"""Chooses for each of the first files the definition to show, and further ones to name with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.rank import answer_lines, ranking_weights
from codelens.rank.answer_lines import Place
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring import definition_ranking
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.search_state import Texts

_FILES = 8
"""Number of files whose definitions are ranked; users rarely read further."""
_ALSO_DEFINITIONS, _FIRST_DEFINITIONS = 3, 3
"""Number of further definitions named with a result, and number of results that have them."""
_AS_GOOD_DEFINITION = 0.5
"""Further definitions score at least this share of the one they are named with."""


class FileDefinitions(NamedTuple):
    """The definitions to show of one file."""

    places: tuple[Place, ...]
    """The place to show, then the next best definitions."""
    wording: float
    """The best of their wordings (`RankedDefinition.wording`)."""


def places_of_files(
    judged: Sequence[Judged], query: Query, terms: Sequence[Weighed], texts: Texts
) -> Mapping[int, FileDefinitions]:
    """Return path id -> the definitions to show of a file.

    Covers only the first files of code. A definition that the query names stays first, and so do
    lines outside of definitions.
    """
    best = definition_ranking.code_files(judged[: 2 * _FILES], query, _FILES)
    chosen = {scored.evidence.file.path_id: answer_lines.best(scored, texts) for scored in best}
    places_by_file: dict[int, list[Place]] = {}
    tops: dict[int, float] = {}
    wordings: dict[int, float] = {}
    still_open = set(chosen)
    """Files for which a definition with a lower score may still be named."""
    for row in definition_ranking.ranked(best, query, terms, texts, chosen):
        number = row.judged.evidence.file.path_id
        if number not in still_open:
            if not still_open:
                break
            continue
        places = places_by_file.setdefault(number, [])
        top = tops.setdefault(number, row.score)
        if places and (len(places) > _ALSO_DEFINITIONS or row.score < _AS_GOOD_DEFINITION * top):
            still_open.remove(number)
            continue
        wordings[number] = max(wordings.get(number, 0.0), row.wording)
        if row.symbol < 0:
            if not places:
                places.append(chosen[number])
            continue
        if not places and _is_named(row.judged):
            places.append(chosen[number])
        place = answer_lines.of_symbol(row.judged, row.definition)
        if not any(answer_lines.overlap(place, other) for other in places):
            places.append(place)
    return {
        number: FileDefinitions(tuple(places), wordings[number])
        for number, places in places_by_file.items()
    }


def raised(judged: Sequence[Judged], inside: Mapping[int, FileDefinitions]) -> list[Judged]:
    """Order files again, those higher whose definitions have the wording of the question."""
    weight = ranking_weights.WORDS["wording"]
    files: list[Judged] = []
    for scored in judged:
        own = inside.get(scored.evidence.file.path_id)
        more = weight * own.wording if own is not None else 0.0
        shares = {**scored.shares, "wording": more} if more else scored.shares
        files.append(scored._replace(score=scored.score + more, shares=shares))
    return sorted(files, key=lambda scored: -scored.score)


def with_places(
    judged: Sequence[Judged], inside: Mapping[int, FileDefinitions]
) -> Iterator[tuple[Judged, Place | None]]:
    """Yield files with the place to show of each, if its definitions were ranked."""
    for scored in judged:
        own = inside.get(scored.evidence.file.path_id)
        place = own.places[0] if own is not None else None
        if place is not None:
            place = place._replace(judged=scored, score=scored.score, shares=scored.shares)
        yield scored, place


def with_also(shown: Sequence[Place], inside: Mapping[int, FileDefinitions]) -> list[Place]:
    """Return the places; the first of them with further definitions of their files."""
    seen: dict[int, list[Place]] = {}
    for place in shown:
        seen.setdefault(place.judged.evidence.file.path_id, []).append(place)
    places: list[Place] = []
    for at, place in enumerate(shown):
        number = place.judged.evidence.file.path_id
        shown_places = seen[number]
        if at >= _FIRST_DEFINITIONS or shown_places[0] is not place:
            places.append(place)
            continue
        also = [
            place
            for place in (inside[number].places if number in inside else ())
            if not any(answer_lines.overlap(place, other) for other in shown_places)
        ]
        places.append(place._replace(also=tuple(also[:_ALSO_DEFINITIONS])))
    return places


def _is_named(judge: Judged) -> bool:
    """Whether the query spells out a definition of the file."""
    candidate = judge.evidence
    return bool(candidate.defined) and (
        candidate.features["spelled"] > 0
        or any(
            definition.grade > query_analysis.LAST
            and definition.symbol.kind not in query_analysis.WEAK
            for definition in candidate.defined
        )
    )
