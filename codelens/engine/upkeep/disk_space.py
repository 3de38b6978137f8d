"""Room on a disk that is full: what of codelens's own can go, and what somebody may let go."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from codelens.engine.upkeep.view_survey import index_files, repo_id_of
from codelens.errors import DiskFull
from codelens.store.database import exclusive_index
from codelens.store.database.database import Database
from codelens.store.database.index_opening import open_index

LITTLE_BYTES = 500_000_000
"""Less than that is little: an index of a large repository takes it."""
_SHOWN = 3


class IndexSize(NamedTuple):
    """What dropping an index would give back."""

    repo_id: str
    size: int


@contextmanager
def opened(path: Path) -> Generator[Database]:
    """An index to be looked at, alone if there is no room to open it otherwise.

    Raises:
        DiskFull: it cannot even be read, or others have it open.
        StoreError: as `open_index`.
    """
    try:
        db = open_index(path)
    except DiskFull:
        db = exclusive_index.hold(path)
    try:
        yield db
    finally:
        db.close()


def is_scarce(home: Path) -> bool:
    """Whether the disk of the home folder, or of where it would be, has little room."""
    return free_bytes(home) < LITTLE_BYTES


def free_bytes(home: Path) -> int:
    """Room on the disk of the home folder, or of where it would be."""
    place = home
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def largest(home: Path) -> list[IndexSize]:
    """The indexes that take most, the largest first."""
    sizes = [IndexSize(repo_id_of(path), bytes_of(_files_of(path))) for path in index_files(home)]
    index_sizes = [size for size in sizes if size.size]
    return sorted(index_sizes, key=lambda index_size: -index_size.size)[:_SHOWN]


def advice(home: Path) -> str:
    """What makes room, as commands: for one who types them."""
    index_sizes = largest(home)
    if not index_sizes:
        return "free some space; the indexes use none"
    drops = " or ".join(
        f"`codelens drop --force --repository {index_size.repo_id}` "
        f"({index_size.size / 1e6:,.1f} MB)"
        for index_size in index_sizes
    )
    return f"free some space, or remove an index (it is rebuilt when needed): {drops}"


def bytes_of(paths: Iterable[Path]) -> int:
    """Sizes of those files that are there."""
    size = 0
    for path in paths:
        with suppress(OSError):
            size += path.stat().st_size
    return size


def _files_of(index: Path) -> list[Path]:
    return [index, *(index.with_name(index.name + suffix) for suffix in ("-wal", "-shm"))]
