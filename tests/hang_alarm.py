"""A test that hangs is ended by an alarm, with its process: no assertion on time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def end_after(seconds: float) -> None:
    """Set the alarm anew; nothing where the system has none."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


@contextmanager
def guarded() -> Iterator[None]:
    """The alarm ends the process; whoever had it before has it again afterwards."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    held = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, held)
