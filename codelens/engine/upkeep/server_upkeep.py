"""Maintains a server's open indexes and its memory every minute while it is idle.

glibc keeps freed memory for reuse, and gives each thread its own arena, so a server that answers on
many threads would hold the peak memory of all of them. With other C libraries, this module does
nothing about memory.

Some objects refer to each other in a circle. Python frees these when it looks for them, which the
server's thresholds leave to this module (`cli/main.py`).
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import NamedTuple

from codelens.engine.open_index import OpenIndex
from codelens.errors import IndexLocked, LeaseLost, StoreError
from codelens.store.database.database import LARGEST_LOG_BYTES
from codelens.store.database.database_opening import open_index
from codelens.store.database.database_recovery import FileState, state_of
from codelens.store.views import garbage_collection

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_ARENAS = 2
"""Few arenas suffice: Python's own lock rarely lets threads allocate at the same time."""
_OWN_PAGES_BYTES = 1 << 18
"""Blocks of this size get their own pages, which are returned when freed. By default, glibc raises
this to the largest freed block, up to 32 MB, and later blocks would be mixed with lasting ones."""


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def limit_arenas() -> None:
    """Make threads that start later share arenas."""
    library = _library()
    if library is not None:
        library.mallopt(_M_ARENA_MAX, _ARENAS)
        library.mallopt(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)


def give_memory_back() -> None:
    """Return free pages to the system; takes some milliseconds."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


_BUSY_TENDS = 10
"""A server that is never idle frees all cycles this often: a call that finds objects in use makes
them old, and what it leaves of them would stay (50 MiB in 14,000 calls of `benchmarks/soak.py`)."""
_YOUNG, _ALL = 1, 2
_FEW_NEW = 5_000
"""With fewer new objects since a search of all, another search of all finds nothing."""


def free_new_cycles() -> None:
    """Free the cycles among objects made since the last search: takes some milliseconds.

    Call it while no question is under way: a search that finds objects in use counts them as old.
    Python's own count of new objects says little: each old object that is freed lowers it.
    """
    gc.collect(_YOUNG)


def free_all_cycles() -> None:
    """Free the cycles among all objects: takes 50 ms, or a second with a kernel open."""
    new, *searches = gc.get_count()
    if new > _FEW_NEW or any(searches):
        gc.collect(_ALL)


# The upkeep of a server each minute, when no call is waiting.
#
# It removes texts that no view needs once they are due, truncates a long log, and returns free
# pages to the system. If several servers have one index open, the first one does this; the others
# see that no view has changed since.

logger = logging.getLogger(__name__)

Rest = Callable[[], bool]


class _Seen(NamedTuple):
    """The state of an index after its last upkeep here."""

    file: FileState | None
    log: FileState | None
    views: tuple[int, ...]


class ServerUpkeep:
    """Maintains the indexes that a server has open.

    Args:
        indexes: returns them.
    """

    def __init__(self, indexes: Callable[[], list[OpenIndex]]) -> None:
        self._indexes = indexes
        self._seen: dict[Path, _Seen] = {}
        self._busy_tends = 0

    def tend(self, rest: Rest, *, idle: bool, collects: bool = True) -> None:
        """Do the upkeep that is due; fast if nothing changed.

        Args:
            rest: called between steps; may wait, and returns whether to go on.
            idle: there were no calls for a while: page caches and all cycles are freed, too.
            collects: texts that no view needs may be removed.
        """
        for index in self._indexes():
            if not rest():
                break
            try:
                self._tend_index(index.path, rest, collects=collects)
                if idle:
                    index.shrink()
            except (IndexLocked, LeaseLost) as error:
                logger.debug("upkeep of %s is postponed: %s", index.path, error)
            except StoreError as error:
                # The next call will report it.
                logger.info("upkeep of %s failed: %s", index.path, error)
        self._busy_tends = 0 if idle else self._busy_tends + 1
        if self._busy_tends % _BUSY_TENDS == 0:
            free_all_cycles()
        give_memory_back()

    def _tend_index(self, path: Path, rest: Rest, *, collects: bool) -> None:
        seen = self._seen.get(path)
        files = _files(path)
        if files[0] is None or (seen is not None and files == seen[:2] and not _is_long(files[1])):
            return
        with closing(open_index(path)) as db:
            views = garbage_collection.views_state(db)
            is_unchanged = seen is not None and views == seen.views
            if collects and (not is_unchanged or garbage_collection.is_due(db)):
                garbage_collection.collect(db, rest)
            if _is_long(_files(path)[1]):
                db.truncate_log()
            # Marked data becomes due even if nothing changes the file.
            waits = garbage_collection.waiting(db) > 0
        file, log = _files(path)
        self._seen[path] = _Seen(None if waits else file, log, views)


def _files(path: Path) -> tuple[FileState | None, FileState | None]:
    return state_of(path), state_of(path.with_name(f"{path.name}-wal"))


def _is_long(log: FileState | None) -> bool:
    return log is not None and log.size > LARGEST_LOG_BYTES
