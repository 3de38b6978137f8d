"""Builds the answer of `explore`: the capsule of a task, its notes and its list of the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens import capsule
from codelens.answers.reading_answers import (
    ExploreAnswer,
    LeftOut,
    LinkedNote,
    NamedFile,
    Piece,
)
from codelens.capsule import LEAST_WORTH, Candidate, ChosenIntent, Costs, Limits, Shown, runs
from codelens.engine import task_candidates
from codelens.engine.contexts.notes_here import FoundNotes, NotesHere, ShownPlace
from codelens.engine.contexts.session_trail import CHANGED, LEAST_SAVED, UNCHANGED, sent_before
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.graph.lazy_graph import LazyGraph, walked_view
from codelens.engine.index_pool import IndexPool, seconds_to_read
from codelens.engine.reading.language_list import called
from codelens.engine.task_candidates import Material, candidates_of, tests_of
from codelens.errors import InvalidArgument, QueryError
from codelens.handles.handle_grammar import lines_handle
from codelens.paths import printed
from codelens.rank import definition_search
from codelens.rank.query import task_text
from codelens.rank.scoring.definition_ranking import RankedDefinition
from codelens.rank.search_request import Request
from codelens.render import explore_text
from codelens.render.text_pieces import lines_of
from codelens.render.token_budget import BYTES_A_TOKEN, cost_of
from codelens.trail.sent_log import SentBodies
from codelens.types import Receipt

NOTES_SHARE = 0.10
"""Share of the budget for notes."""
_BESIDE = 0.5
"""Nearness of related code, shown in addition to the matches."""


def note_places(shown: Sequence[Shown]) -> list[ShownPlace]:
    """The shown lines, as places that notes may refer to."""
    return [
        ShownPlace(
            printed(piece.candidate.path), *span,
            1.0 if piece.candidate.part == "pivot" else _BESIDE,
        )
        for piece in shown
        for span in runs(sorted(piece.lines))
    ]  # fmt: skip


def fitting_notes(here: FoundNotes, room: int) -> tuple[tuple[LinkedNote, ...], int]:
    """The best notes that fit into a number of bytes; and the number of notes on deleted code.

    That number is 0 if not even the line that states it fits.
    """
    gone, count = here.gone, len(here.notes)
    if gone and notes_size((), gone, count) > room:
        gone = 0
    tied_notes: list[LinkedNote] = []
    for note in here.notes:
        if notes_size((*tied_notes, note), gone, count) <= room:
            tied_notes.append(note)
    return tuple(tied_notes), gone


def notes_size(notes: Sequence[LinkedNote], gone: int, count: int) -> int:
    """Bytes of `notes` in an answer; `count` is the number of all notes."""
    return sum(map(explore_text.cost, explore_text.context_lines(notes, gone, count)))


# Describes what did not fit into a capsule, and which handles to read next.

_MOST = 12


def _code(piece: Shown) -> list[tuple[int, int]]:
    """The omitted spans of a piece that are longer than a long comment."""
    if piece.candidate.lines:
        return []
    asides = piece.candidate.asides
    return [span for span in piece.left_out if not asides.issuperset(range(span[0], span[1] + 1))]


def rest_of(
    material: Material,
    shown: Sequence[Shown],
    candidates: Sequence[Candidate],
    beyond: Collection[tuple[bytes, int]],
    room: int,
) -> LeftOut | None:
    """What was left out; None if nothing was.

    Args:
        material: names definitions.
        shown: what the capsule shows.
        candidates: everything that it could show.
        beyond: matches that are not candidates.
        room: maximum bytes of the summary.
    """
    cut = [piece for piece in shown if piece.candidate.part == "pivot" and any(_code(piece))]
    seen = {(shown_.candidate.path, shown_.candidate.symbol) for shown_ in shown}
    left = [candidate for candidate in candidates if (candidate.path, candidate.symbol) not in seen]
    left.sort(key=lambda candidate: (-candidate.value, candidate.path, candidate.name_line))
    below = {(candidate.path, candidate.symbol) for candidate in left}.union(beyond) - seen
    if not cut and not below:
        return None
    handles = [
        lines_handle(piece.candidate.path, *span, material.ref)
        for piece in cut
        for span in _code(piece)
    ]
    handles += [material.named(candidate)[0] for candidate in left[:_MOST]]
    rest = LeftOut(len(below), bool(cut), ())
    for handle in dict.fromkeys(handles[:_MOST]):
        longer = LeftOut(rest.definitions, rest.cut, (*rest.handles, handle))
        # The longer one of the forms for the command line and for MCP.
        lines = (explore_text.more_line(longer, typed=typed) for typed in (True, False))
        if max(map(explore_text.cost, lines)) > room:
            break
        rest = longer
    return rest


# Replaces the lines of candidates that the session already received by their signature.
#
# This frees budget for others, so a capsule is packed again until it contains nothing that was
# sent.

_ROUNDS = 4
_Key = tuple[bytes, int, int, str]
Pack = Callable[[Sequence[Candidate]], list[Shown]]


class SentMark(NamedTuple):
    """What the answer says about a piece that was sent before."""

    state: str = ""
    lines: tuple[tuple[int, int], ...] = ()
    """Spans that were sent with the same bytes, by their current line numbers."""


class SentPieces:
    """Which parts of one capsule were sent before.

    Args:
        sent: what the session was sent; None if it is not recorded.
        material: the texts of the capsule.
    """

    def __init__(self, sent: SentBodies | None, material: Material) -> None:
        self._sent = sent
        self._material = material
        self._marks: dict[_Key, SentMark] = {}

    def mark(self, candidate: Candidate) -> SentMark:
        """What the answer says about a candidate."""
        return self._marks.get(_key(candidate), SentMark())

    def packed(self, candidates: Sequence[Candidate], pack: Pack) -> list[Shown]:
        """Pack the candidates with `pack`, without code that was already sent."""
        sent = self._sent
        if sent is None:
            return pack(candidates)
        self._marks.clear()
        current = [self._marked_if_changed(candidate, sent) for candidate in candidates]
        for _ in range(_ROUNDS):
            shown = pack(current)
            repeats = {
                _key(piece.candidate): piece for piece in shown if self._is_repeat(piece, sent)
            }
            if not repeats:
                return shown
            current = [
                self._reduced(repeats[_key(candidate)], sent).candidate
                if _key(candidate) in repeats
                else candidate
                for candidate in current
            ]
        return [
            self._reduced(piece, sent) if self._is_repeat(piece, sent) else piece
            for piece in pack(current)
        ]

    def _marked_if_changed(self, candidate: Candidate, sent: SentBodies) -> Candidate:
        if candidate.symbol < 0:
            return candidate
        handle = self._material.named(candidate)[0]
        if not sent.differs(printed(candidate.path), handle, self._material.lines(candidate.path)):
            return candidate
        self._marks[_key(candidate)] = SentMark(CHANGED)
        return candidate._replace(about=_joined(candidate.about, "changed since it was sent"))

    def _lines(self, path: bytes, numbers: Sequence[int]) -> list[tuple[int, str]]:
        return [(number, self._material.line(path, number)) for number in numbers]

    def _is_repeat(self, piece: Shown, sent: SentBodies) -> bool:
        if self.mark(piece.candidate).state == UNCHANGED:
            return False
        path = piece.candidate.path
        lines = self._lines(path, piece.lines)
        size = sum(len(text) + 1 for _, text in lines)
        size -= len(self._material.line(path, self._signature_line(piece)))
        return size >= LEAST_SAVED and sent.start_of(printed(path), lines) is not None

    def _reduced(self, piece: Shown, sent: SentBodies) -> Shown:
        candidate = piece.candidate
        spans = tuple(runs(piece.lines))
        first = sent.start_of(printed(candidate.path), self._lines(candidate.path, piece.lines))
        remark = "sent earlier, unchanged"
        whole = len(spans) == 1 and spans[0][0] <= candidate.name_line
        if not (whole and spans[0][1] == candidate.end_line):
            remark = f"{_of_lines(spans)} {remark}"
        if first is not None and first != piece.lines[0]:
            remark += f", then at line {first}"
        self._marks[_key(candidate)] = SentMark(UNCHANGED, spans)
        line = self._signature_line(piece)
        about = _joined(candidate.about, remark)
        return Shown(candidate._replace(lines=(line,), about=about), (line,), ())

    def _signature_line(self, piece: Shown) -> int:
        """The line with the name; if that is not shown, the first shown line."""
        symbols = self._material.symbols(piece.candidate.path)
        at = piece.candidate.symbol
        line = symbols[at].name_line if 0 <= at < len(symbols) else piece.lines[0]
        return line if line in piece.lines else piece.lines[0]


def _key(candidate: Candidate) -> _Key:
    return (candidate.path, candidate.symbol, candidate.name_line, candidate.part)


def _joined(about: str, more: str) -> str:
    return f"{about}, {more}" if about else more


def _of_lines(spans: Sequence[tuple[int, int]]) -> str:
    if len(spans) > 3:
        return f"{sum(end - start + 1 for start, end in spans)} lines of it"
    return f"lines {', '.join(lines_of(*span) for span in spans)}"


# Packs the ranked definitions of a task into a capsule within its budget.

_NAMES_SHARE, _NAMES_LESS, _LEAST_NAMES_SHARE = 0.12, 300, 0.05
"""Share of the budget for names, reduced by some bytes, since a small budget is for code; and the
minimum share."""
_USUAL_BYTES, _USUAL_NAMES_SHARE = 9000, 0.36
"""Size of a usual answer that does not fill its budget, which determines the sizes of its lists;
and the share of it for names. They make up for code that is not shown: one more call reads it."""
_MOST_TESTS_SHARE, _TESTS_SHARE, _TESTS_SIZE = 0.06, 0.02, 120
"""Share of the budget for the paths of tests; it falls as the budget grows, since a few paths
suffice."""
_MORE_SIZE = 170
"""Maximum bytes of the last line."""
_MORE_SHARE = 0.03
"""Share of a large budget for the last line."""
_LONGEST_MS = 9_999_999.0


class ExploreRequest(NamedTuple):
    """A task with its options."""

    request: Request
    """The task with its filters."""
    task: str
    """The task as given."""
    chosen_intent: ChosenIntent
    max_tokens: int
    fills: bool
    """Whether to use up the budget; otherwise the capsule ends where code is not worth its size."""
    saved: NotesHere
    sent: SentBodies | None = None
    """What the session was already sent."""
    kinds: frozenset[str] = frozenset()
    """Kinds of definition that pivots may have; empty: any."""


class Findings(NamedTuple):
    """What a view has for a task, before the budget chooses among it."""

    material: Material
    candidates: list[Candidate]
    rows: Sequence[RankedDefinition]
    """All ranked definitions, best first."""
    tests: list[NamedFile]
    """Best first."""
    receipt: Receipt
    notes: Sequence[str]


def explore(view: CurrentView, explore_request: ExploreRequest, seconds: float) -> ExploreAnswer:
    """Build the capsule of a task.

    Args:
        view: the view; its database is in a read transaction.
        explore_request: the task.
        seconds: time limit for resolving edges.
    """
    definitions = definition_search.search(view.snapshot, explore_request.request, view.read)
    if explore_request.kinds:
        definitions = definitions.of_kinds(explore_request.kinds)
    graph = LazyGraph(view, seconds)
    material = Material(view, definitions)
    direction = capsule.DIRECTIONS[explore_request.chosen_intent.intent]
    candidates = candidates_of(material, graph, definitions, direction)
    receipt = graph.receipt()
    tests = tests_of(view, graph, definitions)
    findings = Findings(material, candidates, definitions.rows, tests, receipt, definitions.notes)
    return packed_answer(findings, explore_request)


def packed_answer(findings: Findings, explore_request: ExploreRequest) -> ExploreAnswer:
    """Fit what was found into the budget."""
    material, candidates, rows, every_test, receipt, remarks = findings
    intent = explore_request.chosen_intent
    fills = explore_request.fills
    whole = explore_request.max_tokens * BYTES_A_TOKEN
    more_size = max(_MORE_SIZE, int((whole if fills else _USUAL_BYTES) * _MORE_SHARE))
    room = _room(explore_request, receipt, remarks) - more_size
    usual = room if fills else min(room, _USUAL_BYTES)
    tests_room = int(min(usual * _MOST_TESTS_SHARE, usual * _TESTS_SHARE + _TESTS_SIZE))
    tests = task_candidates.fitting_names(every_test, tests_room)
    names_room = int(
        max(usual * _NAMES_SHARE - _NAMES_LESS, usual * _LEAST_NAMES_SHARE)
        if fills
        else usual * _USUAL_NAMES_SHARE
    )
    left = room - names_room - task_candidates.names_size(tests, len(every_test))
    sent = SentPieces(explore_request.sent, material)

    limits = Limits() if fills else Limits(worth=LEAST_WORTH)

    def pack(within: int) -> list[Shown]:
        return sent.packed(
            candidates,
            lambda rest: capsule.pack(
                rest, within, _costs(material), material.weights, limits=limits
            ),
        )

    shown = pack(left)
    here = explore_request.saved.on(note_places(shown))
    contexts, gone = fitting_notes(here, int(room * NOTES_SHARE))
    if here.notes or gone:
        left -= notes_size(contexts, gone, len(here.notes))
        shown = pack(left)
        # A piece that was dropped to make room for notes no longer needs its own notes.
        here = here._replace(notes=explore_request.saved.on(note_places(shown)).notes)
        still = {tied_note.name for tied_note in here.notes}
        contexts = tuple(context for context in contexts if context.name in still)
    pieces = explore_text.by_file(
        [_piece(material, piece, sent.mark(piece.candidate)) for piece in shown]
    )
    named = task_candidates.not_shown(material, candidates, rows, shown, names_room)
    answer = ExploreAnswer(
        receipt=receipt,
        task=explore_request.task,
        intent=intent.intent,
        intent_words=intent.words,
        pieces=tuple(pieces),
        named=tuple(named),
        tests=tuple(tests),
        contexts=contexts,
        gone_contexts=gone,
        notes=(*remarks, *here.warnings),
        more=rest_of(material, shown, candidates, material.beyond, more_size),
        test_count=len(every_test),
        context_count=len(here.notes),
    )
    return _within(answer, explore_request.max_tokens)


def _room(explore_request: ExploreRequest, receipt: Receipt, notes: Sequence[str]) -> int:
    """The bytes left for a capsule after its head."""
    intent = explore_request.chosen_intent
    head = explore_text.head(_longest(receipt), intent.intent, intent.words, notes)
    around = sum(map(explore_text.cost, head))
    if explore_request.sent is not None:
        around += explore_text.cost(explore_text.AGAIN)
    return explore_request.max_tokens * BYTES_A_TOKEN - around


def _longest(receipt: Receipt) -> Receipt:
    """A receipt with the longest numbers: output must not depend on the timing of a check."""
    return replace(receipt, checked=receipt.files, indexed=receipt.files, elapsed_ms=_LONGEST_MS)


def _within(answer: ExploreAnswer, max_tokens: int) -> ExploreAnswer:
    """The answer, without the parts that do not fit into a very small budget."""
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
    """The cost of each part of an answer, as the renderer writes it."""

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


# The entry point of `Engine.explore`.

LEAST_TOKENS, MOST_TOKENS = 200, 100_000
_CERTAIN = 8
"""Places that a task can name itself."""


def explore_task(
    pool: IndexPool,
    view_request: ViewRequest,
    max_tokens: int | None,
    intent: str | None,
    *,
    languages: Sequence[str],
    globs: Sequence[str],
    kinds: Sequence[str],
    again: bool,
    now_s: float,
) -> ExploreAnswer:
    """See `Engine.explore`; the words of the request are the task."""
    task = view_request.words
    if not any(letter.isprintable() and not letter.isspace() for letter in task):
        raise QueryError("the task is empty; say what to do or what to understand")
    most_tokens = explore_text.MOST_TOKENS if max_tokens is None else max_tokens
    if not LEAST_TOKENS <= most_tokens <= MOST_TOKENS:
        allowed = f"{LEAST_TOKENS} and {MOST_TOKENS:,}"
        raise InvalidArgument("max_tokens", f"must be between {allowed}, not {most_tokens:,}")
    read_task = task_text.without_template(task)
    intent_of_task = capsule.intent_of(read_task)
    if intent is not None:
        chosen = capsule.INTENTS.get(intent)
        if chosen is None:
            intents = ", ".join(capsule.INTENTS)
            raise InvalidArgument("intent", f"must be one of {intents}, not {intent[:50]!r}")
        intent_of_task = capsule.ChosenIntent(chosen, ())
    with walked_view(pool, view_request) as (view, seconds):
        # Ranking by meaning costs capsules .014 of the edited code: docs/meaning.md.
        request = Request(
            task, "auto", called(languages), tuple(globs), (), "all", _CERTAIN,
            seconds=seconds_to_read(view_request.budget_ms), meaning=False,
        )  # fmt: skip
        saved = NotesHere(view, read_task, now_s)
        sent = sent_before(view.settings, view.scope, again=again)
        explore_request = ExploreRequest(
            request,
            task,
            intent_of_task,
            most_tokens,
            max_tokens is not None,
            saved,
            sent,
            frozenset(kinds),
        )
        return explore(view, explore_request, seconds)
