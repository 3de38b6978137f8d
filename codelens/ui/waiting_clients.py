"""Whether clients still wait: a page that is left, or asks anew, closes its connection."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from codelens.cancellation import Call

_LOOK_S = 0.1


class WaitingClients:
    """Cancels the calls of clients that went away; one thread, which sleeps while nobody waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: dict[socket.socket, Call] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def waiting(self, connection: socket.socket, call: Call) -> Generator[None]:
        """While the block runs, the call is cancelled if the client closes its connection."""
        with self._changed:
            self._calls[connection] = call
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="page-clients", daemon=True
                )
                self._thread.start()
            self._changed.notify()
        try:
            with call.under_way():
                yield
        finally:
            with self._changed:
                del self._calls[connection]

    def cancel_all(self) -> None:
        """Nobody is answered any more: the server ends."""
        with self._changed:
            calls = list(self._calls.values())
        for call in calls:
            call.cancel()

    def _watch(self) -> None:
        while True:
            with self._changed:
                while not self._calls:
                    self._changed.wait()
                calls = dict(self._calls)
            for connection in _readable(list(calls)):
                if _is_closed(connection):
                    calls[connection].cancel()
            time.sleep(_LOOK_S)


def _readable(connections: list[socket.socket]) -> list[socket.socket]:
    """Those that have something to say, be it that they end."""
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            try:
                selector.register(connection, selectors.EVENT_READ)
            except (OSError, ValueError):  # Its thread closed it meanwhile.
                continue
        return [
            key.fileobj for key, _ in selector.select(0) if isinstance(key.fileobj, socket.socket)
        ]


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True
