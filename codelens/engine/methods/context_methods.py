"""Saved contexts: methods of `Engine`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.sessions import trail_lines
from codelens.engine.sessions.trail_lines import trailed
from codelens.engine.usage.usage_counter import counted
from codelens.engine.view_request import ViewRequest
from codelens.index.progress import Progress, silent

# What answers are made of is imported with the capability that makes them.
if TYPE_CHECKING:
    from codelens.answers.context_answers import ForgetAnswer, LoadAnswer, SaveAnswer, TakenOver


@counted
@trailed(trail_lines.of_save)
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
    from codelens.engine.contexts.context_requests import SaveRequest

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
    from codelens.engine.contexts.context_requests import LoadRequest

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
