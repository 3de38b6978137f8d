"""What a capsule names and does not show: definitions by their files, within a room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens.answers.explore_answers import NamedDefinition, NamedFile
from codelens.capsule.packing import Candidate, Shown
from codelens.engine.explore.task_candidates import PIVOTS, Material
from codelens.paths import printed
from codelens.rank.definitions.definition_ranking import RankedDefinition
from codelens.render import explore_text


class _Place(NamedTuple):
    path: bytes
    symbol: int
    line: int


def not_shown(
    material: Material,
    candidates: Sequence[Candidate],
    ranked: Sequence[RankedDefinition],
    shown: Sequence[Shown],
    room_bytes: int,
) -> list[NamedFile]:
    """The best of what is not shown, by file; as many names as there is room for.

    A name is written under its file, so one of a file that stands there already costs less.

    Args:
        material: has the definitions of files.
        candidates: what might have been shown.
        ranked: all ranked definitions, best first; those that are no candidates come last.
        shown: is not named.
        room_bytes: for all lines and the one above them.
    """
    left = room_bytes - explore_text.cost(explore_text.NAMED)
    seen = {(piece.candidate.path, piece.candidate.symbol) for piece in shown}
    files: dict[bytes, NamedFile] = {}
    for place in _places(candidates, ranked):
        if left < _LEAST:
            break
        if (place.path, place.symbol) in seen:
            continue
        seen.add((place.path, place.symbol))
        name = material.symbols(place.path)[place.symbol].qualified
        before = files.get(place.path)
        file = before or NamedFile(printed(place.path))
        if any(named.name == name for named in file.definitions):
            continue
        file = replace(file, definitions=(*file.definitions, NamedDefinition(name, place.line)))
        cost = _cost(file) - (_cost(before) if before else 0)
        if cost <= left:
            left -= cost
            files[place.path] = file
    return list(files.values())


_LEAST = 8
"""Bytes of a short name with its line; with less left no further name is looked at."""


def _places(
    candidates: Sequence[Candidate], ranked: Sequence[RankedDefinition]
) -> Iterator[_Place]:
    """Definitions, best first."""
    for candidate in sorted(
        candidates, key=lambda candidate: (-candidate.value, candidate.path, candidate.name_line)
    ):
        if candidate.symbol >= 0 and candidate.part != "container":
            yield _Place(candidate.path, candidate.symbol, candidate.name_line)
    for row in ranked[PIVOTS:]:
        if row.symbol >= 0:
            yield _Place(row.judged.evidence.file.path, row.symbol, row.name_line)


def fitting(files: Sequence[NamedFile], room_bytes: int) -> list[NamedFile]:
    """The first files of tests whose lines fit, with the line above them."""
    left = room_bytes - explore_text.cost(explore_text.TESTS)
    within: list[NamedFile] = []
    for file in files:
        if _cost(file) <= left:
            left -= _cost(file)
            within.append(file)
    return within


def size(files: Sequence[NamedFile], count: int) -> int:
    """Bytes of the lines of tests, of so many, and the line above them."""
    heading = explore_text.tests_heading(files, count)
    return explore_text.cost(heading) + sum(map(_cost, files)) if heading else 0


def _cost(file: NamedFile) -> int:
    return explore_text.cost(explore_text.named_file(file))
