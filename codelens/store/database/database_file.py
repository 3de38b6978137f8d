"""The format of a database file: page checksums, header marks, migrations and whole copies.

The checksums come from SQLite's `cksumvfs` (https://sqlite.org/cksumvfs.html), which apsw's wheels
include. Each page ends with an eight-byte checksum, compared on every read, so a flipped byte is an
error and never a wrong answer. They add 15 to 25 % to reading uncached pages, a few percent of a
query (docs/recovery.md). If apsw lacks cksumvfs, new databases have no checksums, and
`codelens doctor` says so.
"""

# apsw's stubs leave the types of bindings, pragmas and errors open.
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import logging
import os
import re
from functools import cache
from pathlib import Path

import apsw

from codelens.errors import IndexCorrupt, SchemaTooNew
from codelens.paths import shipped

logger = logging.getLogger(__name__)

RESERVED_BYTES = 8
"""Bytes reserved at the end of a page for its checksum; also byte 20 of the file header."""
_SUFFIXES = ("", ".so", ".dylib", ".dll")


@cache
def checksums_available() -> bool:
    """Enable checksums in SQLite; return whether they are available."""
    module = apsw.__file__
    folder = Path(module).parent / "sqlite_extra_binaries" if module else Path()
    paths = [file for suffix in _SUFFIXES if (file := folder / f"cksumvfs{suffix}").is_file()]
    if not paths or not hasattr(apsw.Connection, "reserve_bytes"):
        return False
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(paths[0]))
    except apsw.Error as error:
        logger.warning("databases are written without checksums: %s", error)
        return False
    finally:
        connection.close()
    return True


def reserve_checksums(connection: apsw.Connection) -> None:
    """Reserve room for checksums in a database that has no page yet."""
    connection.reserve_bytes(reserve=RESERVED_BYTES)


def reserves_checksums(connection: apsw.Connection) -> bool:
    """Whether the pages of a database have room for checksums."""
    return checksums_available() and connection.reserve_bytes() == RESERVED_BYTES


def sqlite_version() -> str:
    """The version of the SQLite that apsw includes."""
    return apsw.sqlite_lib_version()


# The header mark (`application_id`) states the program and kind of a database, and whether it has
# checksums.

# `clix` and the like: a codelens database of this kind whose pages have checksums.
MARKS = {
    "index": 0x636C6978, "contexts": 0x636C6378, "usage": 0x636C7578, "vectors": 0x636C7678,
}  # fmt: skip
UNDER_REMOVAL = 0x636C6972
"""Replaces an index's mark while rows are deleted without a log (`clir`; see `HeldIndex`)."""
_TABLES = {
    "index": "view_files", "contexts": "contexts", "usage": "calls", "vectors": "text_vectors",
}  # fmt: skip
"""A table that every version of a kind has."""


def check_head(connection: apsw.Connection, kind: str, path: Path, *, checked: bool) -> None:
    """Raise if another program wrote the database, or its header contradicts its checksums."""
    mark = int(connection.pragma("application_id"))  # type: ignore[arg-type]
    if mark == MARKS[kind]:
        # No checksum protects the byte that states if the file has checksums, so compare it with
        # the mark.
        if checked and not reserves_checksums(connection):
            raise IndexCorrupt(path, "its header was changed")
        return
    if mark == UNDER_REMOVAL:
        raise IndexCorrupt(path, "a process ended while deleting rows on a full disk")
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    # No mark: the database is from an early version, or its SQLite has no checksums.
    if mark or (tables and (not connection.pragma("user_version") or _TABLES[kind] not in tables)):
        raise IndexCorrupt(path, "another program's database")


# Copies a whole database that may be in use.


def copy_database(path: Path, target: Path) -> None:
    """Copy the committed state at `path` to a new file that only its owner can read.

    Raises:
        FileExistsError: `target` exists.
        apsw.Error: the database cannot be read.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    source, copy = apsw.Connection(str(path)), apsw.Connection(str(target))
    try:
        with copy.backup("main", source, "main") as backup:
            backup.step()
    finally:
        source.close()
        copy.close()


# Migrates a database file to the current schema.
#
# Migrations are the numbered SQL files in `migrations/`; `PRAGMA user_version` is the number of the
# last one that ran. Each runs in one transaction together with its number, so a file is never
# between two schemas.

_NUMBERED = re.compile(r"(\d{4})_(\w+)\.sql")


@cache
def migrations(kind: str) -> tuple[tuple[int, Path], ...]:
    """Numbered migrations of one kind of database (`index`), oldest first."""
    numbered = [
        (int(match.group(1)), file)
        for file in sorted(shipped("migrations").iterdir())
        if (match := _NUMBERED.fullmatch(file.name)) and match.group(2).startswith(kind)
    ]
    if not numbered:
        raise FileNotFoundError(f"no {kind} migrations in {shipped('migrations')}")
    return tuple(numbered)


def migrate(connection: apsw.Connection, kind: str, path: Path, mark: int) -> None:
    """Run the missing migrations; take no lock if there are none.

    Before migrating a database of an older codelens it makes a copy, `NAME.before-NUMBER`, next to
    the file. It removes the copy of an index after success, since an index can be rebuilt.

    Args:
        connection: an open connection to the database.
        kind: the kind of database.
        path: the database, as messages name it.
        mark: the `application_id` for a new database whose pages have checksums.

    Raises:
        SchemaTooNew: a newer codelens wrote the file.
    """
    # The newest number comes from the file names: reading the schema costs a query at each start.
    latest = migrations(kind)[-1][0]
    version = _version(connection)
    if version > latest:
        raise SchemaTooNew(path, version, latest)
    if version == latest:
        return
    connection.execute("BEGIN IMMEDIATE")
    with connection_rollback(connection):
        # Another process may have migrated while this one waited for the lock.
        version = _version(connection)
        backup = _back_up(connection, path, version) if 0 < version < latest else None
        if not version and reserves_checksums(connection):
            connection.execute(f"PRAGMA application_id = {mark}")
        for number, file in migrations(kind):
            if number > version:
                connection.execute(file.read_text(encoding="utf-8"))
                connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    if backup is not None and kind == "index":
        backup.unlink(missing_ok=True)


def _back_up(connection: apsw.Connection, path: Path, version: int) -> Path | None:
    """Copy the database, readable by its owner only; None for a database in memory."""
    if not connection.filename:
        return None
    target = path.with_name(f"{path.name}.before-{version + 1}")
    target.unlink(missing_ok=True)
    try:
        copy_database(path, target)
    except BaseException:
        # An incomplete copy would only waste the remaining space.
        target.unlink(missing_ok=True)
        raise
    return target


class connection_rollback:
    """Roll the open transaction back if the body raises."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        """Do nothing: the caller has begun the transaction."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def outdated_schema(path: Path, kind: str) -> int:
    """The schema number of a database that needs migration, else 0; does not open the database."""
    with path.open("rb") as file:
        head = file.read(64)
    version = int.from_bytes(head[60:64], "big") if head.startswith(b"SQLite format 3") else 0
    return version if version < migrations(kind)[-1][0] else 0


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))  # type: ignore[arg-type]
