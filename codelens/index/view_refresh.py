"""Brings the view of a worktree up to date with the disk, and says how far it got.

The look costs one lstat a file; what it finds suspicious is read; only texts never seen are
extracted. Nothing is written when nothing changed. With a deadline, what is left is named and the
answer is `partial`; the next look takes it up again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from codelens.config import Settings
from codelens.errors import DiskFull, HomeNotWritable, IndexLocked, LeaseLost
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.extract.language_detection import all_traits, extractor_version
from codelens.index.ingestion import Ingest
from codelens.index.path_facts import path_facts
from codelens.index.pending_order import hits_first
from codelens.index.progress import Progress, silent
from codelens.index.text_sources import DiskSource, Source, Work
from codelens.index.unchanged_check import changed_works, is_settled
from codelens.index.worker_pool import Extractor, InProcess, WorkerPool
from codelens.index.worktree_comparison import Delta, Known, compare
from codelens.scope.repository import Repository, Scope
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.memory_index import STAND_IN_BYTES
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents, postings
from codelens.store.views import views
from codelens.store.views.views import PENDING, Change, FileRow, ViewRow, ViewState
from codelens.types import Tier

# Starting a worker costs about what parsing half a megabyte does (MEASURED.md).
_POOL_BYTES = 1_500_000
_POOL_FILES = 24
_LEAST_BYTES = 2_000
_NO_DEADLINE_WAIT_S = 600.0
_SLICE = 1000


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a refresh may take, and what is asked meanwhile."""

    deadline: float | None = None
    """`time.monotonic` value; None: to the end."""
    words: tuple[str, ...] = ()
    """Lower-case words of the query: files that hold them go first."""
    text_first: bool = False
    """Somebody searches meanwhile: a large first index stores all text before any structure."""

    def wait_s(self) -> float:
        """How long another writer may be waited for."""
        if self.deadline is None:
            return _NO_DEADLINE_WAIT_S
        return max(0.0, self.deadline - time.monotonic())


class Refreshed(NamedTuple):
    """A view after a look, and what the receipt says of it."""

    view: ViewRow
    files: list[FileRow]
    status: Literal["fresh", "partial", "unknown"]
    checked: int
    indexed: int
    pending: list[bytes]
    unchecked: int
    note: str


def refresh(
    repository: Repository,
    scope: Scope,
    db: Database,
    settings: Settings,
    budget: Budget,
    progress: Progress = silent,
) -> Refreshed:
    """The view of a worktree or folder, as fresh as the budget allows.

    While another process writes, the budget (ten minutes without one) is waited for; then the
    last committed state is the answer, and it is `partial`.

    Raises:
        StoreError: the index cannot be written; nothing was changed.
    """
    known = load(db, scope)
    delta = compare(repository, scope, settings, known, budget.deadline)
    view = known.view
    if view is not None and delta.nothing(view, scope):
        return _untouched(known, view, delta)
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
            return update(scope, db, settings, budget, progress, look_again, 0.0)
        except IndexLocked:
            if view is not None and is_settled(view, scope, differing()):
                return _untouched(known, view, delta)
            return update(scope, db, settings, budget, progress, look_again)
    except (DiskFull, HomeNotWritable) as error:
        # What cannot be written is better answered anew from memory, if it is small enough for it.
        if known.view is None or db.size_bytes() <= STAND_IN_BYTES:
            raise
        return behind(known, scope, differing(), f"not updated: {error}")
    except (IndexLocked, LeaseLost) as error:
        left = differing()
        if view is not None and is_settled(view, scope, left):
            return _untouched(known, view, delta)
        return behind(load(db, scope), scope, left, f"not updated: {error}")


def update(
    scope: Scope,
    db: Database,
    settings: Settings,
    budget: Budget,
    progress: Progress,
    look: Callable[[Known], tuple[Delta, Source]],
    wait_s: float | None = None,
) -> Refreshed:
    """Bring a view to what `look` sees, under the writer's lease; the view is made if need be.

    Another writer is waited for `wait_s` seconds, without it for as long as the budget allows.

    Raises:
        IndexLocked: another process kept the lease for all of that time.
    """
    lease = writer_lease.acquire(db, budget.wait_s() if wait_s is None else wait_s)
    try:
        known = load(db, scope)
        if known.view is None:
            views.create_view(
                db, lease, scope.key, scope.kind, scope.worktree, scope.branch, scope.head,
                scope.index_id,
            )  # fmt: skip
            known = load(db, scope)
        delta, source = look(known)
        return _Update(scope, db, lease, settings, budget, progress, known, delta, source).run()
    finally:
        lease.release(db)


def load(db: Database, scope: Scope) -> Known:
    """What the store knows of a scope's view; kept in memory for as long as nothing changes."""

    def read() -> Known:
        view = views.find_view(db, scope.key)
        if view is None:
            return Known(None, [], {})
        return Known(view, views.files_of(db, view.id), views.folders_of(db, view.id))

    with db.read():
        return db.remembered(("view", scope.key), read)


class _Update:
    """One update of one view under the lease."""

    def __init__(
        self,
        scope: Scope,
        db: Database,
        lease: Lease,
        settings: Settings,
        budget: Budget,
        progress: Progress,
        known: Known,
        delta: Delta,
        source: Source,
    ) -> None:
        assert known.view is not None
        self._scope = scope
        self._db = db
        self._lease = lease
        self._settings = settings
        self._budget = budget
        self._progress = progress
        self._view = known.view
        self._known = known
        self._delta = delta
        self._source = source
        self._extracted = 0

    def run(self) -> Refreshed:
        delta = self._delta
        works = [*delta.works, *self._outdated()]
        large = self._large(works)
        if self._view.generation == 0 and (large or self._budget.deadline is not None):
            # Names first: paths can be searched before any text is read.
            self._apply([_pending(work) for work in works], delta.gone, complete=False)
        order = hits_first(works, self._budget, self._source)
        # A first view grows while readers watch; a later change shows whole or not at all.
        growing = not self._view.complete
        left: list[Work] = []
        count = self._settings.worker_count()
        with WorkerPool(count) if large else InProcess(self._db.path) as extractor:
            if growing and large and self._budget.text_first:
                self._round(order, extractor, "text", last=False)
            step = _SLICE if growing else max(len(order), 1)
            for start in range(0, max(len(order), 1), step):
                last = start + step >= len(order) and not left
                left += self._round(order[start : start + step], extractor, "full", last=last)
        complete = not left and not delta.unchecked
        return self._result([work.path for work in left], complete)

    def _round(
        self, works: list[Work], extractor: Extractor, tier: Tier, *, last: bool
    ) -> list[Work]:
        """Ingest works and show them in the view; returns what there was no time for."""
        done = Ingest(
            self._db,
            self._lease,
            self._source,
            extractor,
            tier=tier,
            languages=self._settings.languages,
            deadline=self._budget.deadline,
            progress=self._progress,
        ).run(works)
        self._extracted += done.extracted
        shown = {file.path for file in self._known.files}
        put = [*done.changes, *(_pending(work) for work in done.left if work.path not in shown)]
        complete = last and not done.left and not self._delta.unchecked
        self._apply(put, [*self._delta.gone, *done.dropped], complete=complete)
        return done.left

    def _outdated(self) -> list[Work]:
        if self._view.extractor >= EXTRACTOR_VERSION or self._view.generation == 0:
            return []
        versions = extractor_versions(self._db, self._view)
        listed = {work.path for work in self._delta.works} | set(self._delta.gone)
        paths = views.outdated(self._db, self._view.id, versions)
        return [Work(path, 0) for path in paths if path not in listed]

    def _large(self, works: list[Work]) -> bool:
        seen = contents.blobs(self._db, [work.oid for work in works if work.oid])
        sizes = [max(work.size_bytes, _LEAST_BYTES) for work in works if work.oid not in seen]
        many = sum(sizes) > _POOL_BYTES and len(sizes) > _POOL_FILES
        return many and self._budget.deadline is None and self._settings.worker_count() > 1

    def _apply(self, put: list[Change], drop: Sequence[bytes], *, complete: bool) -> None:
        delta, scope = self._delta, self._scope
        paths = {one.path for one in put}
        # A path may be put and dropped in turn while the tree is being changed.
        gone = [path for path in dict.fromkeys(drop) if path not in paths]
        state = ViewState(
            scope.head, scope.index_id, delta.membership, delta.sources, delta.notes,
            EXTRACTOR_VERSION if complete else self._view.extractor, complete,
        )  # fmt: skip
        with self._db.write(self._lease):
            ids = views.find_paths(self._db, paths | set(gone))
            new = sorted(paths - ids.keys())
            ids |= views.add_paths(self._db, (path_facts(path) for path in new))
            views.apply(
                self._db,
                self._view.id,
                put=put,
                drop=[path for path in gone if path in ids],
                put_folders=delta.folders,
                drop_folders=delta.folders_gone,
                state=state,
                path_ids=ids,
                text_changed=self._text_changes(put, gone),
            )
            postings.merge_small(self._db)

    def _text_changes(self, put: list[Change], gone: list[bytes]) -> bool:
        if gone:
            return True
        before = {file.path: (file.content, file.state) for file in self._known.files}
        return any(before.get(one.path) != (one.content, one.state) for one in put)

    def _result(self, left: list[bytes], complete: bool) -> Refreshed:
        known = load(self._db, self._scope)
        assert known.view is not None
        pending = sorted({*left, *(file.path for file in known.files if file.state == PENDING)})
        return Refreshed(
            known.view,
            known.files,
            "fresh" if complete and not pending else "partial",
            self._delta.checked,
            self._extracted,
            pending,
            self._delta.unchecked,
            "",
        )


def _pending(work: Work) -> Change:
    return Change(work.path, None, PENDING, b"")


def extractor_versions(db: Database, view: ViewRow) -> dict[str, int]:
    """Version of this codelens' extractor for each language of a view that it knows."""
    ours = all_traits()
    named = [name for name, _ in views.languages_of(db, view.id)]
    return {name: extractor_version(name) for name in named if name in ours}


def _untouched(known: Known, view: ViewRow, delta: Delta) -> Refreshed:
    whole = view.complete and not delta.unchecked
    status: Literal["fresh", "partial"] = "fresh" if whole else "partial"
    return Refreshed(view, known.files, status, delta.checked, 0, [], delta.unchecked, "")


def behind(known: Known, scope: Scope, delta: Delta, note: str) -> Refreshed:
    """The last committed state, and what is missing in it."""
    gone = set(delta.gone)
    files = [file for file in known.files if file.path not in gone]
    pending = [work.path for work in delta.works]
    view = known.view or views.nothing_yet(
        scope.key, scope.kind, scope.worktree, scope.branch, scope.head, scope.index_id
    )
    return Refreshed(view, files, "partial", delta.checked, 0, pending, delta.unchecked, note)
