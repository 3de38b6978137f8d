"""From judged files to the places that are shown: in what order, folded, and how many of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from codelens.rank import ranking_weights
from codelens.rank.definitions import definition_places
from codelens.rank.query import query_names
from codelens.rank.query.query_analysis import Query
from codelens.rank.query.query_names import Defined
from codelens.rank.results import answer_lines, near_copies
from codelens.rank.results.answer_lines import Place
from codelens.rank.results.shown_texts import Texts
from codelens.rank.scoring import weighted_score
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_features import Evidence
from codelens.rank.scoring.weighted_score import Judged
from codelens.rank.search_request import Found, Request
from codelens.store.facts.ranking_reads import Definition
from codelens.store.views.snapshot import Snapshot

__all__ = ["Place", "arranged"]

_NOWHERE: tuple[Place | None, ...] = (None,)
_REFILLED_FILES = 3
_SAME_FILE = 3
_ALSO = 2
"""Further places of a file that are named beside its first."""
_AS_GOOD = 0.75
"""How near their text must come to the file's best."""
_BEHIND = 1.0
"""What a role takes off a score for its definitions to come behind all others."""
_FIRST = 3
"""Only beside results so far up: what stands further down is no answer to dwell on."""


def arranged(
    view: Snapshot,
    judged: Sequence[Judged],
    request: Request,
    query: Query,
    *,
    terms: Sequence[Weighed],
    texts: Texts,
) -> list[Place]:
    """The places to show, near-copies folded, at most as many as are asked for."""
    alone = request.mode == "symbol" or bool(request.kinds)
    # Half as many again, since some will be folded; those behind are shown by their text.
    ready = weighted_score.with_definitions(
        view, judged, len(judged) if alone else request.limit * 3 // 2
    )
    if alone:
        pairs = [(place.judged, place) for place in by_definition(ready, frozenset(request.kinds))]
        request.note_found((judge.evidence.file.path_id, place.symbol) for judge, place in pairs)
    elif query.single:
        pairs = list(by_name(ready, query))
        request.note_found(_answering(ready))
    else:
        request.note_found((scored.evidence.file.path_id, -1) for scored in ready)
        inside = definition_places.of_files(ready, query, terms, texts)
        pairs = [
            (scored, inside.get(scored.evidence.file.path_id, _NOWHERE)[0]) for scored in ready
        ]
        shown = near_copies.folded(view.db, pairs, request.limit, texts)
        if len(shown) < request.limit:
            shown += _refill(ready, shown, request.limit - len(shown), texts)
        return definition_places.with_also(shown, inside)
    shown = near_copies.folded(view.db, pairs, request.limit, texts)
    if alone:
        return shown
    if len(shown) < request.limit:
        shown += _refill(ready, shown, request.limit - len(shown), texts)
    return with_also(ready, shown, texts)


def _refill(
    judged: Sequence[Judged], shown: Sequence[Place], missing: int, texts: Texts
) -> list[Place]:
    """More places of the first files, where there are not enough files."""
    seen = [place.where for result in shown for place in (result, *result.alike)]
    copies = {path for place in shown for path, _, _ in (other.where for other in place.alike)}
    chosen: list[Place] = []
    for scored in judged[:_REFILLED_FILES]:
        if scored.evidence.file.path in copies:
            continue
        for place in answer_lines.others(scored, texts):
            if len(chosen) >= missing:
                return chosen
            if place.where not in seen:
                seen.append(place.where)
                chosen.append(place)
    return chosen


def with_also(judged: Sequence[Judged], shown: Sequence[Place], texts: Texts) -> list[Place]:
    """The same; where further texts of a file score above all other files, with these."""
    tops = sorted(
        ((scored.evidence.scored.chunks[0][0], scored.evidence.file.path_id)
         for scored in judged if scored.evidence.scored.chunks),
        reverse=True,
    )  # fmt: skip
    if len(tops) < 2:
        return list(shown)
    # Only the file with the best text can have a second one above all others.
    (top, best), (second, _) = tops[:2]
    floor = max(second, _AS_GOOD * top)
    for at, place in enumerate(shown[:_FIRST]):
        if place.judged.evidence.file.path_id == best:
            also = tuple(islice(_further(place, shown, floor, texts), _ALSO))
            return [*shown[:at], place._replace(also=also), *shown[at + 1 :]]
    return list(shown)


def _further(place: Place, shown: Sequence[Place], floor: float, texts: Texts) -> Iterator[Place]:
    path = place.judged.evidence.file.path
    seen = [further for further in shown if further.judged.evidence.file.path == path]
    for further in answer_lines.others(place.judged, texts, floor):
        if not any(answer_lines.overlap(further, other) for other in seen):
            seen.append(further)
            yield further


def by_name(judged: Sequence[Judged], query: Query) -> Iterator[tuple[Judged, Place | None]]:
    """Definitions that the query names: as typed, then in other conventions.

    What stands on its own comes before the members of something, then it goes by file.

    Then what defines nothing that is called so. Definitions in tests, examples and the like come
    between, unless the query asks for such files; and where the code has a field or a property of
    that name, they come last.
    """
    down = ranking_weights.pushed_down(True, query.roles)
    named: list[tuple[tuple[int, bool, bool, int, int], Place]] = []
    behind: list[tuple[tuple[int, bool, bool, int, int], Place]] = []
    rest: list[tuple[Judged, Place | None]] = []
    typed = {name.parts[-1] for name in query.names}
    known = False
    for at, judge in enumerate(judged):
        pushed = down.get(weighted_score.role_of(judge.evidence), 0.0) >= _BEHIND
        strong = _named(judge)
        for order, (definition, place) in enumerate(strong):
            inner = (
                definition.symbol.parent >= 0
                and definition.symbol.kind not in query_names.CONTAINERS
            )
            key = (-definition.grade, definition.symbol.name not in typed, inner, at, order)
            (behind if pushed else named).append((key, place))
        if not strong:
            known = known or (not pushed and _is_member(judge))
            rest.append((judge, None))
    for every in (named, behind):
        every.sort(key=lambda row: row[0])
    yield from ((place.judged, place) for _, place in named)
    last = [(place.judged, place) for _, place in behind]
    yield from (*rest, *last) if known else (*last, *rest)


def _answering(judged: Sequence[Judged]) -> Iterator[Found]:
    """The definitions that the query names, and the files that have none of them."""
    for judge in judged:
        number = judge.evidence.file.path_id
        named = [(number, definition.symbol.ordinal) for definition in _strong(judge)]
        yield from named or [(number, -1)]


def _is_member(judge: Judged) -> bool:
    """Whether a file has a field or the like that is called as the query, letter for letter."""
    return any(
        definition.grade == query_names.EXACT and definition.symbol.kind in query_names.MEMBERS
        for definition in judge.evidence.defined
    )


def by_definition(judged: Sequence[Judged], kinds: frozenset[str]) -> list[Place]:
    """Definitions alone, of `kinds` if any are given, by name, file and text."""
    numbered_places: list[tuple[int, Place]] = []
    for judge in judged:
        grades = {
            definition.symbol.ordinal: definition.grade for definition in judge.evidence.defined
        }
        for place, like in _definitions(judge, kinds):
            grade = grades.get(place.symbol, 0)
            if grade or like >= ranking_weights.SYMBOL_COSINE or kinds:
                numbered_places.append((grade, place))
    numbered_places.sort(
        key=lambda row: (
            -row[0], -row[1].score, row[1].judged.evidence.file.path, row[1].start_line
        )
    )  # fmt: skip
    return [place for _, place in numbered_places]


def _definitions(judge: Judged, kinds: frozenset[str]) -> Iterator[tuple[Place, float]]:
    candidate = judge.evidence
    for number, symbol in enumerate(candidate.definitions):
        if kinds and symbol.kind not in kinds:
            continue
        like = candidate.symbols.cosines[number]
        text = _text_share(candidate, symbol)
        if like or text:
            shares = {
                **judge.shares,
                "symbol": ranking_weights.DEFINITION_NAME * like,
                "symbol_text": ranking_weights.DEFINITION_TEXT * text,
            }
            yield answer_lines.of_symbol(judge, symbol, shares), like


def _text_share(candidate: Evidence, symbol: Definition) -> float:
    """The best chunk that lies in the definition, against the file's best."""
    for chunk_score, number in candidate.scored.chunks:
        chunk = candidate.chunks[number]
        if chunk.start_line <= symbol.end_line and symbol.start_line <= chunk.end_line:
            return (
                chunk_score / candidate.scored.chunks[0][0]
                if candidate.scored.chunks[0][0]
                else 0.0
            )
    return 0.0


def _named(judge: Judged) -> list[tuple[Defined, Place]]:
    """The strongest definitions of a file that the query names."""
    strong = sorted(_strong(judge), key=query_names.telling, reverse=True)
    return [
        (definition, answer_lines.of_symbol(judge, definition.symbol))
        for definition in strong[:_SAME_FILE]
    ]


def _strong(judge: Judged) -> list[Defined]:
    return [
        definition
        for definition in judge.evidence.defined
        if definition.symbol.kind not in query_names.WEAK
    ]
