"""What answers send, noted for their session; and excerpts that repeat what was sent."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codelens.config import Settings
from codelens.engine.sessions.asking_session import Session, asking
from codelens.scope.repository import Scope
from codelens.trail.sent_log import SentBodies, SentBody, SentLog
from codelens.trail.trail_log import worktree_key

if TYPE_CHECKING:
    from codelens.answers.explore_answers import ExploreAnswer
    from codelens.answers.reading_answers import Excerpt, ExpandAnswer

logger = logging.getLogger(__name__)

UNCHANGED, CHANGED = "unchanged", "changed"
LEAST_SAVED = 100
"""Bytes that must be saved for a body to be replaced by its first line."""
_RECEIVED_BYTES = 60_000
"""Hosts cut longer answers, or write them to a file: what of them was received is not known."""


def log_of(settings: Settings, scope: Scope, session: Session) -> SentLog | None:
    """What was sent in a session in a worktree; None where that is not remembered."""
    if not (session.id and session.remembers and settings.sent):
        return None
    return SentLog(settings.home, scope.repo_id, worktree_key(scope.root), session.id)


def sent_before(settings: Settings, scope: Scope, *, again: bool) -> SentBodies | None:
    """What was sent in the session that asks; None where all is to be sent.

    Args:
        settings: they may turn it off.
        scope: where one stands.
        again: what was sent is to be sent again, now and from now on.
    """
    log = log_of(settings, scope, asking())
    if log is None:
        return None
    if again:
        log.end()
        return None
    return log.read() or None


def note_sent(settings: Settings, scope: Scope, answer: ExploreAnswer | ExpandAnswer) -> None:
    """Remember what an answer sends, once it was written. Never fails."""
    log = log_of(settings, scope, asking())
    if log is None:
        return
    bodies = list(_bodies_of(answer))
    if sum(len(text) for body in bodies for _, text in body.lines) > _RECEIVED_BYTES:
        return
    try:
        log.add(bodies)
    except OSError as error:
        logger.debug("what was sent is not noted: %s", error)


def _bodies_of(answer: ExploreAnswer | ExpandAnswer) -> Iterator[SentBody]:
    from codelens.answers.reading_answers import ExpandAnswer

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
    """An excerpt, reduced to its signature where all of it was sent in these very bytes.

    Args:
        item: what was read.
        sent: what was sent.
        signature_line: the line that is shown in place of all.
        file_lines: all of its file.
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
