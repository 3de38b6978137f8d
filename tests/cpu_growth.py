"""Asserts that CPU time grows linearly with the size of a text, not quadratically."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TIMES = 4
_MOST_GROWTH = 2.5 * TIMES
"""Maximum growth for a text `TIMES` as long; quadratic time would grow 16 times."""
_LEAST_S = 0.02
"""Below this, noise dominates."""


def assert_linear(work: Callable[[str], object], pattern: str, times: int) -> None:
    """`work` on a repeated pattern takes no more CPU than its length explains."""
    short = _cpu_s(work, pattern * times)
    long = _cpu_s(work, pattern * times * TIMES)
    assert long <= _MOST_GROWTH * max(short, _LEAST_S), (pattern, short, long)


def _cpu_s(work: Callable[[str], object], text: str) -> float:
    # A collection of all objects of a worker that ran thousands of tests takes .2 s.
    gc.disable()
    try:
        started = time.thread_time()
        work(text)
        return time.thread_time() - started
    finally:
        gc.enable()
