"""Clients that send or read too slowly are dropped, and others are answered meanwhile."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from codelens.serve import http_server

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
LARGE = 64 * 1024 * 1024


async def answer(scope, receive, send) -> None:
    """Reads the whole body, and answers with more than a socket buffers."""
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    length = 2 if scope["path"] == "/" else LARGE
    headers = [(b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"a" * length})


LOST = threading.Event()
"""A connection has ended."""


class Noted(http_server.TimedProtocol):
    """Sets `LOST` when its connection ends."""

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        LOST.set()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(http_server, "REQUEST_S", 1.0)
    monkeypatch.setattr(http_server, "READ_S", 0.3)
    LOST.clear()
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(answer, http=Noted, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        GET,
        GET + b"Content-Length: 10\r\n\r\nhalf",
        GET + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        # The second request of a connection.
        GET + b"\r\n" + GET,
    ],
)
def test_a_request_that_does_not_arrive_ends_its_connection(port: int, sent: bytes) -> None:
    with connected(port) as slow:
        slow.sendall(sent)
        with connected(port) as quick:
            quick.sendall(GET + b"\r\n")
            assert quick.recv(15) == b"HTTP/1.1 200 OK"
        while slow.recv(4096):
            pass  # the answer to a first request


def test_an_answer_that_nobody_reads_ends_its_connection(port: int) -> None:
    with connected(port) as slow:
        slow.sendall(GET.replace(b"/ ", b"/large ", 1) + b"\r\n")
        read = len(slow.recv(4096))
        # Data not read in time is lost: the stream ends before the answer does.
        assert LOST.wait(60)
        try:
            while piece := slow.recv(1024 * 1024):
                read += len(piece)
        except ConnectionResetError:
            pass
        assert read < LARGE
