"""An index where there is no room to write: held alone, it needs neither a log nor a log's index.

SQLite needs room for three pages of lock table and a log before it reads or changes a database in
WAL mode. Who has the file to itself needs neither: the table is kept in memory, and so may be what
a transaction would undo. What is deleted then makes room in the file, and the file can be cut.
"""

# apsw's stubs leave the types of pragmas open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from codelens.errors import DiskFull
from codelens.store.database import database_recovery, page_checksums
from codelens.store.database.database import Database
from codelens.store.database.database_opening import has_content
from codelens.store.database.file_header import UNDER_REMOVAL, check_head
from codelens.store.database.schema_migration import migrations
from codelens.store.database.sqlite_errors import translated

_WAIT_MS = 2000
"""How long others, who have it open for a question, are waited for."""


class HeldIndex(Database):
    """An index that nobody else can read or write before it is closed."""

    _open = True

    def close(self) -> None:
        """Close the file, and let others have it."""
        self._open = False
        super().close()

    def alone(self) -> bool:
        """It is, as long as it is the one of its name."""
        return not self.was_replaced()

    @contextmanager
    def without_log(self) -> Generator[None]:
        """Transactions in the block need no room beyond the file's own pages.

        Who is killed in one leaves half a change, and nothing to undo it with. So the file's head
        says meanwhile that it is not to be used: the next who opens it builds it anew.

        Raises:
            DiskFull: nor can that be written.
        """
        with translated(self.path):
            mark = int(self._connection.pragma("application_id"))  # type: ignore[arg-type]
            self._connection.pragma("journal_mode", "memory")
            self._connection.pragma("synchronous", "full")
            self._connection.pragma("application_id", UNDER_REMOVAL)
            try:
                yield
            finally:
                # After an error too: what it broke off was undone.
                if self._open:
                    self._connection.pragma("application_id", mark)
                    self._connection.pragma("journal_mode", "wal")


def hold(path: Path, *, to_remove: bool = False) -> HeldIndex:
    """Open an index alone, writing nothing.

    Args:
        path: of the index.
        to_remove: nothing in it is to be read.

    Raises:
        DiskFull: others have it open; it is empty, or has to be migrated first.
        IndexCorrupt: it is damaged; nothing was done to it.
        StoreError: it cannot be read.
    """
    if not to_remove and not has_content(path):
        raise DiskFull(path)
    checked = page_checksums.available()
    with translated(path):
        identity = database_recovery.identity_of(path)
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(_WAIT_MS)
            # Before the first read: then the log's index is never made.
            connection.pragma("locking_mode", "exclusive")
            list(connection.execute("BEGIN EXCLUSIVE; COMMIT"))
            if not to_remove:
                check_head(connection, "index", path, checked=checked)
                # Else it is migrated first, and copied before that.
                if connection.pragma("user_version") != migrations("index")[-1][0]:
                    raise DiskFull(path)
            connection.pragma("foreign_keys", True)
            # Else sorting makes files.
            connection.pragma("temp_store", "memory")
        except apsw.BusyError as error:
            connection.close()
            raise DiskFull(path, beside=True) from error
        except BaseException:
            connection.close()
            raise
    return HeldIndex(path, connection, identity, logged=True)
