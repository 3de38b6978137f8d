"""The limit on the CPU of one extraction: counted in CPU time, regardless of wall time."""

from __future__ import annotations

import time

import pytest

from codelens.extract.parse import captures
from codelens.extract.parse.captures import (
    CpuLimit,
    ParseTimeout,
    check_work,
    cpu_left_s,
    limited,
    with_deep_stack,
)


def _spend(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_time_that_passes_without_work_is_not_counted() -> None:
    limit = CpuLimit(0.02)
    time.sleep(0.05)
    assert not limit.is_reached()
    _spend(0.03)
    assert limit.is_reached()
    assert limit.is_reached()


def test_work_of_another_thread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures, "_BASE_S", 0.02)
    with limited(0):
        check_work()
        with_deep_stack(lambda: _spend(0.03))
        assert cpu_left_s() < 0
        with pytest.raises(ParseTimeout):
            check_work()
    check_work()


def test_a_helper_thread_gets_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures, "_BASE_S", 0.05)

    def work() -> None:
        _spend(0.06)
        check_work()

    with limited(0), pytest.raises(ParseTimeout):
        with_deep_stack(work)
