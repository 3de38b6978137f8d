"""HTTP of uvicorn with time limits that it has not: clients that send or read too slowly."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 30.0
"""How long a request may take to arrive, its body included, and a connection stay without one."""
READ_S = 60.0
"""How long a client may leave unread what it was sent."""


class TimedProtocol(H11Protocol):
    """One connection, closed when its client lets the server wait."""

    _arrival: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As uvicorn's; from now on a request is waited for."""
        super().connection_made(transport)
        self._watch_arrival()

    def data_received(self, data: bytes) -> None:
        """As uvicorn's; the first bytes of a request begin its time."""
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self._stop_arrival()
        super().data_received(data)
        self._watch_arrival()

    def on_response_complete(self) -> None:
        """As uvicorn's; from now on the next request is waited for."""
        super().on_response_complete()
        self._watch_arrival()

    def pause_writing(self) -> None:
        """As uvicorn's: more was sent than the client has read."""
        super().pause_writing()
        self._reading = self.loop.call_later(READ_S, self.transport.abort)

    def resume_writing(self) -> None:
        """As uvicorn's: the client has read."""
        super().resume_writing()
        _stop(self._reading)

    def connection_lost(self, exc: Exception | None) -> None:
        """As uvicorn's."""
        super().connection_lost(exc)
        self._stop_arrival()
        _stop(self._reading)

    def _watch_arrival(self) -> None:
        """Let the time run while the client has something to send, and only then."""
        owes = self.conn.their_state in {h11.IDLE, h11.SEND_BODY}
        if not owes:
            self._stop_arrival()
        elif self._arrival is None and not self.transport.is_closing():
            self._arrival = self.loop.call_later(REQUEST_S, self.transport.close)

    def _stop_arrival(self) -> None:
        _stop(self._arrival)
        self._arrival = None


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
