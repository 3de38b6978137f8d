"""Which session a call over HTTP belongs to that does not say so itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mcp.server.mcpserver import Context

from codelens.engine.sessions.asking_session import Session, of_host
from codelens.serve.client_workspaces import connection_id


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
