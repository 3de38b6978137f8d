"""Brings the view of a worktree up to date with the disk, and reports how far it got.

A look costs one lstat per file. Only files that it suspects are read, only new texts are extracted,
and nothing is written if nothing changed. With a deadline, the answer is `partial` and names the
remaining files; the next look continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import compress
from typing import TYPE_CHECKING

from codelens.config import Settings
from codelens.errors import (
    DiskFull,
    HomeNotReadable,
    HomeNotWritable,
    IndexLocked,
    LeaseLost,
    StoreError,
)
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.index.ingestion import Progress, silent
from codelens.index.text_facts import DiskSource, Source, Work
from codelens.index.view_update import Budget, Refreshed, behind, untouched, update
from codelens.index.worktree_comparison import (
    Delta,
    StoredView,
    changed_works,
    compare,
    is_settled,
    latest,
    load,
)
from codelens.meaning.word_table import shipped_version
from codelens.scope.repository import Repository, Scope
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import STAND_IN_BYTES
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents
from codelens.store.views import views
from codelens.store.views.view_blocks import SharedRow
from codelens.store.views.views import CURRENT, FileRow, ViewState

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
    """Bring the view of a worktree or folder up to date, as far as the budget allows.

    If another process writes, this waits as long as the budget lasts (ten minutes without one),
    then answers from the last committed state, as `partial`.

    Raises:
        StoreError: the index cannot be written; nothing was changed.
    """
    stored = _stored_view(db, scope)
    delta = compare(
        repository, scope, settings, stored, budget.deadline,
        look_until=budget.look_until, watched=watched,
    )  # fmt: skip
    view = stored.view
    if view is not None and delta.nothing(view, scope):
        return untouched(stored, view, delta)
    budget = budget.after_look().for_works(len(delta.works))
    source = DiskSource(delta.root, settings.max_file_bytes, delta.started_ns)
    if delta.unlisted:
        # If git's index lists the files, only untracked ones are still unknown.
        part = budget if delta.tracked else budget.for_a_part()
        left = behind(stored, scope, delta, _note_of_unlisted(delta))
        return answered(left, db, scope, settings, budget=part, works=delta.works, source=source)
    stored, delta = _shared(stored, delta, db, scope, settings)

    def answer(view_behind: Refreshed) -> Refreshed:
        return answered(
            view_behind, db, scope, settings, budget=budget, works=delta.works, source=source
        )

    if (stored.view is not None and stored.view.complete) or budget.deadline is None:
        return answer(
            _updated(
                repository, scope, db, settings, delta,
                budget=budget, progress=progress, stored=stored,
            )
        )  # fmt: skip
    # The question's files go first: the rest of a first view takes longer than any budget.
    refreshed = answer(behind(stored, scope, delta, ""))
    if budget.has_no_time_for(len(refreshed.pending)):
        return refreshed
    left = set(refreshed.pending)
    delta = delta._replace(works=[work for work in delta.works if work.path in left])
    stored = load(db, scope)
    if _lacks(stored, refreshed.files):
        return refreshed
    done = _updated(
        repository, scope, db, settings, delta, budget=budget, progress=progress, stored=stored
    )
    return done._replace(indexed=done.indexed + refreshed.indexed, cleared=refreshed.cleared)


def _stored_view(db: Database, scope: Scope) -> StoredView:
    """The stored state of a view; creates a missing one from another branch's, if nobody writes.

    To compare these files with the disk costs half as much as a walk.
    """
    stored_view = load(db, scope)
    if stored_view.view is not None:
        return stored_view
    if views.base_of(db, scope.worktree, scope.kind) is not None:
        with suppress(StoreError), writer_lease.held(db, 0.0) as lease:
            views.create_view(
                db, lease, scope.key, scope.kind, worktree=scope.worktree,
                branch=scope.branch, head=scope.head, index_id=scope.index_id,
            )  # fmt: skip
    return load(db, scope)


def _shared(
    stored: StoredView, delta: Delta, db: Database, scope: Scope, settings: Settings
) -> tuple[StoredView, Delta]:
    """The state of a view without files, and its delta, after it took those of another view."""
    if stored.files:
        return stored, delta
    left = share_files(db, scope, settings, delta)
    now = load(db, scope)
    # Another process may have added files, or retired the view in a rebuild of the index.
    is_as_left = len(now.files) == len(delta.works) - len(left.works)
    return (now, left) if is_as_left else (stored, delta)


def _note_of_unlisted(delta: Delta) -> str:
    folders = "folder is" if delta.unlisted == 1 else "folders are"
    return f"{delta.unlisted:,} {folders} still to be listed"


def _lacks(stored_view: StoredView, files: list[FileRow]) -> bool:
    """Whether `stored_view` lacks some files, because a rebuild has retired the view that had them.

    A comparison with the retired view is not valid for `stored_view`.
    """
    return not {file.path for file in stored_view.files}.issuperset(file.path for file in files)


def _updated(
    repository: Repository, scope: Scope, db: Database, settings: Settings, delta: Delta, *,
    budget: Budget, progress: Progress, stored: StoredView,
) -> Refreshed:  # fmt: skip
    """Update the view as far as the budget and other writers allow."""
    view = stored.view
    source = DiskSource(delta.root, settings.max_file_bytes, delta.started_ns)

    def differing() -> Delta:
        # The update would read these files anyway, so read them here only if another process
        # writes.
        works = changed_works(db, stored.files, delta.works, source)
        return delta._replace(works=works)

    def look_again(newer: StoredView) -> tuple[Delta, Source]:
        # Another process may have done the work while this one waited for the lease.
        same = newer.is_valid_for(stored)
        again = delta if same else compare(repository, scope, settings, newer, budget.deadline)
        return again, DiskSource(again.root, settings.max_file_bytes, again.started_ns)

    try:
        try:
            return update(
                scope, db, settings, budget, progress=progress, look=look_again, wait_s=0.0
            )
        except IndexLocked:
            if view is not None and is_settled(view, scope, differing()):
                return untouched(stored, view, delta)
            return update(scope, db, settings, budget, progress=progress, look=look_again)
    except (DiskFull, HomeNotReadable, HomeNotWritable) as error:
        # An index that cannot be written is better rebuilt in memory, if it is small enough.
        if stored.view is None or db.size_bytes() <= STAND_IN_BYTES:
            raise
        return behind(stored, scope, differing(), f"not updated: {error}")
    except (IndexLocked, LeaseLost) as error:
        left = differing()
        if view is not None and is_settled(view, scope, left):
            return untouched(stored, view, delta)
        return behind(latest(db, scope, stored), scope, left, f"not updated: {error}")


def answered(
    refreshed: Refreshed, db: Database, scope: Scope, settings: Settings, *, budget: Budget,
    works: Sequence[Work], source: Source,
) -> Refreshed:  # fmt: skip
    """Show the pending files that match the question in an outdated view.

    Does nothing without a question, or without a deadline, since then all files are read.
    """
    if not refreshed.pending or budget.deadline is None or not budget.request:
        return refreshed
    from codelens.index import needed_files

    pending = set(refreshed.pending)
    needed = needed_files.read_needed(
        db, scope, [work for work in works if work.path in pending], source, request=budget.request,
        scan_until=budget.scan_until, extract_s=budget.extract_s, languages=settings.languages,
    )  # fmt: skip
    stored_view = load(db, scope)
    files = refreshed.files
    settled = needed.gone
    if needed.shown or needed.gone:
        # A rebuild of the index may have retired the view of the files just shown.
        shown = needed.shown.intersection(file.path for file in stored_view.files)
        files = needed_files.with_shown(refreshed.files, stored_view.files, shown, needed.gone)
        settled |= shown
    left = [path for path in refreshed.pending if path not in settled]
    return refreshed._replace(
        view=stored_view.view or refreshed.view,
        files=files,
        indexed=refreshed.indexed + needed.extracted,
        pending=left,
        cleared=needed.cleared,
        # Everything that differs was read, even if another process stores the rest.
        status="partial" if left or refreshed.unchecked else "fresh",
        note=refreshed.note if left or refreshed.unchecked else "",
    )


# Gives a new view the files that it has in common with another view, without reading any.
#
# Git's index shows which blob each unchanged file of a worktree has. Where another view has the
# bytes of the same blob at the same path, its row holds here too: the same path and text have the
# same language. So a second worktree costs only what differs. The rows appear in one transaction,
# and only those that were compared; the view stays incomplete until the rest is read.


def share_files(db: Database, scope: Scope, settings: Settings, delta: Delta) -> Delta:
    """Share files with the last used view of the same settings, if the scope's view has none yet.

    Does nothing if another process writes: it may be doing the same.

    Returns:
        The delta without the files that the view now has.
    """
    if not any(work.oid for work in delta.works):
        return delta
    # What prevents writing is reported where the rest of the view is written.
    with suppress(StoreError), writer_lease.held(db, 0.0) as lease:
        return _take_shared(db, lease, scope, settings, delta)
    return delta


def _take_shared(
    db: Database, lease: Lease, scope: Scope, settings: Settings, delta: Delta
) -> Delta:
    view = views.create_view(
        db, lease, scope.key, scope.kind, worktree=scope.worktree, branch=scope.branch,
        head=scope.head, index_id=scope.index_id,
    )  # fmt: skip
    state = ViewState(
        scope.head, scope.index_id, delta.membership, delta.sources, delta.notes,
        EXTRACTOR_VERSION, complete=False, vectors=shipped_version(),
    )  # fmt: skip
    works = {work.path: work for work in delta.works}
    shared: list[bytes] = []
    with db.write(lease):
        now = views.find_view(db, scope.key)
        base = views.sibling_of(db, view.id, EXTRACTOR_VERSION, settings.membership_key())
        # Another process may have filled the view since the comparison.
        if now is None or now.generation or not base:
            return delta
        blobs = contents.of_blobs(db, {work.oid for work in delta.works if work.oid})

        def signatures_of(rows: Sequence[SharedRow]) -> list[bytes]:
            signatures = [
                work.signature
                if row_state == CURRENT
                and (work := works.get(path)) is not None
                and blobs.get(content) == (work.oid, work.size_bytes)
                else b""
                for path, _, content, row_state in rows
            ]
            shared.extend(row[0] for row in compress(rows, signatures))
            return signatures

        views.share(db, view.id, base, signatures_of, state)
    for path in shared:
        del works[path]
    return delta._replace(works=list(works.values()))
