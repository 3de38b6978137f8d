"""A checksum on every page of a database: a flipped byte is an error, never another answer.

SQLite's own `cksumvfs` (https://sqlite.org/cksumvfs.html), which apsw's wheels bring along: eight
bytes at the end of a page, written with it and compared whenever it is read. It costs 15 to 25 %
of reading pages that are not cached, a few percent of a query (docs/recovery.md). Where apsw comes
without it, new databases have no checksums, and `codelens doctor` says so.
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
"""What a page with a checksum keeps free at its end; byte 20 of the file's head says so."""
_SUFFIXES = ("", ".so", ".dylib", ".dll")


@cache
def checksums_available() -> bool:
    """Checksums can be written and compared here; tells SQLite to, from now on."""
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
    """Keep room for checksums in a database that has no page yet."""
    connection.reserve_bytes(reserve=RESERVED_BYTES)


def reserves_checksums(connection: apsw.Connection) -> bool:
    """Whether the pages of a database have room for checksums."""
    return checksums_available() and connection.reserve_bytes() == RESERVED_BYTES


def sqlite_version() -> str:
    """Of the SQLite that apsw brings."""
    return apsw.sqlite_lib_version()


# Whose file a database is, by the head of the file: ours, of which kind, with checksums or not.

# `clix`, ...: whose file it is, and that each page has a checksum
# (store/database/database_file.py).
MARKS = {
    "index": 0x636C6978, "contexts": 0x636C6378, "usage": 0x636C7578, "vectors": 0x636C7678,
}  # fmt: skip
UNDER_REMOVAL = 0x636C6972
"""In place of an index's mark while rows go from it without a log (`clir`;
store/database/database_opening.py)."""
_TABLES = {
    "index": "view_files", "contexts": "contexts", "usage": "calls", "vectors": "text_vectors",
}  # fmt: skip
"""A table that every version of a kind has."""


def check_head(connection: apsw.Connection, kind: str, path: Path, *, checked: bool) -> None:
    """Refuse what another program wrote, and a head that says there are no checksums."""
    mark = int(connection.pragma("application_id"))  # type: ignore[arg-type]
    if mark == MARKS[kind]:
        # The byte that says so is the one that no checksum protects.
        if checked and not reserves_checksums(connection):
            raise IndexCorrupt(path, "its header was changed")
        return
    if mark == UNDER_REMOVAL:
        raise IndexCorrupt(path, "a process ended while deleting rows on a full disk")
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    # Without a mark: one of an early version, or of a system whose SQLite has no checksums.
    if mark or (tables and (not connection.pragma("user_version") or _TABLES[kind] not in tables)):
        raise IndexCorrupt(path, "another program's database")


# A whole copy of a database that may be in use.


def copy_database(path: Path, target: Path) -> None:
    """Copy what was committed at `path` to a new file, readable by its owner alone.

    Raises:
        FileExistsError: `target` is there.
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


# Brings a database file to the schema this codelens knows.
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
    """Run what is missing; take no lock when nothing is.

    A copy of what an older codelens wrote is made first, `NAME.before-NUMBER` beside the file; that
    of an index goes when all went well, for an index can be built again.

    Args:
        connection: of the database.
        kind: which migrations.
        path: of the database, as messages name it.
        mark: the `application_id` of a new one whose pages have checksums.

    Raises:
        SchemaTooNew: a newer codelens wrote the file.
    """
    # The newest number is in the file names: reading a schema costs a query each start.
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
    """A copy of the database as it is, readable by its owner alone; None for one in memory."""
    if not connection.filename:
        return None
    target = path.with_name(f"{path.name}.before-{version + 1}")
    target.unlink(missing_ok=True)
    try:
        copy_database(path, target)
    except BaseException:
        # Half a copy would take what room is left.
        target.unlink(missing_ok=True)
        raise
    return target


class connection_rollback:
    """Roll the open transaction back when its body raises."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        """Nothing to do: the caller has begun."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def outdated_schema(path: Path, kind: str) -> int:
    """The schema of a database that its next opening migrates; 0 for none, without opening it."""
    with path.open("rb") as file:
        head = file.read(64)
    version = int.from_bytes(head[60:64], "big") if head.startswith(b"SQLite format 3") else 0
    return version if version < migrations(kind)[-1][0] else 0


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))  # type: ignore[arg-type]
