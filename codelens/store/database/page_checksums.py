"""A checksum on every page of a database: a flipped byte is an error, never another answer.

SQLite's own `cksumvfs` (https://sqlite.org/cksumvfs.html), which apsw's wheels bring along: eight
bytes at the end of a page, written with it and compared whenever it is read. It costs 15 to 25 %
of reading pages that are not cached, a few percent of a query (docs/recovery.md). Where apsw comes
without it, new databases have no checksums, and `codelens doctor` says so.
"""

# apsw's stubs leave the types of file control open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path

import apsw

logger = logging.getLogger(__name__)

RESERVED_BYTES = 8
"""What a page with a checksum keeps free at its end; byte 20 of the file's head says so."""
_SUFFIXES = ("", ".so", ".dylib", ".dll")


@cache
def available() -> bool:
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


def reserve(connection: apsw.Connection) -> None:
    """Keep room for checksums in a database that has no page yet."""
    connection.reserve_bytes(reserve=RESERVED_BYTES)


def reserves(connection: apsw.Connection) -> bool:
    """Whether the pages of a database have room for checksums."""
    return available() and connection.reserve_bytes() == RESERVED_BYTES


def sqlite_version() -> str:
    """Of the SQLite that apsw brings."""
    return apsw.sqlite_lib_version()
