"""The writer's lease: one process writes an index at a time, and a dead one blocks nobody.

A row in `index_locks`. A lease is taken over when its holder is known to be dead (same host,
same boot, same pid namespace, and the pid is gone or was given to another process) or silent
past its expiry. Taking it raises the fencing number; each write transaction checks that number,
so a holder that lost its lease writes nothing more.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codelens.errors import IndexLocked, LeaseLost

if TYPE_CHECKING:
    from codelens.store.database import Database

LEASE_S = 30.0
_NAME = "writer"
_POLL_S = 0.02

_SELECT = (
    "SELECT owner, host, boot, pid, pid_start, expires_s, fencing FROM index_locks WHERE name = ?"
)
_TAKE = """
INSERT INTO index_locks (name, owner, host, boot, pid, pid_start, heartbeat_s, expires_s, fencing)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, host = excluded.host,
    boot = excluded.boot, pid = excluded.pid, pid_start = excluded.pid_start,
    heartbeat_s = excluded.heartbeat_s, expires_s = excluded.expires_s, fencing = excluded.fencing
"""
_BEAT = "UPDATE index_locks SET heartbeat_s = ?, expires_s = ? WHERE name = ? AND fencing = ?"
# The row stays, so that the fencing number never goes back.
_RELEASE = "UPDATE index_locks SET owner = '', expires_s = 0 WHERE name = ? AND fencing = ?"


class Holder(NamedTuple):
    """Who holds, or held, the lease."""

    owner: str
    host: str
    boot: str
    pid: int
    pid_start: str
    expires_s: float
    fencing: int


class Lease:
    """The right to write one index; see `acquire`."""

    def __init__(self, path: Path, owner: str, fencing: int) -> None:
        self._path = path
        self.owner = owner
        self.fencing = fencing

    def check(self, db: Database) -> None:
        """Beat the heart; runs in the caller's write transaction.

        Raises:
            LeaseLost: another process has taken over since.
        """
        holder = _holder(db)
        if holder is None or holder.fencing != self.fencing or holder.owner != self.owner:
            raise LeaseLost(self._path)
        now = time.time()
        db.execute(_BEAT, (now, now + LEASE_S, _NAME, self.fencing))

    def release(self, db: Database) -> None:
        """Give the lease back; harmless when it was lost."""
        with db.write(None):
            db.execute(_RELEASE, (_NAME, self.fencing))


def acquire(db: Database, wait_s: float) -> Lease:
    """Take the lease, waiting up to `wait_s` seconds for its holder.

    Raises:
        IndexLocked: the holder is alive and kept it.
    """
    until = time.monotonic() + wait_s
    while True:
        holder = _holder(db)
        if holder is None or not _holds(holder):
            lease = _take(db)
            if lease is not None:
                return lease
        if time.monotonic() >= until:
            who = f"process {holder.pid} on {holder.host.split('/')[0]}" if holder else "another"
            raise IndexLocked(db.path, who)
        time.sleep(_POLL_S)


def _take(db: Database) -> Lease | None:
    with db.write(None):
        holder = _holder(db)
        if holder is not None and _holds(holder):
            return None
        owner = uuid.uuid4().hex
        fencing = (holder.fencing if holder else 0) + 1
        now = time.time()
        me = (host_name(), boot_id(), os.getpid(), process_start(os.getpid()))
        db.execute(_TAKE, (_NAME, owner, *me, now, now + LEASE_S, fencing))
    return Lease(db.path, owner, fencing)


def _holder(db: Database) -> Holder | None:
    row = db.row(_SELECT, (_NAME,))
    return Holder(*row) if row else None


def _holds(holder: Holder) -> bool:
    if not holder.owner or holder.expires_s <= time.time():
        return False
    # A clock that was set back must not make a lease last longer than one period.
    if holder.expires_s > time.time() + 2 * LEASE_S:
        return False
    here = holder.host == host_name() and holder.boot == boot_id() and holder.boot != ""
    return not here or process_start(holder.pid) == holder.pid_start


@cache
def host_name() -> str:
    """This host and, on Linux, this pid namespace: pids mean something only within one."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{namespace}"


@cache
def boot_id() -> str:
    """This boot of the machine; empty where it cannot be told, and then only expiry counts."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def process_start(pid: int) -> str:
    """When the process started, in the kernel's ticks; empty when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The command name stands in parentheses and may hold spaces; field 22 is counted after it.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in {"Z", "X"} else fields[19]
