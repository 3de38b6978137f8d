"""Manages sessions of the HTTP server: who may open one, how many there are, which one ends.

The SDK starts a task and six streams for each request without a session, before it looks at the
request, and once it has its maximum of sessions it rejects every new client. Here, a request that
cannot open a session is rejected first, and a new session ends the one that was idle longest.
"""

from __future__ import annotations

import time
from http import HTTPStatus

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, check_accept_headers
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    InitializeRequestParams,
    JSONRPCError,
    JSONRPCRequest,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

IDLE_S = 30 * 60.0
"""How long a session may be idle before the SDK ends it."""


class OpenSessions:
    """Passes requests on to the SDK's application, and limits what they leave behind there.

    Args:
        app: the SDK's application. Every body must arrive whole, in one message.
        most: the maximum number of sessions. If it exceeds that of connections, one of them is
            always idle.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._opening = 0
        """Number of requests that are about to open a session."""
        self._running: dict[str, int] = {}
        """Session -> number of its requests under way."""
        self._idle_since: dict[str, float] = {}
        """Session without a request under way -> when its last one ended, the oldest first."""
        self._ended: set[str] = set()
        """Sessions that ended while other requests are under way."""

    def count(self) -> int:
        """The number of open sessions."""
        self._forget_expired()
        return self._opening + len(self._running) + len(self._idle_since)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the events of the server's own life."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        session = headers.get(MCP_SESSION_ID_HEADER)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER, LATEST_HANDSHAKE_VERSION)
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, receive, send)
        elif session is None:
            await self._open(scope, receive, send)
        else:
            await self._ask(session, scope, receive, send)

    async def _ask(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """A request in a session, which it keeps from ending."""
        self._hold(session)
        has_ended = False

        async def noted(message: Message) -> None:
            nonlocal has_ended
            if message["type"] == "http.response.start":
                status = message["status"]
                has_ended = status == HTTPStatus.NOT_FOUND or (
                    scope["method"] == "DELETE" and status == HTTPStatus.OK
                )
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            self._release(session, has_ended=has_ended)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request without a session: it opens one, or it is rejected."""
        refusal = _refusal_of_head(Request(scope))
        body: Message = {"type": "unread"} if refusal else await receive()
        if body["type"] == "http.request":
            refusal = _refusal_of_body(body["body"])
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        opened = ""

        async def noted(message: Message) -> None:
            nonlocal opened
            if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
                opened = Headers(raw=list(message["headers"])).get(MCP_SESSION_ID_HEADER, "")
                if opened:
                    # The client may use it before this request ends.
                    self._opening -= 1
                    self._hold(opened)
            await send(message)

        self._opening += 1
        try:
            await self._make_room(scope)
            await self._app(scope, _replayed(body, receive), noted)
        finally:
            if opened:
                self._release(opened, has_ended=False)
            else:
                self._opening -= 1

    def _hold(self, session: str) -> None:
        self._idle_since.pop(session, None)
        self._running[session] = self._running.get(session, 0) + 1

    def _release(self, session: str, *, has_ended: bool) -> None:
        if has_ended:
            self._ended.add(session)
        others = self._running.pop(session) - 1
        if others:
            self._running[session] = others
        elif session in self._ended:
            self._ended.remove(session)
        else:
            self._idle_since[session] = time.monotonic()

    async def _make_room(self, scope: Scope) -> None:
        """End the sessions that were idle longest, as their clients would, until one fits."""
        while self.count() > self._most and self._idle_since:
            session = next(iter(self._idle_since))
            del self._idle_since[session]
            headers = [(MCP_SESSION_ID_HEADER.encode("ascii"), session.encode("ascii"))]
            ending = {**scope, "method": "DELETE", "headers": headers}
            await self._app(ending, _empty_body, _to_nobody)

    def _forget_expired(self) -> None:
        """Forget the sessions that the SDK has ended by itself."""
        last = time.monotonic() - IDLE_S
        while self._idle_since:
            session = next(iter(self._idle_since))
            if self._idle_since[session] > last:
                return
            del self._idle_since[session]


def _refusal_of_head(request: Request) -> Response | None:
    """The answer to a request that cannot open a session, regardless of its body."""
    takes_json, takes_stream = check_accept_headers(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method not in {"GET", "POST", "DELETE"}:
        return _refused(HTTPStatus.METHOD_NOT_ALLOWED, "Method Not Allowed")
    if request.method == "GET" and not takes_stream:
        return _refused(
            HTTPStatus.NOT_ACCEPTABLE, "Not Acceptable: Client must accept text/event-stream"
        )
    if request.method != "POST":
        return _refused(HTTPStatus.BAD_REQUEST, "Bad Request: Missing session ID")
    if not (takes_json and takes_stream):
        return _refused(
            HTTPStatus.NOT_ACCEPTABLE,
            "Not Acceptable: Client must accept both application/json and text/event-stream",
        )
    if kind != "application/json":
        return _refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "Unsupported Media Type: Content-Type must be application/json",
        )
    return None


def _refusal_of_body(body: bytes) -> Response | None:
    """The answer to a body that is not the request to open a session."""
    try:
        message = JSONRPCRequest.model_validate_json(body, by_name=False)
    except ValidationError as error:
        is_json = error.errors()[0]["type"] != "json_invalid"
        code = INVALID_REQUEST if is_json else PARSE_ERROR
        return _refused(HTTPStatus.BAD_REQUEST, "Bad Request: not a JSON-RPC request", code)
    if message.method != "initialize":
        return _refused(HTTPStatus.BAD_REQUEST, "Bad Request: Missing session ID")
    try:
        InitializeRequestParams.model_validate(message.params or {}, by_name=False)
    except ValidationError:
        return _refused(HTTPStatus.BAD_REQUEST, "Bad Request: invalid parameters", INVALID_PARAMS)
    return None


def _refused(status: HTTPStatus, sentence: str, code: int = INVALID_REQUEST) -> Response:
    error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=sentence))
    text = error.model_dump_json(by_alias=True, exclude_unset=True)
    is_wrong_method = status is HTTPStatus.METHOD_NOT_ALLOWED
    headers = {"Allow": "GET, POST, DELETE"} if is_wrong_method else None
    return Response(text, status, headers, media_type="application/json")


def _replayed(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


async def _empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _to_nobody(_message: Message) -> None:
    pass
