"""Updates a view under the writer's lease, within a time budget that decides what comes first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from codelens.config import Settings
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.extract.language_detection import all_traits, extractor_version
from codelens.extract.text_scan import NOTHING_ASKED, Wanted
from codelens.index.ingestion import Ingest, Progress, path_facts
from codelens.index.text_facts import Source, Work
from codelens.index.worker_pool import LONG_LEAD, Extractor, InProcess, WorkerPool
from codelens.index.worktree_comparison import Delta, StoredView, load
from codelens.meaning import text_vectors
from codelens.meaning.word_table import shipped_version
from codelens.scope.repository import Scope
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents, postings
from codelens.store.views import views
from codelens.store.views.views import PENDING, Change, FileRow, ViewRow, ViewState
from codelens.types import Tier

FEW_FILES = 200
"""Maximum number of pending files that are read within the query's budget. If there are more, and
another process will finish the rest, only files that the query needs are read."""
_NO_DEADLINE_WAIT_S = 600.0
_LOOK_BUDGETS = 8
"""How many budgets the look at known files may take, because an answer needs most of them checked.
"""
_SCAN_BUDGETS, _EXTRACT_BUDGETS = 8, 2
"""How many of a server's budgets a question may spend on scanning and extracting the files that it
needs while a view is incomplete: an agent would rather wait four seconds once (8 times 500 ms) than
get no answer.
"""
_GIVEN_SHARE = 0.2
"""Share of a budget from the command line that extraction may take. If the look has used up the
budget, as much again goes to the files that it found.
"""


class Budget(NamedTuple):
    """How long a refresh may take, and what the question needs meanwhile."""

    deadline: float | None = None
    """`time.monotonic` value; None: no limit."""
    request: Wanted = NOTHING_ASKED
    """What a question needs: pending files that match it are read first."""
    look_until: float = 0.0
    """When to stop looking at known files (`time.monotonic`)."""
    scan_until: float = 0.0
    """When to stop scanning pending files for the request (`time.monotonic`)."""
    extract_s: float = 0.0
    """How long matching files may be extracted."""
    seconds: float = 0.0
    """The whole budget."""
    leaves_rest: bool = False
    """Whether something else finishes the work, so that of many pending files only the requested
    ones are read. True for a server's default budget; a budget from the command line is used in
    full.
    """
    then_others: bool = False
    """Whether files that the question does not name are read after those that it names."""
    many_s: float | None = None
    """Without a deadline: how long reading more than `FEW_FILES` files may take; None: no limit."""
    text_first: bool = False
    """Other processes search meanwhile, so a large first index stores all text before any
    structure."""

    @staticmethod
    def starting_now(
        budget_ms: float | None, request: Wanted = NOTHING_ASKED, *, leaves_rest: bool = False
    ) -> Budget:
        """A budget of `budget_ms` milliseconds from now; None: no deadline."""
        if budget_ms is None:
            return Budget(request=request)
        now, seconds = time.monotonic(), budget_ms / 1000
        scans, extracts = (_SCAN_BUDGETS, _EXTRACT_BUDGETS) if leaves_rest else (1, _GIVEN_SHARE)
        return Budget(
            now + seconds,
            request,
            now + _LOOK_BUDGETS * seconds,
            now + scans * seconds,
            extracts * seconds,
            seconds,
            leaves_rest,
        )

    def after_look(self) -> Budget:
        """The remaining budget after the look, which may have used up all of it.

        What the look found gets at least half of the full budget; a fifth on the command line.
        """
        if self.deadline is None:
            return self
        if not self.leaves_rest:
            least = max(self.deadline, time.monotonic() + _GIVEN_SHARE * self.seconds)
            return self._replace(deadline=least, scan_until=least)
        least = time.monotonic() + self.seconds / 2
        return self._replace(deadline=max(self.deadline, min(least, self.scan_until)))

    def for_works(self, count: int) -> Budget:
        """The budget for reading this many files, once the look has found them; see `many_s`."""
        if self.deadline is not None or self.many_s is None or count <= FEW_FILES:
            return self
        limited = Budget.starting_now(self.many_s * 1000, self.request)
        return limited._replace(then_others=self.then_others)

    def for_a_part(self) -> Budget:
        """The budget of a question that had no time to list all files.

        The answer is partial in any case, so nobody should wait long for it.
        """
        if self.deadline is None or not self.leaves_rest:
            return self
        return self._replace(scan_until=self.deadline + self.seconds, extract_s=self.seconds / 2)

    def has_no_time_for(self, pending: int) -> bool:
        """Whether to leave this many pending files to another process or to a later question.

        Storing their names alone takes seconds.
        """
        if self.deadline is None or pending <= FEW_FILES:
            return False
        return self.leaves_rest or time.monotonic() >= self.deadline

    def wait_s(self) -> float:
        """How long to wait for another writer."""
        if self.deadline is None:
            return _NO_DEADLINE_WAIT_S
        return max(0.0, self.deadline - time.monotonic())


# The result of a look.


class Refreshed(NamedTuple):
    """A view after a look, and the data for its receipt."""

    view: ViewRow
    files: list[FileRow]
    status: Literal["fresh", "partial", "unknown"]
    checked: int
    indexed: int
    pending: list[bytes]
    unchecked: int
    note: str
    cleared: frozenset[bytes] = frozenset()
    """Pending files that were scanned and do not match the question."""
    unlisted: int = 0
    """The number of folders not listed for lack of time."""

    @property
    def unread(self) -> int:
        """The number of pending files that may match: not scanned, or not extracted in time."""
        return len(self.pending) - len(self.cleared.intersection(self.pending)) + self.unchecked


def untouched(stored_view: StoredView, view: ViewRow, delta: Delta) -> Refreshed:
    """The result if the look found no difference from the disk, as far as it went."""
    whole = view.complete and not delta.unchecked
    status: Literal["fresh", "partial"] = "fresh" if whole else "partial"
    return Refreshed(view, stored_view.files, status, delta.checked, 0, [], delta.unchecked, "")


def behind(stored_view: StoredView, scope: Scope, delta: Delta, note: str) -> Refreshed:
    """The result with the last committed state, and what it lacks."""
    gone = set(delta.gone)
    files = [file for file in stored_view.files if file.path not in gone]
    pending = [work.path for work in delta.works]
    view = stored_view.view or views.nothing_yet(
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


# Writes the differences that a look found into its view, under the writer's lease.
#
# Only new texts are extracted. A first view grows while others read it; a later change becomes
# visible in one transaction.

# A worker starts in .2 s, the time to extract half a megabyte. For gson (2.4 MB) two workers take
# 1.5 s and 2.3 s of CPU, this process 2.2 and 2.1.
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
    look: Callable[[StoredView], tuple[Delta, Source]],
    wait_s: float | None = None,
) -> Refreshed:
    """Bring a view to the state that `look` sees, under the writer's lease; create it if missing.

    It waits for another writer for `wait_s` seconds, or without `wait_s` for the whole budget.

    Raises:
        IndexLocked: another process held the lease for all of that time.
    """

    def waiting() -> None:
        # The writer shows its progress in the view each second.
        states = [file.state for file in load(db, scope).files]
        progress("waiting for another process", len(states) - states.count(PENDING), len(states))

    longest_s = budget.wait_s() if wait_s is None else wait_s
    with writer_lease.held(db, longest_s, waiting=waiting) as lease:
        stored_view = load(db, scope)
        if stored_view.view is None:
            views.create_view(
                db, lease, scope.key, scope.kind, worktree=scope.worktree, branch=scope.branch,
                head=scope.head, index_id=scope.index_id,
            )  # fmt: skip
            stored_view = load(db, scope)
        delta, source = look(stored_view)
        return _Update(
            scope, db, lease, settings,
            budget=budget, progress=progress, stored_view=stored_view, delta=delta, source=source,
        ).run()  # fmt: skip


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
        stored_view: StoredView,
        delta: Delta,
        source: Source,
    ) -> None:
        assert stored_view.view is not None
        self._scope = scope
        self._db = db
        self._lease = lease
        self._settings = settings
        self._budget = budget
        self._progress = progress
        self._view = stored_view.view
        self._known = stored_view
        self._delta = delta
        self._source = source
        self._extracted = 0

    def run(self) -> Refreshed:
        delta = self._delta
        works = [*delta.works, *self._outdated()]
        large = self._large(works)
        if self._view.generation == 0 and (large or self._budget.deadline is not None):
            # Show the paths first: they can be searched before any text is read.
            self._apply([_pending(work) for work in works], delta.gone, complete=False)
        count = self._settings.worker_count()
        lead = LONG_LEAD if self._budget.deadline is None else 0
        with WorkerPool(count, lead=lead) if large else InProcess(self._db.path) as extractor:
            if not self._view.complete and large and self._budget.text_first:
                self._pass(works, extractor, "text")
            left = self._pass(works, extractor, "full")
        complete = not left and not delta.unchecked
        if complete and not text_vectors.has_vectors(self._view):
            text_vectors.roll_forward(self._db, self._lease, self._view.id, self._budget.deadline)
        return self._result([work.path for work in left], complete)

    def _pass(self, works: list[Work], extractor: Extractor, tier: Tier) -> list[Work]:
        """Ingest works and show them in the view; return those that there was no time for.

        A first view grows while others read it; a later change becomes visible in one transaction.
        """
        growing = not self._view.complete
        ingest = Ingest(
            self._db,
            self._lease,
            self._source,
            extractor,
            tier=tier,
            languages=self._settings.languages,
            deadline=self._budget.deadline,
            progress=self._progress,
            grown=self._grow if growing else None,
        )
        ingest.sibling = self._sibling()
        done = ingest.run(works)
        self._extracted += done.extracted
        shown = self._known.rows_of({work.path for work in done.left})
        changes = [
            *done.changes,
            *(_pending(work) for work in done.left if work.path not in shown),
        ]
        complete = tier == "full" and not done.left and not self._delta.unchecked
        self._apply(changes, [*self._delta.gone, *done.dropped], complete=complete)
        return done.left

    def _sibling(self) -> int:
        if not any(work.oid for work in self._delta.works):
            return 0
        key = self._settings.membership_key()
        return views.sibling_of(self._db, self._view.id, EXTRACTOR_VERSION, key)

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
        sizes = [
            max(work.size_bytes, _LEAST_BYTES)
            for work in works
            if work.oid not in seen and work.size_bytes <= self._source.limit
        ]
        is_large = sum(sizes) > _POOL_BYTES and len(sizes) > _POOL_FILES
        return is_large and self._budget.deadline is None and self._settings.worker_count() > 1

    def _apply(self, changes: list[Change], drop: Sequence[bytes], *, complete: bool) -> None:
        delta, scope = self._delta, self._scope
        paths = {change.path for change in changes}
        # While somebody changes the tree, a path may be removed and then added again.
        gone = [path for path in dict.fromkeys(drop) if path not in paths]
        # All files of a new view are read by this extractor.
        is_new = self._view.generation == 0
        state = ViewState(
            scope.head, scope.index_id, delta.membership, delta.sources, delta.notes,
            EXTRACTOR_VERSION if complete or is_new else self._view.extractor, complete,
            shipped_version(),
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
                # Folders are stored with the last change; earlier, the view would claim to have all
                # of their files.
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
        stored_view = load(self._db, self._scope)
        assert stored_view.view is not None
        pending = sorted(
            {*left, *(file.path for file in stored_view.files if file.state == PENDING)}
        )
        return Refreshed(
            stored_view.view,
            stored_view.files,
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
    """Version of this codelens's extractor for each language of a view that it supports."""
    supported = all_traits()
    named = [name for name, _ in views.languages_of(db, view.id)]
    return {name: extractor_version(name) for name in named if name in supported}
