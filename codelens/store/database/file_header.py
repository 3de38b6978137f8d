"""Whose file a database is, by the head of the file: ours, of which kind, with checksums or not."""

# apsw's stubs leave the types of pragmas open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

import apsw

from codelens.errors import IndexCorrupt
from codelens.store.database import page_checksums

# `clix`, ...: whose file it is, and that each page has a checksum
# (store/database/page_checksums.py).
MARKS = {
    "index": 0x636C6978, "contexts": 0x636C6378, "usage": 0x636C7578, "vectors": 0x636C7678,
}  # fmt: skip
UNDER_REMOVAL = 0x636C6972
"""In place of an index's mark while rows go from it without a log (`clir`;
store/database/exclusive_index.py)."""
_TABLES = {
    "index": "view_files", "contexts": "contexts", "usage": "calls", "vectors": "text_vectors",
}  # fmt: skip
"""A table that every version of a kind has."""


def check_head(connection: apsw.Connection, kind: str, path: Path, *, checked: bool) -> None:
    """Refuse what another program wrote, and a head that says there are no checksums."""
    mark = int(connection.pragma("application_id"))  # type: ignore[arg-type]
    if mark == MARKS[kind]:
        # The byte that says so is the one that no checksum protects.
        if checked and not page_checksums.reserves(connection):
            raise IndexCorrupt(path, "its header was changed")
        return
    if mark == UNDER_REMOVAL:
        raise IndexCorrupt(path, "a process ended while deleting rows on a full disk")
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    # Without a mark: one of an early version, or of a system whose SQLite has no checksums.
    if mark or (tables and (not connection.pragma("user_version") or _TABLES[kind] not in tables)):
        raise IndexCorrupt(path, "another program's database")
