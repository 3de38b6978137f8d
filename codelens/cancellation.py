"""Cancels the work of a call whose client no longer waits for the answer.

The current call is in a context variable, which a thread inherits from the task that started it, so
no layer has to pass it on. Long work checks the call regularly. Work without a call is never
cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar


class CallCancelled(BaseException):
    """The client no longer waits for the answer.

    This is a `BaseException`: code that catches errors to carry on must not catch it.
    """


class Call:
    """One call of a client.

    Args:
        kind: what the client asks for, such as a tool's name; calls of different kinds take turns.
    """

    def __init__(self, kind: str = "") -> None:
        self.kind = kind
        self._lock = threading.Lock()
        self._cancelled = False
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def is_cancelled(self) -> bool:
        """Whether the call was cancelled."""
        return self._cancelled

    def cancel(self) -> None:
        """Cancel the call. Any thread may do this, any number of times."""
        with self._lock:
            self._cancelled = True
            listeners = list(self._listeners.values())
            self._listeners.clear()
        for listener in listeners:
            listener()

    @contextmanager
    def under_way(self) -> Generator[None]:
        """Attribute the work in the block to this call."""
        token = _CALL.set(self)
        try:
            yield
        finally:
            _CALL.reset(token)

    @contextmanager
    def telling(self, listener: Callable[[], None]) -> Generator[None]:
        """Run `listener`, from another thread, if the call is cancelled during the block."""
        key = object()
        with self._lock:
            late = self._cancelled
            if not late:
                self._listeners[key] = listener
        if late:
            listener()
        try:
            yield
        finally:
            with self._lock:
                self._listeners.pop(key, None)


_CALL: ContextVar[Call | None] = ContextVar("codelens_call", default=None)
_NO_CALL = Call()


def current_call() -> Call:
    """Return this thread's call; without one, a call that is never cancelled."""
    return _CALL.get() or _NO_CALL


def check_cancelled() -> None:
    """Stop if the current call was cancelled. One check takes a tenth of a microsecond.

    Raises:
        CallCancelled: the call was cancelled.
    """
    call = _CALL.get()
    if call is not None and call.is_cancelled:
        raise CallCancelled
