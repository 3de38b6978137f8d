"""One thread that gives up on what takes too long, for any number of things under way.

A timer for each would be a thread for each, and `Thread.start` of CPython 3.11 waits without end
for a thread that finds no memory to begin in: so an index under a limit of memory hung.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Watchdog:
    """Calls what it was given when the time is over; `close` ends its thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[object, tuple[float, Callable[[], None]]] = {}
        self._ends = False
        self._thread = threading.Thread(target=self._watch, name="codelens-watchdog", daemon=True)
        self._thread.start()

    @contextmanager
    def limit(self, seconds: float, give_up: Callable[[], None]) -> Generator[None]:
        """Call `give_up`, from another thread, if the block takes longer than `seconds`."""
        key = object()
        with self._changed:
            self._due[key] = (time.monotonic() + seconds, give_up)
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due.pop(key, None)

    def close(self) -> None:
        """End the thread; nothing is given up any more."""
        with self._changed:
            self._ends = True
            self._due.clear()
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._ends:
                now = time.monotonic()
                for key in [key for key, (due, _) in self._due.items() if due <= now]:
                    # Under the lock, so that nothing is given up after its block has ended.
                    self._due.pop(key)[1]()
                next_due = min((due for due, _ in self._due.values()), default=None)
                self._changed.wait(None if next_due is None else max(0.0, next_due - now))
