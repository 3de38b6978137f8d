"""Brings a database file to the schema this codelens knows.

Migrations are the numbered SQL files in `migrations/`; `PRAGMA user_version` is the number of the
last one that ran. Each runs in one transaction together with its number, so a file is never
between two schemas.
"""

# apsw's stubs leave the types of bindings and pragmas open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import apsw

from codelens.errors import SchemaTooNew
from codelens.paths import shipped
from codelens.store.database import page_checksums
from codelens.store.database.database_copy import copy_database

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
        if not version and page_checksums.reserves(connection):
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
