"""The writer's lease and its clocks: they decide who may write an index, and for how long.

Wall clocks jump both ways, and machines sleep and reboot. `passed` returns how many seconds have
certainly elapsed between two readings. An index adds them up in its own clock
(`codelens.store.views.index_metadata`), so setting the clock forward by a year makes nothing older.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codelens.cancellation import check_cancelled
from codelens.errors import IndexLocked, LeaseLost, StoreError

if TYPE_CHECKING:
    from codelens.store.database.database import Database

DAY_S = 86_400.0
_UNSEEN_S = DAY_S
"""Maximum time that counts between readings from two boots, which only the wall clock can
compare."""


class Moment(NamedTuple):
    """One reading of the machine's clocks."""

    wall_s: float
    up_s: float
    """Seconds since boot, including sleep where the system counts it."""
    boot: str
    """Id of the boot; empty if unknown, and then only the wall clock counts."""


Clock = Callable[[], Moment]


def machine() -> Moment:
    """Read the clocks of this machine."""
    return Moment(time.time(), _up_s(), boot_id())


def passed(before: Moment, now: Moment) -> float:
    """Seconds between two readings: at most what went by within a boot, and at least 0.

    Across a reboot, or if boots are unknown, it is at most a day: a longer time may come from a
    clock that was set.
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
    """Id of this boot of the machine; empty if unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


# With the writer's lease, one process at a time writes an index, and a dead process blocks nobody.
#
# A lease is a row in `index_locks`. A process takes over a lease when its holder is dead (same
# host, boot and pid namespace, and the pid is gone or belongs to another process), or is silent
# past its expiry, even if alive. Taking it raises the fencing number. Each write transaction checks
# that number, so a holder that lost its lease writes nothing more.
#
# Silence is measured in seconds since boot if both processes run in the same boot, so that nobody
# loses a lease because the wall clock was set; otherwise (another host or boot) it is measured by
# the wall clock.

logger = logging.getLogger(__name__)

LEASE_S = 30.0
_BEAT_S = LEASE_S / 3
# A holder that works writes every few seconds. One that hangs must not block others forever.
_HUNG_S = 600.0
_NAME = "writer"
_POLL_S = 0.02
_TRY_S = 0.5
_NOTICE_S = 1.0
_given_up: set[str] = set()
"""Owners of leases that this process has ended, but could not release in the file."""
_RELEASE_S = 2.0
_OWN_STAT = "/proc/self/stat"

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
# The row is kept so that the fencing number never decreases.
_RELEASE = """
UPDATE index_locks SET owner = '', expires_s = 0, expires_up_s = 0
WHERE name = ? AND fencing = ? AND owner = ?
"""


class Holder(NamedTuple):
    """The process that holds, or held, the lease."""

    owner: str
    host: str
    boot: str
    pid: int
    pid_start: str
    expires_s: float
    expires_up_s: float
    fencing: int


class Lease:
    """The right to write one index; see `held`.

    A thread sends heartbeats, so that long work between two transactions does not lose the lease.
    It stops with the process (also one stopped by a signal), and after ten minutes without a write.
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
        """Send a heartbeat; runs in the caller's write transaction.

        Raises:
            LeaseLost: another process has taken over.
        """
        holder = holder_of(db)
        if holder is None or holder.fencing != self.fencing or holder.owner != self.owner:
            raise LeaseLost(self._path)
        self._beat(db)
        self._wrote = time.monotonic()

    def release(self, db: Database) -> None:
        """Release the lease; harmless if it was lost.

        If the file cannot be written now, the lease ends for other processes when it expires, and
        for this one at once.
        """
        self._done.set()
        try:
            with db.write(None, _RELEASE_S):
                db.execute(_RELEASE, (_NAME, self.fencing, self.owner))
        except StoreError as error:
            _given_up.add(self.owner)
            logger.warning("the lease ends when it expires: %s", error)

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
                # The holder has a transaction open, which sent a heartbeat when it began.
                logger.debug("no heartbeat: %s", error)


def acquire(
    db: Database, wait_s: float, clock: Clock = machine, waiting: Callable[[], None] | None = None
) -> Lease:
    """Take the lease; wait about `wait_s` seconds at most for its holder to release it.

    `waiting` is called about once a second while it waits.

    Raises:
        IndexLocked: the holder is alive and did not release it.
    """
    until = time.monotonic() + wait_s
    started_at = time.monotonic()
    while True:
        check_cancelled()
        holder = holder_of(db)
        left = until - time.monotonic()
        if _may_take(holder, clock()):
            lease = _take(db, min(_TRY_S, max(left, 0.0)), clock)
            if lease is not None:
                return lease
        if left <= 0:
            owner = holder is not None and holder.owner
            raise IndexLocked(
                db.path, _holder_name(holder) if owner and holder else "another process"
            )
        if waiting is not None and time.monotonic() - started_at >= _NOTICE_S:
            waiting()
            started_at = time.monotonic()
        time.sleep(min(_POLL_S, left))


@contextmanager
def held(
    db: Database, wait_s: float, clock: Clock = machine, waiting: Callable[[], None] | None = None
) -> Generator[Lease]:
    """Hold the lease during the block; arguments and errors are those of `acquire`."""
    lease = acquire(db, wait_s, clock, waiting)
    try:
        yield lease
    finally:
        lease.release(db)


def holder_of(db: Database) -> Holder | None:
    """The holder of the lease, or the last one; see `is_held`."""
    row = db.row(_SELECT, (_NAME,))
    return Holder(*row) if row else None


def is_held(holder: Holder | None, now: Moment) -> bool:
    """Whether the holder still has a right to the lease."""
    if holder is None or not holder.owner:
        return False
    same_boot = holder.boot != "" and holder.boot == now.boot
    left = holder.expires_up_s - now.up_s if same_boot else holder.expires_s - now.wall_s
    # A clock that was set back must not prolong a lease beyond one period.
    if not 0 < left <= 2 * LEASE_S:
        return False
    if holder.boot == now.boot and holder.host == host_name():
        # Where boots have no id, a pid that is gone is still proof.
        return process_start(holder.pid) == holder.pid_start
    return True


def _may_take(holder: Holder | None, now: Moment) -> bool:
    return (holder is not None and holder.owner in _given_up) or not is_held(holder, now)


def _take(db: Database, wait_s: float, clock: Clock) -> Lease | None:
    try:
        with db.write(None, wait_s):
            holder = holder_of(db)
            now = clock()
            if not _may_take(holder, now):
                return None
            owner = os.urandom(16).hex()
            fencing = (holder.fencing if holder else 0) + 1
            me = (host_name(), now.boot, os.getpid(), process_start(os.getpid()))
            ends = (now.wall_s, now.wall_s + LEASE_S, now.up_s + LEASE_S)
            db.execute(_TAKE, (_NAME, owner, *me, *ends, fencing))
    except IndexLocked:
        return None
    return Lease(db, owner, fencing, clock)


def _holder_name(holder: Holder) -> str:
    if holder.pid == os.getpid() and holder.host == host_name():
        return "this process, in the background"
    return f"process {holder.pid} on {holder.host.split('/')[0]}"


@cache
def host_name() -> str:
    """This host and, on Linux, its pid namespace: a pid has a meaning only within one."""
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
    """The process's start time in kernel ticks; empty if there is no such process.

    On systems that do not tell it, a word for every process that runs.
    """
    if not os.path.exists(_OWN_STAT):
        return "running" if _is_running(pid) else ""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The command name is in parentheses and may contain spaces; field 22 is counted after it.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in {"Z", "X"} else fields[19]


def _is_running(pid: int) -> bool:
    """Whether a process runs; where that cannot be asked, it is assumed."""
    if os.name != "posix":
        return True  # On Windows, the signal 0 would end the process.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
