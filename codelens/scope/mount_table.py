"""The mount that a folder lies on, by the kernel's table where there is one.

`os.path.ismount` does not see a bind mount of the same file system: the table does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_TABLE = "/proc/self/mountinfo"
_LEAST_FIELDS = 10
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Mount(NamedTuple):
    """A line of the table; see proc_pid_mountinfo(5)."""

    number: int
    parent: int
    within: bytes
    """The folder of the file system that is mounted: `/`, or another one of a bind mount."""
    point: bytes
    filesystem: bytes
    """The kind of the file system and its source."""


def mounts(table: bytes | None = None) -> list[Mount]:
    """All mounts of this process, empty where there is no table.

    Args:
        table: to be read in place of the kernel's.
    """
    if table is None:
        try:
            table = Path(_TABLE).read_bytes()
        except OSError:
            return []
    return [mount for line in table.splitlines() if (mount := _mount(line)) is not None]


def _mount(line: bytes) -> Mount | None:
    fields = line.split(b" ")
    # Optional fields end with a dash alone.
    if len(fields) < _LEAST_FIELDS or b"-" not in fields[6:]:
        return None
    end = fields.index(b"-", 6)
    filesystem = b" ".join(fields[end + 1 : end + 3])
    return Mount(int(fields[0]), int(fields[1]), _plain(fields[3]), _plain(fields[4]), filesystem)


def _plain(field: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), field)


def mount_of(folder: str, table: Iterable[Mount]) -> Mount | None:
    """The mount on which a folder is seen; None where the table does not tell.

    Args:
        folder: an absolute path without links.
        table: of the process.
    """
    path = os.fsencode(folder)
    covering = [mount for mount in table if _is_below(path, mount.point)]
    numbers = {mount.number for mount in covering}
    nearest: Mount | None = None
    while True:
        # A mount that was covered by another one, nearer to the root, has the same parent as it.
        above = [
            mount
            for mount in covering
            if (mount.parent not in numbers if nearest is None else mount.parent == nearest.number)
        ]
        if not above:
            return nearest
        nearest = min(above, key=lambda mount: len(mount.point))
        covering.remove(nearest)


def _is_below(path: bytes, point: bytes) -> bool:
    return path == point or path.startswith(point.rstrip(b"/") + b"/")
