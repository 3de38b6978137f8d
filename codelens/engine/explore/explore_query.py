"""A task answered in one go: from the ranked definitions to a capsule within its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens.answers.explore_answers import (
    ExploreAnswer,
    LeftOut,
    Piece,
)
from codelens.capsule import packing, task_intent
from codelens.capsule.packing import Candidate, Costs, Shown
from codelens.capsule.task_intent import ChosenIntent
from codelens.engine.contexts.notes_here import NotesHere
from codelens.engine.current_view import CurrentView
from codelens.engine.explore import capsule_notes, named_files
from codelens.engine.explore.next_call import rest_of
from codelens.engine.explore.sent_pieces import SentMark, SentPieces
from codelens.engine.explore.task_candidates import Material, candidates_of
from codelens.engine.explore.test_files import tests_of
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.handles.handle_grammar import lines_handle
from codelens.paths import printed
from codelens.rank.definitions import definition_search
from codelens.rank.search_request import Request
from codelens.render import explore_text
from codelens.render.token_budget import BYTES_A_TOKEN, cost_of
from codelens.trail.sent_log import SentBodies
from codelens.types import Receipt

_NAMES_SHARE = 0.06
_MOST_TESTS_SHARE, _TESTS_SHARE, _TESTS_SIZE = 0.06, 0.02, 120
"""For the paths of tests: a few are enough, so their share falls as the budget grows."""
_MORE_SIZE = 170
"""Bytes that the last line may take."""
_MORE_SHARE = 0.03
"""Of a large budget, for the last line."""
_LONGEST_MS = 9_999_999.0


class ExploreRequest(NamedTuple):
    """What is asked for."""

    request: Request
    """The task, with its filters."""
    chosen_intent: ChosenIntent
    max_tokens: int
    saved: NotesHere
    sent: SentBodies | None = None
    """What was sent before in the session."""
    kinds: frozenset[str] = frozenset()
    """Kinds of definition that pivots may be; empty: of any."""


def explore(view: CurrentView, explore_request: ExploreRequest, seconds: float) -> ExploreAnswer:
    """The capsule of a task.

    Args:
        view: the view; its database is in a read transaction.
        explore_request: the task.
        seconds: how long edges may be resolved for.
    """
    definitions = definition_search.search(view.snapshot, explore_request.request, view.read)
    if explore_request.kinds:
        definitions = definitions.of_kinds(explore_request.kinds)
    graph = LazyGraph(view, seconds)
    material = Material(view, definitions)
    intent = explore_request.chosen_intent
    candidates = candidates_of(material, graph, definitions, task_intent.DIRECTIONS[intent.intent])
    receipt = graph.receipt()
    more_size = max(_MORE_SIZE, int(explore_request.max_tokens * BYTES_A_TOKEN * _MORE_SHARE))
    room = _room(explore_request, receipt, definitions.notes) - more_size
    tests_room = int(min(room * _MOST_TESTS_SHARE, room * _TESTS_SHARE + _TESTS_SIZE))
    every_test = tests_of(view, graph, definitions)
    tests = named_files.fitting(every_test, tests_room)
    names_room = int(room * _NAMES_SHARE)
    left = room - names_room - named_files.size(tests, len(every_test))
    sent = SentPieces(explore_request.sent, material)

    def pack(within: int) -> list[Shown]:
        return sent.packed(
            candidates, lambda rest: packing.pack(rest, within, _costs(material), material.weights)
        )

    shown = pack(left)
    here = explore_request.saved.on(capsule_notes.places_of(shown))
    contexts, gone = capsule_notes.fitting(here, int(room * capsule_notes.SHARE))
    if here.notes or gone:
        left -= capsule_notes.size(contexts, gone, len(here.notes))
        shown = pack(left)
        # What gave way to the notes takes those on it along.
        here = here._replace(notes=explore_request.saved.on(capsule_notes.places_of(shown)).notes)
        still = {tied_note.name for tied_note in here.notes}
        contexts = tuple(context for context in contexts if context.name in still)
    pieces = explore_text.pieces_in_order(
        [_piece(material, piece, sent.mark(piece.candidate)) for piece in shown]
    )
    named = named_files.not_shown(material, candidates, definitions.rows, shown, names_room)
    answer = ExploreAnswer(
        receipt=receipt,
        task=explore_request.request.query,
        intent=intent.intent,
        intent_words=intent.words,
        pieces=tuple(pieces),
        named=tuple(named),
        tests=tuple(tests),
        contexts=contexts,
        gone_contexts=gone,
        notes=(*definitions.notes, *here.warnings),
        more=rest_of(material, shown, candidates, material.beyond, more_size),
        test_count=len(every_test),
        context_count=len(here.notes),
    )
    return _within(answer, explore_request.max_tokens)


def _room(explore_request: ExploreRequest, receipt: Receipt, notes: Sequence[str]) -> int:
    """The bytes that are left for a capsule beside its head."""
    intent = explore_request.chosen_intent
    head = explore_text.head(_longest(receipt), intent.intent, intent.words, notes)
    around = sum(map(explore_text.cost, head))
    if explore_request.sent is not None:
        around += explore_text.cost(explore_text.AGAIN)
    return explore_request.max_tokens * BYTES_A_TOKEN - around


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
            more = answer.more or LeftOut(0, cut=False, handles=())
            more = replace(more, definitions=more.definitions + 1)
            answer = replace(answer, pieces=answer.pieces[:-1], more=more)
        elif answer.notes:
            note_count = max(answer.note_count, len(answer.notes))
            answer = replace(answer, notes=answer.notes[:-1], note_count=note_count)
        elif answer.more:
            answer = replace(answer, more=None)
        else:
            break
    return answer


def _costs(material: Material) -> Costs:
    """What the renderer writes for each part of an answer."""

    def line(path: bytes, number: int) -> int:
        return explore_text.cost(explore_text.line(number, material.line(path, number)))

    def heading(candidate: Candidate) -> int:
        return explore_text.cost(_heading(material, candidate))

    def file(path: bytes) -> int:
        return explore_text.cost(printed(path))

    return Costs(line, heading, file, explore_text.cost(explore_text.GAP))


def _heading(material: Material, candidate: Candidate) -> str:
    handle, kind, _ = material.named(candidate)
    return explore_text.heading(
        handle, candidate.name_line, candidate.end_line, kind, candidate.about
    )


def _piece(material: Material, piece: Shown, mark: SentMark) -> Piece:
    candidate = piece.candidate
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
        lines=tuple((number, material.line(candidate.path, number)) for number in piece.lines),
        left_out=tuple(
            lines_handle(candidate.path, *span, material.ref) for span in piece.left_out
        ),
        stale=candidate.path in material.view.snapshot.stale,
        sent=mark.state,
        sent_lines=mark.lines,
    )
