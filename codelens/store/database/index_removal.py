"""Ends of an index: its file removed when nobody has it open, or its rows retired beside readers.

A file is not removed under another process: SQLite removes the write-ahead log of the last that
closes it by its name, which could be the new file's by then (`Database.close` keeps them apart).
"""

from __future__ import annotations

from codelens.store.database import database_recovery, writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import CREATION_LOCK
from codelens.store.database.sqlite_errors import translated

WAIT_S = 10.0
"""How long who asks for an index to go waits for the process that writes it."""

_VIEWS = "SELECT COALESCE(MAX(id), 0) FROM views"
_LAST_VIEW = "UPDATE upkeep SET last_view = MAX(last_view, ?)"
_NO_VIEWS = "DELETE FROM views"
# No search for a content or path finds them any more; who has their ids reads them to the end.
_RETIRE = (
    "UPDATE contents SET version = -id, hash = CAST(hash || id AS BLOB)",
    "UPDATE paths SET path = CAST(x'00' || id AS BLOB)",
    "DELETE FROM git_blobs",
)


def remove_file(db: Database) -> bool:
    """Close and remove an index that nobody else has open; False, and nothing done, otherwise."""
    if not db.alone():
        return False
    db.close()
    folder = db.path.parent
    # Nobody makes a new one meanwhile, whose log would go with the old one's.
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
    """Let all that an index holds count for nothing, so that it is built anew.

    `codelens.store.views.garbage_collection` removes it when no reader can hold it any more.

    Raises:
        IndexLocked: another process writes and did not finish.
    """
    lease = writer_lease.acquire(db, WAIT_S)
    try:
        with db.unchecked(), db.write(lease):
            last = db.row(_VIEWS)
            db.execute(_LAST_VIEW, last)
            db.execute("DELETE FROM view_files")
            db.execute("DELETE FROM view_folders")
            db.execute(_NO_VIEWS)
            for sql in _RETIRE:
                db.execute(sql)
    finally:
        lease.release(db)


def pages_bytes(db: Database) -> int:
    """Bytes of the index's own file, its log aside."""
    (pages,), (size,) = db.rows("PRAGMA page_count")[0], db.rows("PRAGMA page_size")[0]
    return pages * size
