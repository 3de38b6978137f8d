"""Writes the session trail: one line per call, and what its answer sent."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, TypeVar

from codelens.answers.reading_answers import ExpandAnswer
from codelens.config import Settings
from codelens.engine.contexts.asking_session import Session, asking
from codelens.engine.upkeep import usage_counter
from codelens.scope.repository import Scope
from codelens.trail import session_marks, trail_log
from codelens.trail.sent_log import SentBodies, SentBody, SentLog
from codelens.trail.session_marks import WorktreeState
from codelens.trail.trail_log import TrailEntry, worktree_key
from codelens.wording import count_of, some_of

if TYPE_CHECKING:
    from codelens.answers.branch_answers import DiffAnswer, HistoryAnswer
    from codelens.answers.context_answers import SaveAnswer
    from codelens.answers.graph_answers import ImpactAnswer, ReferencesAnswer, RelatedAnswer
    from codelens.answers.reading_answers import (
        Excerpt,
        ExpandAnswer,
        ExploreAnswer,
        OutlineAnswer,
        SearchAnswer,
    )
    from codelens.config import Configured


# Adds one line to the session trail for each call that touches definitions: action and objects.
#
# `trailed` decorates methods of the engine. A line never contains code. Of a query, it records only
# words of at most `_LONGEST_WORD` characters, so that a pasted secret is left out.

logger = logging.getLogger(__name__)

P = ParamSpec("P")
A = TypeVar("A")


E = TypeVar("E", bound="Configured")

_WORD = re.compile(r"[^\W_][\w./#:-]*")
_LONGEST_WORD, _LONGEST_QUESTION = 32, 48
_HANDLES = 4


class TrailLine(NamedTuple):
    """The trail's record of a call."""

    tool: str
    summary: str
    handles: tuple[str, ...] = ()


def trailed(
    line_of: Callable[[A], TrailLine | None],
) -> Callable[[Callable[Concatenate[E, P], A]], Callable[Concatenate[E, P], A]]:
    """Decorate a method of the engine so that calls add the line that `line_of` returns."""

    def around(method: Callable[Concatenate[E, P], A]) -> Callable[Concatenate[E, P], A]:
        @functools.wraps(method)
        def noting(engine: E, /, *args: P.args, **named: P.kwargs) -> A:
            answer = method(engine, *args, **named)
            scope = usage_counter.current_scope()
            if engine.settings.trail and scope is not None:
                line = line_of(answer)
                if line is not None:
                    _append_line(engine.settings, scope, line)
            return answer

        return noting

    return around


def _append_line(settings: Settings, scope: Scope, line: TrailLine) -> None:
    session, worktree = asking().id, trail_log.worktree_key(scope.root)
    at, ms = trail_log.moment()
    entry = TrailEntry(
        at, session, worktree, scope.branch,
        line.tool, line.summary, line.handles[:_HANDLES], ms,
    )  # fmt: skip
    try:
        trail_log.append(settings.home, scope.repo_id, entry)
        if session and scope.kind == "worktree":
            state = WorktreeState(scope.repo_id, worktree, scope.head, scope.branch)
            session_marks.mark(settings.home, session, state)
    except OSError as error:
        # A failed log must not fail an answer.
        logger.debug("could not write the trail: %s", error)


def words_of(question: str) -> str:
    """The words of a query in quotes, without what may be code or a secret."""
    words = [word for word in _WORD.findall(question[:2_000]) if len(word) <= _LONGEST_WORD]
    text = ""
    for word in words:
        if len(text) + len(word) > _LONGEST_QUESTION:
            break
        text += f" {word}"
    return f"'{text.strip()}'"


def of_search(answer: SearchAnswer) -> TrailLine | None:
    """A search with results."""
    if not answer.results:
        return None
    summary = f"{words_of(answer.query)} ({count_of(len(answer.results), 'place')})"
    return TrailLine("searched", summary, tuple(hit.handle for hit in answer.results if hit.symbol))


def of_explore(answer: ExploreAnswer) -> TrailLine | None:
    """A task, with the definitions shown in whole or in part."""
    handles = tuple(piece.handle for piece in answer.pieces if piece.part == "pivot")
    if not handles:
        return None
    return TrailLine(
        "explored", f"{words_of(answer.task)} ({count_of(len(handles), 'definition')})", handles
    )


def of_expand(answer: ExpandAnswer) -> TrailLine | None:
    """Handles that were read."""
    return _of_handles("expanded", [item.handle for item in answer.items if not item.error])


def of_outline(answer: OutlineAnswer) -> TrailLine | None:
    """An outlined file or folder."""
    return _of_handles("outlined", [answer.target])


def of_related(answer: RelatedAnswer) -> TrailLine | None:
    """The relations of a definition."""
    count = sum(count for _, count in answer.totals)
    name = answer.target.symbol or answer.target.path
    to = f" to {answer.goal.symbol or answer.goal.path}" if answer.goal is not None else ""
    return TrailLine("related", f"{name}{to} ({count:,})", (answer.target.handle,))


def of_references(answer: ReferencesAnswer) -> TrailLine | None:
    """Every line that uses a definition."""
    name = answer.target.symbol or answer.target.path
    summary = f"{name} ({answer.certain + answer.possible:,})"
    return TrailLine("references", summary, (answer.target.handle,))


def of_impact(answer: ImpactAnswer) -> TrailLine | None:
    """What a change affects."""
    if not answer.changed:
        return None
    nodes = [change.node for change in answer.changed]
    names = some_of([node.symbol or node.path for node in nodes], 2)
    depth = max((distance for distance, _ in answer.totals), default=0)
    affected = sum(count for _, count in answer.totals)
    summary = f"of {names} (depth {depth}, {affected:,} affected)"
    return TrailLine("impact", summary, tuple(node.handle for node in nodes))


def of_history(answer: HistoryAnswer) -> TrailLine | None:
    """When a definition changed."""
    return _of_handles("history", [answer.handle])


def of_diff(answer: DiffAnswer) -> TrailLine | None:
    """What differs between two sides."""
    handles = [line.handle for file in answer.files for line in file.definitions]
    if not handles:
        return None
    summary = f"{answer.old} to {answer.new} ({count_of(len(handles), 'definition')})"
    return TrailLine("diff", summary, tuple(handles))


def of_save(answer: SaveAnswer) -> TrailLine | None:
    """A saved note."""
    handles = tuple(item.handle for item in answer.saved.items)
    return TrailLine("saved", answer.saved.name, handles)


def _of_handles(tool: str, handles: Sequence[str]) -> TrailLine | None:
    if not handles:
        return None
    return TrailLine(
        tool, count_of(len(handles), "handle") if len(handles) > 1 else "", (*handles,)
    )


# Records what answers send to a session, and shortens excerpts that repeat it.

UNCHANGED, CHANGED = "unchanged", "changed"
LEAST_SAVED = 100
"""Minimum bytes saved by replacing a body with its first line."""
_RECEIVED_BYTES = 60_000
"""Hosts cut longer answers or write them to a file: it is unknown what the model received."""


def log_of(settings: Settings, scope: Scope, session: Session) -> SentLog | None:
    """What a session was sent in a worktree; None if it is not recorded."""
    if not (session.id and session.remembers and settings.sent):
        return None
    return SentLog(settings.home, scope.repo_id, worktree_key(scope.root), session.id)


def sent_before(settings: Settings, scope: Scope, *, again: bool) -> SentBodies | None:
    """What the current session was sent; None if nothing is to be omitted.

    Args:
        settings: may turn this off.
        scope: the current scope.
        again: send everything again, now and from now on.
    """
    log = log_of(settings, scope, asking())
    if log is None:
        return None
    if again:
        log.end()
        return None
    return log.read() or None


def note_sent(settings: Settings, scope: Scope, answer: ExploreAnswer | ExpandAnswer) -> None:
    """Record what an answer sends, after it was written. Never fails."""
    log = log_of(settings, scope, asking())
    if log is None:
        return
    bodies = list(_bodies_of(answer))
    if sum(len(text) for body in bodies for _, text in body.lines) > _RECEIVED_BYTES:
        return
    try:
        log.add(bodies)
    except OSError as error:
        logger.debug("could not record what was sent: %s", error)


def _bodies_of(answer: ExploreAnswer | ExpandAnswer) -> Iterator[SentBody]:
    if not isinstance(answer, ExpandAnswer):
        for piece in answer.pieces:
            if piece.sent != UNCHANGED:
                yield SentBody(piece.path, piece.handle, piece.lines)
        return
    for item in answer.items:
        if item.error or item.folded or item.sent == UNCHANGED:
            continue
        lines = numbered(item)
        yield SentBody(item.path, item.handle, tuple(lines[:-1] if item.line_cut else lines))


def numbered(item: Excerpt) -> list[tuple[int, str]]:
    """The lines of an excerpt with their numbers."""
    rows = item.text.split("\n")
    if rows and not rows[-1]:
        rows.pop()
    return [(at, row.removesuffix("\r")) for at, row in enumerate(rows, item.start_line)]


def without_repeats(
    item: Excerpt, sent: SentBodies, signature_line: int, file_lines: Sequence[str]
) -> Excerpt:
    """Reduce an excerpt to its signature if all of it was sent with the same bytes.

    Args:
        item: the excerpt.
        sent: what was sent.
        signature_line: the line to show instead.
        file_lines: all lines of its file.
    """
    lines = numbered(item)
    first = sent.start_of(item.path, lines)
    if first is None:
        changed = sent.differs(item.path, item.handle, file_lines)
        return replace(item, sent=CHANGED) if changed else item
    shown = next((text for number, text in lines if number == signature_line), lines[0][1])
    if len(item.text) - len(shown) < LEAST_SAVED:
        return item
    return replace(item, text=f"{shown}\n", sent=UNCHANGED, sent_at=first)
