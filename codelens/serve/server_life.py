"""What a server does at its start and its end, whatever it speaks through."""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import cast

from codelens.config import DEFAULT_BUDGET_MS, Settings


def budget_of(settings: Settings, budget_ms: float | None) -> float:
    """How long a look at the files may take: as the caller says, else the settings."""
    if budget_ms is not None:
        return budget_ms
    return DEFAULT_BUDGET_MS if settings.budget_ms is None else settings.budget_ms


def log_to_stderr() -> None:
    """Warnings of all libraries go to stderr, without what a question or a file says."""
    stderr_handler = logging.StreamHandler(sys.stderr)
    stderr_handler.setFormatter(_Untelling("codelens: %(message)s"))
    logging.basicConfig(handlers=[stderr_handler], level=logging.WARNING)


class _Untelling(logging.Formatter):
    """Of a failure the places and the kinds: its words may quote code or a question."""

    def formatException(self, ei: object) -> str:
        """The frames of an error and of what led to it, the first cause last."""
        error = cast("tuple[object, BaseException | None]", ei)[1]
        lines: list[str] = []
        while error is not None:
            lines += [*traceback.format_tb(error.__traceback__), f"{type(error).__name__}\n"]
            hidden = error.__suppress_context__
            error = error.__cause__ or (None if hidden else error.__context__)
        return "".join(lines)


def leave(close: Callable[[], None], patience_s: float) -> None:
    """End the process now: a look that goes on in a thread must not outlive its clients.

    What is written is written in transactions, so leaving in the midst of one loses nothing else.
    """
    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(patience_s)
    sys.stderr.flush()
    if closing.is_alive() or threading.active_count() > 1:
        os._exit(0)
