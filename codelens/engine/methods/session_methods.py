"""Whose session calls belong to, and what it was sent: methods of `Engine`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.errors import ScopeError

if TYPE_CHECKING:
    from codelens.answers.explore_answers import ExploreAnswer
    from codelens.answers.reading_answers import ExpandAnswer


def as_session(engine: EngineCore, session_id: str) -> AbstractContextManager[None]:
    """Calls in this block belong to a session: what it was sent is not given again.

    An answer counts as sent when `note_sent` is told of it.

    Args:
        session_id: any text; sessions of one id share what was sent. Empty: as before.
    """
    from codelens.engine.sessions.asking_session import LONGEST_ID, Session, asked_by

    said = session_id.strip()[:LONGEST_ID]
    if not said:
        return nullcontext()
    return asked_by(Session(said, "call", remembers=engine.settings.sent))


def note_sent(engine: EngineCore, answer: ExploreAnswer | ExpandAnswer) -> None:
    """Remember for the session that asks that this answer was sent. Never fails."""
    from codelens.engine.sessions import sent_answers

    try:
        scope = engine.pool.open_any(answer.receipt.worktree).scope
    except ScopeError:
        return  # Gone, or a name that is no text: it is sent once more.
    sent_answers.note_sent(engine.settings, scope, answer)
