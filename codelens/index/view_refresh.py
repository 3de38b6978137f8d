"""Brings the view of a worktree up to date with the disk, and says how far it got.

The look costs one lstat a file; what it finds suspicious is read; only texts never seen are
extracted. Nothing is written when nothing changed. With a deadline, what is left is named and the
answer is `partial`; the next look takes it up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelens.config import Settings
from codelens.errors import DiskFull, HomeNotReadable, HomeNotWritable, IndexLocked, LeaseLost
from codelens.index.ingestion import Progress, silent
from codelens.index.text_facts import DiskSource, Source, Work
from codelens.index.view_update import Budget, Refreshed, behind, untouched
from codelens.index.worktree_comparison import (
    Delta,
    Known,
    changed_works,
    compare,
    is_settled,
    latest,
    load,
)
from codelens.scope.repository import Repository, Scope
from codelens.store.database.database import Database
from codelens.store.database.database_opening import STAND_IN_BYTES
from codelens.store.views.views import FileRow

if TYPE_CHECKING:
    from codelens.scan.watched_tree import WatchedTree


def refresh(
    repository: Repository,
    scope: Scope,
    db: Database,
    settings: Settings,
    *,
    budget: Budget,
    progress: Progress = silent,
    watched: WatchedTree | None = None,
) -> Refreshed:
    """The view of a worktree or folder, as fresh as the budget allows.

    While another process writes, the budget (ten minutes without one) is waited for; then the
    last committed state is the answer, and it is `partial`.

    Raises:
        StoreError: the index cannot be written; nothing was changed.
    """
    known = load(db, scope)
    delta = compare(
        repository, scope, settings, known, budget.deadline,
        look_until=budget.look_until, watched=watched,
    )  # fmt: skip
    view = known.view
    if view is not None and delta.nothing(view, scope):
        return untouched(known, view, delta)
    budget = budget.after_look()
    source = DiskSource(delta.root, settings.max_file_bytes, delta.started_ns)
    if delta.unlisted:
        # Where git names the files only those are unknown that it does not track.
        part = budget if delta.tracked else budget.for_a_part()
        left = behind(known, scope, delta, _note_of_unlisted(delta))
        return answered(left, db, scope, settings, budget=part, works=delta.works, source=source)

    def answer(view_behind: Refreshed) -> Refreshed:
        return answered(
            view_behind, db, scope, settings, budget=budget, works=delta.works, source=source
        )

    if (view is not None and view.complete) or budget.deadline is None:
        return answer(
            _brought(
                repository, scope, db, settings,
                budget=budget, progress=progress, known=known, delta=delta,
            )
        )  # fmt: skip
    # What is asked goes first: the rest of a first view takes longer than any budget.
    refreshed = answer(behind(known, scope, delta, ""))
    if budget.has_no_time_for(len(refreshed.pending)):
        return refreshed
    left = set(refreshed.pending)
    delta = delta._replace(works=[work for work in delta.works if work.path in left])
    known = load(db, scope)
    if _lacks(known, refreshed.files):
        return refreshed
    done = _brought(
        repository, scope, db, settings, budget=budget, progress=progress, known=known, delta=delta
    )
    return done._replace(indexed=done.indexed + refreshed.indexed, cleared=refreshed.cleared)


def _note_of_unlisted(delta: Delta) -> str:
    folders = "folder is" if delta.unlisted == 1 else "folders are"
    return f"{delta.unlisted:,} {folders} still to be listed"


def _lacks(known: Known, files: list[FileRow]) -> bool:
    """Whether a view was retired since it had these files: no comparison with it holds for a new.

    Who rebuilds the index retires its views.
    """
    return not {file.path for file in known.files}.issuperset(file.path for file in files)


def _brought(
    repository: Repository, scope: Scope, db: Database, settings: Settings, *, budget: Budget,
    progress: Progress, known: Known, delta: Delta,
) -> Refreshed:  # fmt: skip
    """The view after an update that goes as far as the budget and other writers allow."""
    # Most looks find nothing to write; what writes is imported by those that do.
    from codelens.index.view_update import update

    view = known.view
    source = DiskSource(delta.root, settings.max_file_bytes, delta.started_ns)

    def differing() -> Delta:
        # Read only where a writer is met: most looks meet none, and the update reads them anyway.
        works = changed_works(db, known.files, delta.works, source)
        return delta._replace(works=works)

    def look_again(newer: Known) -> tuple[Delta, Source]:
        # Another process may have done the work while this one waited for the lease.
        same = newer.holds_what(known)
        again = delta if same else compare(repository, scope, settings, newer, budget.deadline)
        return again, DiskSource(again.root, settings.max_file_bytes, again.started_ns)

    try:
        try:
            return update(
                scope, db, settings, budget, progress=progress, look=look_again, wait_s=0.0
            )
        except IndexLocked:
            if view is not None and is_settled(view, scope, differing()):
                return untouched(known, view, delta)
            return update(scope, db, settings, budget, progress=progress, look=look_again)
    except (DiskFull, HomeNotReadable, HomeNotWritable) as error:
        # What cannot be written is better answered anew from memory, if it is small enough for it.
        if known.view is None or db.size_bytes() <= STAND_IN_BYTES:
            raise
        return behind(known, scope, differing(), f"not updated: {error}")
    except (IndexLocked, LeaseLost) as error:
        left = differing()
        if view is not None and is_settled(view, scope, left):
            return untouched(known, view, delta)
        return behind(latest(db, scope, known), scope, left, f"not updated: {error}")


def answered(
    refreshed: Refreshed, db: Database, scope: Scope, settings: Settings, *, budget: Budget,
    works: Sequence[Work], source: Source,
) -> Refreshed:  # fmt: skip
    """A view that is behind, with those of its pending files that hold what is asked.

    Nothing is done without a deadline, which reads them all, or without a question.
    """
    if not refreshed.pending or budget.deadline is None or not budget.request:
        return refreshed
    from codelens.index import needed_files

    pending = set(refreshed.pending)
    needed = needed_files.read_needed(
        db, scope, [work for work in works if work.path in pending], source, request=budget.request,
        scan_until=budget.scan_until, extract_s=budget.extract_s, languages=settings.languages,
    )  # fmt: skip
    known = load(db, scope)
    files = refreshed.files
    settled = needed.gone
    if needed.shown or needed.gone:
        # Who rebuilds the index may have retired what was shown.
        shown = needed.shown.intersection(file.path for file in known.files)
        files = needed_files.with_shown(refreshed.files, known.files, shown, needed.gone)
        settled |= shown
    left = [path for path in refreshed.pending if path not in settled]
    return refreshed._replace(
        view=known.view or refreshed.view,
        files=files,
        indexed=refreshed.indexed + needed.extracted,
        pending=left,
        cleared=needed.cleared,
        # All that differs was read, whoever writes the rest down.
        status="partial" if left or refreshed.unchecked else "fresh",
        note=refreshed.note if left or refreshed.unchecked else "",
    )
