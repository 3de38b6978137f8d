"""One process writes at a time; a dead or silent holder blocks nobody; a loser writes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codelens.errors import IndexLocked, LeaseLost
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index

HOLD = """
import sys, time
from pathlib import Path
from codelens.store.database import writer_lease as leases
from codelens.store.database.database_opening import open_index
db = open_index(Path(sys.argv[1]))
leases.acquire(db, 5)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return open_index(tmp_path / "index.db")


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_lease_is_taken_and_given_back(db: Database) -> None:
    first = writer_lease.acquire(db, 0)
    first.release(db)
    second = writer_lease.acquire(db, 0)
    assert second.fencing == first.fencing + 1


def test_a_living_holder_keeps_its_lease(db: Database) -> None:
    process = holder(db.path)
    try:
        with pytest.raises(IndexLocked, match=str(process.pid)):
            writer_lease.acquire(db, 0.1)
    finally:
        end(process)


def test_a_holder_in_this_process_is_called_so(db: Database) -> None:
    lease = writer_lease.acquire(db, 0)
    with pytest.raises(IndexLocked, match="being written by this process, in the background"):
        writer_lease.acquire(db, 0)
    lease.release(db)


def test_a_lease_that_could_not_be_released_is_over_in_its_process(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk, or while another transaction takes long."""
    monkeypatch.setattr(writer_lease, "_RELEASE_S", 0.0)
    lease = writer_lease.acquire(db, 0)
    other = open_index(db.path)
    with other.write(None):
        lease.release(db)
    stored = writer_lease.holder_of(db)
    assert stored is not None and stored.owner == lease.owner
    assert writer_lease.acquire(db, 0).fencing == lease.fencing + 1
    with db.write(None), pytest.raises(LeaseLost):
        lease.check(db)


def test_a_killed_holder_loses_its_lease_at_once(db: Database) -> None:
    process = holder(db.path)
    end(process)
    assert writer_lease.acquire(db, 0).fencing == 2


def test_without_proc_too_a_killed_holder_loses_its_lease_at_once(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_lease, "_OWN_STAT", "/nowhere")
    process = holder(db.path)
    # macOS has no ids of boots, and does not tell when a process started.
    db.execute("UPDATE index_locks SET boot = '', pid_start = 'running'")

    def clock() -> writer_lease.Moment:
        return writer_lease.machine()._replace(boot="")

    with pytest.raises(IndexLocked):
        writer_lease.acquire(db, 0, clock)
    end(process)
    assert writer_lease.acquire(db, 0, clock).fencing == 2


def test_a_silent_holder_loses_its_lease_and_writes_nothing_more(db: Database) -> None:
    mine = writer_lease.acquire(db, 0)
    db.execute("UPDATE index_locks SET expires_s = 1, expires_up_s = 1")
    other = open_index(db.path)
    taken = writer_lease.acquire(other, 0)
    assert taken.fencing == mine.fencing + 1
    with pytest.raises(LeaseLost), db.write(mine):
        db.execute("DELETE FROM views")
    with other.write(taken):
        pass


def test_an_expiry_far_in_the_future_is_not_believed(db: Database) -> None:
    writer_lease.acquire(db, 0)
    db.execute("UPDATE index_locks SET expires_s = ?, expires_up_s = 1e12", (time.time() + 1e6,))
    assert writer_lease.acquire(db, 0).fencing == 2


def test_from_another_host_only_expiry_counts(db: Database) -> None:
    writer_lease.acquire(db, 0)
    db.execute("UPDATE index_locks SET host = 'elsewhere', boot = 'other', pid = 999999999")
    with pytest.raises(IndexLocked, match="elsewhere"):
        writer_lease.acquire(db, 0.05)
    db.execute("UPDATE index_locks SET expires_s = 1")
    assert writer_lease.acquire(db, 0).fencing == 2


def test_a_pid_that_was_given_to_another_process_is_not_the_holder(db: Database) -> None:
    writer_lease.acquire(db, 0)
    db.execute("UPDATE index_locks SET pid_start = '1'")
    assert writer_lease.acquire(db, 0).fencing == 2


def test_a_lost_lease_can_be_released_without_harm(db: Database) -> None:
    mine = writer_lease.acquire(db, 0)
    db.execute("UPDATE index_locks SET expires_s = 1, expires_up_s = 1")
    taken = writer_lease.acquire(db, 0)
    mine.release(db)
    with db.write(taken):
        pass


def test_a_process_knows_when_it_started() -> None:
    assert writer_lease.process_start(os.getpid())
    assert writer_lease.process_start(2**22 + 7) == ""


WORK = """
import sys, time
from pathlib import Path
from codelens.errors import LeaseLost
from codelens.store.database import writer_lease as leases
from codelens.store.database.database_opening import open_index
db = open_index(Path(sys.argv[1]))
lease = leases.acquire(db, 5)
print("held", flush=True)
for line in sys.stdin:
    try:
        with db.write(lease):
            db.execute("INSERT INTO segments (doc_count, docs) VALUES (0, x'')")
        print("written", flush=True)
    except LeaseLost:
        print("lost", flush=True)
"""


@contextmanager
def worker(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A holder that writes a row for every line it is sent."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", WORK, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        end(process)


def reply(process: subprocess.Popen[str]) -> str:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("write\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def later(seconds: float) -> writer_lease.Clock:
    """The machine's clocks, moved forward by seconds; the wall clock does not move."""

    def read() -> writer_lease.Moment:
        now = writer_lease.machine()
        return now._replace(up_s=now.up_s + seconds)

    return read


def test_a_holder_stopped_beyond_its_lease_writes_nothing_when_it_goes_on(db: Database) -> None:
    with worker(db.path) as process:
        assert reply(process) == "written"
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(IndexLocked):
            writer_lease.acquire(db, 0)
        taken = writer_lease.acquire(db, 0, later(writer_lease.LEASE_S + 1))
        process.send_signal(signal.SIGCONT)
        assert reply(process) == "lost"
        assert db.rows("SELECT COUNT(*) FROM segments") == [(1,)]
        with db.write(taken):
            pass


def test_a_holder_that_was_stopped_for_less_goes_on(db: Database) -> None:
    with worker(db.path) as process:
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(IndexLocked):
            writer_lease.acquire(db, 0, later(writer_lease.LEASE_S - 5))
        process.send_signal(signal.SIGCONT)
        assert reply(process) == "written"


@pytest.mark.parametrize("jump_s", [-1e9, -3600, 3600, 1e9])
def test_a_wall_clock_that_jumps_takes_no_lease_from_a_holder_of_this_boot(
    db: Database, jump_s: float
) -> None:
    def jumped() -> writer_lease.Moment:
        now = writer_lease.machine()
        return now._replace(wall_s=now.wall_s + jump_s)

    with worker(db.path) as process:
        with pytest.raises(IndexLocked):
            writer_lease.acquire(db, 0, jumped)
        assert reply(process) == "written"


def test_from_another_boot_the_wall_clock_counts(db: Database) -> None:
    writer_lease.acquire(db, 0)
    now = writer_lease.machine()
    other = writer_lease.Moment(now.wall_s + 5, 5.0, "another boot")
    with pytest.raises(IndexLocked):
        writer_lease.acquire(db, 0, lambda: other)
    late = other._replace(wall_s=now.wall_s + writer_lease.LEASE_S + 1)
    assert writer_lease.acquire(db, 0, lambda: late).fencing == 2


def test_the_heart_beats_while_nothing_is_written(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_lease, "_BEAT_S", 0.01)
    before = db.rows("SELECT expires_up_s FROM index_locks")
    lease = writer_lease.acquire(db, 0)
    first = beaten(db, before)
    assert beaten(db, first) != first
    lease.release(db)
    assert db.rows("SELECT owner FROM index_locks") == [("",)]


def test_a_transaction_longer_than_a_lease_does_not_lose_it(db: Database) -> None:
    passed_s = 0.0

    def clock() -> writer_lease.Moment:
        now = writer_lease.machine()
        return now._replace(up_s=now.up_s + passed_s, wall_s=now.wall_s + passed_s)

    lease = writer_lease.acquire(db, 0, clock)
    with db.write(lease):
        passed_s = writer_lease.LEASE_S + 5
        with db.another() as other, pytest.raises(IndexLocked):
            writer_lease.acquire(other, 0, clock)
    with pytest.raises(IndexLocked):
        writer_lease.acquire(db, 0, clock)
    with db.write(lease):
        pass


def beaten(db: Database, before: list) -> list:
    """Waits until the expiry changes, and returns it."""
    while (now := db.rows("SELECT expires_up_s FROM index_locks")) == before:
        time.sleep(0.005)
    return now


@pytest.mark.slow
def test_a_holder_that_hangs_stops_beating(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_lease, "_BEAT_S", 0.01)
    monkeypatch.setattr(writer_lease, "_HUNG_S", 0.0)
    lease = writer_lease.acquire(db, 0)
    thread = next(one for one in threading.enumerate() if one.name == "codelens-lease")
    thread.join()
    assert writer_lease.acquire(db, 0, later(writer_lease.LEASE_S + 1)).fencing == lease.fencing + 1


def test_a_lost_lease_is_not_released_by_its_former_holder(db: Database) -> None:
    mine = writer_lease.acquire(db, 0)
    taken = writer_lease.acquire(db, 0, later(writer_lease.LEASE_S + 1))
    mine.release(db)
    holder = writer_lease.holder_of(db)
    assert holder is not None and holder.owner == taken.owner


def test_an_open_transaction_of_another_is_waited_for_no_longer_than_asked(db: Database) -> None:
    other = open_index(db.path)
    with other.write(None), pytest.raises(IndexLocked, match="another process"):
        writer_lease.acquire(db, 0.05)


def test_many_processes_write_one_after_another(db: Database) -> None:
    count = """
import sys
from pathlib import Path
from codelens.store.database import writer_lease as leases
from codelens.store.database.database_opening import open_index
db = open_index(Path(sys.argv[1]))
for _ in range(20):
    lease = leases.acquire(db, 60)
    before = db.rows("SELECT COUNT(*) FROM segments")[0][0]
    with db.write(lease):
        after = db.rows("SELECT COUNT(*) FROM segments")[0][0]
        db.execute("INSERT INTO segments (doc_count, docs) VALUES (0, x'')")
    assert before == after, "somebody wrote under my lease"
    lease.release(db)
"""
    processes = [
        subprocess.Popen([sys.executable, "-P", "-c", count, str(db.path)]) for _ in range(4)
    ]
    assert [process.wait() for process in processes] == [0] * 4
    assert db.rows("SELECT COUNT(*) FROM segments") == [(80,)]
