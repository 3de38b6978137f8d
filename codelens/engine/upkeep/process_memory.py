"""Memory that a server has freed goes back to the system (glibc; elsewhere nothing is done).

glibc keeps what is freed for the next use, and gives each thread an arena of its own: a server that
answers on many threads keeps the peaks of all of them.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

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


def give_back() -> None:
    """Give pages that are free back; some milliseconds."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)
