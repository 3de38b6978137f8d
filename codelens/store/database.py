"""One open index file: pragmas, transactions, and apsw's errors as ours.

WAL: readers never wait for the writer and see the last committed state. A connection belongs to
one thread at a time.
"""

# apsw's stubs leave the types of bindings and pragmas open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from codelens.errors import (
    CodelensError,
    DiskFull,
    HomeNotWritable,
    IndexCorrupt,
    IndexLocked,
    StoreError,
)
from codelens.paths import make_private
from codelens.store.migrate import connection_rollback, migrate

if TYPE_CHECKING:
    from codelens.store.leases import Lease

T = TypeVar("T")

_BUSY_MS = 10_000
# Mapped whole: first reads of postings in a 1 GB index cost 2.5 to 4 times as much unmapped. What
# is mapped belongs to the system, which takes it back when it needs to.
# A posting's blob lies in its page as long as it is under a quarter of it; 4 kB pages wasted half.
_PRAGMAS = (
    "PRAGMA page_size = 16384;"
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
    "PRAGMA cache_size = -32000; PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY"
)
_ASIDE_SUFFIX = ".damaged-"

Row = tuple[Any, ...]  # SQLite's values: int, float, str, bytes or None, by the statement's columns


class Database:
    """An open index. Use `open_index` to get one."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self.path = path
        self._connection = connection
        self._memory: dict[object, Any] = {}
        self._token: object = None

    def rows(self, sql: str, bindings: object = ()) -> list[Row]:
        """All rows of a query."""
        with translated(self.path):
            return list(self._connection.execute(sql, bindings))  # type: ignore[arg-type]

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
            self._memory[name] = make()
        return self._memory[name]  # type: ignore[no-any-return]

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
    def write(self, lease: Lease | None) -> Generator[None]:
        """One write transaction under `lease`; all or nothing.

        `None` is for the lease's own bookkeeping.

        Raises:
            LeaseLost: another process took the lease over; nothing was written.
        """
        with translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            with connection_rollback(self._connection):
                if lease is not None:
                    lease.check(self)
                yield
                self._connection.execute("COMMIT")

    def size_bytes(self) -> int:
        """Bytes of the index on disk, its write-ahead log included."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def is_sound(self) -> bool:
        """SQLite's own quick check of the file's structure; reads all of it."""
        try:
            return self.row("PRAGMA quick_check(1)") == ("ok",)
        except StoreError:
            return False

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def open_index(path: Path) -> Database:
    """Open the index at `path`, made and migrated as needed; a damaged one is set aside.

    Raises:
        HomeNotWritable: the folder or file cannot be written.
        SchemaTooNew: a newer codelens wrote it.
    """
    make_private(path.parent)
    try:
        return _open(path)
    except IndexCorrupt:
        set_aside(path)
        return _open(path)


def set_aside(path: Path) -> Path:
    """Move a damaged index out of the way, its log files with it; a new one can be built."""
    stamp = f"{_ASIDE_SUFFIX}{time.time_ns()}"
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(path.with_name(path.name + stamp + suffix))
    return path.with_name(path.name + stamp)


def _open(path: Path) -> Database:
    with translated(path):
        connection = apsw.Connection(str(path))
        try:
            connection.set_busy_timeout(_BUSY_MS)
            # A statement that gives a row holds up those behind it until the row is taken.
            list(connection.execute(_PRAGMAS))
            migrate(connection, "index", path)
            path.chmod(0o600)
        except BaseException:
            connection.close()
            raise
    return Database(path, connection)


@contextmanager
def translated(path: Path) -> Generator[None]:  # noqa: C901 - one line an error of SQLite's
    """Errors of apsw as `StoreError`s that say what to do."""
    try:
        yield
    except CodelensError:
        raise
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise IndexCorrupt(path, str(error)) from error
    except apsw.FullError as error:
        raise DiskFull(path) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise HomeNotWritable(path, str(error)) from error
    except apsw.BusyError as error:
        raise IndexLocked(path, "another process") from error
    except apsw.IOError as error:
        # A full disk shows as an I/O error where the write-ahead log's index is grown.
        if error.extendedresult in {apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_WRITE}:
            raise DiskFull(path) from error
        raise StoreError(f"cannot read or write {str(path)!r}: {error}; try again") from error
    except UnicodeDecodeError as error:
        raise IndexCorrupt(path, f"text that is no UTF-8: {error.reason}") from error
    except apsw.Error as error:
        raise StoreError(
            f"the index {str(path)!r} failed: {error}; run `codelens index`"
        ) from error
    except PermissionError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error
