"""The methods of `Engine` for saved contexts and sessions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.contexts import session_trail
from codelens.engine.contexts.asking_session import LONGEST_ID, Session, asked_by
from codelens.engine.contexts.session_trail import trailed
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine_core import EngineCore
from codelens.engine.index_pool import check_limit
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
    """Save a note with handles, for all worktrees of the repository; all or nothing.

    Args:
        name: one line, to find the note by.
        note: what is worth knowing.
        handles: as `expand` takes them; each must name something in the current view.
        category: one of `codelens.memory.context_fields.CATEGORIES`; empty: `note`.
        tags: words to filter by.
        pinned: never expires, and is listed first.
        ttl: time to live: `12h`, `30d`, `2w`; empty or `never`: no limit.
        replace: replace the context that has this name.
        update: change only the given fields of the context that has this name.

    Raises:
        NotSaved: handles cannot be followed; the error lists them with the reasons.
        ContextExists: the name is taken, and neither `replace` nor `update` is set.
        NoSuchContext: `update` is set, and no context has the name.
    """
    from codelens.engine.contexts import saved_contexts
    from codelens.engine.contexts.context_items import SaveRequest

    request = SaveRequest(name, note, handles, category, tags, pinned, ttl, replace, update)
    view_request = ViewRequest(path, ref, budget_ms, progress)
    return saved_contexts.save(engine.pool, view_request, request, int(engine.now_s()))


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
    """Saved contexts, and the state of each of their handles in the current view.

    Args:
        query: a name, or words in the name, note, tags or handles; empty: everything.
        category: only contexts of this category.
        tags: only contexts with all of these tags.
        handle: only contexts about this code: a handle, file, folder or name.
        status: only contexts with a handle in this state: `current`, `moved`, `changed`, `gone`,
            `unknown`, `stale` (changed or gone); or `valid`: none is stale. With `handle`, only
            the handles on that code count.
        expired: include expired contexts.
    """
    from codelens.engine.contexts import saved_contexts
    from codelens.engine.contexts.context_items import LoadRequest

    request = LoadRequest(query, category, tags, handle, status, expired, limit)
    view_request = ViewRequest(path, ref, budget_ms, progress)
    return saved_contexts.load(engine.pool, view_request, request, engine.now_s())


@counted
def forget(
    engine: EngineCore, names: Sequence[str] = (), *, expired: bool = False, path: str | Path = "."
) -> ForgetAnswer:
    """Delete saved contexts, all of them or none; nothing else deletes one.

    Args:
        names: the contexts to delete.
        expired: instead of `names`: delete the contexts that have expired by now.

    Raises:
        NoSuchContext: no context has one of the names; nothing was deleted.
    """
    from codelens.engine.contexts import saved_contexts

    return saved_contexts.forget(engine.pool, names, path, expired=expired, now_s=engine.now_s())


def export_contexts(engine: EngineCore, *, path: str | Path = ".") -> dict[str, object]:
    """All saved contexts, as values for JSON; `import_contexts` reads them."""
    from codelens.engine.contexts import saved_contexts

    return dict(saved_contexts.every_context(engine.pool, path))


def import_contexts(
    engine: EngineCore, text: str, *, replace: bool = False, path: str | Path = "."
) -> TakenOver:
    """Add the contexts of an export; skip names that are taken unless `replace` is set.

    Raises:
        SettingError: `text` is not an export; nothing was added.
    """
    from codelens.engine.contexts import saved_contexts

    return saved_contexts.take_over(engine.pool, text, path, replace=replace)


def adopt(engine: EngineCore, place: str = "", *, path: str | Path = ".") -> TakenOver:
    """Take over the contexts saved before this repository was moved; overwrite nothing.

    Args:
        place: its former folder; empty: derived from its history.

    Raises:
        ContextError: nothing was saved for such a folder.
    """
    from codelens.engine.contexts import saved_contexts

    return saved_contexts.adopt(engine.pool, place, path)


# Sessions: which one calls belong to, what it did and received, and how to recover it.


def as_session(engine: EngineCore, session_id: str) -> AbstractContextManager[None]:
    """Assign the calls in this block to a session: they omit code that it already received.

    Code counts as sent once `note_sent` gets the answer.

    Args:
        session_id: any text; equal ids share what was sent. Empty: change nothing.
    """
    cut_id = session_id.strip()[:LONGEST_ID]
    if not cut_id:
        return nullcontext()
    return asked_by(Session(cut_id, "call", remembers=engine.settings.sent))


def note_sent(engine: EngineCore, answer: ExploreAnswer | ExpandAnswer) -> None:
    """Remember for the current session that this answer was sent. Never fails."""
    try:
        scope = engine.pool.open_any(answer.receipt.worktree).scope
    except ScopeError:
        return  # Gone, or its name is not text: it is sent again.
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
    """The trail of a session in this worktree: the calls it made, the latest last.

    Args:
        session: its id, or the end of it; empty: the current session, else the last one here.
        every: list all sessions instead.
        limit: maximum number of calls.
    """
    from codelens.engine.contexts.recovery import Recovery

    check_limit(limit)
    recovery = Recovery(engine.pool, engine.now_s())
    return recovery.session(ViewRequest(path), session.strip(), limit, every=every)


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
    """What a session needs to go on after its model lost its context.

    Saved notes, the trail by tool, files, definitions, changes since the session began, and
    the work in other worktrees. From now on, code that was sent before is sent again.

    Args:
        session: its id, or the end of it; empty: the current session, else the last one here.
        forget_sent: False: the model still has what was sent; do not send it again.
    """
    from codelens.engine.contexts.recovery import Recovery

    view_request = ViewRequest(path, None, budget_ms, progress)
    recovery = Recovery(engine.pool, engine.now_s())
    return recovery.recover(view_request, session.strip(), forget_sent=forget_sent)
