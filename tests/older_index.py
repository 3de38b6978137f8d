"""An index as an older version of codelens made it."""

from __future__ import annotations

from pathlib import Path

import apsw

from codelens.store.database import database_file


def older_index(path: Path, version: int) -> apsw.Connection:
    """A new, empty index whose schema has this number."""
    connection = apsw.Connection(str(path))
    for number, file in database_file.migrations("index"):
        if number <= version:
            connection.execute(file.read_text(encoding="utf-8"))
    list(connection.execute(f"PRAGMA user_version = {version}"))
    return connection
