"""How many calls may be under way in a server; what comes on top of that is refused at once.

A call is under way until its thread has ended, also where its client has cancelled it: else
cancelled calls would pile up behind the one that holds the index.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from codelens.errors import CodelensError

T = TypeVar("T")

MOST_CALLS = 128
"""A client waits a minute for an answer at most; that is time for some thirty slow ones."""


class ServerBusy(CodelensError):
    """A server has as many calls under way as it takes.

    Args:
        most: how many it takes.
    """

    def __init__(self, most: int) -> None:
        super().__init__(
            f"this server has {most} calls under way already and takes no more; ask again when "
            "some of them are answered, or cancel those that are not needed"
        )


class CallSlots:
    """The room for calls of one server.

    Args:
        most: how many there is room for.
    """

    def __init__(self, most: int = MOST_CALLS) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many calls are under way."""
        with self._lock:
            return self._taken

    def take(self) -> CallSlot:
        """Room for one more.

        Raises:
            ServerBusy: there is none.
        """
        with self._lock:
            if self._taken >= self.most:
                raise ServerBusy(self.most)
            self._taken += 1
        return CallSlot(self._give_back)

    def _give_back(self) -> None:
        with self._lock:
            self._taken -= 1


class CallSlot:
    """Room for one call: given back when its work ends, or when it never began.

    Args:
        give_back: called once.
    """

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        # Whoever acquires it has the slot to give back.
        self._claim = threading.Lock()

    def run(self, work: Callable[[], T]) -> T | None:
        """Do the work, from the thread that was started for it; None where it is too late."""
        if not self._claim.acquire(blocking=False):
            return None
        try:
            return work()
        finally:
            self._give_back()

    def close(self) -> None:
        """Nobody waits any more: work that has not begun never will."""
        if self._claim.acquire(blocking=False):
            self._give_back()
