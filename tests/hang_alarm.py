"""An alarm that ends a hanging test together with its process; not an assertion on time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def end_after(seconds: float) -> None:
    """Resets the alarm; does nothing on systems without alarms."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


@contextmanager
def guarded() -> Iterator[None]:
    """Ends the process at the alarm; restores the previous handler afterwards."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    held = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, held)
