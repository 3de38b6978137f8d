"""An open SQLite database: pragmas, statements, transactions, and errors with remedies."""

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
    SchemaTooNew,
    StoreError,
)
from codelens.paths import NO_ROOM, barred
from codelens.store.database import database_file, database_recovery
from codelens.store.database.database_file import connection_rollback
from codelens.store.database.database_recovery import HOLDER

_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

_DAMAGE = {apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ}

# SQLite raises these errors if the disk is full when it grows the write-ahead log or its index.
_FULL = {
    apsw.SQLITE_IOERR_SHMSIZE,
    apsw.SQLITE_IOERR_SHMMAP,
    apsw.SQLITE_IOERR_SHMOPEN,
    apsw.SQLITE_IOERR_WRITE,
    apsw.SQLITE_IOERR_TRUNCATE,
}


@contextmanager
def translated(path: Path) -> Generator[None]:  # noqa: C901, PLR0912 - a line an error
    """Raise errors of apsw as `StoreError`s that say what to do."""
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
        # No transaction of codelens breaks a constraint, so the stored data is damaged. Only an
        # index is discarded because of that, never saved data.
        if "FOREIGN KEY" in str(error) and path.name.startswith("index"):
            raise IndexCorrupt(path, "a row refers to a missing row") from error
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
# WAL: readers never wait for the writer and see the last committed state. Only one thread at a
# time may use a connection.

T = TypeVar("T")

logger = logging.getLogger(__name__)

_LATEST = 4
"""How many values `latest` still returns after the database has changed."""
PAGE_BYTES = 16384
LARGEST_LOG_BYTES = 32 << 20
"""A longer log is truncated once nobody reads from it."""
BUSY_S = 10.0
QUESTION_S = 2.0
"""How long a query waits to write. It is short, since the answer does not depend on the write."""
BUSY_MS = round(BUSY_S * 1000)
_PRAGMAS = """
PRAGMA page_size = 16384; PRAGMA journal_mode = {journal}; PRAGMA synchronous = {synchronous};
PRAGMA foreign_keys = ON; PRAGMA cache_size = -32000; PRAGMA temp_store = MEMORY
"""

Row = tuple[Any, ...]  # SQLite's values: int, float, str, bytes or None, by the statement's columns


def pragmas_of(kind: str) -> str:
    """The pragmas that set up a connection to this kind of database."""
    if kind == "contexts":
        # Saved data must survive a power cut and a lost log file, and must be readable on a
        # read-only disk. It is small and rarely changes.
        return _PRAGMAS.format(journal="DELETE", synchronous="EXTRA")
    # An index can be rebuilt.
    pragmas = _PRAGMAS.format(journal="WAL", synchronous="NORMAL" if kind == "index" else "FULL")
    # When SQLite restarts the log, it truncates one that a large transaction made long.
    return f"{pragmas}; PRAGMA journal_size_limit = {LARGEST_LOG_BYTES}"


class WriterCheck(Protocol):
    """Checks whether a writer may still write; `writer_lease.Lease` implements it."""

    def check(self, db: Database) -> None:
        """Raise `LeaseLost` if it may not; runs in the write transaction."""
        ...


class Database:
    """An open database, from `open_index` or `open_database`."""

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
        """The file that was opened, even if its name changes; None for a database in memory."""
        self._connection = connection
        self._logged = logged
        self._noted = noted
        self._schema = self._schema_now()
        self._state = database_recovery.state_of(path) if noted else None
        self._memory: dict[object, Any] = {}
        self._token: object = None
        self._latest: dict[object, object] = {}

    def rows(self, sql: str, bindings: object = ()) -> list[Row]:
        """Return all rows of a query.

        Raises:
            CallCancelled: nobody waits for the answer any more. The check is here because all long
                work reads rows.
        """
        check_cancelled()
        with translated(self.path):
            return list(self._connection.execute(sql, bindings))  # type: ignore[arg-type]

    def each(self, sql: str, bindings: object = ()) -> Generator[Row]:
        """Yield the rows of a query as they are read, for results too large for memory.

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

    def value(self, sql: str, bindings: object = (), default: object = None) -> Any:  # noqa: ANN401 - SQLite's values
        """The first column of the first row of a query; `default` if it has no row."""
        row = self.row(sql, bindings)
        return default if row is None else row[0]

    def execute(self, sql: str, bindings: object = ()) -> None:
        """Run one statement for its effect; in the caller's transaction."""
        with translated(self.path):
            self._connection.execute(sql, bindings)  # type: ignore[arg-type]

    def execute_many(self, sql: str, bindings: object) -> None:
        """Run one statement for each of many bindings; in the caller's transaction."""
        with translated(self.path):
            self._connection.executemany(sql, bindings)  # type: ignore[arg-type]

    def remembered(self, name: object, make: Callable[[], T]) -> T:
        """Return `make()`, computed once until the database changes.

        Call it outside of a transaction or at its start, so that the value never reflects an
        incomplete change.
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
        """The last value that `remembered` computed before the database changed, if still held."""
        return self._latest.get(name)

    def last_id(self) -> int:
        """Row id of the last insert on this connection."""
        return self._connection.last_insert_rowid()

    @contextmanager
    def read(self) -> Generator[None]:
        """Give all reads in the block one consistent state, without a lock."""
        with translated(self.path):
            self._connection.execute("BEGIN")
        try:
            self.refuse_newer_schema()
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def write(self, lease: WriterCheck | None, wait_s: float = BUSY_S) -> Generator[None]:
        """Run one write transaction under `lease`; all or nothing.

        `None` is for writes that need no single writer: the lease itself, the time of the last
        use, and facts that a question needs at once (`codelens.index.needed_files`). `wait_s` is
        how long to wait for another transaction.

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
                self.refuse_newer_schema()
                if lease is not None:
                    lease.check(self)
                yield
                if lease is not None:
                    # No thread could send a heartbeat during the transaction, and storing much of
                    # a kernel on a busy machine takes longer than a lease lasts.
                    lease.check(self)
                self._connection.execute("COMMIT")

    def refuse_newer_schema(self) -> None:
        """Check that no newer codelens has migrated the open file since it was opened.

        Raises:
            SchemaTooNew: one has. This codelens would read its tables wrongly, and write to them
                what the newer one does not expect.
        """
        with translated(self.path):
            schema = self._schema_now()
        if schema > self._schema:
            raise SchemaTooNew(self.path, schema, self._schema)

    def _schema_now(self) -> int:
        return int(self._connection.pragma("user_version"))  # type: ignore[arg-type]

    def size_bytes(self) -> int:
        """Bytes of the index on disk, including its write-ahead log."""
        size = 0
        for file in (self.path, self.path.with_name(self.path.name + "-wal")):
            # The file may be missing or unreadable: the index is then in memory.
            with suppress(OSError):
                size += file.stat().st_size
        return size

    def was_replaced(self) -> bool:
        """Whether the open file lost its name, because it was set aside, dropped or rebuilt."""
        return (
            self.identity is not None and database_recovery.identity_of(self.path) != self.identity
        )

    def is_as_left(self) -> bool:
        """Whether the opened file still has its name and only codelens has written to it.

        Costs one `stat` as long as nobody wrote to it.
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
        """Whether a transaction is open; it keeps its state even if the file loses its name."""
        return self._connection.in_transaction

    def note_as_left(self) -> None:
        """Record the file's current state as left by codelens."""
        # Where no lock can be created, the state cannot be recorded either.
        with (
            suppress(OSError),
            database_recovery.alone_in(self.path.parent, wait_s=database_recovery.PATIENCE_S),
        ):
            database_recovery.note_state(self.path)

    def checkpoint(self) -> None:
        """Move the log's pages to the file, without waiting for anyone."""
        with translated(self.path):
            database_recovery.checkpoint(self.path, self._connection)

    def truncate_log(self) -> bool:
        """Empty the log if nobody reads from it or writes; return whether it was emptied."""
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
        """Cache at most this much of the file in memory."""
        self.execute(f"PRAGMA cache_size = -{kilobytes}")

    def shrink(self) -> None:
        """Free the cached pages."""
        self.execute("PRAGMA shrink_memory")

    def has_checksums(self) -> bool:
        """Whether every page has a checksum, which is compared on each read."""
        return database_file.reserves_checksums(self._connection)

    def is_sound(self) -> bool:
        """Whether SQLite's quick check of the file's structure passes; reads the whole file."""
        return self.fault() == ""

    def fault(self, *, thorough: bool = False) -> str:
        """Check the whole file and return the first fault; empty if it is sound.

        Args:
            thorough: also compare indexes with their tables, and check that referenced rows
                exist; costs two to four times as much.

        Raises:
            StoreError: the check failed, which says nothing about the file.
        """
        sql = "PRAGMA integrity_check(1)" if thorough else "PRAGMA quick_check(1)"
        try:
            message = str((self.row(sql) or ("nothing",))[0])
            if thorough and message == "ok" and (lost := self.row("PRAGMA foreign_key_check")):
                return f"a row of {lost[0]} refers to a missing row of {lost[2]}"
        except IndexCorrupt as error:
            return error.why
        return "" if message == "ok" else " ".join(message.split())

    @contextmanager
    def another(self) -> Generator[Database]:
        """Open a further connection to the same file, for another thread."""
        with translated(self.path):
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
            connection.set_busy_timeout(BUSY_MS)
            try:
                list(connection.execute(pragmas_of("index")))
                database_recovery.keep_noted(self.path, connection)
                yield Database(self.path, connection)
            finally:
                connection.close()

    @contextmanager
    def unchecked(self) -> Generator[None]:
        """Switch foreign keys off for the block: the caller removes the referring rows."""
        self._connection.pragma("foreign_keys", False)
        try:
            yield
        finally:
            self._connection.pragma("foreign_keys", True)

    def alone(self) -> bool:
        """Whether no other connection to the file is open, in any process.

        Leaving WAL needs the whole file, so it fails if anyone else has it open. Returns False
        for a file that was replaced, since that cannot be determined.
        """
        with translated(self.path), self._name_held():
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
        with self._name_held():
            self._connection.close()

    @contextmanager
    def _name_held(self) -> Generator[None]:
        """During the block, keep other processes from giving the file's name to another file.

        SQLite removes the log by name when the last connection closes or leaves WAL mode. It checks
        first whether the file was moved, but a long checkpoint may follow that check.
        """
        if not self._logged:
            yield
            return
        with ExitStack() as stack:
            # If no lock can be created here, no file can be renamed here either. If a stopped
            # process holds the lock, it renames nothing.
            with suppress(OSError):
                waits = database_recovery.alone_in(
                    self.path.parent, wait_s=database_recovery.PATIENCE_S
                )
                stack.enter_context(waits)
                if self._noted:
                    stack.enter_context(database_recovery.writing_to(self.path))
            yield
