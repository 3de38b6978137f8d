"""From judged files to places: which lines of a file answer, and in what order they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codelens.rank import names, weights
from codelens.rank.features import Evidence
from codelens.rank.names import Defined
from codelens.rank.score import Judged
from codelens.store.rankreads import Definition

SYMBOL_LINES = 80
"""A longer definition is shown by the part of it that answers."""
_REFILLED_FILES = 3
_SAME_FILE = 3


class Place(NamedTuple):
    """Lines of one judged file."""

    judged: Judged
    start_line: int
    end_line: int
    symbol: int
    """Position of the definition that these lines are, -1 if none."""
    score: float
    shares: dict[str, float]


def by_file(judged: Sequence[Judged], limit: int) -> list[Place]:
    """The best place of each file; when files run out, more of the first three."""
    found = [_best(one) for one in judged[:limit]]
    shown = {_where(one) for one in found}
    for one in judged[:_REFILLED_FILES]:
        if len(found) >= limit:
            break
        for place in _others(one):
            if len(found) < limit and _where(place) not in shown:
                shown.add(_where(place))
                found.append(place)
    return found


def by_name(judged: Sequence[Judged], limit: int) -> list[Place]:
    """Definitions that the query names first, as typed before other conventions; then by file."""
    named = sorted(
        (
            (-one.grade, at, order, place)
            for at, judge in enumerate(judged)
            for order, (one, place) in enumerate(_named(judge))
        ),
        key=lambda row: row[:3],
    )
    found = [place for _, _, _, place in named]
    files = {one.judged.evidence.file.path for one in found}
    rest = [one for one in judged if one.evidence.file.path not in files]
    if len(found) < limit:
        found.extend(by_file(rest, limit - len(found)))
    return found[:limit]


def by_definition(judged: Sequence[Judged], limit: int, kinds: frozenset[str]) -> list[Place]:
    """Definitions alone, of `kinds` if any are given, by name, file and text."""
    found: list[tuple[int, Place]] = []
    for judge in judged:
        grades = {one.symbol.ordinal: one.grade for one in judge.evidence.defined}
        for place, like in _definitions(judge, kinds):
            grade = grades.get(place.symbol, 0)
            if grade or like >= weights.SYMBOL_COSINE or kinds:
                found.append((grade, place))
    found.sort(
        key=lambda row: (
            -row[0], -row[1].score, row[1].judged.evidence.file.path, row[1].start_line
        )
    )  # fmt: skip
    return [place for _, place in found[:limit]]


def _definitions(judge: Judged, kinds: frozenset[str]) -> Iterator[tuple[Place, float]]:
    one = judge.evidence
    for number, symbol in enumerate(one.definitions):
        if kinds and symbol.kind not in kinds:
            continue
        like = one.symbols.cosines[number]
        text = _text_share(one, symbol)
        if like or text:
            shares = {
                **judge.shares,
                "symbol": weights.DEFINITION_NAME * like,
                "symbol_text": weights.DEFINITION_TEXT * text,
            }
            yield _place(judge, symbol, shares), like


def _text_share(one: Evidence, symbol: Definition) -> float:
    """The best chunk that lies in the definition, against the file's best."""
    for score, number in one.scored.chunks:
        chunk = one.chunks[number]
        if chunk.start_line <= symbol.end_line and symbol.start_line <= chunk.end_line:
            return score / one.scored.chunks[0][0] if one.scored.chunks[0][0] else 0.0
    return 0.0


def _named(judge: Judged) -> list[tuple[Defined, Place]]:
    """The strongest definitions of a file that the query names."""
    strong = [one for one in judge.evidence.defined if one.symbol.kind not in names.WEAK]
    strong.sort(key=names.telling, reverse=True)
    return [(one, _place(judge, one.symbol, judge.shares)) for one in strong[:_SAME_FILE]]


def _best(judge: Judged) -> Place:
    one = judge.evidence
    if one.defined and (one.single or one.features["spelled"]):
        return _place(judge, max(one.defined, key=names.telling).symbol, judge.shares)
    if not one.scored.chunks:
        last = one.about.lines if one.about else 1
        return Place(judge, 1, max(last, 1), -1, judge.score, judge.shares)
    return _chunk(judge, one.scored.chunks[0][1])


def _others(judge: Judged) -> Iterator[Place]:
    for _, number in judge.evidence.scored.chunks[1:]:
        yield _chunk(judge, number)


def _chunk(judge: Judged, number: int) -> Place:
    """A chunk, or the definition it is mostly about, or the one inside that is asked for."""
    one = judge.evidence
    chunk = one.chunks[number]
    best = one.symbols.at
    if best >= 0 and one.symbols.best >= weights.SHOWN_COSINE:
        symbol = one.definitions[best]
        inside = chunk.start_line <= symbol.start_line <= chunk.end_line
        if inside and symbol.end_line - symbol.start_line < SYMBOL_LINES:
            return _place(judge, symbol, judge.shares)
    if 0 <= chunk.symbol < len(one.definitions):
        symbol = one.definitions[chunk.symbol]
        if symbol.end_line - symbol.start_line < SYMBOL_LINES:
            return _place(judge, symbol, judge.shares)
    return Place(judge, chunk.start_line, chunk.end_line, -1, judge.score, judge.shares)


def _place(judge: Judged, symbol: Definition, shares: dict[str, float]) -> Place:
    return Place(
        judge, symbol.start_line, symbol.end_line, symbol.ordinal, sum(shares.values()), shares
    )


def _where(place: Place) -> tuple[bytes, int, int]:
    return (place.judged.evidence.file.path, place.start_line, place.end_line)
