"""How long a refresh may take, and what goes first while it lasts."""

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
from codelens.index.worktree_comparison import Delta, Known, load
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
"""So many pending files are brought up to date in the budget of the question that met them; of
more, only those that it needs, where somebody else finishes."""
_NO_DEADLINE_WAIT_S = 600.0
_LOOK_BUDGETS = 8
"""Budgets that a look at known files may take: with half of them unseen nothing could be said."""
_SCAN_BUDGETS, _EXTRACT_BUDGETS = 8, 2
"""Budgets that a question's own needs may take of a server while a view is not complete: an agent
would rather wait four seconds once, at most, than be told that nothing can be said."""
_GIVEN_SHARE = 0.2
"""Of a budget that a person gave: what scanning and extracting may take beyond it, each, when the
look took all of it."""


class Budget(NamedTuple):
    """How long a refresh may take, and what is asked meanwhile."""

    deadline: float | None = None
    """`time.monotonic` value; None: to the end."""
    request: Wanted = NOTHING_ASKED
    """What a question needs: pending files that hold it are read before all others."""
    look_until: float = 0.0
    """Till when files that are known are looked at, likewise."""
    scan_until: float = 0.0
    """Till when pending files are scanned for it."""
    extract_s: float = 0.0
    """How long those that hold it may be extracted."""
    seconds: float = 0.0
    """All of it."""
    leaves_rest: bool = False
    """Somebody else finishes: of many pending files only those that are asked for are read. A
    server's own budget is like that; one that was given on the command line holds."""
    text_first: bool = False
    """Somebody searches meanwhile: a large first index stores all text before any structure."""

    @staticmethod
    def starting_now(
        budget_ms: float | None, request: Wanted = NOTHING_ASKED, *, leaves_rest: bool = False
    ) -> Budget:
        """A budget of so many milliseconds from now; None: no deadline."""
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
        """The budget once the look is over, which may have taken longer than all of it.

        What the look met gets half of the time that there was in any case; a fifth on the command
        line.
        """
        if self.deadline is None:
            return self
        if not self.leaves_rest:
            least = max(self.deadline, time.monotonic() + _GIVEN_SHARE * self.seconds)
            return self._replace(deadline=least, scan_until=least)
        least = time.monotonic() + self.seconds / 2
        return self._replace(deadline=max(self.deadline, min(least, self.scan_until)))

    def for_a_part(self) -> Budget:
        """The budget of a question that had no time to learn which files there are.

        The answer is a part of what there is in any case, so nobody waits long for it.
        """
        if self.deadline is None or not self.leaves_rest:
            return self
        return self._replace(scan_until=self.deadline + self.seconds, extract_s=self.seconds / 2)

    def has_no_time_for(self, pending: int) -> bool:
        """Whether so many pending files are left to others, or to a question with more time.

        To write their names down alone takes seconds.
        """
        if self.deadline is None or pending <= FEW_FILES:
            return False
        return self.leaves_rest or time.monotonic() >= self.deadline

    def wait_s(self) -> float:
        """How long another writer may be waited for."""
        if self.deadline is None:
            return _NO_DEADLINE_WAIT_S
        return max(0.0, self.deadline - time.monotonic())


# A view after a look, and what the receipt says of it.


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


def untouched(known: Known, view: ViewRow, delta: Delta) -> Refreshed:
    """A view that the look found as it is on disk, as far as it went."""
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


# Writes what a look found into its view, under the writer's lease.
#
# Only texts never seen are extracted. A first view grows while readers watch; a later change shows
# whole or not at all.

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
        if complete and not text_vectors.has_vectors(self._view):
            text_vectors.roll_forward(self._db, self._lease, self._view.id, self._budget.deadline)
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
