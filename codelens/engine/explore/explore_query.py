"""A task answered in one go: from the ranked definitions to a capsule within its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens.answers.explore_answers import (
    ExploreAnswer,
    NamedDefinition,
    NamedFile,
    Piece,
)
from codelens.capsule import packing, task_intent
from codelens.capsule.packing import Candidate, Costs, Shown
from codelens.capsule.task_intent import ChosenIntent
from codelens.engine.contexts.notes_here import NotesHere
from codelens.engine.current_view import CurrentView
from codelens.engine.explore import capsule_notes
from codelens.engine.explore.next_call import rest_of
from codelens.engine.explore.task_candidates import Material, candidates_of
from codelens.engine.explore.test_files import tests_of
from codelens.engine.graph.lazy_graph import LazyNet
from codelens.handles.handle_grammar import lines_handle
from codelens.paths import printed
from codelens.rank.definitions import definition_search
from codelens.rank.search_request import Request
from codelens.render import explore_text
from codelens.render.token_budget import BYTES_A_TOKEN, cost_of
from codelens.types import Receipt

_NAMES_SHARE, _TESTS_SHARE = 0.08, 0.05
_MOST_NAMES = 60
_MORE_SIZE = 170
"""Bytes that the last line may take."""
_MORE_SHARE = 0.03
"""Of a large budget, for the last line."""
_LONGEST_MS = 9_999_999.0


class ExploreRequest(NamedTuple):
    """What is asked for."""

    request: Request
    """The task, with its filters."""
    told: ChosenIntent
    max_tokens: int
    saved: NotesHere
    kinds: frozenset[str] = frozenset()
    """Kinds of definition that pivots may be; empty: of any."""


def explore(view: CurrentView, asked: ExploreRequest, seconds: float) -> ExploreAnswer:
    """The capsule of a task.

    Args:
        view: the view; its database is in a read transaction.
        asked: the task.
        seconds: how long edges may be resolved for.
    """
    found = definition_search.search(view.snapshot, asked.request, view.read)
    if asked.kinds:
        found = found.of_kinds(asked.kinds)
    net = LazyNet(view, seconds)
    material = Material(view, found)
    candidates = candidates_of(material, net, found, task_intent.DIRECTIONS[asked.told.intent])
    receipt = net.receipt()
    head = explore_text.head(_longest(receipt), asked.told.intent, asked.told.words, found.notes)
    more_size = max(_MORE_SIZE, int(asked.max_tokens * BYTES_A_TOKEN * _MORE_SHARE))
    around = sum(map(explore_text.cost, head)) + more_size
    room = asked.max_tokens * BYTES_A_TOKEN - around
    tests = _fitting(tests_of(view, net, found), int(room * _TESTS_SHARE), explore_text.TESTS)
    names_room = int(room * _NAMES_SHARE)
    left = room - names_room - _size(tests, explore_text.TESTS)
    costs = _costs(material)
    shown = packing.pack(candidates, left, costs, material.weights)
    here = asked.saved.on(capsule_notes.places_of(shown))
    contexts, gone = capsule_notes.fitting(here, int(room * capsule_notes.SHARE))
    if contexts or gone:
        left -= capsule_notes.size(contexts, gone)
        shown = packing.pack(candidates, left, costs, material.weights)
        # What gave way to the notes takes those on it along.
        still = {one.name for one in asked.saved.on(capsule_notes.places_of(shown)).notes}
        contexts = tuple(one for one in contexts if one.name in still)
    pieces = explore_text.pieces_in_order([_piece(material, one) for one in shown])
    named = _fitting(_named(material, candidates, shown), names_room, explore_text.NAMED)
    answer = ExploreAnswer(
        receipt=receipt,
        task=asked.request.query,
        intent=asked.told.intent,
        intent_words=asked.told.words,
        pieces=tuple(pieces),
        named=tuple(named),
        tests=tuple(tests),
        contexts=contexts,
        gone_contexts=gone,
        notes=(*found.notes, *here.warnings),
        more=rest_of(material, shown, candidates, more_size),
    )
    return _within(answer, asked.max_tokens)


def _longest(receipt: Receipt) -> Receipt:
    """A receipt with the longest numbers: what is shown must not depend on how a look went."""
    return replace(receipt, checked=receipt.files, indexed=receipt.files, elapsed_ms=_LONGEST_MS)


def _within(answer: ExploreAnswer, max_tokens: int) -> ExploreAnswer:
    """The answer, less what a budget too small for its head has no room for."""
    while cost_of(explore_text.explore(answer)) > max_tokens:
        if answer.named:
            answer = replace(answer, named=answer.named[:-1])
        elif answer.tests:
            answer = replace(answer, tests=answer.tests[:-1])
        elif answer.contexts or answer.gone_contexts:
            answer = replace(answer, contexts=answer.contexts[:-1], gone_contexts=0)
        elif answer.pieces:
            answer = replace(answer, pieces=answer.pieces[:-1])
        elif answer.notes:
            answer = replace(answer, notes=answer.notes[:-1])
        elif answer.more:
            answer = replace(answer, more=None)
        else:
            break
    return answer


def _costs(material: Material) -> Costs:
    """What the renderer writes for each part of an answer."""

    def line(path: bytes, number: int) -> int:
        return explore_text.cost(explore_text.line(number, material.line(path, number)))

    def heading(one: Candidate) -> int:
        return explore_text.cost(_heading(material, one))

    def file(path: bytes) -> int:
        return explore_text.cost(printed(path))

    return Costs(line, heading, file, explore_text.cost(explore_text.GAP))


def _heading(material: Material, one: Candidate) -> str:
    handle, kind, _ = material.named(one)
    return explore_text.heading(handle, one.name_line, one.end_line, kind, one.about)


def _piece(material: Material, one: Shown) -> Piece:
    candidate = one.candidate
    handle, kind, symbol = material.named(candidate)
    return Piece(
        handle=handle,
        path=printed(candidate.path),
        start_line=candidate.name_line,
        end_line=candidate.end_line,
        symbol=symbol,
        kind=kind,
        part=candidate.part,
        about=candidate.about,
        lines=tuple((number, material.line(candidate.path, number)) for number in one.lines),
        left_out=tuple(lines_handle(candidate.path, *span, material.ref) for span in one.left_out),
        stale=candidate.path in material.view.snapshot.stale,
    )


def _named(
    material: Material, candidates: Sequence[Candidate], shown: Sequence[Shown]
) -> list[NamedFile]:
    """The best of what is not shown, by file."""
    seen = {(one.candidate.path, one.candidate.symbol) for one in shown}
    files: dict[bytes, dict[str, NamedDefinition]] = {}
    count = 0
    for one in sorted(candidates, key=lambda one: (-one.value, one.path, one.name_line)):
        if one.symbol < 0 or (one.path, one.symbol) in seen or one.part == "container":
            continue
        seen.add((one.path, one.symbol))
        _, _, symbol = material.named(one)
        files.setdefault(one.path, {})[symbol] = NamedDefinition(symbol, one.name_line)
        count += 1
        if count >= _MOST_NAMES:
            break
    return [NamedFile(printed(path), tuple(names.values())) for path, names in files.items()]


def _fitting(files: Sequence[NamedFile], room: int, title: str) -> list[NamedFile]:
    """The files that fit, the last with fewer names."""
    left = room - explore_text.cost(title)
    kept: list[NamedFile] = []
    for whole in files:
        one = whole
        while _cost(one) > left and len(one.definitions) > 1:
            one = replace(one, definitions=one.definitions[:-1])
        if _cost(one) <= left:
            left -= _cost(one)
            kept.append(one)
    return kept


def _cost(one: NamedFile) -> int:
    return explore_text.cost(explore_text.named_file(one))


def _size(files: Sequence[NamedFile], title: str) -> int:
    if not files:
        return 0
    return explore_text.cost(title) + sum(
        explore_text.cost(explore_text.named_file(one)) for one in files
    )
