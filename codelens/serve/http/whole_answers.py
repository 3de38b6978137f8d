"""Streams that the server's end cuts short get their last bytes, so that clients see them end."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


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
