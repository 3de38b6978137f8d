"""A call ends when its client has gone, and only then."""

from __future__ import annotations

import socket
import threading

import pytest

from codelens.cancellation import Call, CallCancelled, check_cancelled, current_call
from codelens.ui.page_server import WaitingClients


def test_the_call_of_a_client_that_closes_is_cancelled() -> None:
    clients, call, cancelled = WaitingClients(), Call("search"), threading.Event()
    server_end, client_end = socket.socketpair()
    with server_end, clients.waiting(server_end, call), call.telling(cancelled.set):
        client_end.close()
        assert cancelled.wait(30)
        with pytest.raises(CallCancelled):
            check_cancelled()


def test_all_calls_end_with_the_server() -> None:
    clients, call = WaitingClients(), Call("search")
    server_end, client_end = socket.socketpair()
    with server_end, client_end, clients.waiting(server_end, call):
        clients.cancel_all()
        assert call.is_cancelled


def test_the_call_of_a_client_that_waits_or_says_more_goes_on() -> None:
    clients, call, other = WaitingClients(), Call("search"), Call("diff")
    pairs = [socket.socketpair(), socket.socketpair()]
    (quiet, _), (gone, gone_client) = pairs
    ended = threading.Event()
    pairs[0][1].sendall(b"GET /next")
    with clients.waiting(quiet, call), clients.waiting(gone, other), other.telling(ended.set):
        gone_client.close()
        assert ended.wait(30)
        assert not call.is_cancelled
    assert not current_call().is_cancelled
    for pair in pairs:
        for end in pair:
            end.close()
