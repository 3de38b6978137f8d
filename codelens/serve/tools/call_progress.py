"""Progress of a long call, for the client that made it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import anyio.from_thread
from mcp.server.mcpserver import Context

logger = logging.getLogger(__name__)

_TELL_EVERY_S = 0.25
_LEAST_STEP = 0.001


def progress_of(ctx: Context[Any, Any]) -> Callable[[str, int, int], None]:
    """Progress for a client that asked for it, a few times a second; from the thread that works."""
    last = 0.0
    lowest = 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last, lowest
        now = time.monotonic()
        if now - last < _TELL_EVERY_S:
            return
        last = now
        # Every value must be more than the one before (MCP), and a stage may begin anew: what is
        # said of it stands in the message then.
        lowest = done if done > lowest else lowest + _LEAST_STEP
        progress_text = f"{stage}: {done:,} of {total:,} files"
        try:
            anyio.from_thread.run(ctx.report_progress, lowest, max(total, lowest), progress_text)
        except Exception as error:
            # A client that went away: the index is brought up to date all the same.
            logger.debug("progress was not reported: %s", error)

    return tell
