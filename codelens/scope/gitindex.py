"""Reader of git's index file: what is tracked. `read_index` gives all of it, `read_tracked` less.

libgit2 does not open sparse and split indexes, so we read the file ourselves: versions 2 to 4,
SHA-1, per git's Documentation/gitformat-index.txt. The trailing checksum is not verified, as git
itself does not. Object ids are raw bytes.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from codelens.errors import ReadError, UnsupportedRepository

ExpandTree = Callable[[str, bytes], Iterable[tuple[bytes, int, bytes]]]
"""Given a tree's id in hex and a folder with its slash: path, mode and id of all files below."""

GITLINK: Final = 0o160000
_SPARSE_FOLDER: Final = 0o040000
_IGNORE_NAME: Final = b".gitignore"

_HEADER: Final = struct.Struct(">4sII")
# ctime, mtime (seconds and nanoseconds each), dev, inode, mode, uid, gid, size, id.
_FIXED: Final = struct.Struct(">10I20s")
_WORD: Final = struct.Struct(">I")
_CHECKSUM_BYTES: Final = 20
_NAME_AT: Final = 62
_NAME_MASK: Final = 0xFFF
_EXTENDED: Final = 0x4000
_ASSUME_UNCHANGED: Final = 0x8000
_SKIP_WORKTREE: Final = 0x4000_0000
_INTENT_TO_ADD: Final = 0x2000_0000
_UNKNOWN_FLAGS: Final = 0x9FFF_0000
_SECOND_NS: Final = 1_000_000_000
_NO_ID: Final = bytes(20)


class IndexEntry(NamedTuple):
    """One entry. Stat fields are what git saw when it last compared: inode and size modulo 2^32."""

    path: bytes
    mode: int
    oid: bytes
    stage: int
    """0, or 1 to 3 (base, ours, theirs) of a conflict."""
    mtime_ns: int
    ctime_ns: int
    size: int
    ino: int
    skip_worktree: bool
    assume_unchanged: bool
    intent_to_add: bool


class TrackedSet(NamedTuple):
    """What is tracked, as far as it decides which files belong."""

    paths: frozenset[bytes]
    """All tracked paths, those of submodules included."""
    gitlinks: frozenset[bytes]
    """Submodules."""
    folders: frozenset[bytes]
    """Every folder above a tracked path, but not the root."""
    ignore_blobs: dict[bytes, bytes]
    """Ignore files with skip-worktree and their object ids: git reads them when not on disk."""
    digest: bytes
    """Equal for two indexes that let the same files belong; 16 bytes."""


NOTHING_TRACKED: Final = TrackedSet(frozenset(), frozenset(), frozenset(), {}, bytes(16))


class _Damaged(Exception):  # noqa: N818 - turned into a ReadError where the path is known
    """The bytes do not follow the format."""


class _Parsed(NamedTuple):
    """An index file cut into its parts."""

    data: bytes
    count: int
    version: int
    entries_end: int
    extensions: dict[bytes, bytes]

    @property
    def checksum(self) -> bytes:
        return self.data[-_CHECKSUM_BYTES:]


def read_index(
    path: str | os.PathLike[str], *, expand_tree: ExpandTree | None = None
) -> list[IndexEntry]:
    """All entries, in git's order (path, then stage); none if there is no such file.

    Args:
        path: the index file, in the worktree's own git folder.
        expand_tree: opens the folders of a sparse index.

    Raises:
        ReadError: it cannot be read, or is damaged.
        UnsupportedRepository: it has an extension or a version that we do not know.
    """
    file = os.fspath(path)
    return _guarded(file, lambda: _all_entries(file, expand_tree)) or []


def read_tracked(
    path: str | os.PathLike[str], *, expand_tree: ExpandTree | None = None
) -> TrackedSet:
    """Paths alone: a third of the price of `read_index`, with the same arguments and errors."""
    file = os.fspath(path)
    return _guarded(file, lambda: _tracked(file, expand_tree)) or NOTHING_TRACKED


def index_files(path: str | os.PathLike[str]) -> list[str]:
    """The files that an index consists of: itself, and the shared part of a split one.

    Raises:
        ReadError: it cannot be read, or is damaged.
        UnsupportedRepository: it has an extension or a version that we do not know.
    """
    file = os.fspath(path)

    def named() -> list[str]:
        parsed = _parse(file)
        shared = parsed and _shared_name(file, parsed)
        return [file, shared] if shared else [file]

    return _guarded(file, named) or [file]


def _guarded[T](file: str, read: Callable[[], T]) -> T:
    remedy = "run `git status` there; if git cannot read it either, remove it and run `git reset`"
    try:
        return read()
    except (_Damaged, struct.error, IndexError, ValueError) as error:
        raise ReadError(f"git's index {file!r} is damaged ({error}); {remedy}") from error
    except OSError as error:
        raise ReadError(f"cannot read git's index {file!r}: {error}; {remedy}") from error
