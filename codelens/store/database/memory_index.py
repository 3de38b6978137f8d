"""An index in memory, where the one on disk cannot be written: answered from, never kept."""

# apsw's stubs leave the types of bindings and pragmas open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import logging
import os
import urllib.parse
from pathlib import Path

import apsw

from codelens.errors import DiskFull, IndexCorrupt
from codelens.paths import barred
from codelens.small_files import is_special
from codelens.store.database import page_checksums
from codelens.store.database.database import PAGE_BYTES, Database
from codelens.store.database.database_opening import has_content
from codelens.store.database.file_header import check_head
from codelens.store.database.schema_migration import migrate
from codelens.store.database.sqlite_errors import translated

STAND_IN_BYTES = 256_000_000
"""What an index that cannot be written may hold to be answered from memory instead."""

logger = logging.getLogger(__name__)


def open_stand_in(path: Path) -> Database:
    """A database in memory with what the index at `path` holds, where none can be written.

    An empty one where that cannot be read as it is: all is extracted anew.

    Raises:
        DiskFull: it would grow beyond 256 MB.
        StoreError: the index may not be read, or is a newer codelens's.
    """
    size = path.stat().st_size if has_content(path) else 0
    if size > STAND_IN_BYTES:
        raise DiskFull(path)
    page_checksums.available()
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
    """The index in memory; None where it cannot be read without writing a log, or is damaged."""
    # Where the log's index cannot be written, a file without a log is read as it lies.
    error = barred(path)
    if error is not None:
        raise error
    if is_special(path):
        return None
    for how in ("&immutable=1", "") if not _log_bytes(path) else ("",):
        uri = f"file:{urllib.parse.quote(str(path))}?mode=ro{how}"
        target = _in_memory()
        source: apsw.Connection | None = None
        before = path.stat().st_mtime_ns
        try:
            source = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            with target.backup("main", source, "main") as backup:
                backup.step()
            check_head(target, "index", path, checked=False)
            if not how or (not _log_bytes(path) and path.stat().st_mtime_ns == before):
                return target
        except (apsw.Error, IndexCorrupt) as error:
            logger.debug("%s cannot be copied to memory: %s", path, error)
        finally:
            if source is not None:
                source.close()
        target.close()
    return None


def _log_bytes(path: Path) -> int:
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if os.path.exists(log) else 0
