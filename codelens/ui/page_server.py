"""The HTTP server of the page: loopback, read-only, and only for the holder of the token."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import selectors
import socket
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from codelens.cancellation import Call, CallCancelled
from codelens.errors import CodelensError
from codelens.ui.page_questions import BadRequest, Json, PageQuestions

FOLDER = Path(__file__).parent / "page"
START = "index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class PageFile(NamedTuple):
    """A file of the page; no other files are served."""

    data: bytes
    media_type: str


@cache
def page_files() -> Mapping[str, PageFile]:
    """The files by name, read once: a request's path is looked up here and never opened."""
    return {
        file.name: PageFile(file.read_bytes(), _TYPES[file.suffix])
        for file in sorted(FOLDER.iterdir())
        if file.suffix in _TYPES
    }


# The address of the page, and the check that a request comes from it.
#
# The token is the first part of each path. No cookie contains it, so no other page can use it, and
# with `Referrer-Policy: no-referrer` no link reveals it.
#
# The kept address of a worktree is the same at each start, so that links to the page go on working.
# Port and token are derived from a secret of the home and from the worktree: who knows one address
# knows no other, and no page or user can guess the port.

LOOPBACK = "127.0.0.1"
_NAMES = (LOOPBACK, "localhost")
_OWN_SITES = frozenset({"same-origin", "none"})
"""Permitted values of `Sec-Fetch-Site`: the page itself, or a URL that the user opened."""
_OPENED = {"sec-fetch-mode": ["navigate"], "sec-fetch-dest": ["document"]}
"""Permitted for a link from another site, such as a terminal in the browser: a new window."""


_KEPT_PORTS = range(20_000, 32_768)
"""Ports that common systems do not hand out for a moment, as they do those above."""
_PORT_BYTES, _TOKEN_BYTES = 4, 24


@dataclass(frozen=True, slots=True)
class PageAddress:
    """A port of this machine (0: a free one), and the secret that opens the page there."""

    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))

    @classmethod
    def kept(cls, secret: str, root: str, port: int | None = None) -> PageAddress:
        """The address that a worktree has at each start, or at each start at a given port.

        Each port has its own token: who listens at one, and sees a link to it, cannot open the page
        at another.

        Args:
            secret: the secret of the home.
            root: the worktree.
            port: a port to use instead of the derived one.
        """
        text = os.fsencode(root) + (b"" if port is None else b"\0%d" % port)
        derived = hmac.digest(secret.encode(), text, "sha512")
        number = int.from_bytes(derived[:_PORT_BYTES])
        token = urlsafe_b64encode(derived[_PORT_BYTES:][:_TOKEN_BYTES]).decode()
        return cls(_KEPT_PORTS[number % len(_KEPT_PORTS)] if port is None else port, token)

    @property
    def url(self) -> str:
        """The URL to open in a browser."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def path_within(self, path: str) -> str | None:
        """The part of a path after the token; None if the path does not start with the token."""
        first, slash, rest = path.removeprefix("/").partition("/")
        has_token = secrets.compare_digest(first.encode("utf-8", "replace"), self.token.encode())
        return rest if has_token and slash else None

    def is_foreign(self, headers: Mapping[str, Sequence[str]]) -> bool:
        """Whether a request uses another host name, or comes from another page.

        With DNS rebinding, a page whose name resolves to this machine sends that name as Host.

        Args:
            headers: all values of each header, by lower-case name.
        """
        hosts = {f"{name}:{self.port}" for name in _NAMES}
        host = headers.get("host", ())
        if len(host) != 1 or host[0].lower() not in hosts:
            return True
        origins = {f"http://{name}" for name in hosts}
        if any(origin.lower() not in origins for origin in headers.get("origin", ())):
            return True
        if all(list(headers.get(name, ())) == value for name, value in _OPENED.items()):
            return False
        return any(site not in _OWN_SITES for site in headers.get("sec-fetch-site", ()))


# Detects clients that no longer wait: a page that is closed or asks again closes its connection.

_LOOK_S = 0.1


class WaitingClients:
    """Cancels calls of clients that went away, in one thread that sleeps while no client waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: dict[socket.socket, Call] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def waiting(self, connection: socket.socket, call: Call) -> Generator[None]:
        """Cancel the call if the client closes its connection while the block runs."""
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
        """Cancel all calls, because the server ends."""
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
    """The connections that have data or were closed."""
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            try:
                selector.register(connection, selectors.EVENT_READ)
            except (OSError, ValueError):  # its thread has closed it
                continue
        return [
            key.fileobj for key, _ in selector.select(0) if isinstance(key.fileobj, socket.socket)
        ]


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


# The server.
#
# Each connection has a thread. A request must arrive within seconds, and the number of connections
# is limited, so that a slow or greedy client does not block the user for long. Requests are never
# logged, because their paths contain the token.

logger = logging.getLogger(__name__)

MOST_CONNECTIONS = 32
REQUEST_S = 15.0
"""How long a request may take to arrive, and how long a connection may be idle."""
_Connection = socket.socket | tuple[bytes, socket.socket]
_API = "api/"
_VOLATILE = frozenset({"elapsed_ms", "checked", "indexed"})
"""Fields of a receipt that differ although the answer is the same."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class PortTaken(CodelensError):
    """The server cannot listen on the port."""

    def __init__(self, port: int, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"cannot listen on {LOOPBACK}:{port}: {reason}; choose another port "
            "(`codelens ui --port N`), or run `codelens ui` for a free one"
        )


class PageServer(ThreadingHTTPServer):
    """Listens as soon as it is created; `serve_forever` answers.

    Args:
        questions: answers the page's questions.
        address: where to listen.

    Raises:
        PortTaken: the port is not available.
    """

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS
    # On Windows this would share a port in use; elsewhere it only avoids a wait after a restart.
    allow_reuse_address = os.name != "nt"

    def __init__(self, questions: PageQuestions, address: PageAddress) -> None:
        self.questions = questions
        self.clients = WaitingClients()
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        try:
            super().__init__((LOOPBACK, address.port), _PageRequest)
        except (OSError, OverflowError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise PortTaken(address.port, reason) from error
        self.address = replace(address, port=self.server_port)

    def server_bind(self) -> None:
        """Like the base class, but without a DNS lookup of the machine's name."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, self.allow_reuse_address)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def server_close(self) -> None:
        """Stop listening and cancel running calls."""
        super().server_close()
        self.clients.cancel_all()

    def process_request(self, request: _Connection, client_address: object) -> None:
        """Start a thread for a connection, or close it if there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system cannot start another thread
            self._places.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: _Connection, client_address: object) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: _Connection, client_address: object) -> None:
        """Ignore a client that went away; its request must not be printed."""
        logger.debug("a connection of the page ended early", exc_info=True)


class _PageRequest(BaseHTTPRequestHandler):
    """A connection with its requests, one after the other."""

    protocol_version = "HTTP/1.1"
    timeout = REQUEST_S

    @property
    def _page(self) -> PageServer:
        return cast("PageServer", self.server)

    def handle_one_request(self) -> None:
        """Like the base class, but close the connection if the request does not arrive in time."""
        self._deadline = threading.Timer(REQUEST_S, self._give_up)
        self._deadline.daemon = True
        self._deadline.start()
        try:
            super().handle_one_request()
        finally:
            self._deadline.cancel()

    def parse_request(self) -> bool:
        """Like the base class; the answer has no time limit."""
        is_whole = super().parse_request()
        self._deadline.cancel()
        return is_whole

    def _give_up(self) -> None:
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            logger.debug("a slow client has already gone")

    def do_GET(self) -> None:
        """Answer a request from the page, and reject all others."""
        values: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            values.setdefault(name.lower(), []).append(value)
        if self._page.address.is_foreign(values):
            self._refuse(HTTPStatus.FORBIDDEN, "this address only serves codelens's own page")
            return
        if values.get("content-length", ["0"]) != ["0"] or "transfer-encoding" in values:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "requests must not have a body")
            return
        address = urlsplit(self.path)
        path = self._page.address.path_within(address.path)
        if path is None:
            self._refuse(
                HTTPStatus.NOT_FOUND,
                "not found; open the address that `codelens ui` printed at its last start",
            )
        elif path.startswith(_API):
            self._answer(path.removeprefix(_API), address.query)
        else:
            self._file(path or START)

    def _file(self, name: str) -> None:
        file = page_files().get(name)
        if file is None:
            self._refuse(HTTPStatus.NOT_FOUND, "the page has no such file")
            return
        self._send(HTTPStatus.OK, file.data, file.media_type, _digest(file.data))

    def _answer(self, name: str, query: str) -> None:
        try:
            with self._page.clients.waiting(self.connection, Call(name)):
                answer = self._page.questions.answer(name, query)
        except CallCancelled:
            self.close_connection = True
            return
        except CodelensError as error:
            status = (
                HTTPStatus.BAD_REQUEST
                if isinstance(error, BadRequest)
                else HTTPStatus.UNPROCESSABLE_ENTITY
            )
            self._send_json(status, {"error": str(error)})
            return
        except Exception as error:
            # The page continues after any error and shows it.
            logger.exception("the question %s of the page failed", name)
            self._send_json(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                {"error": f"unexpected {type(error).__name__}; this is a bug in codelens"},
            )
            return
        self._send_json(HTTPStatus.OK, answer, _digest(_encoded(_lasting(answer))))

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self.close_connection = True
        self._send(status, f"{reason}\n".encode(), "text/plain; charset=utf-8")

    def _send_json(self, status: HTTPStatus, value: Json, tag: str = "") -> None:
        self._send(status, _encoded(value), "application/json", tag)

    def _send(self, status: HTTPStatus, data: bytes, media_type: str, tag: str = "") -> None:
        """Send an answer; if the page already has it, only send that it is unchanged."""
        if tag and self.headers.get("If-None-Match") == tag:
            status, data = HTTPStatus.NOT_MODIFIED, b""
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if tag:
            self.send_header("ETag", tag)
        if self.close_connection:
            self.send_header("Connection", "close")
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Reject a malformed request; the answer repeats none of it."""
        del message, explain
        self.request_version = self.protocol_version
        self._refuse(HTTPStatus(code), f"{HTTPStatus(code).phrase}: only GET is served here")

    def version_string(self) -> str:
        """The name in the Server header."""
        return "codelens"

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: paths contain the token."""


def _encoded(value: object) -> bytes:
    # JSON escapes half surrogate pairs, which UTF-8 cannot encode.
    text = json.dumps(value, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def _lasting(answer: Json) -> Json:
    """An answer without the measurements in its receipt."""
    receipt = answer.get("receipt")
    if not isinstance(receipt, Mapping):
        return answer
    fields = cast("Mapping[str, object]", receipt)
    return {**answer, "receipt": {key: fields[key] for key in fields.keys() - _VOLATILE}}


def _digest(data: bytes) -> str:
    return f'"{hashlib.blake2b(data, digest_size=16).hexdigest()}"'
