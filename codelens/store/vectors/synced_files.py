"""Which files a worktree or ref had when its vectors were synced last, and what changed since."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import NamedTuple

from codelens.store.database.database import Database

_FILES = "SELECT files FROM synced_files WHERE place = ?"
_PUT = "INSERT OR REPLACE INTO synced_files VALUES (?, ?)"
_HASH_BYTES = 16


class FileChanges(NamedTuple):
    """Files by what happened to them from one sync to the next."""

    added: int
    removed: int
    modified: int


def changes_since(db: Database, place: str, files: Mapping[bytes, bytes]) -> FileChanges:
    """What changed since the last sync that ended.

    Args:
        db: the repository's vectors.
        place: the worktree, or the ref.
        files: path -> hash of its bytes, of all files that may be sent.
    """
    row = db.row(_FILES, (place,))
    before = _unpacked(row[0]) if row else {}
    return FileChanges(
        len(files.keys() - before.keys()),
        len(before.keys() - files.keys()),
        sum(1 for path, known in files.items() if before.get(path, known) != known),
    )


def note_files(db: Database, place: str, files: Mapping[bytes, bytes]) -> None:
    """Note what a sync ended with; in the caller's transaction."""
    packed = b"".join(known + path + b"\0" for path, known in sorted(files.items()))
    db.execute(_PUT, (place, zlib.compress(packed, 1)))


def _unpacked(data: bytes) -> dict[bytes, bytes]:
    """A hash of `_HASH_BYTES`, a path and a NUL each; a hash may have NULs in it."""
    packed = zlib.decompress(data)
    files: dict[bytes, bytes] = {}
    at = 0
    while at < len(packed):
        end = packed.index(b"\0", at + _HASH_BYTES)
        files[packed[at + _HASH_BYTES : end]] = packed[at : at + _HASH_BYTES]
        at = end + 1
    return files
