"""An open index of one repository, with a fair lock for calls from several threads.

Waiting calls take turns by kind: with a hundred slow searches queued, an outline waits for one.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.cancellation import check_cancelled, current_call
from codelens.config import Settings
from codelens.errors import CodelensError, IndexCorrupt, SettingError, StoreError
from codelens.paths import index_file
from codelens.scope.repository import Scope
from codelens.store.database import database_opening, writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_in_memory, open_index
from codelens.store.database.database_recovery import identity_of, set_aside
from codelens.store.views import views
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow, ViewRow

if TYPE_CHECKING:
    from codelens.scan.watched_tree import WatchedTree


class FairTurns:
    """Like a `threading.RLock`: a thread that holds it may acquire it again."""

    def __init__(self) -> None:
        self._state = threading.Lock()
        self._holder: int | None = None
        self._depth = 0
        self._waiting: dict[str, deque[_Ticket]] = {}
        """By kind; the kind whose turn is next comes first."""

    def __enter__(self) -> FairTurns:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def waiting(self) -> int:
        """The number of waiting threads."""
        with self._state:
            return sum(map(len, self._waiting.values()))

    def acquire(self) -> None:
        """Wait for a turn.

        Raises:
            CallCancelled: the thread's call was cancelled meanwhile.
        """
        me = threading.get_ident()
        call = current_call()
        with self._state:
            if self._holder in (None, me):
                # If nobody holds the lock, nobody waits: `release` passes it on.
                self._holder = me
                self._depth += 1
                return
            ticket = _Ticket(me)
            self._waiting.setdefault(call.kind, deque()).append(ticket)
        try:
            with call.telling(ticket.woken.set):
                ticket.woken.wait()
            check_cancelled()
        except BaseException:
            self._give_up(call.kind, ticket)
            raise

    def release(self) -> None:
        """End a turn and pass it to the next waiting thread."""
        with self._state:
            if self._holder != threading.get_ident():
                raise RuntimeError("released by a thread that does not hold it")
            self._depth -= 1
            if not self._depth:
                self._pass_on()

    def _pass_on(self) -> None:
        kind = next(iter(self._waiting), None)
        if kind is None:
            self._holder = None
            return
        queue = self._waiting.pop(kind)
        ticket = queue.popleft()
        if queue:
            # This kind goes behind all others.
            self._waiting[kind] = queue
        self._holder, self._depth = ticket.thread, 1
        ticket.woken.set()

    def _give_up(self, kind: str, ticket: _Ticket) -> None:
        with self._state:
            queue = self._waiting.get(kind)
            if queue is not None and ticket in queue:
                queue.remove(ticket)
                if not queue:
                    del self._waiting[kind]
                return
            # It was passed to this thread, which no longer needs it.
            self._depth = 0
            self._pass_on()


class _Ticket:
    """A thread's place in a queue."""

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.woken = threading.Event()


# The open index of one repository, with its lock.

logger = logging.getLogger(__name__)

_SERVERS_PAGES_KB = 8_000
"""Page cache of a server; calls took as much CPU with 16 MB as with 32 MB."""
_TRY_AGAIN_S = 60.0
_MOST_WATCHED = 4
"""Maximum watched worktrees of a repository; each takes one of a user's 128 watches."""


class OpenIndex:
    """An open index. Hold `lock` during every use.

    Args:
        settings: has its location.
        scope: a scope of its repository.
        watches: whether to watch worktrees that are used repeatedly; for servers.
    """

    def __init__(self, settings: Settings, scope: Scope, *, watches: bool = False) -> None:
        _refuse_home_inside(settings.home, scope.root)
        self.path = self.file_of(settings, scope)
        self.lock = FairTurns()
        self._db: Database | None = None
        self._snapshot: Snapshot | None = None
        self._why = ""
        self._try_again = 0.0
        self._watches = watches
        self._watched: dict[str, WatchedTree] = {}
        self._in_question = self._is_settled = False

    @staticmethod
    def file_of(settings: Settings, scope: Scope) -> Path:
        """The index file of a scope's repository."""
        return index_file(settings.home, scope.repo_id)

    @property
    def db(self) -> Database:
        """The database, opened on first use, and reopened if the file was replaced.

        It is also reopened, and so verified, if something else wrote to it, such as `cp` of an
        older copy. During a call it never changes; see `for_a_question`.
        """
        db = self._db
        if db is not None and not (self._is_settled or db.is_reading or db.is_as_left()):
            self.close()
        if self.standing_in and time.monotonic() > self._try_again:
            self._try_the_file()
        if self._db is None:
            self._db = open_index(self.path)
            if self._watches:
                self._db.hold_pages(_SERVERS_PAGES_KB)
        self._is_settled = self._in_question
        return self._db

    @property
    def standing_in(self) -> str:
        """Why answers come from memory; empty if they come from the index."""
        return self._why if self._db is not None and self._db.identity is None else ""

    def _try_the_file(self) -> None:
        self._try_again = time.monotonic() + _TRY_AGAIN_S
        try:
            opened = open_index(self.path)
            writer_lease.acquire(opened, 0.0).release(opened)
        except StoreError as error:
            logger.debug("still answering from memory: %s", error)
            return
        self.close()
        self._db = opened

    def snapshot(self, view: ViewRow, files: list[FileRow]) -> Snapshot:
        """A snapshot; the last one, with its caches, is reused while nothing changes."""
        last = self._snapshot
        same = last is not None and (last.row.id, last.row.generation) == (view.id, view.generation)
        if last is None or not same or last.files is not files:
            db = self.db
            follows = last is not None and last.row.id == view.id
            last = last.after(db, view, files) if last and follows else Snapshot(db, view, files)
            self._snapshot = last
        return last

    def watched(self, scope: Scope) -> WatchedTree | None:
        """The watch of a worktree since the last call about it; None if it is not watched."""
        if not self._watches:
            return None
        from codelens.scan.watched_tree import WatchedTree

        tree = self._watched.pop(scope.root, None) or WatchedTree(os.fsencode(scope.root))
        self._watched[scope.root] = tree
        if len(self._watched) > _MOST_WATCHED:
            self._watched.pop(next(iter(self._watched))).close()
        return tree

    def watch_of(self, scope: Scope) -> str:
        """The state of a worktree's watch, in a few words; empty if watching was not tried."""
        tree = self._watched.get(scope.root) if scope.kind != "ref" else None
        return tree.state if tree is not None else ""

    def views(self) -> list[ViewRow]:
        """Every view of this repository."""
        return views.all_views(self.db)

    @contextmanager
    def mended(self) -> Generator[None]:
        """Set the index aside if the block finds it damaged; the next call builds a new one.

        Raises:
            IndexCorrupt: raised by the body; the damaged file was set aside.
        """
        try:
            yield
        except IndexCorrupt:
            self.set_aside()
            raise
        except CodelensError:
            raise
        except Exception as error:
            # Imported late: only an error needs it.
            from codelens.engine.upkeep.index_decoding import fault_behind

            fault = fault_behind(self._db, error) if self._db is not None else ""
            if not fault:
                raise
            self.set_aside()
            raise IndexCorrupt(self.path, fault) from error

    @contextmanager
    def for_a_question(self) -> Generator[None]:
        """Until the end of the block, ignore that another file replaced the index.

        Snapshots and rows of a call belong to the database that it started with: closing that
        would fail the call.
        """
        outer, self._in_question = self._in_question, True
        try:
            yield
        finally:
            self._in_question = outer
            self._is_settled = self._is_settled and outer

    def set_aside(self) -> None:
        """Move a damaged index to another name, and start with an empty one on the next call.

        If several processes find the damage, one sets the index aside, and the others open its new
        one.

        Raises:
            SchemaTooNew: it is not damaged; a newer codelens has migrated it.
        """
        if self._db is not None:
            with suppress(IndexCorrupt):
                self._db.refuse_newer_schema()
        identity = self._db.identity if self._db is not None else identity_of(self.path)
        self.close()
        aside = set_aside(self.path, identity)
        if aside is not None:
            logger.warning("the damaged index was kept as %s", aside)

    def stand_in(self, error: StoreError) -> None:
        """Answer from a copy in memory for as long as the index cannot be written.

        Raises:
            StoreError: `error`, if the copy cannot be made either.
        """
        if self.standing_in:
            raise error
        self.close()
        try:
            self._db = open_in_memory(self.path)
        except StoreError as other:
            raise error from other
        self._why = str(error)
        self._try_again = time.monotonic() + _TRY_AGAIN_S

    def shrink(self) -> None:
        """Free the page cache; the next call fills it again."""
        with self.lock:
            if self._db is not None:
                self._db.shrink()

    def rebuild(self) -> None:
        """Start with an empty index; processes that have the old one open no longer use it.

        Raises:
            IndexLocked: another process was writing for too long.
        """
        try:
            if not database_opening.remove_file(self.db):
                database_opening.retire(self.db)
        except IndexCorrupt:
            self.set_aside()
        self.close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self.lock:
            if self._db is not None:
                self._db.close()
            self._db = None
            self._snapshot = None
            for tree in self._watched.values():
                tree.close()
            self._watched.clear()


def _refuse_home_inside(home: Path, root: str) -> None:
    real = os.path.realpath(home)
    top = os.path.realpath(root)
    if real == top or real.startswith(top.rstrip(os.sep) + os.sep):
        raise SettingError(
            f"CODELENS_HOME ({real!r}) is inside {top!r}; an index must not be inside "
            "what it indexes: set CODELENS_HOME to another folder"
        )
