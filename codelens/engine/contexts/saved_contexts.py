"""Implements the methods for saved contexts: save, load, forget, export, import, adopt."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from codelens.answers.context_answers import (
    ForgetAnswer,
    FormerPlace,
    LoadAnswer,
    SaveAnswer,
    TakenOver,
)
from codelens.engine.contexts import context_items
from codelens.engine.contexts.context_items import LoadRequest, SaveRequest
from codelens.engine.contexts.notes_here import notebook_of
from codelens.engine.current_view import CurrentView, OpenRepository, ViewRequest, current_view
from codelens.engine.index_pool import IndexPool, check_limit
from codelens.errors import SettingError, StoreError
from codelens.memory import context_fields, notebook
from codelens.memory.context_fields import ContextError, exported, imported
from codelens.memory.notebook import ContextQuery, Home
from codelens.scope.repository import root_commit
from codelens.store.database.database_opening import has_content
from codelens.store.saved.context_rows import Context
from codelens.store.saved.contexts_file import contexts_of


def save(
    pool: IndexPool, view_request: ViewRequest, request: SaveRequest, now_s: int
) -> SaveAnswer:
    """See `Engine.save`."""
    fields = request.checked()
    with pool.view(view_request) as view:

        def view_at(ref: str) -> CurrentView:
            return current_view(view.opened.at(ref), view_request)

        items = context_items.items_of(request.handles, view, view_at)
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
        verdicts = context_items.judged(view, context.items)
    saved = context_items.shown(context, verdicts, now_s)
    return SaveAnswer(receipt, saved, replaced, tuple(notes), request.update)


def load(
    pool: IndexPool, view_request: ViewRequest, request: LoadRequest, now_s: float
) -> LoadAnswer:
    """See `Engine.load`."""
    check_limit(request.limit)
    status = context_items.status_of(request.status)
    context_query = ContextQuery(
        request.query.strip(),
        context_fields.category_of(request.category) if request.category else "",
        context_fields.tags_of(request.tags),
        request.expired,
    )
    opened = pool.open(view_request.path, view_request.ref)
    handle = context_items.handle_of(request.handle, opened.scope.root)
    notebook = notebook_of(opened)
    root = "" if has_content(notebook.path) else _home(opened).root
    contexts_found = notebook.find(context_query, root, now_s)
    # A filter by state needs the states of all handles.
    narrowed = bool(status) or handle is not None
    chosen = contexts_found.contexts if narrowed else contexts_found.contexts[: request.limit]
    items = [item for context in chosen for item in context.items]
    receipt = context_items.unlooked(opened)
    verdicts = context_items.unjudged(items)
    if items:
        try:
            with pool.view(view_request) as view:
                verdicts = context_items.judged(view, items)
                receipt = view.receipt()
        except StoreError as error:
            contexts_found.notes.append(f"the state of the handles is unknown: {error}")
    results = [
        context
        for context in context_items.shown_all(chosen, verdicts, now_s)
        if context_items.matches(context, handle, status)
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
    return context_items.taken_over("", merged)


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
    return context_items.taken_over(", ".join(file.common_dir for file in former), merged)


def _home(opened: OpenRepository) -> Home:
    place = os.fsencode(opened.scope.common_dir).decode("utf-8", "backslashreplace")
    return Home(place, root_commit(opened.repository, opened.scope.head))
