"""Errors of SQLite, as apsw raises them, as errors of ours that say what to do."""

# apsw's stubs leave the types of its errors open.
# pyright: reportUnknownMemberType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from codelens.errors import (
    CodelensError,
    DiskFull,
    HomeNotWritable,
    IndexCorrupt,
    IndexLocked,
    StoreError,
)
from codelens.paths import NO_ROOM, barred
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
