"""A line of the session trail for each call that touches definitions: what was done, to what.

`trailed` goes around methods of the engine. A line never has code: of a question only words are
kept, no more than `_LONGEST_WORD` characters each, so that a pasted secret is not.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, TypeVar

from codelens.engine.sessions.asking_session import asking
from codelens.engine.usage import usage_counter
from codelens.plurals import count_of
from codelens.trail import session_marks, trail_log
from codelens.trail.session_marks import Standing
from codelens.trail.trail_log import TrailEntry

if TYPE_CHECKING:
    from codelens.answers.branch_answers import DiffAnswer, HistoryAnswer
    from codelens.answers.context_answers import SaveAnswer
    from codelens.answers.explore_answers import ExploreAnswer
    from codelens.answers.graph_answers import ImpactAnswer, ReferencesAnswer, RelatedAnswer
    from codelens.answers.reading_answers import ExpandAnswer, OutlineAnswer
    from codelens.answers.search_answers import SearchAnswer
    from codelens.config import Configured, Settings
    from codelens.scope.repository import Scope

logger = logging.getLogger(__name__)

P = ParamSpec("P")
A = TypeVar("A")


E = TypeVar("E", bound="Configured")

_WORD = re.compile(r"[^\W_][\w./#:-]*")
_LONGEST_WORD, _LONGEST_QUESTION = 32, 48
_HANDLES = 4


class TrailLine(NamedTuple):
    """What a call is remembered by."""

    tool: str
    summary: str
    handles: tuple[str, ...] = ()


def trailed(
    line_of: Callable[[A], TrailLine | None],
) -> Callable[[Callable[Concatenate[E, P], A]], Callable[Concatenate[E, P], A]]:
    """A method of the engine whose calls leave a line, as `line_of` makes it of their answer."""

    def around(method: Callable[Concatenate[E, P], A]) -> Callable[Concatenate[E, P], A]:
        @functools.wraps(method)
        def noting(engine: E, /, *args: P.args, **named: P.kwargs) -> A:
            answer = method(engine, *args, **named)
            scope = usage_counter.standing()
            if engine.settings.trail and scope is not None:
                line = line_of(answer)
                if line is not None:
                    _note(engine.settings, scope, line)
            return answer

        return noting

    return around


def _note(settings: Settings, scope: Scope, line: TrailLine) -> None:
    session, worktree = asking().id, trail_log.worktree_key(scope.root)
    at, ms = trail_log.moment()
    entry = TrailEntry(
        at, session, worktree, scope.branch,
        line.tool, line.summary, line.handles[:_HANDLES], ms,
    )  # fmt: skip
    try:
        trail_log.append(settings.home, scope.repo_id, entry)
        if session and scope.kind == "worktree":
            standing = Standing(scope.repo_id, worktree, scope.head, scope.branch)
            session_marks.mark(settings.home, session, standing)
    except OSError as error:
        # An answer is not refused because a log cannot be written.
        logger.debug("the trail is not written: %s", error)


def words_of(question: str) -> str:
    """The words of a question in quotes; without what may be code or a secret."""
    words = [word for word in _WORD.findall(question[:2_000]) if len(word) <= _LONGEST_WORD]
    text = ""
    for word in words:
        if len(text) + len(word) > _LONGEST_QUESTION:
            break
        text += f" {word}"
    return f"'{text.strip()}'"


def of_search(answer: SearchAnswer) -> TrailLine | None:
    """A search that found something."""
    if not answer.results:
        return None
    summary = f"{words_of(answer.query)} ({count_of(len(answer.results), 'place')})"
    return TrailLine("searched", summary, tuple(hit.handle for hit in answer.results if hit.symbol))


def of_explore(answer: ExploreAnswer) -> TrailLine | None:
    """A task, with what was shown whole or in part."""
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
    """A file or folder."""
    return _of_handles("outlined", [answer.target])


def of_related(answer: RelatedAnswer) -> TrailLine | None:
    """What is related to a definition."""
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
    """Who is affected by a change."""
    if not answer.changed:
        return None
    nodes = [change.node for change in answer.changed]
    names = ", ".join(node.symbol or node.path for node in nodes[:2])
    more = f" and {len(nodes) - 2} more" if len(nodes) > 2 else ""
    depth = max((distance for distance, _ in answer.totals), default=0)
    affected = sum(count for _, count in answer.totals)
    summary = f"of {names}{more} (depth {depth}, {affected:,} affected)"
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
    """A note that was kept."""
    handles = tuple(item.handle for item in answer.saved.items)
    return TrailLine("saved", answer.saved.name, handles)


def _of_handles(tool: str, handles: Sequence[str]) -> TrailLine | None:
    if not handles:
        return None
    return TrailLine(
        tool, count_of(len(handles), "handle") if len(handles) > 1 else "", (*handles,)
    )
