"""Finds the session of a call: named by the call, by the host, or by the connection."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple, cast

HOST_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
"""Environment variables with the session id of hosts."""


_CODEX_META = "x-codex-turn-metadata"


_META_KEYS = ("sessionId", "session_id", "threadId", "thread_id")


LONGEST_ID = 500
"""Maximum characters; longer ids, which no host has, are cut."""


class Session(NamedTuple):
    """The session of a call."""

    id: str = ""
    """Empty if the session is unknown."""
    source: Literal["call", "host", "connection", ""] = ""
    remembers: bool = False
    """Whether sent code is recorded, and not sent again."""


_asking: ContextVar[Session] = ContextVar("asking", default=Session())  # noqa: B039 - immutable


def asking() -> Session:
    """The session of the current call."""
    return _asking.get()


@contextmanager
def asked_by(session: Session) -> Generator[None]:
    """Assign the calls in this block to a session."""
    token = _asking.set(session)
    try:
        yield
    finally:
        _asking.reset(token)


def of_host(environ: Mapping[str, str], meta: Mapping[str, object] | None = None) -> str:
    """The session id from a host; empty if the host sends none.

    Args:
        environ: the environment of a server or command that the host started.
        meta: data that the host sends with a call (Codex).
    """
    meta = meta or {}
    turn = meta.get(_CODEX_META)
    inner = cast("Mapping[str, object]", turn if isinstance(turn, Mapping) else {})
    for values in (meta, inner):
        for key in _META_KEYS:
            value = values.get(key)
            if isinstance(value, str) and value.strip():
                return value.strip()[:LONGEST_ID]
    values = (environ.get(name, "").strip() for name in HOST_VARIABLES)
    return next((value[:LONGEST_ID] for value in values if value), "")
