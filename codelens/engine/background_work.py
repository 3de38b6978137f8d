"""Runs a server's background work: finishes what exceeded a call's budget, and prunes indexes.

One thread, one job per worktree at a time, on its own connection; it stops with the server. It
prunes indexes soon after the start and then every six hours, and maintains them and the server's
memory every minute. It works in small steps and gives way to calls.

glibc keeps freed memory for reuse, and gives each thread its own arena, so a server that answers on
many threads would hold the peak memory of all of them. With other C libraries, this module does
nothing about memory.

Some objects refer to each other in a circle. Python frees these when it looks for them, which the
server's thresholds leave to this module (`cli/main.py`).
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codelens.config import Settings
from codelens.engine.open_index import OpenIndex
from codelens.errors import CodelensError, IndexLocked, LeaseLost, StoreError
from codelens.index.ref_view import refresh_ref
from codelens.index.view_refresh import refresh
from codelens.index.view_update import Budget
from codelens.scope.repository import Repository
from codelens.store.database.database import LARGEST_LOG_BYTES
from codelens.store.database.database_opening import open_index
from codelens.store.database.database_recovery import FileState, state_of
from codelens.store.views import garbage_collection

if TYPE_CHECKING:
    import ctypes

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_ARENAS = 2
"""Few arenas suffice: Python's own lock rarely lets threads allocate at the same time."""
_OWN_PAGES_BYTES = 1 << 18
"""Blocks of this size get their own pages, which are returned when freed. By default, glibc raises
this to the largest freed block, up to 32 MB, and later blocks would be mixed with lasting ones."""


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    # Imported late: only servers need it.
    import ctypes

    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def limit_arenas() -> None:
    """Make threads that start later share arenas."""
    library = _library()
    if library is not None:
        library.mallopt(_M_ARENA_MAX, _ARENAS)
        library.mallopt(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)


def give_memory_back() -> None:
    """Return free pages to the system; takes some milliseconds."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


_BUSY_TENDS = 10
"""A server that is never idle frees all cycles this often: a call that finds objects in use makes
them old, and what it leaves of them would stay (50 MiB in 14,000 calls of `benchmarks/soak.py`)."""
_YOUNG, _ALL = 1, 2
_FEW_NEW = 5_000
"""With fewer new objects since a search of all, another search of all finds nothing."""


def free_new_cycles() -> None:
    """Free the cycles among objects made since the last search: takes some milliseconds.

    Call it while no question is under way: a search that finds objects in use counts them as old.
    Python's own count of new objects says little: each old object that is freed lowers it.
    """
    gc.collect(_YOUNG)


def free_all_cycles() -> None:
    """Free the cycles among all objects: takes 50 ms, or a second with a kernel open."""
    new, *searches = gc.get_count()
    if new > _FEW_NEW or any(searches):
        gc.collect(_ALL)


# The upkeep of a server each minute, when no call is waiting.
#
# It removes texts that no view needs once they are due, truncates a long log, and returns free
# pages to the system. If several servers have one index open, the first one does this; the others
# see that no view has changed since.

logger = logging.getLogger(__name__)

Rest = Callable[[], bool]


class _Seen(NamedTuple):
    """The state of an index after its last upkeep here."""

    file: FileState | None
    log: FileState | None
    views: tuple[int, ...]


class ServerUpkeep:
    """Maintains the indexes that a server has open.

    Args:
        indexes: returns them.
    """

    def __init__(self, indexes: Callable[[], list[OpenIndex]]) -> None:
        self._indexes = indexes
        self._seen: dict[Path, _Seen] = {}
        self._busy_tends = 0

    def tend(self, rest: Rest, *, idle: bool, collects: bool = True) -> None:
        """Do the upkeep that is due; fast if nothing changed.

        Args:
            rest: called between steps; may wait, and returns whether to go on.
            idle: there were no calls for a while: page caches and all cycles are freed, too.
            collects: texts that no view needs may be removed.
        """
        for index in self._indexes():
            if not rest():
                break
            try:
                self._tend_index(index.path, rest, collects=collects)
                if idle:
                    index.shrink()
            except (IndexLocked, LeaseLost) as error:
                logger.debug("upkeep of %s is postponed: %s", index.path, error)
            except StoreError as error:
                # The next call will report it.
                logger.info("upkeep of %s failed: %s", index.path, error)
        self._busy_tends = 0 if idle else self._busy_tends + 1
        if self._busy_tends % _BUSY_TENDS == 0:
            free_all_cycles()
        give_memory_back()

    def _tend_index(self, path: Path, rest: Rest, *, collects: bool) -> None:
        seen = self._seen.get(path)
        files = _files(path)
        if files[0] is None or (seen is not None and files == seen[:2] and not _is_long(files[1])):
            return
        with closing(open_index(path)) as db:
            views = garbage_collection.views_state(db)
            is_unchanged = seen is not None and views == seen.views
            if collects and (not is_unchanged or garbage_collection.is_due(db)):
                garbage_collection.collect(db, rest)
            if _is_long(_files(path)[1]):
                db.truncate_log()
            # Marked data becomes due even if nothing changes the file.
            waits = garbage_collection.waiting(db) > 0
        file, log = _files(path)
        self._seen[path] = _Seen(None if waits else file, log, views)


def _files(path: Path) -> tuple[FileState | None, FileState | None]:
    return state_of(path), state_of(path.with_name(f"{path.name}-wal"))


def _is_long(log: FileState | None) -> bool:
    return log is not None and log.size > LARGEST_LOG_BYTES


# The queue of views to bring up to date, and the thread that works on it.

_Job = tuple[str, str | None]

_FIRST_PRUNE_S = 10.0
_PRUNE_EVERY_S = 6 * 3600.0
_AGAIN_S = 60.0
_TEND_EVERY_S = 60.0
_FREE_EVERY_S = 2.0
_IDLE_S = 30.0
"""Seconds without a call after which pages of indexes are dropped from memory."""
_PAUSE_S = 0.05
_GIVES_WAY_S = 1.0
"""Maximum seconds that each step waits for calls: a steady series of them must not starve it."""


class Background:
    """A queue of scopes to bring up to date, without duplicates.

    Args:
        settings: the server's.
        indexes: returns the open indexes.
    """

    def __init__(self, settings: Settings, indexes: Callable[[], list[OpenIndex]]) -> None:
        self._settings = settings
        self._upkeep = ServerUpkeep(indexes)
        self._jobs: dict[_Job, None] = {}
        self._wake = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._asking = 0
        self._stage = ""
        self._done = (0, 0)
        self._prune_at = time.monotonic() + _FIRST_PRUNE_S
        self._tend_at = time.monotonic() + _TEND_EVERY_S
        self._asked_at = time.monotonic()
        self._free_at = 0.0

    def start(self) -> None:
        """Start the upkeep of the indexes."""
        with self._wake:
            self._ensure_thread()

    def finish(self, root: str, ref: str | None) -> str:
        """Queue an update of the view of a worktree or ref; returns its progress in words."""
        with self._wake:
            self._jobs.setdefault((root, ref))
            self._ensure_thread()
            self._wake.notify_all()
            done, total = self._done if next(iter(self._jobs)) == (root, ref) else (0, 0)
            stage = self._stage
        so_far = f", {stage} {done:,} of {total:,} files" if total else ""
        return f"this server is indexing the rest in the background{so_far}"

    @contextmanager
    def pausing(self) -> Generator[None]:
        """Make background work wait while the block answers a call.

        First frees what earlier calls left; the caller has the lock of the index.
        """
        if time.monotonic() > self._free_at:
            free_new_cycles()
            self._free_at = time.monotonic() + _FREE_EVERY_S
        with self._wake:
            self._asking += 1
        try:
            yield
        finally:
            with self._wake:
                self._asking -= 1
                self._asked_at = time.monotonic()
                self._wake.notify_all()

    def _report(self, stage: str, done: int, total: int) -> None:
        """Record the progress of the work, and let calls go first."""
        self._stage, self._done = stage, (done, total)
        with self._wake:
            self._wake.wait_for(lambda: not self._asking or self._stopping, _GIVES_WAY_S)

    def stop(self) -> None:
        """Accept no more jobs."""
        with self._wake:
            self._stopping = True
            self._jobs.clear()
            self._wake.notify()

    def _ensure_thread(self) -> None:
        if self._thread is None:
            # A daemon: the process ends with its client, and contents are stored in batches.
            self._thread = threading.Thread(target=self._run, name="codelens-index", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        # Only threads that start after this share arenas.
        limit_arenas()
        while True:
            with self._wake:
                while not self._jobs and not self._stopping:
                    left = min(self._prune_at, self._tend_at) - time.monotonic()
                    if left <= 0:
                        break
                    self._wake.wait(left)
                if self._stopping:
                    return
                job = next(iter(self._jobs), None)
            if job is None:
                if self._prune_at <= time.monotonic():
                    self._prune()
                else:
                    self._maintain()
                continue
            try:
                self._run_job(job)
            except CodelensError as error:
                logger.warning("indexing %s in the background failed: %s", job[0], error)
            except Exception:
                logger.exception("indexing %s in the background failed", job[0])
            with self._wake:
                self._jobs.pop(job, None)
                self._done = (0, 0)

    def _prune(self) -> None:
        from codelens.engine.upkeep import pruning, view_survey

        try:
            # Only valid settings say what must be kept.
            if self._settings.damage:
                return
            limits = view_survey.limits_of(self._settings)
            pruning.prune(
                self._settings.home, limits, rest=self._pause, every_s=_PRUNE_EVERY_S - _AGAIN_S
            )
        except Exception:
            logger.exception("pruning in the background failed")
        finally:
            with self._wake:
                again_s = _AGAIN_S if self._jobs else _PRUNE_EVERY_S
            self._prune_at = time.monotonic() + again_s

    def _maintain(self) -> None:
        try:
            idle = not self._asking and time.monotonic() - self._asked_at > _IDLE_S
            # Only valid settings say what may be removed.
            self._upkeep.tend(self._pause, idle=idle, collects=not self._settings.damage)
        except Exception:
            logger.exception("upkeep in the background failed")
        finally:
            self._tend_at = time.monotonic() + _TEND_EVERY_S

    def _pause(self) -> bool:
        """Pause; returns whether to go on."""
        with self._wake:
            self._wake.wait(_PAUSE_S)
            return not self._jobs and not self._stopping

    def _run_job(self, job: _Job) -> None:
        root, ref = job
        repository = Repository.at(root)
        scope = repository.scope(ref)
        index = OpenIndex(self._settings, scope)
        try:
            bring = refresh_ref if ref else refresh
            budget = Budget(text_first=True)
            # This also sets a damaged index aside; the next call or job builds a new one.
            with index.mended():
                bring(
                    repository,
                    scope,
                    index.db,
                    self._settings,
                    budget=budget,
                    progress=self._report,
                )
        finally:
            index.close()
