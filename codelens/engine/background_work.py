"""Runs a server's background work: finishes what exceeded a call's budget, and prunes indexes.

One thread, one job per worktree at a time, on its own connection; it stops with the server. It
prunes indexes soon after the start and then every six hours, and maintains them every minute
(`engine/upkeep/server_upkeep.py`). It works in small steps and gives way to calls.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from codelens.config import Settings
from codelens.engine.open_index import OpenIndex
from codelens.errors import CodelensError
from codelens.index.ref_view import refresh_ref
from codelens.index.view_refresh import refresh
from codelens.index.view_update import Budget
from codelens.scope.repository import Repository

if TYPE_CHECKING:
    from codelens.engine.upkeep.server_upkeep import ServerUpkeep

logger = logging.getLogger(__name__)

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
        self._indexes = indexes
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
            from codelens.engine.upkeep import server_upkeep

            server_upkeep.free_new_cycles()
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
        from codelens.engine.upkeep import server_upkeep

        # Only threads that start after this share arenas.
        server_upkeep.limit_arenas()
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

    @cached_property
    def _upkeep(self) -> ServerUpkeep:
        # Imported late, so that a server answers its first call sooner.
        from codelens.engine.upkeep import server_upkeep

        return server_upkeep.ServerUpkeep(self._indexes)

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
