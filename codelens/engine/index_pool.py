"""Opens indexes and brings views up to date for all calls, within limits that calls share."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from codelens.config import Settings
from codelens.engine.background_work import Background
from codelens.engine.current_view import CurrentView, OpenRepository, ViewRequest, current_view
from codelens.engine.open_index import OpenIndex
from codelens.engine.upkeep import usage_counter
from codelens.engine.upkeep.view_survey import note_use
from codelens.errors import (
    BareRepository,
    CodelensError,
    DiskFull,
    HandleNotFound,
    HomeNotReadable,
    HomeNotWritable,
    IndexCorrupt,
    InvalidArgument,
    SettingError,
)
from codelens.scan.files_below import folders_kept_open
from codelens.scope.repository import Repository, Scope

_MAX_LIMIT = 1000
# A text or regex search may read every file; a call that waits for a fresh view waits for that.
_READ_S, _READ_BUDGETED_S = 30.0, 2.0
ANSWER_S = 0.6
"""CPU time of an answer without a budget whose uses are followed as far as time allows. The cost
of finding uses of a name grows with the repository, not with the call."""
_LEAST_USES_S = 0.3
"""Uses get at least this much time, even if the rest of the answer took all of `ANSWER_S`."""
_LEAST_SHARE = 0.2
"""Share of a budget for the walk if the freshness check used it up."""


def check_limit(limit: int, most: int = _MAX_LIMIT) -> None:
    """Check the number of results.

    Raises:
        InvalidArgument: it is out of range.
    """
    if not 1 <= limit <= most:
        raise InvalidArgument("limit", f"must be between 1 and {most:,}, not {limit:,}")


def seconds_to_read(budget_ms: float | None) -> float:
    """How long a call may work after the freshness check; longer if it waits for a fresh view."""
    return _READ_S if budget_ms is None else _READ_BUDGETED_S


def seconds_for_uses(budget_ms: float | None, started: float, worked_s: float) -> float:
    """CPU seconds for finding uses, once the rest of an answer is built; never zero.

    Args:
        budget_ms: from the caller.
        started: `time.monotonic` value at the start of the call.
        worked_s: CPU seconds that the answer took so far.
    """
    left = ANSWER_S - worked_s
    if budget_ms is not None:
        left = max(left, seconds_left(budget_ms, started))
    return max(left, _LEAST_USES_S)


def seconds_left(budget_ms: float | None, started: float) -> float:
    """Seconds for a walk: what the freshness check left of the budget, and at least a share.

    Args:
        budget_ms: from the caller.
        started: `time.monotonic` value at the start of the call.
    """
    if budget_ms is None:
        return seconds_to_read(None)
    seconds = budget_ms / 1000
    return max(seconds - (time.monotonic() - started), seconds * _LEAST_SHARE)


# Every call: determine the scope, check freshness, open the index.

logger = logging.getLogger(__name__)

_HEAD_TRIES = 3


class IndexPool:
    """The open indexes of any number of repositories; calls on one repository take turns.

    Args:
        settings: location and content of the indexes.
        keep_going: finish in the background the work that exceeded a budget; for servers.
        on_question: called with the root of each worktree that a call is about.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        keep_going: bool = False,
        on_question: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self._on_question = on_question
        self._indexes: dict[Path, OpenIndex] = {}
        self._lock = threading.Lock()
        self.background = Background(settings, self.indexes) if keep_going else None
        if self.background is not None:
            self.background.start()

    def close(self) -> None:
        """Close the open indexes and abandon background work."""
        if self.background is not None:
            self.background.stop()
        with self._lock:
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()

    def indexes(self) -> list[OpenIndex]:
        """The indexes that are open now."""
        with self._lock:
            return list(self._indexes.values())

    def open(self, path: str | Path, ref: str | None) -> OpenRepository:
        """The repository that contains a path; nothing is read or written yet.

        Raises:
            ScopeError: `path` or `ref` cannot be served.
            SettingError: the ref is empty.
        """
        if ref is not None and not ref.strip():
            raise SettingError("the ref is empty; name a branch, tag or commit, or omit it")
        repository = Repository.at(path)
        scope = repository.scope(ref)
        usage_counter.record_scope(scope)
        return OpenRepository(repository, scope, self._index(scope), self.settings)

    def open_any(self, path: str | Path) -> OpenRepository:
        """Like `open`, but also for a bare repository, for calls that need no view.

        Raises:
            ScopeError: `path` cannot be served.
        """
        try:
            return self.open(path, None)
        except BareRepository:
            return self.open(path, "HEAD")

    @contextmanager
    def view(self, request: ViewRequest) -> Generator[CurrentView]:
        """The up-to-date view of a request; its index is locked in the block.

        Raises:
            ScopeError: the path or ref cannot be served.
            StoreError: the index cannot be used.
        """
        opened = self.open(request.path, request.ref)
        index, background = opened.index, self.background
        first = background.pausing() if background is not None else nullcontext()
        rest = background is not None
        with index.lock, index.mended(), index.for_a_question(), first, folders_kept_open():
            try:
                view = current_view(opened, request, leaves_rest=rest)
            except IndexCorrupt as error:
                logger.warning("%s", error)
                index.set_aside()
                view = current_view(opened, request, leaves_rest=rest)
            except (DiskFull, HomeNotReadable, HomeNotWritable) as error:
                index.stand_in(error)
                view = current_view(opened, request, leaves_rest=rest)
            view = _reread_if_moved(view, request, leaves_rest=rest)
            if index.standing_in:
                note = f"answered from memory: {index.standing_in}"
                view.refreshed = view.refreshed._replace(note=note)
            if view.refreshed.status == "partial" and background is not None:
                progress = background.finish(opened.repository.place.root, request.ref)
                if view.refreshed.unlisted:
                    progress = f"{progress}; {view.refreshed.note}"
                view.refreshed = view.refreshed._replace(note=progress)
            try:
                yield view
            except CodelensError as error:
                raise _with_receipt(error, view) from error.__cause__
            finally:
                opened.repository.release()
            note_use(view)
        if self._on_question is not None and opened.scope.kind == "worktree":
            self._on_question(opened.repository.place.root)

    def refresh_separately(self, opened: OpenRepository, request: ViewRequest) -> None:
        """Bring a view up to date on a separate connection, so that other calls do not wait.

        Raises:
            StoreError: the index cannot be used.
        """
        index = OpenIndex(self.settings, opened.scope)
        try:
            with index.mended(), folders_kept_open():
                current_view(replace(opened, index=index), request)
        finally:
            index.close()

    @contextmanager
    def closed(self, file: Path) -> Generator[None]:
        """Keep an index file closed in this pool."""
        with self._lock:
            index = self._indexes.get(file)
        with index.lock if index is not None else nullcontext():
            if index is not None:
                index.close()
            yield

    def _index(self, scope: Scope) -> OpenIndex:
        with self._lock:
            file = OpenIndex.file_of(self.settings, scope)
            index = self._indexes.get(file)
            if index is None:
                watches = self.background is not None
                index = self._indexes[file] = OpenIndex(self.settings, scope, watches=watches)
            return index


def _with_receipt(error: CodelensError, view: CurrentView) -> CodelensError:
    """The error with a receipt; while files are unread, it does not say that a handle is gone."""
    unread = view.refreshed.unread
    if unread and isinstance(error, HandleNotFound):
        error = error.while_reading(unread)
    error.receipt = view.receipt()
    return error


def _reread_if_moved(view: CurrentView, request: ViewRequest, *, leaves_rest: bool) -> CurrentView:
    """The view, read again if HEAD moved meanwhile: a receipt must not name another tree."""
    for _ in range(_HEAD_TRIES):
        opened = view.opened.at(request.ref)
        if opened.scope == view.scope:
            return view
        view = current_view(opened, request, leaves_rest=leaves_rest)
    note = "HEAD moved during the freshness check; ask again"
    view.refreshed = view.refreshed._replace(status="partial", note=note)
    return view
