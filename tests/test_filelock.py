"""The system's lock on a file, as two processes and two descriptors of one see it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelens import filelock

HOLDER = """
import os, sys
from codelens import filelock

filelock.take(os.open(sys.argv[1], os.O_RDWR), wait=True)
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
    assert filelock.take(other, wait=False)
    assert not filelock.take(descriptor, wait=False)
    os.close(other)
    assert filelock.take(descriptor, wait=False)


def test_a_killed_process_holds_nothing(lock: Path, descriptor: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert not filelock.take(descriptor, wait=False)
        holder.kill()
        assert filelock.take(descriptor, wait=True)


def test_what_cannot_be_locked_is_an_error_and_not_a_lock_of_another(lock: Path) -> None:
    closed = os.open(lock, os.O_RDWR)
    os.close(closed)
    with pytest.raises(OSError, match="descriptor"):
        filelock.take(closed, wait=False)
