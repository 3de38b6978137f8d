"""Memory that a server has freed goes back to the system (glibc; elsewhere nothing is done).

glibc keeps what is freed for the next use, and gives each thread an arena of its own: a server that
answers on many threads keeps the peaks of all of them.
"""

from __future__ import annotations

import ctypes
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
"""Python holds its own lock while it works, so threads seldom meet in one."""
_OWN_PAGES_BYTES = 1 << 18
"""What is as large has pages of its own, which go when it does. glibc raises this to the largest
block that was freed, up to 32 MB: those of later questions lie among what stays."""


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def limit_arenas() -> None:
    """Have threads that start later share arenas."""
    library = _library()
    if library is not None:
        library.mallopt(_M_ARENA_MAX, _ARENAS)
        library.mallopt(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)


def give_memory_back() -> None:
    """Give pages that are free back; some milliseconds."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


# What a server does about its indexes and its memory each minute, when nobody waits for it.
#
# Texts that no view needs any more are collected as they become due, a log that grew is cut, free
# pages go back to the system. Of several servers on one index the first that comes does it: the
# others see that no view has changed since.

logger = logging.getLogger(__name__)

Rest = Callable[[], bool]


class _Seen(NamedTuple):
    """An index as it was left here."""

    file: FileState | None
    log: FileState | None
    views: tuple[int, ...]


class ServerUpkeep:
    """Tends the indexes that a server has open.

    Args:
        indexes: gives them.
    """

    def __init__(self, indexes: Callable[[], list[OpenIndex]]) -> None:
        self._indexes = indexes
        self._seen: dict[Path, _Seen] = {}

    def tend(self, rest: Rest, *, idle: bool, collects: bool = True) -> None:
        """Do what is due; quick where nothing changed.

        Args:
            rest: called between steps; may wait, and says whether to go on.
            idle: nobody asked anything for a while: caches of pages go too.
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
                logger.debug("%s is tended later: %s", index.path, error)
            except StoreError as error:
                # The next question meets it and says so.
                logger.info("%s cannot be tended: %s", index.path, error)
        give_memory_back()

    def _tend_index(self, path: Path, rest: Rest, *, collects: bool) -> None:
        seen = self._seen.get(path)
        files = _files(path)
        if files[0] is None or (seen is not None and files == seen[:2] and not _is_long(files[1])):
            return
        with closing(open_index(path)) as db:
            views = garbage_collection.views_state(db)
            known = seen is not None and views == seen.views
            if collects and (not known or garbage_collection.is_due(db)):
                garbage_collection.collect(db, rest)
            if _is_long(_files(path)[1]):
                db.truncate_log()
            # What is marked becomes due though nobody changes the file.
            waits = garbage_collection.waiting(db) > 0
        file, log = _files(path)
        self._seen[path] = _Seen(None if waits else file, log, views)


def _files(path: Path) -> tuple[FileState | None, FileState | None]:
    return state_of(path), state_of(path.with_name(f"{path.name}-wal"))


def _is_long(log: FileState | None) -> bool:
    return log is not None and log.size > LARGEST_LOG_BYTES
