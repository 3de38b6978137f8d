"""What every request over HTTP must pass before anything else reads it.

The `Host` must be a name of this server, and an `Origin`, which only browsers send, the server's
own: else a web page that the user visits could ask, by a name that its owner points at 127.0.0.1
(DNS rebinding). Then the token, always: other users of the machine reach its ports, too.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


def host_names(address: str, more: Iterable[str]) -> frozenset[str]:
    """The names, without a port, under which a server may be asked.

    Args:
        address: that it listens on.
        more: names that its user allows.
    """
    own = f"[{address}]" if ":" in address else address
    return frozenset(name.lower() for name in (*LOOPBACK_NAMES, own, *more))


def is_loopback(address: str) -> bool:
    """Whether an address is of this machine alone."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"


class Gate:
    """Lets requests through that may ask, and refuses the others with a sentence.

    Args:
        app: what answers those that may.
        token: that they must send.
        names: what their `Host` may be, in lower case and without a port.
        path: the only one that is answered.
    """

    def __init__(self, app: ASGIApp, token: str, names: frozenset[str], path: str) -> None:
        self._app = app
        self._path = path
        self._token = token.encode("ascii")
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the events of the server's own life."""
        refusal = None
        if scope["type"] == "http":
            refusal = self._refusal(Headers(scope=scope), scope["path"])
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> PlainTextResponse | None:
        host = headers.get("host", "").lower()
        if _without_port(host) not in self._names:
            return _refused(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this Host is not one of the server's names; ask it as 127.0.0.1 or localhost, or "
                "start it with --allow-host NAME",
            )
        origins = headers.getlist("origin")
        if any(not _is_own_origin(origin, host) for origin in origins):
            return _refused(
                HTTPStatus.FORBIDDEN, "requests of web pages from another origin are not answered"
            )
        if not self._is_token(headers.getlist("authorization")):
            return _refused(
                HTTPStatus.UNAUTHORIZED,
                "the token is missing or wrong; send `Authorization: Bearer TOKEN` with the one in "
                "http-token of the server's CODELENS_HOME (`codelens install --http` writes it)",
            )
        if path != self._path:
            return _refused(HTTPStatus.NOT_FOUND, f"there is nothing here; MCP is at {self._path}")
        return None

    def _is_token(self, values: list[str]) -> bool:
        if len(values) != 1:
            return False
        scheme, _, token = values[0].partition(" ")
        # In the same time whatever it is.
        is_equal = hmac.compare_digest(token.strip().encode("utf-8", "replace"), self._token)
        return is_equal and scheme.lower() == "bearer"


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_own_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc == host and not parts.path


def _refused(status: HTTPStatus, sentence: str) -> PlainTextResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else {}
    return PlainTextResponse(f"codelens: {sentence}\n", status, headers)
