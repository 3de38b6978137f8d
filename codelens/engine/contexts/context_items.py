"""Validates requests about saved contexts, filters them, and converts them for answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from codelens.answers.context_answers import SavedContext, SavedHandle, TakenOver
from codelens.engine.current_view import CurrentView, OpenRepository, reader_of
from codelens.errors import (
    AmbiguousHandle,
    HandleError,
    HandleNotFound,
    NoSuchRef,
    ReadError,
    SettingError,
)
from codelens.handles.handle_grammar import Handle, parse_handle, typed_handle
from codelens.handles.handle_lookup import Finder
from codelens.handles.handle_reading import Reader
from codelens.memory import context_fields
from codelens.memory.context_fields import NotSaved
from codelens.memory.notebook import Merged
from codelens.memory.staleness import CHANGED, CURRENT, GONE, MOVED, UNKNOWN, Judge, Verdict, unseen
from codelens.store.saved.context_rows import Context, Item
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
    ref = there.scope.ref
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
