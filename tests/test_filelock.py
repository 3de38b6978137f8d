"""The system's lock on a file, as seen by two processes and two descriptors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codelens import home_files

HOLDER = """
import os, sys
from codelens import home_files

home_files.take_lock(os.open(sys.argv[1], os.O_RDWR), wait_s=60)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "a.lock"
    path.touch()
    return path


@pytest.fixture
def descriptor(lock: Path) -> Iterator[int]:
    opened = os.open(lock, os.O_RDWR)
    yield opened
    os.close(opened)


def test_a_lock_that_is_held_is_not_taken_until_it_is_given_back(
    lock: Path, descriptor: int
) -> None:
    other = os.open(lock, os.O_RDWR)
    assert home_files.take_lock(other)
    assert not home_files.take_lock(descriptor)
    os.close(other)
    assert home_files.take_lock(descriptor)


def test_a_killed_process_holds_nothing(lock: Path, descriptor: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert not home_files.take_lock(descriptor)
        holder.kill()
        assert home_files.take_lock(descriptor, wait_s=60)


def test_an_unlockable_file_is_an_error_and_not_a_foreign_lock(lock: Path) -> None:
    closed = os.open(lock, os.O_RDWR)
    os.close(closed)
    with pytest.raises(OSError, match="descriptor"):
        home_files.take_lock(closed)


def test_a_holder_that_never_lets_go_is_not_waited_for_without_end(
    lock: Path, descriptor: int
) -> None:
    other = os.open(lock, os.O_RDWR)
    assert home_files.take_lock(other)
    assert not home_files.take_lock(descriptor, wait_s=0.1)
    os.close(other)


@pytest.mark.parametrize("wait_s", [0.001, 0.05, 0.5])
def test_no_pause_is_longer_than_what_is_left_of_the_wait(
    lock: Path, descriptor: int, monkeypatch: pytest.MonkeyPatch, wait_s: float
) -> None:
    """The clock advances only during the pauses."""
    assert home_files.take_lock(descriptor)
    pauses: list[float] = []
    monkeypatch.setattr(home_files.time, "monotonic", lambda: sum(pauses))
    monkeypatch.setattr(home_files.time, "sleep", pauses.append)
    other = os.open(lock, os.O_RDWR)
    assert not home_files.take_lock(other, wait_s=wait_s)
    os.close(other)
    assert sum(pauses) == pytest.approx(wait_s)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes by name")
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, os.remove])
def test_anything_but_a_lock_file_is_kept_under_another_name(
    lock: Path, make: Callable[[Path], None]
) -> None:
    if make is not os.remove:
        lock.unlink()
    make(lock)
    descriptor = home_files.open_locked(lock)
    assert home_files.take_lock(descriptor)
    os.close(descriptor)
    assert lock.is_file()
    assert len(list(lock.parent.glob("a.lock.foreign-*"))) == (make is not os.remove)
