"""Time as the store counts it: wall clocks jump both ways, and machines sleep and reboot.

`passed` gives the seconds that surely went by between two readings. An index adds them up in a
clock of its own (`codelens.store.views.index_metadata`), so that a clock set forward by a year
ages nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

DAY_S = 86_400.0
_UNSEEN_S = DAY_S
"""What counts at most of the time between readings of two boots, when only the wall clock tells."""


class Moment(NamedTuple):
    """One reading of the machine's clocks."""

    wall_s: float
    up_s: float
    """Seconds since boot, those asleep included where the system counts them."""
    boot: str
    """Which boot; empty where that cannot be told, and then only the wall clock counts."""


Clock = Callable[[], Moment]


def machine() -> Moment:
    """The clocks of this machine."""
    return Moment(time.time(), _up_s(), boot_id())


def passed(before: Moment, now: Moment) -> float:
    """Seconds between two readings: never more than went by within a boot, never less than 0.

    Over a reboot, or where boots cannot be told, a day at most: what lies beyond may be a clock
    that was set.
    """
    wall = now.wall_s - before.wall_s
    if before.boot and before.boot == now.boot:
        return max(0.0, min(wall, now.up_s - before.up_s))
    return max(0.0, min(wall, _UNSEEN_S))


def _up_s() -> float:
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


@cache
def boot_id() -> str:
    """This boot of the machine; empty where it cannot be told."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
