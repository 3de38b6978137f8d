"""What a text has to have to be a stack trace: asked of every query, before a trace is read."""

from __future__ import annotations

_SIGNS = (
    "at ", 'File "', ".go:", ".rb:", ".py:", ".ex", ".lua:", "panicked", "#0", "#1", "Uncaught",
    "@http", "@file", "@webpack", ".java:", ".kt:", ".scala:", ".groovy:",
)  # fmt: skip


def may_be_trace(text: str) -> bool:
    """Whether a closer look is worth it; nearly every query ends here."""
    return any(sign in text for sign in _SIGNS)
