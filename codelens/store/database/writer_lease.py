"""Time as the store counts it: wall clocks jump both ways, and machines sleep and reboot.

`passed` gives the seconds that surely went by between two readings. An index adds them up in a
clock of its own (`codelens.store.views.index_metadata`), so that a clock set forward by a year
ages nothing.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codelens.cancellation import check_cancelled
from codelens.errors import IndexLocked, LeaseLost, StoreError

if TYPE_CHECKING:
    from codelens.store.database.database import Database

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


# The writer's lease: one process writes an index at a time, and a dead one blocks nobody.
#
# A row in `index_locks`. A lease is taken over when its holder is known to be dead (same host, same
# boot, same pid namespace, and the pid is gone or was given to another process) or silent past its
# expiry, even if alive. Taking it raises the fencing number; each write transaction checks that
# number, so a holder that lost its lease writes nothing more.
#
# Silence is counted in seconds since boot where holder and asker share one, so that a wall clock
# that is set takes no lease away; else (another host, another boot) by the wall clock.

logger = logging.getLogger(__name__)

LEASE_S = 30.0
_BEAT_S = LEASE_S / 3
# A holder that works writes every few seconds; one that hangs must not keep others off for ever.
_HUNG_S = 600.0
_NAME = "writer"
_POLL_S = 0.02
_TRY_S = 0.5
_TELL_S = 1.0
_RELEASE_S = 2.0

_SELECT = """
SELECT owner, host, boot, pid, pid_start, expires_s, expires_up_s, fencing FROM index_locks
WHERE name = ?
"""
_TAKE = """
INSERT INTO index_locks (name, owner, host, boot, pid, pid_start, heartbeat_s, expires_s,
    expires_up_s, fencing)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, host = excluded.host,
    boot = excluded.boot, pid = excluded.pid, pid_start = excluded.pid_start,
    heartbeat_s = excluded.heartbeat_s, expires_s = excluded.expires_s,
    expires_up_s = excluded.expires_up_s, fencing = excluded.fencing
"""
_BEAT = """
UPDATE index_locks SET heartbeat_s = ?, expires_s = ?, expires_up_s = ?
WHERE name = ? AND fencing = ? AND owner = ?
"""
# The row stays, so that the fencing number never goes back.
_RELEASE = """
UPDATE index_locks SET owner = '', expires_s = 0, expires_up_s = 0
WHERE name = ? AND fencing = ? AND owner = ?
"""


class Holder(NamedTuple):
    """Who holds, or held, the lease."""

    owner: str
    host: str
    boot: str
    pid: int
    pid_start: str
    expires_s: float
    expires_up_s: float
    fencing: int


class Lease:
    """The right to write one index; see `acquire`. Release it in a `finally`.

    A thread beats its heart, so that long work between two transactions does not lose it. It
    stops with the process (also one that was stopped by a signal), and when nothing was written
    for ten minutes.
    """

    def __init__(self, db: Database, owner: str, fencing: int, clock: Clock) -> None:
        self._path = db.path
        self.owner = owner
        self.fencing = fencing
        self._clock = clock
        self._done = threading.Event()
        self._wrote = time.monotonic()
        threading.Thread(
            target=self._beat_on, args=(db,), name="codelens-lease", daemon=True
        ).start()

    def check(self, db: Database) -> None:
        """Beat the heart; runs in the caller's write transaction.

        Raises:
            LeaseLost: another process has taken over since.
        """
        holder = holder_of(db)
        if holder is None or holder.fencing != self.fencing or holder.owner != self.owner:
            raise LeaseLost(self._path)
        self._beat(db)
        self._wrote = time.monotonic()

    def release(self, db: Database) -> None:
        """Give the lease back; harmless when it was lost.

        If the file cannot be written now the lease ends by its expiry.
        """
        self._done.set()
        try:
            with db.write(None, _RELEASE_S):
                db.execute(_RELEASE, (_NAME, self.fencing, self.owner))
        except StoreError as error:
            logger.warning("the lease ends by its expiry: %s", error)

    def _beat(self, db: Database) -> None:
        now = self._clock()
        ends = (now.wall_s, now.wall_s + LEASE_S, now.up_s + LEASE_S)
        db.execute(_BEAT, (*ends, _NAME, self.fencing, self.owner))

    def _beat_on(self, db: Database) -> None:
        while not self._done.wait(_BEAT_S) and time.monotonic() - self._wrote < _HUNG_S:
            try:
                with db.another() as own, own.write(None, _TRY_S):
                    self._beat(own)
            except StoreError as error:
                # A transaction of the holder's own is open: it beat the heart when it began.
                logger.debug("no heartbeat: %s", error)


def acquire(
    db: Database, wait_s: float, clock: Clock = machine, waiting: Callable[[], None] | None = None
) -> Lease:
    """Take the lease, waiting up to `wait_s` seconds for its holder, and not much longer.

    `waiting` is called about once a second meanwhile.

    Raises:
        IndexLocked: the holder is alive and kept it.
    """
    until = time.monotonic() + wait_s
    started_at = time.monotonic()
    while True:
        check_cancelled()
        holder = holder_of(db)
        left = until - time.monotonic()
        if not is_held(holder, clock()):
            lease = _take(db, min(_TRY_S, max(left, 0.0)), clock)
            if lease is not None:
                return lease
        if left <= 0:
            owner = holder is not None and holder.owner
            raise IndexLocked(db.path, _called(holder) if owner and holder else "another process")
        if waiting is not None and time.monotonic() - started_at >= _TELL_S:
            waiting()
            started_at = time.monotonic()
        time.sleep(min(_POLL_S, left))


def holder_of(db: Database) -> Holder | None:
    """Who holds the lease, or held it last; see `is_held`."""
    row = db.row(_SELECT, (_NAME,))
    return Holder(*row) if row else None


def is_held(holder: Holder | None, now: Moment) -> bool:
    """Whether the lease must be left to its holder."""
    if holder is None or not holder.owner:
        return False
    same_boot = holder.boot != "" and holder.boot == now.boot
    left = holder.expires_up_s - now.up_s if same_boot else holder.expires_s - now.wall_s
    # A clock that was set back must not make a lease last longer than one period.
    if not 0 < left <= 2 * LEASE_S:
        return False
    if same_boot and holder.host == host_name():
        return process_start(holder.pid) == holder.pid_start
    return True


def _take(db: Database, wait_s: float, clock: Clock) -> Lease | None:
    try:
        with db.write(None, wait_s):
            holder = holder_of(db)
            now = clock()
            if is_held(holder, now):
                return None
            owner = os.urandom(16).hex()
            fencing = (holder.fencing if holder else 0) + 1
            me = (host_name(), now.boot, os.getpid(), process_start(os.getpid()))
            ends = (now.wall_s, now.wall_s + LEASE_S, now.up_s + LEASE_S)
            db.execute(_TAKE, (_NAME, owner, *me, *ends, fencing))
    except IndexLocked:
        return None
    return Lease(db, owner, fencing, clock)


def _called(holder: Holder) -> str:
    if holder.pid == os.getpid() and holder.host == host_name():
        return "this process, in the background"
    return f"process {holder.pid} on {holder.host.split('/')[0]}"


@cache
def host_name() -> str:
    """This host and, on Linux, this pid namespace: pids mean something only within one."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    if hasattr(os, "uname"):
        name = os.uname().nodename
    else:
        import socket

        name = socket.gethostname()
    return f"{name}/{namespace}"


def process_start(pid: int) -> str:
    """When the process started, in the kernel's ticks; empty when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The command name stands in parentheses and may hold spaces; field 22 is counted after it.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in {"Z", "X"} else fields[19]
