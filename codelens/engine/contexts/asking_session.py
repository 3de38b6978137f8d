"""Finds the session of a call: named by the call, by the host, or by the connection."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

if TYPE_CHECKING:
    pass


HOST_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
"""What hosts name their session in the environment of servers and commands."""


_CODEX_META = "x-codex-turn-metadata"


_META_KEYS = ("sessionId", "session_id", "threadId", "thread_id")


LONGEST_ID = 500
"""Characters; longer ids are cut, as no host has one."""


class Session(NamedTuple):
    """Who asks."""

    id: str = ""
    """Empty where the session cannot be told."""
    source: Literal["call", "host", "connection", ""] = ""
    remembers: bool = False
    """What is sent is noted, and not sent again."""


_asking: ContextVar[Session] = ContextVar("asking", default=Session())  # noqa: B039 - immutable


def asking() -> Session:
    """The session of the call that is being answered."""
    return _asking.get()


@contextmanager
def asked_by(session: Session) -> Generator[None]:
    """Calls in this block belong to a session."""
    token = _asking.set(session)
    try:
        yield
    finally:
        _asking.reset(token)


def of_host(environ: Mapping[str, str], meta: Mapping[str, object] | None = None) -> str:
    """The session that a host names; empty where it names none.

    Args:
        environ: of a server or command that the host started.
        meta: what the host sends along with a call (Codex).
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
