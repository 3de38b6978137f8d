"""`codelens serve --http`: one server for several clients, with its access checks and time limits.

Every request must pass the gate first. `Host` must be a name of this server, and `Origin`, which
only browsers send, must be the server's own. Otherwise a web page that the user visits could send
requests through a name that its owner points at 127.0.0.1 (DNS rebinding). The token is always
required because other users of the machine can reach its ports too.
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
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecuritySettings,
)
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from codelens import __version__, config
from codelens.bearer_token import bearer_token
from codelens.engine.contexts.asking_session import Session, of_host
from codelens.engine.engine import Engine
from codelens.engine.upkeep import usage_counter
from codelens.errors import CodelensError
from codelens.serve.call_answers import CallAnswers, CallSlots, known_worktrees
from codelens.serve.client_streams import REQUEST_BYTES
from codelens.serve.client_workspaces import connection_id
from codelens.serve.first_turn import chosen
from codelens.serve.http_sessions import IDLE_S, OpenSessions
from codelens.serve.sdk_server import ToolCalls, server_of
from codelens.serve.serve_process import budget_of, leave, log_to_stderr
from codelens.serve.served_repositories import ServedRepositories

HEALTH_PATH = "/healthz"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


def host_names(address: str, more: Iterable[str]) -> frozenset[str]:
    """The host names, without a port, that requests may use.

    Args:
        address: the address that the server listens on.
        more: further names that the user allows.
    """
    own = f"[{address}]" if ":" in address else address
    return frozenset(name.lower() for name in (*LOOPBACK_NAMES, own, *more))


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"


class Gate:
    """Passes permitted requests on, and rejects the others with a message.

    Args:
        app: answers permitted requests.
        token: the required token.
        names: the permitted values of `Host`, in lower case and without a port.
        path: the only path that is served with the token.
        health: what everybody on this machine may know, at `HEALTH_PATH`.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        names: frozenset[str],
        path: str,
        health: Callable[[], Mapping[str, object]],
    ) -> None:
        self._app = app
        self._path = path
        self._health = health
        self._token = token.encode("ascii")
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the events of the server's own life."""
        answer = None
        if scope["type"] == "http":
            answer = self._answer(Headers(scope=scope), scope["method"], scope["path"])
        await (answer or self._app)(scope, receive, send)

    def _answer(self, headers: Headers, method: str, path: str) -> Response | None:
        """The answer to a request that does not go further."""
        host = headers.get("host", "").lower()
        if _without_port(host) not in self._names:
            return _refused(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this Host is not a name of the server; use 127.0.0.1 or localhost, or start the "
                "server with --allow-host NAME",
            )
        origins = headers.getlist("origin")
        if any(not _is_own_origin(origin, host) for origin in origins):
            return _refused(
                HTTPStatus.FORBIDDEN, "requests from web pages of another origin are rejected"
            )
        if path == HEALTH_PATH and method in {"GET", "HEAD"}:
            return JSONResponse(self._health(), headers={"Cache-Control": "no-store"})
        if not self._is_token(headers.getlist("authorization")):
            return _refused(
                HTTPStatus.UNAUTHORIZED,
                "the token is missing or wrong; send `Authorization: Bearer TOKEN` with the token "
                "from http-token in the server's CODELENS_HOME (`codelens install --http` uses it)",
            )
        if path != self._path:
            return _refused(HTTPStatus.NOT_FOUND, f"there is nothing here; MCP is at {self._path}")
        return None

    def _is_token(self, values: list[str]) -> bool:
        if len(values) != 1:
            return False
        scheme, _, token = values[0].partition(" ")
        # The comparison takes constant time.
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


# The session of a call over HTTP that names none.


def session_over_http(context: Context[Any, Any]) -> Session:
    """The session that the host sends with the call, or else the HTTP connection.

    The environment does not identify the client, because it is that of whoever started the
    server. Clients of the newest protocol have no connection; nothing is remembered for them.
    """
    session_id = of_host({}, cast("Mapping[str, object]", context.request_context.meta or {}))
    if session_id:
        return Session(session_id, "host", remembers=True)
    connection = connection_id(context)
    if connection:
        return Session(f"http-{connection}", "connection", remembers=True)
    return Session()


# uvicorn's HTTP protocol, with additional time limits for clients that send or read too slowly.

REQUEST_S = 30.0
"""How long a request with its body may take to arrive, and how long a connection may be idle."""
READ_S = 60.0
"""How long a client may leave data unread."""


class TimedProtocol(H11Protocol):
    """A connection that is closed if its client is too slow."""

    _arrival: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first request."""
        super().connection_made(transport)
        self._watch_arrival()

    def data_received(self, data: bytes) -> None:
        """Start the time limit of a request at its first bytes."""
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self._stop_arrival()
        super().data_received(data)
        self._watch_arrival()

    def on_response_complete(self) -> None:
        """Start the time limit of the next request."""
        super().on_response_complete()
        self._watch_arrival()

    def pause_writing(self) -> None:
        """Start the time limit for reading: the client has unread data."""
        super().pause_writing()
        self._reading = self.loop.call_later(READ_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the time limit for reading: the client has read."""
        super().resume_writing()
        _stop(self._reading)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all time limits."""
        super().connection_lost(exc)
        self._stop_arrival()
        _stop(self._reading)

    def _watch_arrival(self) -> None:
        """Run the time limit only while the server waits for the client to send."""
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


# Sends the last bytes of streams that a stopping server cuts off, so that clients see them end.


class CompletedAnswers:
    """Ends each answer that has started.

    Args:
        app: the wrapped application.
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


# The server itself.

PATH = "/mcp"
MOST_CONNECTIONS = 256
"""Maximum number of open connections; a client uses one or two."""
MOST_SESSIONS = 300
"""Maximum number of sessions that clients have not closed; the next one ends the one that was idle
longest."""
_GRACE_S = 5
"""How long running calls may continue after the server was asked to stop."""
_CLOSE_S = 2.0


class CannotListen(CodelensError):
    """The server cannot listen at its address.

    Args:
        address: the given address.
        port: the given port.
        why: the system's reason.
    """

    def __init__(self, address: str, port: int, why: str) -> None:
        self.port = port
        super().__init__(
            f"cannot listen on {address} port {port}: {why}; choose another port (0: any free "
            "port) or address"
        )


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server over HTTP.

    Attributes:
        roots: worktrees whose repositories it serves; empty: all of the user's repositories.
        address: the address to listen on.
        port: the port; 0 for any free port.
        allowed_names: further host names that clients may use.
        budget_ms: how long checking the files may take; None: the setting.
    """

    roots: Sequence[str]
    address: str = "127.0.0.1"
    port: int = 3100
    allowed_names: Sequence[str] = ()
    budget_ms: float | None = None

    def run(self, say: Callable[[str], None]) -> int:
        """Serve until SIGINT or SIGTERM; return the exit code. May end the process itself.

        Args:
            say: prints a line for the user.

        Raises:
            CannotListen: the port is in use, or the address does not belong to this machine.
            SettingError: a setting or the token file cannot be used.
            ScopeError: a root does not exist, or is never indexed.
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
        if settings.index_at_start:
            for root in repositories.roots:
                engine.begin(root)
        sessions = _sessions(server_of(calls, names))
        app = CompletedAnswers(RequestBodyLimitMiddleware(sessions, REQUEST_BYTES))
        names_of_host = host_names(self.address, self.allowed_names)

        def health() -> dict[str, object]:
            return {"status": "up", "version": __version__, "sessions": sessions.count()}

        server = _server(Gate(app, token.text, names_of_host, PATH, health))
        served = ", ".join(repositories.roots) or "all your repositories"
        say(f"serving {served} at {_url(self.address, port)}; Ctrl-C stops it")
        if token.is_new:
            say(f"token, shown only once and stored in {token.file}: {token.text}")
        else:
            say(f"the token is in {token.file}")
        if not is_loopback(self.address):
            say("warning: other machines may reach this address, and HTTP is not encrypted")
        server.run([listener])
        say("stopped")

        def close() -> None:
            usage_counter.tidy(settings.home)
            engine.close()

        leave(close, _CLOSE_S)
        return 0


def _sessions(server: MCPServer[Any]) -> OpenSessions:
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=REQUEST_BYTES,
        session_idle_timeout=IDLE_S,
        # `OpenSessions` keeps to the maximum.
        max_sessions=MOST_SESSIONS + MOST_CONNECTIONS,
        # The gate has already checked these, before the body was read.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return OpenSessions(app, MOST_SESSIONS)


def _server(gate: Gate) -> uvicorn.Server:
    """Return a server that a signal stops, even before it runs."""
    server = uvicorn.Server(
        uvicorn.Config(
            gate,
            http=TimedProtocol,
            ws="none",
            lifespan="on",
            loop="asyncio",
            log_config=None,
            # A request that anyone may send must write no line: if nobody reads this log, a full
            # pipe stops the server.
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=int(REQUEST_S),
            timeout_graceful_shutdown=_GRACE_S,
        )
    )

    def stop(_number: int, _frame: FrameType | None) -> None:
        # uvicorn raises the signal again after it has stopped; the caller must still close the
        # engine.
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return server


def _listening(address: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":
                # On Windows it would let two programs share a port.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
            listener.listen()
        except OSError:
            listener.close()
            raise
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        why = "another program uses it" if in_use else error.strerror or str(error)
        raise CannotListen(address, port, why) from error
    return listener


def _url(address: str, port: int) -> str:
    host = f"[{address}]" if ":" in address else address
    return f"http://{host}:{port}{PATH}"
