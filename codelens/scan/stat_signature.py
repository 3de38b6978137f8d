"""Stat signatures: whether a file or folder may have changed since it was last read.

Equal size and mtime prove nothing (a tool can put an mtime back), so ctime and inode count too.
And a file changed within the granularity of its time stamps can change again without any stamp
showing it; git calls this racy (git's Documentation/technical/racy-git.txt). Such a signature is
stored as `RACY`, which equals nothing, so the next look reads the file again.
"""

from __future__ import annotations

import os
import struct

RACY = b""

_PACK = struct.Struct("<qqqQ").pack
# Linux stamps with the time of the last tick: 1 to 10 ms old. Five times that, to be safe.
_GRANULARITY_NS = 50_000_000
# A stamp of whole seconds on both sides is a file system that keeps seconds (FAT: two).
_COARSE_NS = 2_100_000_000
_SECOND_NS = 1_000_000_000


def signature(stat: os.stat_result) -> bytes:
    """The signature of an lstat result: 32 bytes; compare with a stored one."""
    return _PACK(stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)


def signature_to_store(stat: os.stat_result, look_ns: int) -> bytes:
    """The signature to remember after reading; `RACY` if a later change might not show.

    `look_ns` is the wall clock before the stat was taken.
    """
    newest = max(stat.st_mtime_ns, stat.st_ctime_ns)
    coarse = not stat.st_mtime_ns % _SECOND_NS and not stat.st_ctime_ns % _SECOND_NS
    margin = _COARSE_NS if coarse else _GRANULARITY_NS
    return RACY if newest >= look_ns - margin else signature(stat)
