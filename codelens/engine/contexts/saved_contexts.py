"""Implements the methods for saved contexts: save, load, forget, export, import, adopt.

Validates their requests, filters contexts, and converts them for answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from codelens.answers.context_answers import (
    ForgetAnswer,
    FormerPlace,
    LoadAnswer,
    SaveAnswer,
    SavedContext,
    SavedHandle,
    TakenOver,
)
from codelens.engine.contexts.notes_here import notebook_of
from codelens.engine.current_view import (
    CurrentView,
    OpenRepository,
    ViewRequest,
    current_view,
    reader_of,
)
from codelens.engine.index_pool import IndexPool, check_limit
from codelens.errors import (
    AmbiguousHandle,
    HandleError,
    HandleNotFound,
    NoSuchRef,
    ReadError,
    SettingError,
    StoreError,
)
from codelens.handles.handle_grammar import Handle, parse_handle, typed_handle
from codelens.handles.handle_lookup import Finder
from codelens.handles.handle_reading import Reader
from codelens.memory import context_fields, notebook
from codelens.memory.context_fields import ContextError, NotSaved, exported, imported
from codelens.memory.notebook import ContextQuery, Home, Merged
from codelens.memory.staleness import CHANGED, CURRENT, GONE, MOVED, UNKNOWN, Judge, Verdict, unseen
from codelens.scope.repository import root_commit
from codelens.store.database.database_opening import has_content
from codelens.store.saved.context_rows import Context, Item
from codelens.store.saved.contexts_file import contexts_of
from codelens.types import Receipt

_DEFAULT_CATEGORY = "note"


class LoadRequest(NamedTuple):
    """Which contexts to load; see `Engine.load`."""

    query: str = ""
    category: str = ""
    tags: Sequence[str] = ()
    handle: str = ""
    status: str = ""
    expired: bool = False
    limit: int = 20


class SaveRequest(NamedTuple):
    """What to save; see `Engine.save`. In an update, empty fields keep their values."""

    name: str
    note: str = ""
    handles: Sequence[str] = ()
    category: str = ""
    tags: Sequence[str] = ()
    pinned: bool | None = None
    ttl: str = ""
    replace: bool = False
    update: bool = False

    def checked(self) -> SavedFields:
        """The fields, validated.

        Raises:
            SettingError: a field is invalid, or there is nothing to save.
        """
        if self.replace and self.update:
            raise SettingError(
                "replace and update cannot be combined: update keeps the fields that are not given"
            )
        fields = SavedFields(
            context_fields.name_of(self.name),
            context_fields.note_of(self.note),
            context_fields.category_of(self.category) if self.category.strip() else "",
            context_fields.tags_of(self.tags),
            context_fields.seconds_of(self.ttl),
        )
        code = fields.note or self.handles
        rest = fields.category or fields.tags or self.ttl.strip() or self.pinned is not None
        if self.update and not (code or rest):
            raise SettingError(
                "nothing to update: give a note, handles, a category, tags, pin or ttl"
            )
        if not self.update and not code:
            raise SettingError("nothing to save: give a note, handles, or both")
        if len(self.handles) > context_fields.MAX_ITEMS:
            raise SettingError(
                f"{len(self.handles)} handles are too many; the maximum is "
                f"{context_fields.MAX_ITEMS}"
            )
        return fields


class SavedFields(NamedTuple):
    """The validated fields of a `SaveRequest`."""

    name: str
    note: str
    category: str
    tags: tuple[str, ...]
    ttl_s: int | None

    def new(
        self, request: SaveRequest, items: tuple[Item, ...], receipt: Receipt, now_s: int
    ) -> Context:
        """A context with only these fields."""
        return Context(
            name=self.name,
            note=self.note,
            category=self.category or _DEFAULT_CATEGORY,
            tags=self.tags,
            pinned=bool(request.pinned),
            created_s=now_s,
            saved_s=now_s,
            expires_s=None if self.ttl_s is None else now_s + self.ttl_s,
            branch=receipt.branch,
            head=receipt.head,
            items=items,
        )

    def over(
        self, old: Context, request: SaveRequest, items: tuple[Item, ...], now_s: int
    ) -> Context:
        """A context with the given fields changed, and the others kept."""
        expires_s = old.expires_s
        if request.ttl.strip():
            expires_s = None if self.ttl_s is None else now_s + self.ttl_s
        return old._replace(
            note=self.note or old.note,
            category=self.category or old.category,
            tags=self.tags or old.tags,
            pinned=old.pinned if request.pinned is None else request.pinned,
            saved_s=now_s,
            expires_s=expires_s,
            items=items or old.items,
        )


# Filters of saved contexts by code and by the state of their handles.

STALE, VALID = "stale", "valid"
_STATES = {
    CURRENT: {CURRENT}, MOVED: {MOVED}, CHANGED: {CHANGED}, GONE: {GONE}, UNKNOWN: {UNKNOWN},
    STALE: {CHANGED, GONE},
}  # fmt: skip
STATUSES = (*_STATES, VALID)
"""Filter values: a state of any handle, `stale`, or `valid`: none is stale."""


def status_of(status: str) -> str:
    """Validate a state to filter by; empty for any.

    Raises:
        SettingError: the state does not exist.
    """
    state = status.strip().lower()
    if state and state not in STATUSES:
        raise SettingError(
            f"unknown status {status[:50]!r}; the statuses are {', '.join(STATUSES)}"
        )
    return state


def handle_of(handle: str, root: str) -> Handle | None:
    """Parse a handle, file, folder or name to filter by; None for any.

    Raises:
        BadHandle: it is not a handle.
        OutsideWorktree: it is outside of the worktree.
    """
    return parse_handle(handle.strip().rstrip("/"), root) if handle.strip() else None


def matches(context: SavedContext, handle: Handle | None, status: str) -> bool:
    """Whether a context has an item on the code of `handle`, with the given state."""
    items = [item for item in context.items if handle is None or _is_on(item, handle)]
    if handle is not None and not items:
        return False
    if not status:
        return True
    states = {item.status for item in items}
    return not states & _STATES[STALE] if status == VALID else bool(states & _STATES[status])


def _is_on(item: SavedHandle, handle: Handle) -> bool:
    """Whether an item, as saved or in its current place, contains, equals or is inside a handle."""
    return any(_touch(parse_handle(text), handle) for text in {item.handle, item.was})


def _touch(saved: Handle, handle: Handle) -> bool:
    # A bare path can be read as a name, too; saved items mean the file.
    symbol = "" if saved.bare else saved.symbol
    if handle.path is None:
        return _is_part(symbol, handle.symbol)
    if saved.path != handle.path:
        in_folder = saved.path is not None and saved.path.startswith(handle.path + b"/")
        return in_folder or (handle.bare and _is_part(symbol, handle.symbol))
    if handle.lines is not None and saved.lines is not None:
        first, last = saved.lines.start_line, saved.lines.end_line
        return first <= handle.lines.end_line and handle.lines.start_line <= last
    # A whole file contains all of its definitions; a handle does not say how far they extend.
    if handle.bare or not handle.symbol or not symbol:
        return True
    inside = symbol.startswith(f"{handle.symbol}.")
    return inside or _is_part(symbol, handle.symbol)


def _is_part(symbol: str, name: str) -> bool:
    return bool(name) and (symbol == name or symbol.endswith(f".{name}"))


# Conversion: handles to items, items to their current state, contexts to answers.


def items_of(
    handles: Sequence[str], view: CurrentView, view_at: Callable[[str], CurrentView]
) -> tuple[Item, ...]:
    """The items that handles name, without duplicates.

    Args:
        handles: from the caller.
        view: the current view.
        view_at: returns the view of another ref, for a handle with a ref.

    Raises:
        NotSaved: some handles name nothing or several things.
    """
    items: dict[tuple[object, ...], Item] = {}
    reasons: list[str] = []
    for wanted_text in handles:
        try:
            item = _item_of(wanted_text, view, view_at)
            items.setdefault(item[:6], item)
        except (HandleError, NoSuchRef, ReadError) as error:
            reasons.append(_reason(error))
    if reasons:
        raise NotSaved(reasons, len(handles), partial=view.refreshed.status != "fresh")
    return tuple(items.values())


def _item_of(requested: str, view: CurrentView, view_at: Callable[[str], CurrentView]) -> Item:
    handle = typed_handle(requested, view.scope.root, view.snapshot.by_path)
    there = view_at(handle.ref) if handle.ref and handle.ref != view.scope.ref else view
    reader = reader_of(there)
    place = Finder(there.snapshot, reader.symbols).find(handle)
    if place.moved:
        # A saved handle must match exactly; anything else is reported as gone.
        raise HandleNotFound(requested, (place.handle,), place.moved.partition(";")[0])
    # Read once, to reject missing lines and unreadable files.
    if place.symbol is not None or place.lines is not None:
        reader.read(place, 0, 1)
    else:
        reader.data(place.file)
    ref = there.scope.ref if there.scope.kind == "ref" else ""
    return _judge(there, reader).item_of(place, ref)


def _reason(error: Exception) -> str:
    if isinstance(error, AmbiguousHandle | HandleNotFound):
        return str(error)
    return str(error).partition("; handles look like")[0]


def judged(view: CurrentView, items: Iterable[Item]) -> list[Verdict]:
    """The states of items in a view."""
    judge = _judge(view, reader_of(view))
    verdicts = [judge.verdict(item) for item in items]
    if view.refreshed.status == "fresh":
        return verdicts
    # Code that a partial view lacks may be in a file that it has not read yet.
    return [
        verdict._replace(status=UNKNOWN, near=()) if verdict.status == GONE else verdict
        for verdict in verdicts
    ]


def unjudged(items: Iterable[Item]) -> list[Verdict]:
    """The states of items without a view: unknown."""
    return [unseen(item) for item in items]


def _judge(view: CurrentView, reader: Reader) -> Judge:
    return Judge(view.repository, view.scope, view.snapshot, reader, view.read)


def unlooked(opened: OpenRepository) -> Receipt:
    """The receipt of an answer that depends on no file."""
    scope = opened.scope
    return Receipt(
        index_id=scope.index_id[:12],
        worktree=scope.worktree,
        branch=scope.ref or scope.branch,
        head=scope.head,
        status="unknown",
        files=0,
        checked=0,
        indexed=0,
        elapsed_ms=0.0,
        note="no files were checked",
    )


def shown(saved_context: Context, verdicts: Sequence[Verdict], now_s: float) -> SavedContext:
    """A context in the form of an answer."""
    items = tuple(
        SavedHandle(
            verdict.status, verdict.handle, verdict.saved_handle,
            verdict.start_line, verdict.end_line, verdict.near, item.ref,
        )
        for item, verdict in zip(saved_context.items, verdicts, strict=True)
    )  # fmt: skip
    fields: dict[str, Any] = {**saved_context._asdict(), "items": items}
    return SavedContext(**fields, expired=saved_context.expired(now_s))


def shown_all(
    contexts: Iterable[Context], verdicts: Sequence[Verdict], now_s: float
) -> Iterator[SavedContext]:
    """Contexts in the form of an answer; `verdicts` has those of all items in order."""
    at = 0
    for context in contexts:
        yield shown(context, verdicts[at : at + len(context.items)], now_s)
        at += len(context.items)


def taken_over(source: str, merged: Merged) -> TakenOver:
    """The result of importing contexts."""
    names = (merged.added, merged.replaced, merged.same, merged.refused, merged.notes)
    return TakenOver(source, *map(tuple, names))


# The calls: save, load, forget, export, import, adopt.


def save(
    pool: IndexPool, view_request: ViewRequest, request: SaveRequest, now_s: int
) -> SaveAnswer:
    """See `Engine.save`."""
    fields = request.checked()
    with pool.view(view_request) as view:

        def view_at(ref: str) -> CurrentView:
            return current_view(view.opened.at(ref), view_request)

        items = items_of(request.handles, view, view_at)
        receipt = view.receipt()
        notebook, home = notebook_of(view.opened), _home(view.opened)
        if request.update:
            context, notes = notebook.update(
                fields.name, lambda old: fields.over(old, request, items, now_s), home
            )
            replaced = True
        else:
            context, replaced, notes = notebook.put(
                fields.new(request, items, receipt, now_s), home, replace=request.replace
            )
        verdicts = judged(view, context.items)
    saved = shown(context, verdicts, now_s)
    return SaveAnswer(receipt, saved, replaced, tuple(notes), request.update)


def load(
    pool: IndexPool, view_request: ViewRequest, request: LoadRequest, now_s: float
) -> LoadAnswer:
    """See `Engine.load`."""
    check_limit(request.limit)
    status = status_of(request.status)
    context_query = ContextQuery(
        request.query.strip(),
        context_fields.category_of(request.category) if request.category else "",
        context_fields.tags_of(request.tags),
        request.expired,
    )
    opened = pool.open(view_request.path, view_request.ref)
    handle = handle_of(request.handle, opened.scope.root)
    notebook = notebook_of(opened)
    root = "" if has_content(notebook.path) else _home(opened).root
    contexts_found = notebook.find(context_query, root, now_s)
    # A filter by state needs the states of all handles.
    narrowed = bool(status) or handle is not None
    chosen = contexts_found.contexts if narrowed else contexts_found.contexts[: request.limit]
    items = [item for context in chosen for item in context.items]
    receipt = unlooked(opened)
    verdicts = unjudged(items)
    if items:
        try:
            with pool.view(view_request) as view:
                verdicts = judged(view, items)
                receipt = view.receipt()
        except StoreError as error:
            contexts_found.notes.append(f"the state of the handles is unknown: {error}")
    results = [
        context
        for context in shown_all(chosen, verdicts, now_s)
        if matches(context, handle, status)
    ]
    count = len(results) if narrowed else len(contexts_found.contexts)
    return LoadAnswer(
        receipt=receipt,
        query=context_query.query,
        exact=contexts_found.exact,
        results=tuple(results[: request.limit]),
        more=count - len(results[: request.limit]),
        former=tuple(FormerPlace(place.common_dir, place.size) for place in contexts_found.former),
        notes=tuple(contexts_found.notes),
        hidden=contexts_found.hidden,
    )


def forget(
    pool: IndexPool, names: Sequence[str], path: str | Path, *, expired: bool, now_s: float
) -> ForgetAnswer:
    """See `Engine.forget`."""
    chosen_names = tuple(dict.fromkeys(context_fields.name_of(name) for name in names))
    if bool(chosen_names) == expired:
        raise SettingError(
            "names and all expired contexts cannot be combined" if expired else "nothing to forget",
            typed="give names, or --expired",
            called="give names, or expired: true",
        )
    notebook = notebook_of(pool.open_any(path))
    if expired:
        gone, notes = notebook.forget_expired(now_s)
        return ForgetAnswer(tuple(gone), tuple(notes))
    return ForgetAnswer(chosen_names, tuple(notebook.forget(chosen_names)))


def every_context(pool: IndexPool, path: str | Path) -> Mapping[str, object]:
    """See `Engine.export_contexts`."""
    opened = pool.open_any(path)
    contexts, _ = notebook_of(opened).every()
    return exported(contexts, _home(opened).common_dir)


def take_over(pool: IndexPool, text: str, path: str | Path, *, replace: bool) -> TakenOver:
    """See `Engine.import_contexts`."""
    contexts = imported(text)
    opened = pool.open_any(path)
    merged = notebook_of(opened).take_over(contexts, _home(opened), replace=replace)
    return taken_over("", merged)


def adopt(pool: IndexPool, place: str, path: str | Path) -> TakenOver:
    """See `Engine.adopt`."""
    opened = pool.open_any(path)
    saved, home = notebook_of(opened), _home(opened)
    if place:
        former = notebook.contexts_of_place(saved.path, place)
    else:
        former = notebook.former_contexts(saved.path, home.root)
    if not former:
        raise ContextError(
            f"nothing was saved at {place!r}"
            if place
            else "nothing was saved for this repository in a former folder",
            typed="give the folder by its former name: --adopt OLD_FOLDER",
            called="give the folder by its former name",
        )
    contexts_by_name: dict[str, Context] = {}
    notes: list[str] = []
    for file in former:
        contexts = contexts_of(file.path)
        older = [
            context.name
            for context in contexts
            if contexts_by_name.get(context.name, context) != context
        ]
        contexts_by_name = {context.name: context for context in contexts} | contexts_by_name
        if older:
            notes.append(f"not taken over from {file.common_dir!r}, newer contexts have "
                         f"these names: {', '.join(older)}")  # fmt: skip
    files = [file.path.name for file in former]
    merged = saved.take_over(contexts_by_name.values(), home, replace=False, adopted=files)
    merged.notes.extend(notes)
    return taken_over(", ".join(file.common_dir for file in former), merged)


def _home(opened: OpenRepository) -> Home:
    place = os.fsencode(opened.scope.common_dir).decode("utf-8", "backslashreplace")
    return Home(place, root_commit(opened.repository, opened.scope.head))
