"""A lock whose waiters take turns by the kind of their call; who stops waiting leaves the queue.

A hundred slow searches that came first hold up an outline for one of them, not for all.
"""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType

from codelens.cancellation import check_cancelled, current_call


class FairTurns:
    """Like a `threading.RLock`: a thread that holds it may take it again."""

    def __init__(self) -> None:
        self._state = threading.Lock()
        self._holder: int | None = None
        self._depth = 0
        self._waiting: dict[str, deque[_Ticket]] = {}
        """By kind; the kind whose turn is next comes first."""

    def __enter__(self) -> FairTurns:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        with self._state:
            return sum(map(len, self._waiting.values()))

    def acquire(self) -> None:
        """Wait for a turn.

        Raises:
            CallCancelled: the call that the thread works for was cancelled meanwhile.
        """
        me = threading.get_ident()
        call = current_call()
        with self._state:
            if self._holder in (None, me):
                # Nobody waits while nobody holds it: a release hands it on.
                self._holder = me
                self._depth += 1
                return
            ticket = _Ticket(me)
            self._waiting.setdefault(call.kind, deque()).append(ticket)
        try:
            with call.telling(ticket.woken.set):
                ticket.woken.wait()
            check_cancelled()
        except BaseException:
            self._give_up(call.kind, ticket)
            raise

    def release(self) -> None:
        """End a turn; the next waiter has it at once."""
        with self._state:
            if self._holder != threading.get_ident():
                raise RuntimeError("released by a thread that does not hold it")
            self._depth -= 1
            if not self._depth:
                self._hand_on()

    def _hand_on(self) -> None:
        kind = next(iter(self._waiting), None)
        if kind is None:
            self._holder = None
            return
        queue = self._waiting.pop(kind)
        ticket = queue.popleft()
        if queue:
            # Behind all other kinds.
            self._waiting[kind] = queue
        self._holder, self._depth = ticket.thread, 1
        ticket.woken.set()

    def _give_up(self, kind: str, ticket: _Ticket) -> None:
        with self._state:
            queue = self._waiting.get(kind)
            if queue is not None and ticket in queue:
                queue.remove(ticket)
                if not queue:
                    del self._waiting[kind]
                return
            # It was handed on to this thread, which does not want it any more.
            self._depth = 0
            self._hand_on()


class _Ticket:
    """A thread's place in a queue."""

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.woken = threading.Event()
