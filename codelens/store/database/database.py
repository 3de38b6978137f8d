"""Errors of SQLite, as apsw raises them, as errors of ours that say what to do."""

# apsw's stubs leave the types of bindings, pragmas and errors open.
# pyright: reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import apsw

from codelens.cancellation import check_cancelled
from codelens.errors import (
    CodelensError,
    DiskFull,
    HomeNotWritable,
    IndexCorrupt,
    IndexLocked,
    StoreError,
)
from codelens.paths import NO_ROOM, barred
from codelens.store.database import database_file, database_recovery
from codelens.store.database.database_file import connection_rollback
from codelens.store.database.database_recovery import HOLDER

_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

_DAMAGE = {apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ}

# A full disk shows as these where the write-ahead log or its index is grown.
_FULL = {
    apsw.SQLITE_IOERR_SHMSIZE,
    apsw.SQLITE_IOERR_SHMMAP,
    apsw.SQLITE_IOERR_SHMOPEN,
    apsw.SQLITE_IOERR_WRITE,
    apsw.SQLITE_IOERR_TRUNCATE,
}


@contextmanager
def translated(path: Path) -> Generator[None]:  # noqa: C901, PLR0912 - a line an error
    """Errors of apsw as `StoreError`s that say what to do."""
    try:
        yield
    except CodelensError:
        raise
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise IndexCorrupt(path, str(error)) from error
    except apsw.SQLError as error:
        if str(error).startswith(("no such table", "no such column")):
            raise IndexCorrupt(path, str(error)) from error
        raise
    except apsw.ConstraintError as error:
        # No transaction asks for it, so the data it found cannot be; what is saved is not given up.
        if "FOREIGN KEY" in str(error) and path.name.startswith("index"):
            raise IndexCorrupt(path, "a row refers to one that is not there") from error
        raise _failed(path, error) from error
    except apsw.FullError as error:
        raise DiskFull(path) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise barred(path) or HomeNotWritable(path, str(error)) from error
    except (apsw.BusyError, apsw.ProtocolError) as error:
        raise IndexLocked(path, "another process") from error
    except apsw.IOError as error:
        if error.extendedresult in _DAMAGE:
            raise IndexCorrupt(path, "a page's checksum is wrong, or it is cut short") from error
        if error.extendedresult in _FULL:
            raise DiskFull(path) from error
        raise StoreError(f"cannot read or write {str(path)!r}: {error}; try again") from error
    except UnicodeDecodeError as error:
        raise IndexCorrupt(path, f"text that is not UTF-8: {error.reason}") from error
    except apsw.Error as error:
        raise _failed(path, error) from error
    except TimeoutError as error:
        raise IndexLocked(path, HOLDER) from error
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(path) from error
        if error.errno in _NOT_ALLOWED:
            why = error.strerror or str(error)
            raise barred(path) or HomeNotWritable(path, why) from error
        raise


def _failed(path: Path, error: apsw.Error) -> StoreError:
    return StoreError(
        f"the index {str(path)!r} failed: {error}",
        typed="run `codelens index`",
        called="call cl_index",
    )


# One open database file: pragmas, statements, transactions.
#
# WAL: readers never wait for the writer and see the last committed state. A connection belongs to
# one thread at a time.

T = TypeVar("T")

logger = logging.getLogger(__name__)

_LATEST = 4
"""Of so many values the last is at hand when the database has changed."""
PAGE_BYTES = 16384
LARGEST_LOG_BYTES = 32 << 20
"""A log that is longer is cut, once nobody reads from it."""
BUSY_S = 10.0
QUESTION_S = 2.0
"""How long a question waits to write what it needs: it can be answered without."""
BUSY_MS = round(BUSY_S * 1000)
_PRAGMAS = """
PRAGMA page_size = 16384; PRAGMA journal_mode = {journal}; PRAGMA synchronous = {synchronous};
PRAGMA foreign_keys = ON; PRAGMA cache_size = -32000; PRAGMA temp_store = MEMORY
"""

Row = tuple[Any, ...]  # SQLite's values: int, float, str, bytes or None, by the statement's columns


def pragmas_of(kind: str) -> str:
    """How a connection to a database of a kind is set up."""
    if kind == "contexts":
        # What is saved must survive a power cut and a lost log file, and be read where nothing can
        # be written; it is small and seldom changes.
        return _PRAGMAS.format(journal="DELETE", synchronous="EXTRA")
    # An index is built again.
    pragmas = _PRAGMAS.format(journal="WAL", synchronous="NORMAL" if kind == "index" else "FULL")
    # A log that one large transaction made long is cut when it begins anew.
    return f"{pragmas}; PRAGMA journal_size_limit = {LARGEST_LOG_BYTES}"


class WriterCheck(Protocol):
    """Whether a writer may still write; `codelens.store.database.writer_lease.Lease` is one."""

    def check(self, db: Database) -> None:
        """Raise `LeaseLost` if not; runs in the write transaction."""
        ...


class Database:
    """An open database; `open_index` and `open_database` give one."""

    def __init__(
        self,
        path: Path,
        connection: apsw.Connection,
        identity: database_recovery.Identity | None = None,
        *,
        logged: bool = False,
        noted: bool = False,
    ) -> None:
        self.path = path
        self.identity = identity
        """Which file it is, whatever takes its name later; None for one in memory."""
        self._connection = connection
        self._logged = logged
        self._noted = noted
        self._state = database_recovery.state_of(path) if noted else None
        self._memory: dict[object, Any] = {}
        self._token: object = None
        self._latest: dict[object, object] = {}

    def rows(self, sql: str, bindings: object = ()) -> list[Row]:
        """All rows of a query.

        Raises:
            CallCancelled: nobody waits for the answer any more; no long work goes without rows.
        """
        check_cancelled()
        with translated(self.path):
            return list(self._connection.execute(sql, bindings))  # type: ignore[arg-type]

    def each(self, sql: str, bindings: object = ()) -> Generator[Row]:
        """The rows of a query as they are read, for what is not to be in memory at once.

        Raises:
            CallCancelled: nobody waits for the answer any more.
        """
        with translated(self.path):
            for row in self._connection.execute(sql, bindings):  # type: ignore[arg-type]
                check_cancelled()
                yield row

    def row(self, sql: str, bindings: object = ()) -> Row | None:
        """The first row of a query, or None."""
        with translated(self.path):
            return self._connection.execute(sql, bindings).fetchone()  # type: ignore[arg-type]

    def execute(self, sql: str, bindings: object = ()) -> None:
        """Run one statement for its effect; in the caller's transaction."""
        with translated(self.path):
            self._connection.execute(sql, bindings)  # type: ignore[arg-type]

    def execute_many(self, sql: str, bindings: object) -> None:
        """Run one statement for each of many bindings; in the caller's transaction."""
        with translated(self.path):
            self._connection.executemany(sql, bindings)  # type: ignore[arg-type]

    def remembered(self, name: object, make: Callable[[], T]) -> T:
        """`make()`, computed once for as long as nobody changes the database.

        Outside a transaction, or at its start: a value must not come from a half-made change.
        """
        token = (self._connection.pragma("data_version"), self._connection.total_changes())
        if token != self._token:
            self._memory.clear()
            self._token = token
        if name not in self._memory:
            value = self._memory[name] = make()
            self._latest.pop(name, None)
            self._latest[name] = value
            if len(self._latest) > _LATEST:
                del self._latest[next(iter(self._latest))]
        return self._memory[name]  # type: ignore[no-any-return]

    def latest(self, name: object) -> object:
        """What `remembered` computed last, before the database changed; None if it is long ago."""
        return self._latest.get(name)

    def last_id(self) -> int:
        """Row id of the last insert on this connection."""
        return self._connection.last_insert_rowid()

    @contextmanager
    def read(self) -> Generator[None]:
        """One consistent state for all reads in the block; nothing is locked by it."""
        with translated(self.path):
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def write(self, lease: WriterCheck | None, wait_s: float = BUSY_S) -> Generator[None]:
        """One write transaction under `lease`; all or nothing.

        `None` is for what needs no single writer: the lease itself, when something was last used,
        and facts that a question needs at once (`codelens.index.needed_files`). `wait_s` is how
        long another's transaction may be waited for.

        Raises:
            LeaseLost: another process took the lease over; nothing was written.
            IndexLocked: another process's transaction was open all the time.
        """
        with translated(self.path):
            self._connection.set_busy_timeout(round(wait_s * 1000))
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            finally:
                self._connection.set_busy_timeout(BUSY_MS)
            with connection_rollback(self._connection):
                if lease is not None:
                    lease.check(self)
                yield
                if lease is not None:
                    # While it was open no thread could beat the heart, and storing much of a kernel
                    # on a busy machine takes longer than a lease lasts.
                    lease.check(self)
                self._connection.execute("COMMIT")

    def size_bytes(self) -> int:
        """Bytes of the index on disk, its write-ahead log included."""
        size = 0
        for file in (self.path, self.path.with_name(self.path.name + "-wal")):
            # There may be none, or none that can be seen: then it is answered from memory.
            with suppress(OSError):
                size += file.stat().st_size
        return size

    def was_replaced(self) -> bool:
        """Another file, or none, has the name by now: it was set aside, dropped or rebuilt."""
        return (
            self.identity is not None and database_recovery.identity_of(self.path) != self.identity
        )

    def is_as_left(self) -> bool:
        """The file that was opened has its name still, and nothing but codelens wrote to it.

        Costs as much as asking for the file's size, as long as nobody wrote to it.
        """
        if self._state is None:
            return not self.was_replaced()
        state = database_recovery.state_of(self.path)
        if state == self._state:
            return True
        if state is None or state[:2] != self._state[:2]:
            return False
        if not database_recovery.is_as_left(self.path, state):
            return False
        self._state = state
        return True

    @property
    def is_reading(self) -> bool:
        """A transaction is open; what it sees stays one state, whatever takes the file's name."""
        return self._connection.in_transaction

    def note_as_left(self) -> None:
        """Take the file as it is for one that codelens left."""
        # Where no lock can be made nothing can be noted either.
        with (
            suppress(OSError),
            database_recovery.alone_in(self.path.parent, wait_s=database_recovery.PATIENCE_S),
        ):
            database_recovery.note_state(self.path)

    def checkpoint(self) -> None:
        """Bring the log's pages to the file, waiting for nobody."""
        with translated(self.path):
            database_recovery.checkpoint(self.path, self._connection)

    def truncate_log(self) -> bool:
        """Empty the log, where nobody reads from it or writes; whether that was done."""
        self._connection.set_busy_timeout(0)
        try:
            with translated(self.path):
                try:
                    database_recovery.checkpoint(self.path, self._connection, cut=True)
                except apsw.BusyError:
                    return False
        finally:
            self._connection.set_busy_timeout(BUSY_MS)
        return True

    def hold_pages(self, kilobytes: int) -> None:
        """Keep at most so much of the file in memory."""
        self.execute(f"PRAGMA cache_size = -{kilobytes}")

    def shrink(self) -> None:
        """Free the pages that are kept in memory."""
        self.execute("PRAGMA shrink_memory")

    def has_checksums(self) -> bool:
        """Every page carries a checksum, and it is compared whenever the page is read."""
        return database_file.reserves_checksums(self._connection)

    def is_sound(self) -> bool:
        """SQLite's own quick check of the file's structure; reads all of it."""
        return self.fault() == ""

    def fault(self, *, thorough: bool = False) -> str:
        """What a check of the whole file finds; empty if it is sound.

        Args:
            thorough: compare indexes with their tables as well, and look for what rows refer to;
                costs two to four times as much.

        Raises:
            StoreError: it could not be checked, which says nothing of the file.
        """
        sql = "PRAGMA integrity_check(1)" if thorough else "PRAGMA quick_check(1)"
        try:
            message = str((self.row(sql) or ("nothing",))[0])
            if thorough and message == "ok" and (lost := self.row("PRAGMA foreign_key_check")):
                return f"a row of {lost[0]} refers to one of {lost[2]} that is not there"
        except IndexCorrupt as error:
            return error.why
        return "" if message == "ok" else " ".join(message.split())

    @contextmanager
    def another(self) -> Generator[Database]:
        """A further connection to the same file, for another thread."""
        with translated(self.path):
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                list(connection.execute(pragmas_of("index")))
                database_recovery.keep_noted(self.path, connection)
                yield Database(self.path, connection)
            finally:
                connection.close()

    @contextmanager
    def unchecked(self) -> Generator[None]:
        """No foreign keys in the block, around a transaction: the caller removes what refers."""
        self._connection.pragma("foreign_keys", False)
        try:
            yield
        finally:
            self._connection.pragma("foreign_keys", True)

    def alone(self) -> bool:
        """Whether no other connection to the file is open, here or elsewhere.

        Leaving WAL takes the whole file, so it fails as soon as anyone else has it open. Of a file
        that was replaced it cannot be told, and False.
        """
        with translated(self.path), self._kept_in_place():
            if self.was_replaced():
                return False
            self._connection.set_busy_timeout(0)
            try:
                return self._connection.pragma("journal_mode", "delete") == "delete"
            except apsw.BusyError:
                return False
            finally:
                self._connection.set_busy_timeout(BUSY_MS)
                self._connection.pragma("journal_mode", "wal")

    def close(self) -> None:
        """Close the file."""
        with self._kept_in_place():
            self._connection.close()

    @contextmanager
    def _kept_in_place(self) -> Generator[None]:
        """Nobody gives the file's name to another one in the block.

        SQLite removes the log by its name when the last connection closes, or leaves WAL. It looks
        before whether the file was moved, but a long checkpoint lies between.
        """
        if not self._logged:
            yield
            return
        with ExitStack() as stack:
            # Where no lock can be made nobody can rename a file either; nor can who is stopped.
            with suppress(OSError):
                waits = database_recovery.alone_in(
                    self.path.parent, wait_s=database_recovery.PATIENCE_S
                )
                stack.enter_context(waits)
                if self._noted:
                    stack.enter_context(database_recovery.writing_to(self.path))
            yield
