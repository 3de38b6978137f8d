"""Whose session calls belong to, what it did and was sent, the way back into it: of `Engine`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.usage.usage_counter import counted
from codelens.engine.view_request import ViewRequest
from codelens.errors import ScopeError
from codelens.index.progress import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.explore_answers import ExploreAnswer
    from codelens.answers.reading_answers import ExpandAnswer
    from codelens.answers.session_answers import RecoverAnswer, SessionAnswer


def as_session(engine: EngineCore, session_id: str) -> AbstractContextManager[None]:
    """Calls in this block belong to a session: what it was sent is not given again.

    An answer counts as sent when `note_sent` is told of it.

    Args:
        session_id: any text; sessions of one id share what was sent. Empty: as before.
    """
    from codelens.engine.sessions.asking_session import LONGEST_ID, Session, asked_by

    cut_id = session_id.strip()[:LONGEST_ID]
    if not cut_id:
        return nullcontext()
    return asked_by(Session(cut_id, "call", remembers=engine.settings.sent))


def note_sent(engine: EngineCore, answer: ExploreAnswer | ExpandAnswer) -> None:
    """Remember for the session that asks that this answer was sent. Never fails."""
    from codelens.engine.sessions import sent_answers

    try:
        scope = engine.pool.open_any(answer.receipt.worktree).scope
    except ScopeError:
        return  # Gone, or a name that is no text: it is sent once more.
    sent_answers.note_sent(engine.settings, scope, answer)


@counted
def session(
    engine: EngineCore,
    session: str = "",
    *,
    every: bool = False,
    limit: int = 40,
    path: str | Path = ".",
) -> SessionAnswer:
    """The trail of a session in this worktree: which calls it made, the latest last.

    Args:
        session: its id, or the end of it; empty: the one that asks, else the last one here.
        every: a list of all sessions instead.
        limit: calls at most.
    """
    from codelens.engine.question_limits import check_limit

    check_limit(limit)
    return engine.recovery.session(ViewRequest(path), session.strip(), limit, every=every)


@counted
def recover(
    engine: EngineCore,
    session: str = "",
    *,
    forget_sent: bool = True,
    path: str | Path = ".",
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> RecoverAnswer:
    """What a session needs to go on whose model lost what it had read.

    Saved notes, the trail by tool, files, definitions, what changed since the session began, and
    what was done in other worktrees. Code that was sent is sent again from now on.

    Args:
        session: its id, or the end of it; empty: the one that asks, else the last one here.
        forget_sent: False: what was sent is still there, and not sent again.
    """
    view = ViewRequest(path, None, budget_ms, progress)
    return engine.recovery.recover(view, session.strip(), forget_sent=forget_sent)
