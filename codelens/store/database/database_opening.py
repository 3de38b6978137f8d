"""Opens, creates, checks and removes database files, even on a full disk or only in memory."""

# apsw's stubs leave the types of bindings, pragmas and errors open.
# pyright: reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import logging
import os
import re
import urllib.parse
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from codelens.errors import DiskFull, IndexCorrupt, IndexLocked, StoreError
from codelens.home_files import is_special
from codelens.paths import barred, make_private, repository_id
from codelens.store.database import database_file, database_recovery, writer_lease
from codelens.store.database.database import BUSY_MS, PAGE_BYTES, Database, pragmas_of, translated
from codelens.store.database.database_file import (
    MARKS,
    UNDER_REMOVAL,
    check_head,
    migrate,
    migrations,
)
from codelens.store.database.database_recovery import has_content
from codelens.store.database.writer_lease import holder_of, is_held, machine

# Two processes that set up the first page at once would each read a half-written one.
CREATION_LOCK = ".creation.lock"
_OPENINGS = 5
_OPEN_MS = 60_000
"""How long opening waits for a process that creates or migrates the file: as long as for the
creation lock, since that may take a slow disk longer than any other transaction."""
# A blob stays in its row's page up to a quarter of the page size; 4 kB pages wasted half.
_PRAGMAS_AT_FIRST = "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL"


def open_database(path: Path, kind: str) -> Database:
    """Open a database of a kind (`index`, `contexts`, `usage`, `vectors`); create it if missing.

    Migrates an older schema. Reading a page that anything but SQLite changed raises `IndexCorrupt`.

    Raises:
        HomeNotWritable: the folder or file cannot be written.
        SchemaTooNew: a newer codelens wrote it.
        IndexCorrupt: it is damaged, or not a database of this kind; it was left unchanged.
    """
    make_private(path.parent)
    for _ in range(_OPENINGS):
        before = database_recovery.identity_of(path)
        try:
            return _open_or_make(path, kind)
        except _Replaced:
            continue
        except StoreError:
            if before is None or before == database_recovery.identity_of(path):
                raise
    raise IndexLocked(path, "processes that keep replacing it")


class _Replaced(Exception):
    """Another process replaced the file while it was being opened."""


def _open_or_make(path: Path, kind: str) -> Database:
    if os.path.isdir(path):
        raise StoreError(
            f"{str(path)!r} is a folder; move it away, codelens keeps a database at this path"
        )
    if os.path.islink(path) and not os.path.exists(path):
        raise StoreError(f"{str(path)!r} is a broken link; remove it, or restore its target")
    if is_special(path):
        raise IndexCorrupt(path, "it is not a regular file")
    if has_content(path):
        return _open(path, kind, empty=False)
    with translated(path), database_recovery.alone_in(path.parent, CREATION_LOCK):
        if database_recovery.identity_of(path) is None:
            # Created before SQLite does, whose log files copy its mode. An existing file is not
            # opened: closing it would drop the locks of other threads of this process.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return _open(path, kind, empty=not has_content(path))


def _open(path: Path, kind: str, *, empty: bool) -> Database:
    with translated(path):
        identity = database_recovery.identity_of(path)
        checked = database_file.checksums_available()
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            # An empty file has no page size to compare, and is set up under the lock.
            if database_recovery.identity_of(path) != identity or empty != (not has_content(path)):
                raise _Replaced
            connection.set_busy_timeout(_OPEN_MS)
            if checked and empty:
                database_file.reserve_checksums(connection)
            if empty:
                # In a file that has pages, the pragma would have no effect, but take the write
                # lock.
                list(connection.execute(_PRAGMAS_AT_FIRST))
            # Checked before anything is written to what may be another program's database.
            check_head(connection, kind, path, checked=checked)
            # A pragma that returns a row blocks the next ones until the row is fetched.
            list(connection.execute(pragmas_of(kind)))
            if kind == "index":
                database_recovery.keep_noted(path, connection)
            migrate(connection, kind, path, MARKS[kind])
            connection.set_busy_timeout(BUSY_MS)
            if os.name == "posix" and path.stat().st_mode & 0o077:
                path.chmod(0o600)
        except BaseException:
            connection.close()
            raise
    logged, noted = kind != "contexts", kind == "index"
    return Database(path, connection, identity, logged=logged, noted=noted)


# Discards an index: removes its file if nobody else has it open; otherwise marks its rows as
# outdated.
#
# A file that another process has open is not removed: the last process to close it removes the
# write-ahead log by its name, which may belong to a new file by then (`Database.close` prevents
# this).

WAIT_S = 10.0
"""How long the removal of an index waits for a process that writes to it."""

_VIEWS = "SELECT COALESCE(MAX(id), 0) FROM views"
_LAST_VIEW = "UPDATE upkeep SET last_view = MAX(last_view, ?)"
_NO_VIEWS = "DELETE FROM views"
# Look-ups by hash or path no longer find these rows; readers that hold their ids still can.
_RETIRE = (
    "UPDATE contents SET version = -id, hash = CAST(hash || id AS BLOB)",
    "UPDATE paths SET path = CAST(x'00' || id AS BLOB)",
    "DELETE FROM git_blobs",
)


def remove_file(db: Database) -> bool:
    """Close and remove an index; return False, without removing it, if someone else has it open."""
    if not db.alone():
        return False
    db.close()
    folder = db.path.parent
    # Done under the lock; otherwise the log of a new file could be removed in place of the old
    # one's.
    with (
        translated(db.path),
        database_recovery.alone_in(folder),
        database_recovery.alone_in(folder, CREATION_LOCK),
    ):
        if db.was_replaced():
            return True
        for suffix in ("", "-wal", "-shm", ".checked", ".unexplained"):
            db.path.with_name(db.path.name + suffix).unlink(missing_ok=True)
    return True


def retire(db: Database) -> None:
    """Mark everything in an index as outdated, so that it is rebuilt.

    `codelens.store.views.garbage_collection` removes the rows when no reader can hold them.

    Raises:
        IndexLocked: another process writes and did not finish.
    """
    with writer_lease.held(db, WAIT_S) as lease, db.unchecked(), db.write(lease):
        last = db.row(_VIEWS)
        db.execute(_LAST_VIEW, last)
        for table in ("view_blocks", "view_folders", "block_files", "blocks", "folders"):
            db.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        db.execute(_NO_VIEWS)
        for sql in _RETIRE:
            db.execute(sql)


def pages_bytes(db: Database) -> int:
    """Bytes of the index file, without its log."""
    (pages,), (size,) = db.rows("PRAGMA page_count")[0], db.rows("PRAGMA page_size")[0]
    return pages * size


# Opens an index on a full disk: a single process that holds it alone needs no log or log index.
#
# In WAL mode, SQLite needs room for a log and for the log's index of three pages before it reads or
# changes a database. A process that has the file to itself needs neither: the index can be in
# memory, and so can the data to undo a transaction. Deleting rows then frees pages of the file, and
# the file can be truncated.

_WAIT_MS = 2000
"""How long to wait for other processes that have the file open for a query."""


class HeldIndex(Database):
    """An index that nobody else can read or write until it is closed."""

    _open = True

    def close(self) -> None:
        """Close the file, so that others can open it."""
        self._open = False
        super().close()

    def alone(self) -> bool:
        """Always true while the file has its name."""
        return not self.was_replaced()

    @contextmanager
    def without_log(self) -> Generator[None]:
        """Run the block's transactions without room beyond the file's own pages.

        A process that is killed during one leaves half a change, which nobody can undo. So during
        the block the header marks the file as unusable, and the next process to open it rebuilds
        it.

        Raises:
            DiskFull: even the mark cannot be written.
        """
        with translated(self.path):
            mark = int(self._connection.pragma("application_id"))  # type: ignore[arg-type]
            self._connection.pragma("journal_mode", "memory")
            self._connection.pragma("synchronous", "full")
            self._connection.pragma("application_id", UNDER_REMOVAL)
            try:
                yield
            finally:
                # Also after an error: the failed transaction was undone.
                if self._open:
                    self._connection.pragma("application_id", mark)
                    self._connection.pragma("journal_mode", "wal")


def hold_index(path: Path, *, to_remove: bool = False) -> HeldIndex:
    """Open an index for exclusive use, without writing.

    Args:
        path: the index.
        to_remove: the caller only removes it and reads nothing.

    Raises:
        DiskFull: others have it open, or it is empty or has to be migrated first.
        IndexCorrupt: it is damaged; it was left unchanged.
        StoreError: it cannot be read.
    """
    if not to_remove and not has_content(path):
        raise DiskFull(path)
    checked = database_file.checksums_available()
    with translated(path):
        identity = database_recovery.identity_of(path)
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(_WAIT_MS)
            # Set before the first read, so that SQLite never creates the log's index.
            connection.pragma("locking_mode", "exclusive")
            list(connection.execute("BEGIN EXCLUSIVE; COMMIT"))
            if not to_remove:
                check_head(connection, "index", path, checked=checked)
                # An older schema would need a migration first, and a copy before that.
                if connection.pragma("user_version") != migrations("index")[-1][0]:
                    raise DiskFull(path)
            connection.pragma("foreign_keys", True)
            # Otherwise sorting creates temporary files.
            connection.pragma("temp_store", "memory")
        except apsw.BusyError as error:
            connection.close()
            raise DiskFull(path, is_shared=True) from error
        except BaseException:
            connection.close()
            raise
    return HeldIndex(path, connection, identity, logged=True)


# Opens an index in memory, to answer from if the one on disk cannot be written; it is never saved.

STAND_IN_BYTES = 256_000_000
"""The largest index, in bytes, to copy to memory when it cannot be written."""

logger = logging.getLogger(__name__)


def open_in_memory(path: Path) -> Database:
    """Open a database in memory with the content of the index at `path`.

    It is empty if the index cannot be read without writing; then everything is extracted again.

    Raises:
        DiskFull: it would grow beyond 256 MB.
        StoreError: the index may not be read, or a newer codelens wrote it.
    """
    size = path.stat().st_size if has_content(path) else 0
    if size > STAND_IN_BYTES:
        raise DiskFull(path)
    database_file.checksums_available()
    connection = (_copied(path) if size else None) or _in_memory()
    with translated(path):
        try:
            connection.pragma("foreign_keys", True)
            connection.pragma("max_page_count", STAND_IN_BYTES // PAGE_BYTES)
            migrate(connection, "index", path, 0)
        except BaseException:
            connection.close()
            raise
    return Database(path, connection)


def _in_memory() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.pragma("page_size", PAGE_BYTES)
    return connection


def _copied(path: Path) -> apsw.Connection | None:
    """Copy the index to memory; None if reading it needs to write a log, or if it is damaged."""
    # If the log's index cannot be written, a file without a log is opened as immutable.
    error = barred(path)
    if error is not None:
        raise error
    if is_special(path):
        return None
    log = path.with_name(f"{path.name}-wal")
    for how in ("",) if has_content(log) else ("&immutable=1", ""):
        uri = f"file:{urllib.parse.quote(str(path))}?mode=ro{how}"
        target = _in_memory()
        source: apsw.Connection | None = None
        before = path.stat().st_mtime_ns
        try:
            source = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            with target.backup("main", source, "main") as backup:
                backup.step()
            check_head(target, "index", path, checked=False)
            if not how or (not has_content(log) and path.stat().st_mtime_ns == before):
                return target
        except (apsw.Error, IndexCorrupt) as error:
            logger.debug("%s cannot be copied to memory: %s", path, error)
        finally:
            if source is not None:
                source.close()
        target.close()
    return None


# Opens the index of a repository: checks it if due, and sets it aside if it is damaged.

_NAMED = re.compile(r"index-([0-9a-f]{16})\.db")
_COMMON_DIR = "SELECT common_dir FROM upkeep"


def open_index(path: Path) -> Database:
    """Open the index at `path`; create or migrate it as needed.

    An index that is damaged or belongs to another repository is set aside. The whole file is
    checked if the last check is a week old, a writer has ended during a transaction, or something
    other than codelens has written to it.

    Raises:
        HomeNotWritable: the folder or file cannot be written.
        SchemaTooNew: a newer codelens wrote it.
    """
    identity = database_recovery.identity_of(path)
    try:
        with translated(path):
            change = database_recovery.change_since_recorded(path)
        database = open_database(path, "index")
        try:
            return _checked(database, change)
        except BaseException:
            identity = database.identity
            database.close()
            raise
    except IndexCorrupt as error:
        logger.warning("%s", error)
        database_recovery.set_aside(path, identity)
        return _checked(open_database(path, "index"), database_recovery.FileChange.UNKNOWN)


def other_repository(database: Database) -> str:
    """The git folder of the index's repository if the file's name belongs to another one."""
    name = _NAMED.fullmatch(database.path.name)
    row = database.row(_COMMON_DIR)
    stated = os.fsdecode(row[0]) if row else ""
    return stated if name and stated and repository_id(stated) != name.group(1) else ""


def _checked(database: Database, change: database_recovery.FileChange) -> Database:
    path = database.path
    other = other_repository(database)
    if other:
        raise IndexCorrupt(path, f"it is the index of {other!r}", foreign=True)
    holder = holder_of(database)
    left = database_recovery.left_of(path)
    same = change is database_recovery.FileChange.SAME
    if same and left and holder and holder.fencing < left.age.fencing:
        raise IndexCorrupt(path, "the log of an older state was put next to it")
    since_s = 0.0
    if holder is not None and holder.owner and not is_held(holder, machine()):
        since_s = float(database.rows("SELECT MAX(heartbeat_s) FROM index_locks")[0][0])
    is_as_left = change in {database_recovery.FileChange.SAME, database_recovery.FileChange.UNKNOWN}
    if not is_as_left or database_recovery.is_check_due(path, since_s):
        fault = database.fault(thorough=not is_as_left)
        if fault:
            raise IndexCorrupt(path, fault)
        database_recovery.note_check(path)
    if not same:
        database.note_as_left()
    return database
