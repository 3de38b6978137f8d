"""One process writes at a time; a dead or silent holder blocks nobody; a loser writes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codelens.errors import IndexLocked, LeaseLost
from codelens.store import leases
from codelens.store.database import Database, open_index

HOLD = """
import sys, time
from pathlib import Path
from codelens.store import leases
from codelens.store.database import open_index
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
    first = leases.acquire(db, 0)
    first.release(db)
    second = leases.acquire(db, 0)
    assert second.fencing == first.fencing + 1


def test_a_living_holder_keeps_its_lease(db: Database) -> None:
    process = holder(db.path)
    try:
        with pytest.raises(IndexLocked, match=str(process.pid)):
            leases.acquire(db, 0.1)
    finally:
        end(process)


def test_a_killed_holder_loses_its_lease_at_once(db: Database) -> None:
    process = holder(db.path)
    end(process)
    assert leases.acquire(db, 0).fencing == 2


def test_a_silent_holder_loses_its_lease_and_writes_nothing_more(db: Database) -> None:
    mine = leases.acquire(db, 0)
    db.execute("UPDATE index_locks SET expires_s = 1, expires_up_s = 1")
    other = open_index(db.path)
    taken = leases.acquire(other, 0)
    assert taken.fencing == mine.fencing + 1
    with pytest.raises(LeaseLost), db.write(mine):
        db.execute("DELETE FROM views")
    with other.write(taken):
        pass


def test_an_expiry_far_in_the_future_is_not_believed(db: Database) -> None:
    leases.acquire(db, 0)
    db.execute("UPDATE index_locks SET expires_s = ?, expires_up_s = 1e12", (time.time() + 1e6,))
    assert leases.acquire(db, 0).fencing == 2


def test_from_another_host_only_expiry_counts(db: Database) -> None:
    leases.acquire(db, 0)
    db.execute("UPDATE index_locks SET host = 'elsewhere', boot = 'other', pid = 999999999")
    with pytest.raises(IndexLocked, match="elsewhere"):
        leases.acquire(db, 0.05)
    db.execute("UPDATE index_locks SET expires_s = 1")
    assert leases.acquire(db, 0).fencing == 2


def test_a_pid_that_was_given_to_another_process_is_not_the_holder(db: Database) -> None:
    leases.acquire(db, 0)
    db.execute("UPDATE index_locks SET pid_start = '1'")
    assert leases.acquire(db, 0).fencing == 2


def test_a_lost_lease_can_be_released_without_harm(db: Database) -> None:
    mine = leases.acquire(db, 0)
    db.execute("UPDATE index_locks SET expires_s = 1, expires_up_s = 1")
    taken = leases.acquire(db, 0)
    mine.release(db)
    with db.write(taken):
        pass


def test_a_process_knows_when_it_started() -> None:
    assert leases.process_start(os.getpid())
    assert leases.process_start(2**22 + 7) == ""
