"""The server of the page: HTTP on loopback, read only, for the holder of the token alone.

Each connection has a thread. A request has a few seconds to say what it wants, and there are only
so many connections, so that a slow or greedy client takes nothing from the person at the page for
long. Requests are never logged: their paths hold the token.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import urlsplit

from codelens.cancellation import Call, CallCancelled
from codelens.errors import CodelensError
from codelens.ui.page_address import LOOPBACK, PageAddress
from codelens.ui.page_arguments import BadRequest
from codelens.ui.page_files import START, page_files
from codelens.ui.page_questions import Json, PageQuestions
from codelens.ui.waiting_clients import WaitingClients

logger = logging.getLogger(__name__)

MOST_CONNECTIONS = 32
REQUEST_S = 15.0
"""How long a connection may take to say what it wants, or be idle."""
_Connection = socket.socket | tuple[bytes, socket.socket]
_API = "api/"
_VOLATILE = frozenset({"elapsed_ms", "checked", "indexed"})
"""Of a receipt: what differs although the answer is the same."""
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
    """The port cannot be listened on."""

    def __init__(self, port: int, reason: str) -> None:
        super().__init__(
            f"cannot listen on {LOOPBACK}:{port}: {reason}; give another port "
            "(`codelens ui --port N`), or none for a free one"
        )


class PageServer(ThreadingHTTPServer):
    """Listens as soon as it is made; `serve_forever` answers.

    Args:
        questions: what the page may ask.
        port: of loopback; 0: a free one.

    Raises:
        PortTaken: it cannot be had.
    """

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS
    # Elsewhere it only leaves out the wait after a restart; there it would share a port in use.
    allow_reuse_address = os.name != "nt"

    def __init__(self, questions: PageQuestions, port: int = 0) -> None:
        self.questions = questions
        self.clients = WaitingClients()
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        try:
            super().__init__((LOOPBACK, port), _PageRequest)
        except (OSError, OverflowError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise PortTaken(port, reason) from error
        self.address = PageAddress(self.server_port)

    def server_bind(self) -> None:
        """As the base class, without its look for the machine's name in the DNS."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, self.allow_reuse_address)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def server_close(self) -> None:
        """Stop listening; calls that are under way end."""
        super().server_close()
        self.clients.cancel_all()

    def process_request(self, request: _Connection, client_address: object) -> None:
        """Give a connection a thread; close it where there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # There is no room for another thread.
            self._places.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: _Connection, client_address: object) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: _Connection, client_address: object) -> None:
        """A client that went away is no error of ours, and its request is not to be shown."""
        logger.debug("a connection of the page ended early", exc_info=True)


class _PageRequest(BaseHTTPRequestHandler):
    """One connection, with its requests one after the other."""

    protocol_version = "HTTP/1.1"
    timeout = REQUEST_S

    @property
    def _page(self) -> PageServer:
        return cast("PageServer", self.server)

    def handle_one_request(self) -> None:
        """As the base class; it ends if the whole request is not there in time."""
        self._deadline = threading.Timer(REQUEST_S, self._give_up)
        self._deadline.daemon = True
        self._deadline.start()
        try:
            super().handle_one_request()
        finally:
            self._deadline.cancel()

    def parse_request(self) -> bool:
        """As the base class; from here on the answer takes what it takes."""
        is_whole = super().parse_request()
        self._deadline.cancel()
        return is_whole

    def _give_up(self) -> None:
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            logger.debug("a slow client had gone by itself")

    def do_GET(self) -> None:
        """Answer, if the request is of the page."""
        values: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            values.setdefault(name.lower(), []).append(value)
        if self._page.address.is_foreign(values):
            self._refuse(HTTPStatus.FORBIDDEN, "this address is for codelens's own page alone")
            return
        if values.get("content-length", ["0"]) != ["0"] or "transfer-encoding" in values:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a request has no body here")
            return
        address = urlsplit(self.path)
        path = self._page.address.path_within(address.path)
        if path is None:
            self._refuse(
                HTTPStatus.NOT_FOUND,
                "not found; open the address that `codelens ui` printed when it was started last",
            )
        elif path.startswith(_API):
            self._answer(path.removeprefix(_API), address.query)
        else:
            self._file(path or START)

    def _file(self, name: str) -> None:
        file = page_files().get(name)
        if file is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such file of the page")
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
            # Whatever it is, the page goes on and says so.
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
        """Send an answer; of one that the page has already, only that it still holds."""
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
        """Refuse what is no request of the page; nothing of it is repeated in the answer."""
        del message, explain
        self.request_version = self.protocol_version
        self._refuse(HTTPStatus(code), f"{HTTPStatus(code).phrase}: only GET is served here")

    def version_string(self) -> str:
        """What the server calls itself."""
        return "codelens"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: paths hold the token."""


def _encoded(value: object) -> bytes:
    # What UTF-8 cannot hold (half a pair of surrogates) is escaped by JSON.
    text = json.dumps(value, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def _lasting(answer: Json) -> Json:
    """An answer without what its receipt measured."""
    receipt = answer.get("receipt")
    if not isinstance(receipt, Mapping):
        return answer
    fields = cast("Mapping[str, object]", receipt)
    return {**answer, "receipt": {key: fields[key] for key in fields.keys() - _VOLATILE}}


def _digest(data: bytes) -> str:
    return f'"{hashlib.blake2b(data, digest_size=16).hexdigest()}"'
