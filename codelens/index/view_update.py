"""Writes what a look found into its view, under the writer's lease.

Only texts never seen are extracted. A first view grows while readers watch; a later change shows
whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codelens.config import Settings
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.extract.language_detection import all_traits, extractor_version
from codelens.index.ingestion import Ingest
from codelens.index.path_facts import path_facts
from codelens.index.progress import Progress
from codelens.index.refresh_budget import Budget
from codelens.index.refreshed_view import Refreshed
from codelens.index.text_sources import Source, Work
from codelens.index.workers.worker_pool import LONG_LEAD, Extractor, InProcess, WorkerPool
from codelens.index.worktree_comparison import Delta, Known, load
from codelens.meaning import view_vectors
from codelens.meaning.word_table import shipped_version
from codelens.scope.repository import Scope
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents, postings
from codelens.store.views import views
from codelens.store.views.views import PENDING, Change, ViewRow, ViewState
from codelens.types import Tier

# A worker starts in .2 s, what half a megabyte takes. Of gson (2.4 MB) two workers take 1.5 s and
# 2.3 of CPU, this process 2.2 and 2.1.
_POOL_BYTES = 1_500_000
_POOL_FILES = 24
_LEAST_BYTES = 2_000


def update(
    scope: Scope,
    db: Database,
    settings: Settings,
    budget: Budget,
    *,
    progress: Progress,
    look: Callable[[Known], tuple[Delta, Source]],
    wait_s: float | None = None,
) -> Refreshed:
    """Bring a view to what `look` sees, under the writer's lease; the view is made if need be.

    Another writer is waited for `wait_s` seconds, without it for as long as the budget allows.

    Raises:
        IndexLocked: another process kept the lease for all of that time.
    """

    def waiting() -> None:
        # Whoever writes shows each second in the view what is done.
        states = [file.state for file in load(db, scope).files]
        progress("waiting for another process", len(states) - states.count(PENDING), len(states))

    longest_s = budget.wait_s() if wait_s is None else wait_s
    lease = writer_lease.acquire(db, longest_s, waiting=waiting)
    try:
        known = load(db, scope)
        if known.view is None:
            views.create_view(
                db, lease, scope.key, scope.kind, worktree=scope.worktree, branch=scope.branch,
                head=scope.head, index_id=scope.index_id,
            )  # fmt: skip
            known = load(db, scope)
        delta, source = look(known)
        return _Update(
            scope, db, lease, settings,
            budget=budget, progress=progress, known=known, delta=delta, source=source,
        ).run()  # fmt: skip
    finally:
        lease.release(db)


class _Update:
    """One update of one view under the lease."""

    def __init__(
        self,
        scope: Scope,
        db: Database,
        lease: Lease,
        settings: Settings,
        *,
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
        count = self._settings.worker_count()
        lead = LONG_LEAD if self._budget.deadline is None else 0
        with WorkerPool(count, lead=lead) if large else InProcess(self._db.path) as extractor:
            if not self._view.complete and large and self._budget.text_first:
                self._pass(works, extractor, "text")
            left = self._pass(works, extractor, "full")
        complete = not left and not delta.unchecked
        if complete and not view_vectors.has_vectors(self._view):
            view_vectors.roll_forward(self._db, self._lease, self._view.id, self._budget.deadline)
        return self._result([work.path for work in left], complete)

    def _pass(self, works: list[Work], extractor: Extractor, tier: Tier) -> list[Work]:
        """Ingest works and show them in the view; returns what there was no time for.

        A first view grows while readers watch; a later change shows whole or not at all.
        """
        growing = not self._view.complete
        done = Ingest(
            self._db,
            self._lease,
            self._source,
            extractor,
            tier=tier,
            languages=self._settings.languages,
            deadline=self._budget.deadline,
            progress=self._progress,
            grown=self._grow if growing else None,
        ).run(works)
        self._extracted += done.extracted
        shown = self._known.rows_of({work.path for work in done.left})
        changes = [
            *done.changes,
            *(_pending(work) for work in done.left if work.path not in shown),
        ]
        complete = tier == "full" and not done.left and not self._delta.unchecked
        self._apply(changes, [*self._delta.gone, *done.dropped], complete=complete)
        return done.left

    def _grow(self, changes: list[Change]) -> None:
        self._apply(changes, (), complete=False)

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
        is_large = sum(sizes) > _POOL_BYTES and len(sizes) > _POOL_FILES
        return is_large and self._budget.deadline is None and self._settings.worker_count() > 1

    def _apply(self, changes: list[Change], drop: Sequence[bytes], *, complete: bool) -> None:
        delta, scope = self._delta, self._scope
        paths = {change.path for change in changes}
        # A path may be put and dropped in turn while the tree is being changed.
        gone = [path for path in dict.fromkeys(drop) if path not in paths]
        state = ViewState(
            scope.head, scope.index_id, delta.membership, delta.sources, delta.notes,
            EXTRACTOR_VERSION if complete else self._view.extractor, complete, shipped_version(),
        )  # fmt: skip
        with self._db.write(self._lease):
            ids = views.find_paths(self._db, paths | set(gone))
            new = sorted(paths - ids.keys())
            ids |= views.add_paths(self._db, (path_facts(path) for path in new))
            views.apply(
                self._db,
                self._view.id,
                changes=changes,
                drop=[path for path in gone if path in ids],
                # With the last change, or a view would seem to know what lies in them.
                put_folders=delta.folders if complete else {},
                drop_folders=delta.folders_gone if complete else (),
                state=state,
                path_ids=ids,
                text_changed=self._text_changes(changes, gone),
            )
            postings.merge_small(self._db)

    def _text_changes(self, changes: list[Change], gone: list[bytes]) -> bool:
        if gone:
            return True
        before = self._known.rows_of({change.path for change in changes})
        return any(
            (row := before.get(change.path)) is None
            or (row.content, row.state) != (change.content, change.state)
            for change in changes
        )

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
