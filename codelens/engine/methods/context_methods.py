"""Saved contexts: methods of `Engine`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.contexts import session_trail
from codelens.engine.contexts.session_trail import trailed
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine_core import EngineCore
from codelens.engine.upkeep.usage_counter import counted
from codelens.errors import ScopeError
from codelens.index.ingestion import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.context_answers import (
        ForgetAnswer,
        LoadAnswer,
        RecoverAnswer,
        SaveAnswer,
        SessionAnswer,
        TakenOver,
    )
    from codelens.answers.reading_answers import ExpandAnswer, ExploreAnswer


@counted
@trailed(session_trail.of_save)
def save(
    engine: EngineCore,
    name: str,
    note: str = "",
    handles: Sequence[str] = (),
    *,
    category: str = "",
    tags: Sequence[str] = (),
    pinned: bool | None = None,
    ttl: str = "",
    replace: bool = False,
    update: bool = False,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> SaveAnswer:
    """Keep a note with handles, for all worktrees of the repository; all or nothing.

    Args:
        name: to find it by; one line.
        note: what is worth knowing.
        handles: as `expand` takes them; each must name something here and now.
        category: one of `codelens.memory.context_fields.CATEGORIES`; empty: `note`.
        tags: words to filter by.
        pinned: never expires, and stands first.
        ttl: after which time it is not shown any more: `12h`, `30d`, `2w`; empty or
            `never`: it is shown for ever.
        replace: take the place of what was saved under the name.
        update: change only the fields that are given of what was saved under the name.

    Raises:
        NotSaved: handles that cannot be followed; it says which and why.
        ContextExists: the name is taken, and neither `replace` nor `update` is set.
        NoSuchContext: there is nothing of the name to update.
    """
    from codelens.engine.contexts.context_items import SaveRequest

    request = SaveRequest(name, note, handles, category, tags, pinned, ttl, replace, update)
    return engine.contexts.save(ViewRequest(path, ref, budget_ms, progress), request)


@counted
def load(
    engine: EngineCore,
    query: str = "",
    *,
    category: str = "",
    tags: Sequence[str] = (),
    handle: str = "",
    status: str = "",
    expired: bool = False,
    limit: int = 20,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> LoadAnswer:
    """What was saved, and how each handle of it fares in the view one stands in.

    Args:
        query: a name, else words that its name, note, tags or handles hold; empty: everything.
        category: only this one.
        tags: only what has all of them.
        handle: only what is on this code: a handle, file, folder or name.
        status: only what has a handle in this state: `current`, `moved`, `changed`, `gone`,
            `unknown`, `stale` (changed or gone); or `valid`: none is stale. With `handle`, of the
            handles on that code.
        expired: what expired as well.
    """
    from codelens.engine.contexts.context_items import LoadRequest

    request = LoadRequest(query, category, tags, handle, status, expired, limit)
    return engine.contexts.load(ViewRequest(path, ref, budget_ms, progress), request)


@counted
def forget(
    engine: EngineCore, names: Sequence[str] = (), *, expired: bool = False, path: str | Path = "."
) -> ForgetAnswer:
    """Delete saved contexts, all of them or none; nothing else ever deletes one.

    Args:
        names: of what is to be deleted.
        expired: instead of names: those whose time to live is over, by the clock as it is now.

    Raises:
        NoSuchContext: nothing has one of the names; nothing was deleted.
    """
    return engine.contexts.forget(names, path, expired=expired)


def export_contexts(engine: EngineCore, *, path: str | Path = ".") -> dict[str, object]:
    """All that was saved, as values for JSON; `import_contexts` takes it back."""
    return dict(engine.contexts.exported(path))


def import_contexts(
    engine: EngineCore, text: str, *, replace: bool = False, path: str | Path = "."
) -> TakenOver:
    """Add what `export_contexts` gave; a name that is taken is left out unless `replace`.

    Raises:
        SettingError: `text` is no export; nothing was added.
    """
    return engine.contexts.take_over(text, path, replace=replace)


def adopt(engine: EngineCore, place: str = "", *, path: str | Path = ".") -> TakenOver:
    """Take over what was saved before this repository was moved; nothing is overwritten.

    Args:
        place: where it was; empty: where its history tells that it was.

    Raises:
        ContextError: nothing was saved at such a place.
    """
    return engine.contexts.adopt(place, path)


# Whose session calls belong to, what it did and was sent, the way back into it: of `Engine`.


def as_session(engine: EngineCore, session_id: str) -> AbstractContextManager[None]:
    """Calls in this block belong to a session: what it was sent is not given again.

    An answer counts as sent when `note_sent` is told of it.

    Args:
        session_id: any text; sessions of one id share what was sent. Empty: as before.
    """
    from codelens.engine.contexts.asking_session import LONGEST_ID, Session, asked_by

    cut_id = session_id.strip()[:LONGEST_ID]
    if not cut_id:
        return nullcontext()
    return asked_by(Session(cut_id, "call", remembers=engine.settings.sent))


def note_sent(engine: EngineCore, answer: ExploreAnswer | ExpandAnswer) -> None:
    """Remember for the session that asks that this answer was sent. Never fails."""
    from codelens.engine.contexts import session_trail

    try:
        scope = engine.pool.open_any(answer.receipt.worktree).scope
    except ScopeError:
        return  # Gone, or a name that is no text: it is sent once more.
    session_trail.note_sent(engine.settings, scope, answer)


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
    from codelens.engine.index_pool import check_limit

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
