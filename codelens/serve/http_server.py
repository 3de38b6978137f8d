"""What every request over HTTP must pass before anything else reads it.

The `Host` must be a name of this server, and an `Origin`, which only browsers send, the server's
own: else a web page that the user visits could ask, by a name that its owner points at 127.0.0.1
(DNS rebinding). Then the token, always: other users of the machine reach its ports, too.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from types import FrameType
from typing import Any, cast
from urllib.parse import urlsplit

import h11
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from codelens import config
from codelens.bearer_token import bearer_token
from codelens.engine.contexts.asking_session import Session, of_host
from codelens.engine.engine import Engine
from codelens.engine.upkeep import usage_counter
from codelens.errors import CodelensError
from codelens.serve.call_answers import CallAnswers, CallSlots, known_worktrees
from codelens.serve.client_streams import REQUEST_BYTES
from codelens.serve.client_workspaces import connection_id
from codelens.serve.first_turn import chosen
from codelens.serve.sdk_server import ToolCalls, server_of
from codelens.serve.serve_process import budget_of, leave, log_to_stderr
from codelens.serve.served_repositories import ServedRepositories

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


# Which session a call over HTTP belongs to that does not say so itself.


def session_over_http(context: Context[Any, Any]) -> Session:
    """As the host names it along with the call, else the connection over HTTP.

    The environment tells nothing: it is that of whoever started the server. Clients of the newest
    protocol have no connection; of those nothing is remembered.
    """
    session_id = of_host({}, _meta(context))
    if session_id:
        return Session(session_id, "host", remembers=True)
    connection = connection_id(context)
    if connection:
        return Session(f"http-{connection}", "connection", remembers=True)
    return Session()


def _meta(context: Context[Any, Any]) -> Mapping[str, object]:
    return cast("Mapping[str, object]", context.request_context.meta or {})


# HTTP of uvicorn with time limits that it has not: clients that send or read too slowly.

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


# Streams that the server's end cuts short get their last bytes, so that clients see them end.


class WholeAnswers:
    """Ends each answer that was begun.

    Args:
        app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the events of the server's own life."""
        is_open = False

        async def noted(message: Message) -> None:
            nonlocal is_open
            is_open = bool(message.get("more_body", message["type"] == "http.response.start"))
            await send(message)

        await self._app(scope, receive, noted)
        if is_open:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


# `codelens serve --http`: one server for several clients, until it is told to stop.

PATH = "/mcp"
MOST_CONNECTIONS = 256
"""Open at one time; a client holds one or two."""
MOST_SESSIONS = 1000
"""Of clients that have not said that they leave."""
_SESSION_IDLE_S = 30 * 60
_GRACE_S = 5
"""How long answers under way may take once the server was told to stop."""
_CLOSE_S = 2.0


class CannotListen(CodelensError):
    """The server cannot listen at its address.

    Args:
        address: as it was given.
        port: as it was given.
        why: what the system says.
    """

    def __init__(self, address: str, port: int, why: str) -> None:
        self.port = port
        super().__init__(
            f"cannot listen on {address} port {port}: {why}; choose another port (0: any that is "
            "free) or address"
        )


@dataclass(frozen=True, slots=True)
class HttpServer:
    """What a server over HTTP is started with.

    Attributes:
        roots: worktrees whose repositories it answers about; none: all of its user.
        address: that it listens on.
        port: 0 for any that is free.
        allowed_names: names beside its own that its clients may know it by.
        budget_ms: how long a look may take; None: the setting, else 500.
    """

    roots: Sequence[str]
    address: str = "127.0.0.1"
    port: int = 3100
    allowed_names: Sequence[str] = ()
    budget_ms: float | None = None

    def run(self, say: Callable[[str], None]) -> int:
        """Serve until SIGINT or SIGTERM; the exit code. May end the process itself.

        Args:
            say: takes the lines for the person who starts it.

        Raises:
            CannotListen: the port is taken, or the address is not of this machine.
            SettingError: a setting, or the file of the token, cannot be used.
            ScopeError: a root is not there, or is never indexed.
        """
        settings = config.load()
        names = chosen(settings.tools)
        log_to_stderr()
        engine = Engine(settings, keep_going=True)
        repositories = ServedRepositories(self.roots, lambda: known_worktrees(engine))
        token = bearer_token(settings.home)
        budget_ms = budget_of(settings, self.budget_ms)
        answers = CallAnswers(engine, budget_ms)
        calls = ToolCalls(answers, repositories, session_over_http, CallSlots())
        listener = _listening(self.address, self.port)
        port = listener.getsockname()[1]
        served = ", ".join(repositories.roots) or "all your repositories"
        say(f"serving {served} at {_url(self.address, port)}; Ctrl-C stops it")
        if token.is_new:
            say(f"token, shown only once and kept in {token.file}: {token.text}")
        else:
            say(f"the token is in {token.file}")
        if not is_loopback(self.address):
            say("warning: other machines may reach this address, and HTTP is not encrypted")
        if settings.index_at_start:
            for root in repositories.roots:
                engine.begin(root)
        app = _app(server_of(calls, names))
        names_of_host = host_names(self.address, self.allowed_names)
        _serve(Gate(app, token.text, names_of_host, PATH), listener)
        say("stopped")

        def close() -> None:
            usage_counter.tidy(settings.home)
            engine.close()

        leave(close, _CLOSE_S)
        return 0


def _app(server: MCPServer[Any]) -> ASGIApp:
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=REQUEST_BYTES,
        session_idle_timeout=_SESSION_IDLE_S,
        max_sessions=MOST_SESSIONS,
        # The gate has looked at these already, before the body was read.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return WholeAnswers(app)


def _serve(gate: Gate, listener: socket.socket) -> None:
    """Answer until a signal says to stop."""
    # uvicorn raises the signal again when it has stopped: what was served is closed after that.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _already_stopped)
    server = uvicorn.Server(
        uvicorn.Config(
            gate,
            http=TimedProtocol,
            ws="none",
            lifespan="on",
            loop="asyncio",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=int(REQUEST_S),
            timeout_graceful_shutdown=_GRACE_S,
        )
    )
    server.run([listener])


def _already_stopped(_number: int, _frame: FrameType | None) -> None:
    """The signal that the server has stopped for."""


def _listening(address: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":
                # Elsewhere it would let two programs have one port.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
            listener.listen()
        except OSError:
            listener.close()
            raise
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        why = "another program has it" if in_use else error.strerror or str(error)
        raise CannotListen(address, port, why) from error
    return listener


def _url(address: str, port: int) -> str:
    host = f"[{address}]" if ":" in address else address
    return f"http://{host}:{port}{PATH}"
