"""Whether anybody still waits for the answer that is being made; long work asks again and again.

A call stands in a context variable, which a thread takes over from the task that started it, so
that no layer has to hand it on. Work of nobody's call is never cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar


class CallCancelled(BaseException):
    """Nobody waits for the answer any more.

    No error: what catches errors to go on without something must not go on.
    """


class Call:
    """One call of a client.

    Args:
        kind: what is asked, such as a tool's name; calls of different kinds take turns.
    """

    def __init__(self, kind: str = "") -> None:
        self.kind = kind
        self._lock = threading.Lock()
        self._cancelled = False
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._cancelled

    def cancel(self) -> None:
        """Nobody waits for it any more; from any thread, any number of times."""
        with self._lock:
            self._cancelled = True
            listeners = list(self._listeners.values())
            self._listeners.clear()
        for listener in listeners:
            listener()

    @contextmanager
    def under_way(self) -> Generator[None]:
        """What is done in the block is done for this call."""
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
_NOBODYS = Call()


def current_call() -> Call:
    """The call that this thread works for; one that is never cancelled where there is none."""
    return _CALL.get() or _NOBODYS


def check_cancelled() -> None:
    """Stop here if nobody waits any more; costs a tenth of a microsecond.

    Raises:
        CallCancelled: the call was cancelled.
    """
    call = _CALL.get()
    if call is not None and call.is_cancelled:
        raise CallCancelled
