"""How long a question may work: CPU time of the thread that asks, not time by the clock.

So other work on the machine does not make an answer partial. Only after several times as long by
the clock a walk ends all the same, as somebody waits for it.
"""

from __future__ import annotations

import time

_WAITING = 4
"""How many times the time for work may pass by the clock."""


class WorkLimit:
    """Begins when it is made.

    Args:
        seconds: how long the thread may work.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.thread_time()
        self._deadline = time.monotonic() + _WAITING * seconds
        self._next_look = time.monotonic() + seconds
        self._reached = False

    def extend(self, seconds: float) -> None:
        """Allow so much more: for what comes after the first part of a question."""
        self._seconds += seconds
        self._deadline += _WAITING * seconds
        self._next_look, self._reached = time.monotonic(), False

    def is_past(self, times: float) -> bool:
        """The thread worked so many times as long as it may."""
        return time.thread_time() - self._began > times * self._seconds

    def is_reached(self) -> bool:
        """The work is done, or it took far too long."""
        now = time.monotonic()
        if self._reached or now < self._next_look:
            return self._reached
        # Asking for CPU time is slow on some systems; a thread works no longer than the clock goes.
        left = self._seconds - (time.thread_time() - self._began)
        self._reached = left <= 0 or now > self._deadline
        self._next_look = min(now + left, self._deadline)
        return self._reached
