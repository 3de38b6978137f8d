"""Brings the view of a worktree up to date with the disk, and says how far it got.

The look costs one lstat a file; what it finds suspicious is read; only texts never seen are
extracted. Nothing is written when nothing changed. With a deadline, what is left is named and the
answer is `partial`; the next look takes it up again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from codelens.config import Settings
from codelens.errors import DiskFull, HomeNotReadable, HomeNotWritable, IndexLocked, LeaseLost
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.extract.language_detection import all_traits, extractor_version
from codelens.index import needed_files
from codelens.index.ingestion import Ingest
from codelens.index.path_facts import path_facts
from codelens.index.progress import Progress, silent
from codelens.index.refresh_budget import FEW_FILES, Budget
from codelens.index.text_sources import DiskSource, Source, Work
from codelens.index.worker_pool import Extractor, InProcess, WorkerPool
from codelens.index.worktree_comparison import (
    Delta,
    Known,
    changed_works,
    compare,
    is_settled,
    latest,
    load,
)
from codelens.meaning import view_vectors
from codelens.meaning.word_table import shipped_version
from codelens.scope.repository import Repository, Scope
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.memory_index import STAND_IN_BYTES
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents, postings
from codelens.store.views import views
from codelens.store.views.views import PENDING, Change, FileRow, ViewRow, ViewState
from codelens.types import Tier

if TYPE_CHECKING:
    from codelens.scan.watched_tree import WatchedTree

# Starting a worker costs about what parsing half a megabyte does.
_POOL_BYTES = 1_500_000
_POOL_FILES = 24
_LEAST_BYTES = 2_000


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
    cleared: frozenset[bytes] = frozenset()
    """Pending files that were scanned, and hold nothing of what is asked."""
    unlisted: int = 0
    """Folders that there was no time to list."""

    @property
    def unread(self) -> int:
        """Pending files that may hold what is asked: not scanned, or not extracted in time."""
        return len(self.pending) - len(self.cleared.intersection(self.pending)) + self.unchecked


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
        look_until=budget.scan_until, watched=watched,
    )  # fmt: skip
    view = known.view
    if view is not None and delta.nothing(view, scope):
        return _untouched(known, view, delta)
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
    if budget.leaves_rest and len(refreshed.pending) > FEW_FILES:
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
                return _untouched(known, view, delta)
            return update(scope, db, settings, budget, progress=progress, look=look_again)
    except (DiskFull, HomeNotReadable, HomeNotWritable) as error:
        # What cannot be written is better answered anew from memory, if it is small enough for it.
        if known.view is None or db.size_bytes() <= STAND_IN_BYTES:
            raise
        return behind(known, scope, differing(), f"not updated: {error}")
    except (IndexLocked, LeaseLost) as error:
        left = differing()
        if view is not None and is_settled(view, scope, left):
            return _untouched(known, view, delta)
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
        with WorkerPool(count) if large else InProcess(self._db.path) as extractor:
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
        shown = {file.path for file in self._known.files}
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
        return any(
            self._before.get(change.path) != (change.content, change.state) for change in changes
        )

    @cached_property
    def _before(self) -> dict[bytes, tuple[int | None, int]]:
        return {file.path: (file.content, file.state) for file in self._known.files}

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
        scope.key,
        scope.kind,
        scope.worktree,
        scope.branch,
        head=scope.head,
        index_id=scope.index_id,
    )
    return Refreshed(
        view, files, "partial", delta.checked, 0, pending, delta.unchecked, note,
        unlisted=delta.unlisted,
    )  # fmt: skip
