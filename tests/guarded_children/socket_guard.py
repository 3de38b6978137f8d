"""Blocks connections to other machines: codelens uses no network unless somebody enables it."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

CONNECTIONS = "CODELENS_TEST_CONNECTIONS"
"""Variable that names the file in which child processes log connections to other machines."""


class OtherMachine(AssertionError):
    """A connection to another machine was attempted."""


def is_here(address: Any) -> bool:
    """Whether a socket address belongs to this machine."""
    if not isinstance(address, tuple):
        return True  # a file, as for AF_UNIX
    host = str(address[0])
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


class GuardedConnect:
    """Replaces `socket.socket.connect` and `connect_ex`."""

    def __init__(self, name: str) -> None:
        self.original = getattr(socket.socket, name)

    def __get__(self, instance: Any, owner: Any) -> Any:
        def connect(address: Any) -> Any:
            if not is_here(address):
                raise OtherMachine(f"a connection to {address!r} was begun")
            return self.original(instance, address)

        return connect
