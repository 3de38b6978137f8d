"""The questions about saved contexts: save, load, forget, export, import, take over."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.answers.context_answers import (
    ForgetAnswer,
    LoadAnswer,
    SaveAnswer,
    TakenOver,
    UsageAnswer,
)
from codelens.engine.current_view import Look, looked
from codelens.engine.index_pool import Door, Opened, in_range
from codelens.engine.usage.usage_counter import counted
from codelens.errors import ContextError, SettingError, StoreError
from codelens.index.progress import Progress, silent
from codelens.paths import contexts_file
from codelens.store.database.database import has_content

# What keeps contexts is imported late: a search has no need of it.
if TYPE_CHECKING:
    from codelens.memory.notebook import Home, Notebook
    from codelens.store.saved.context_rows import Context

_MAX_DAYS = 400


class MemoryDoor(Door):
    """The part of the engine that keeps what was learned."""

    now_s: Callable[[], float] = staticmethod(time.time)
    """Seconds since 1970; for times to live."""

    @counted
    def save(  # noqa: PLR0913 - each a field of what is saved, by name
        self,
        name: str,
        note: str = "",
        handles: Sequence[str] = (),
        *,
        category: str = "note",
        tags: Sequence[str] = (),
        pinned: bool = False,
        ttl: str = "",
        replace: bool = False,
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
            category: one of `codelens.memory.context_fields.CATEGORIES`.
            tags: words to filter by.
            pinned: never expires, and stands first.
            ttl: after which time it is not shown any more: `12h`, `30d`, `2w`; empty: never.
            replace: take the place of what was saved under the name.
            path: any path inside the worktree.
            ref: see the handles in this branch, tag or commit.
            budget_ms: how long the look may take; None: until the view is fresh.
            progress: told of long work.

        Raises:
            NotSaved: handles that cannot be followed; it says which and why.
            ContextExists: the name is taken and `replace` is not set.
            SettingError: a field cannot be as it is.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.contexts import context_items
        from codelens.memory import context_fields
        from codelens.store.saved.context_rows import Context

        now_s = int(self.now_s())
        ttl_s = context_fields.seconds_of(ttl)
        context = Context(
            name=context_fields.name_of(name),
            note=context_fields.note_of(note),
            category=context_fields.category_of(category),
            tags=context_fields.tags_of(tags),
            pinned=pinned,
            created_s=now_s,
            saved_s=now_s,
            expires_s=None if ttl_s is None else now_s + ttl_s,
            branch="",
            head="",
            items=(),
        )
        if not context.note and not handles:
            raise SettingError("there is nothing to save: give a note, handles, or both")
        if len(handles) > context_fields.MAX_ITEMS:
            raise SettingError(
                f"{len(handles)} handles are too many; {context_fields.MAX_ITEMS} at most"
            )
        with self._looked(path, ref, budget_ms, progress) as (opened, look):

            def look_at(other: str) -> Look:
                scope = opened.repository.scope(other)
                return looked(
                    opened.repository, scope, opened.shelf, self.settings, budget_ms, progress
                )

            items = context_items.items_of(handles, look, look_at)
            receipt = look.receipt()
            verdicts = context_items.judged(look, items)
        context = context._replace(branch=receipt.branch, head=receipt.head, items=items)
        notebook, home = self._notebook(opened), _home(opened)
        context, replaced, notes = notebook.put(context, home, replace=replace)
        saved = context_items.shown(context, verdicts, now_s)
        return SaveAnswer(receipt, saved, replaced, tuple(notes))

    @counted
    def load(
        self,
        query: str = "",
        *,
        category: str = "",
        tags: Sequence[str] = (),
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
            expired: what expired as well.
            limit: contexts at most.
            path: any path inside the worktree.
            ref: judge the handles in this branch, tag or commit.
            budget_ms: how long the look may take; None: until the view is fresh.
            progress: told of long work.

        Raises:
            SettingError: an argument cannot be as it is.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.contexts import context_items
        from codelens.memory import context_fields
        from codelens.memory.notebook import Wanted

        in_range(limit)
        wanted = Wanted(
            query.strip(),
            context_fields.category_of(category) if category else "",
            context_fields.tags_of(tags),
            expired,
        )
        opened = self._open(path, ref)
        notebook = self._notebook(opened)
        now_s = self.now_s()
        root = "" if has_content(notebook.path) else _home(opened).root
        found = notebook.find(wanted, root, now_s)
        chosen = found.contexts[:limit]
        items = [item for one in chosen for item in one.items]
        receipt = context_items.unlooked(opened)
        verdicts = context_items.unjudged(items)
        if items:
            try:
                with self._looked(path, ref, budget_ms, progress) as (_, look):
                    verdicts = context_items.judged(look, items)
                    receipt = look.receipt()
            except StoreError as error:
                found.notes.append(f"how the handles fare cannot be told: {error}")
        return LoadAnswer(
            receipt=receipt,
            query=wanted.query,
            exact=found.exact,
            results=tuple(context_items.shown_all(chosen, verdicts, now_s)),
            more=len(found.contexts) - len(chosen),
            former=tuple(context_items.former_place(one) for one in found.former),
            notes=tuple(found.notes),
            hidden=found.hidden,
        )

    @counted
    def forget(
        self, names: Sequence[str] = (), *, expired: bool = False, path: str | Path = "."
    ) -> ForgetAnswer:
        """Delete saved contexts, all of them or none; nothing else ever deletes one.

        Args:
            names: of what is to be deleted.
            expired: instead of names: those whose time to live is over, by the clock as it is now.
            path: any path inside the worktree.

        Raises:
            NoSuchContext: nothing has one of the names; nothing was deleted.
            SettingError: neither names nor `expired` is given, or both.
            ScopeError, StoreError: as `search`.
        """
        from codelens.memory import context_fields

        wanted = tuple(dict.fromkeys(context_fields.name_of(name) for name in names))
        if bool(wanted) == expired:
            raise SettingError(
                "name what is to be forgotten, or ask for all that expired; not both",
                typed="`codelens forget NAME` or `codelens forget --expired`",
                called="give names, or expired: true",
            )
        notebook = self._notebook(self._stand(path))
        if expired:
            gone, notes = notebook.forget_expired(self.now_s())
            return ForgetAnswer(tuple(gone), tuple(notes))
        return ForgetAnswer(wanted, tuple(notebook.forget(wanted)))

    def export_contexts(self, *, path: str | Path = ".") -> dict[str, object]:
        """All that was saved, as values for JSON; `import_contexts` takes it back."""
        from codelens.memory.context_exchange import exported

        opened = self._stand(path)
        found, _ = self._notebook(opened).every()
        return dict(exported(found, _home(opened).common_dir))

    def import_contexts(
        self, text: str, *, replace: bool = False, path: str | Path = "."
    ) -> TakenOver:
        """Add what `export_contexts` gave; a name that is taken is left out unless `replace`.

        Raises:
            SettingError: `text` is no export; nothing was added.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.contexts import context_items
        from codelens.memory.context_exchange import imported

        given = imported(text)
        opened = self._stand(path)
        merged = self._notebook(opened).take_over(given, _home(opened), replace=replace)
        return context_items.taken_over("", merged)

    def adopt(self, place: str = "", *, path: str | Path = ".") -> TakenOver:
        """Take over what was saved before this repository was moved; nothing is overwritten.

        Args:
            place: where it was; empty: where its history tells that it was.
            path: any path inside the worktree.

        Raises:
            ContextError: nothing was saved at such a place.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.contexts import context_items
        from codelens.memory import former_places
        from codelens.store.saved.contexts_file import contexts_of

        opened = self._stand(path)
        notebook, home = self._notebook(opened), _home(opened)
        if place:
            found = former_places.of_place(notebook.path, place)
        else:
            found = former_places.former(notebook.path, home.root)
        if not found:
            raise ContextError(
                f"nothing was saved at {place!r}; give the folder as it was called then"
                if place
                else "nothing was saved of this repository at a place that is gone; name its "
                "former folder (--adopt OLD_FOLDER)"
            )
        given: dict[str, Context] = {}
        notes: list[str] = []
        for one in found:
            its = contexts_of(one.path)
            older = [it.name for it in its if given.get(it.name, it) != it]
            given = {it.name: it for it in its} | given
            if older:
                notes.append(f"left out of {one.common_dir!r}, newer ones have the names: "
                             f"{', '.join(older)}")  # fmt: skip
        files = [one.path.name for one in found]
        merged = notebook.take_over(given.values(), home, replace=False, adopted=files)
        merged.notes.extend(notes)
        return context_items.taken_over(", ".join(one.common_dir for one in found), merged)

    def usage(self, *, days: int = 30) -> UsageAnswer:
        """How much codelens was used on this machine, in all repositories.

        Args:
            days: so many, today among them.

        Raises:
            SettingError: `days` is out of range.
            StoreError: it cannot be read.
        """
        from codelens.engine.usage.usage_report import report

        if not 1 <= days <= _MAX_DAYS:
            raise SettingError(f"days must be between 1 and {_MAX_DAYS}, not {days}")
        return report(self.settings.home, days, self.now_s(), on=self.settings.usage)

    def _stand(self, path: str | Path) -> Opened:
        """Where one stands, also in a bare repository, where no view is asked for."""
        from codelens.errors import BareRepository

        try:
            return self._open(path, None)
        except BareRepository:
            return self._open(path, "HEAD")

    def _notebook(self, opened: Opened) -> Notebook:
        from codelens.memory.notebook import Notebook

        return Notebook(contexts_file(self.settings.home, opened.scope.repo_id))


def _home(opened: Opened) -> Home:
    from codelens.memory.notebook import Home
    from codelens.scope.root_commit import root_commit

    place = os.fsencode(opened.scope.common_dir).decode("utf-8", "backslashreplace")
    return Home(place, root_commit(opened.repository, opened.scope.head))
