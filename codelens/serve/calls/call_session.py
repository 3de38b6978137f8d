"""Which session a call belongs to that does not say so itself."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from codelens.engine.sessions.asking_session import Session, of_host


class SessionOfProcess:
    """Of the one client that started the server: as its host names it, else the connection.

    Args:
        environ: where the host may name its session.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        # Whoever else is served has another one.
        self._connection = f"connection-{secrets.token_hex(8)}"

    def of_call(self, meta: Mapping[str, object]) -> Session:
        """The session of a call, by what its host sends along with it."""
        session_id = of_host(self._environ, meta)
        if session_id:
            return Session(session_id, "host", remembers=True)
        return Session(self._connection, "connection", remembers=True)
