"""`codelens serve --http`: one server for several clients, until it is told to stop."""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from codelens import config
from codelens.bearer_token import bearer_token
from codelens.engine.engine import Engine
from codelens.engine.usage import usage_counter
from codelens.errors import CodelensError
from codelens.serve.calls.call_answers import CallAnswers
from codelens.serve.calls.call_slots import CallSlots
from codelens.serve.calls.client_calls import known_worktrees
from codelens.serve.client_streams import REQUEST_BYTES
from codelens.serve.http.http_gate import Gate, host_names, is_loopback
from codelens.serve.http.http_session import session_over_http
from codelens.serve.http.served_repositories import ServedRepositories
from codelens.serve.http.timed_protocol import REQUEST_S, TimedProtocol
from codelens.serve.http.whole_answers import WholeAnswers
from codelens.serve.sdk_server import server_of
from codelens.serve.server_life import budget_of, leave, log_to_stderr
from codelens.serve.tool_profiles import chosen
from codelens.serve.tools.tool_call import ToolCalls

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
