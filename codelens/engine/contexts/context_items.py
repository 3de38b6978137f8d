"""Between saved contexts and a look: which items handles give, how items fare, what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from codelens.answers.context_answers import FormerPlace, SavedContext, SavedHandle, TakenOver
from codelens.engine.adhoc_reader import reader_of
from codelens.engine.current_view import CurrentView, OpenRepository
from codelens.errors import (
    AmbiguousHandle,
    HandleError,
    HandleNotFound,
    NoSuchRef,
    ReadError,
)
from codelens.handles.handle_lookup import Finder
from codelens.handles.handle_reading import Reader
from codelens.handles.typed_handle import typed_handle
from codelens.memory.context_errors import NotSaved
from codelens.memory.notebook import Merged
from codelens.memory.staleness import GONE, UNKNOWN, Judge, Verdict, unseen
from codelens.store.saved.context_rows import Context, Item
from codelens.store.saved.contexts_file import Glance
from codelens.types import Receipt


def items_of(
    handles: Sequence[str], view: CurrentView, view_at: Callable[[str], CurrentView]
) -> tuple[Item, ...]:
    """What handles name, to be kept; each thing once.

    Args:
        handles: as they were given.
        view: the view that is asked.
        view_at: gives the view of another ref, for a handle that names one.

    Raises:
        NotSaved: some name nothing, or several things.
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
        # What is saved is what was named, or it is said that it is gone.
        raise HandleNotFound(requested, (place.handle,), place.moved.partition(";")[0])
    # Read once: lines that are not there and files that cannot be read are refused.
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
    """How items fare in a view."""
    judge = _judge(view, reader_of(view))
    verdicts = [judge.verdict(item) for item in items]
    if view.refreshed.status == "fresh":
        return verdicts
    # What a partial view does not have may be in a file that was not looked at.
    return [
        verdict._replace(status=UNKNOWN, near=()) if verdict.status == GONE else verdict
        for verdict in verdicts
    ]


def unjudged(items: Iterable[Item]) -> list[Verdict]:
    """The same where there is no view."""
    return [unseen(item) for item in items]


def _judge(view: CurrentView, reader: Reader) -> Judge:
    return Judge(view.repository, view.scope, view.snapshot, reader, view.read)


def unlooked(opened: OpenRepository) -> Receipt:
    """The receipt of an answer that stands on no file."""
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
    """A context as a caller sees it."""
    return SavedContext(
        name=saved_context.name,
        note=saved_context.note,
        category=saved_context.category,
        tags=saved_context.tags,
        pinned=saved_context.pinned,
        created_s=saved_context.created_s,
        saved_s=saved_context.saved_s,
        expires_s=saved_context.expires_s,
        expired=saved_context.expired(now_s),
        branch=saved_context.branch,
        head=saved_context.head,
        items=tuple(
            SavedHandle(
                verdict.status,
                verdict.handle,
                verdict.saved_handle,
                verdict.start_line,
                verdict.end_line,
                verdict.near,
                item.ref,
            )
            for item, verdict in zip(saved_context.items, verdicts, strict=True)
        ),
    )


def shown_all(
    contexts: Iterable[Context], verdicts: Sequence[Verdict], now_s: float
) -> Iterator[SavedContext]:
    """Contexts as a caller sees them; `verdicts` has those of all items in order."""
    at = 0
    for context in contexts:
        yield shown(context, verdicts[at : at + len(context.items)], now_s)
        at += len(context.items)


def former_place(features: Glance) -> FormerPlace:
    """Where this repository may have been before."""
    return FormerPlace(features.common_dir, features.size)


def taken_over(source: str, merged: Merged) -> TakenOver:
    """What came of contexts from elsewhere."""
    return TakenOver(
        source,
        tuple(merged.added),
        tuple(merged.replaced),
        tuple(merged.same),
        tuple(merged.refused),
        tuple(merged.notes),
    )
