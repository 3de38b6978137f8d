"""Opening a database file of any kind, made and migrated as needed."""

# apsw's stubs leave the types of bindings open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
from pathlib import Path

import apsw

from codelens.errors import IndexCorrupt, IndexLocked, StoreError
from codelens.paths import make_private
from codelens.small_files import is_special
from codelens.store.database import database_recovery, page_checksums, restore_detection
from codelens.store.database.database import BUSY_MS, Database, pragmas_of
from codelens.store.database.file_header import MARKS, check_head
from codelens.store.database.schema_migration import migrate
from codelens.store.database.sqlite_errors import translated

# Two that set up the first page at once would each find the other's half of it.
CREATION_LOCK = ".creation.lock"
_OPENINGS = 5
# A posting's blob lies in its page as long as it is under a quarter of it; 4 kB pages wasted half.
_PRAGMAS_AT_FIRST = "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL"


def open_database(path: Path, kind: str) -> Database:
    """Open a database of a kind (`index`, `contexts`, `usage`, `vectors`), made where needed.

    An older schema is migrated.

    A page that was changed by anything but SQLite is an `IndexCorrupt` when it is read.

    Raises:
        HomeNotWritable: the folder or file cannot be written.
        SchemaTooNew: a newer codelens wrote it.
        IndexCorrupt: it is damaged, or no database of this kind; nothing was done to it.
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
    """Another process put another file in its place while it was opened."""


def _open_or_make(path: Path, kind: str) -> Database:
    if os.path.isdir(path):
        raise StoreError(
            f"{str(path)!r} is a folder; move it away, codelens keeps a database at this path"
        )
    if os.path.islink(path) and not os.path.exists(path):
        raise StoreError(
            f"{str(path)!r} is a link that leads nowhere; remove it, or bring back what it leads to"
        )
    if is_special(path):
        raise IndexCorrupt(path, "it is not a regular file")
    if has_content(path):
        return _open(path, kind, empty=False)
    with translated(path), database_recovery.alone_in(path.parent, CREATION_LOCK):
        if database_recovery.identity_of(path) is None:
            # Made before SQLite does, whose log files take its mode; and never one that is there:
            # to close a file ends the locks that other threads of this process have on it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return _open(path, kind, empty=not has_content(path))


def has_content(path: Path) -> bool:
    """Whether there is a file, and not an empty one."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _open(path: Path, kind: str, *, empty: bool) -> Database:
    with translated(path):
        identity = database_recovery.identity_of(path)
        checked = page_checksums.available()
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            # An empty one has no size of pages to compare them by, and is set up under the lock.
            if database_recovery.identity_of(path) != identity or empty != (not has_content(path)):
                raise _Replaced
            connection.set_busy_timeout(BUSY_MS)
            if checked and empty:
                page_checksums.reserve(connection)
            if empty:
                # Of a file that has pages it would change nothing, and take the write lock.
                list(connection.execute(_PRAGMAS_AT_FIRST))
            # Before anything is written to what may be another program's.
            check_head(connection, kind, path, checked=checked)
            # A statement that gives a row holds up those behind it until the row is taken.
            list(connection.execute(pragmas_of(kind)))
            if kind == "index":
                restore_detection.keep_noted(path, connection)
            migrate(connection, kind, path, MARKS[kind])
            if os.name == "posix" and path.stat().st_mode & 0o077:
                path.chmod(0o600)
        except BaseException:
            connection.close()
            raise
    logged, noted = kind != "contexts", kind == "index"
    return Database(path, connection, identity, logged=logged, noted=noted)
