"""Days as messages and answers print them."""

from __future__ import annotations

import time


def day_of(time_s: int | None) -> str:
    """The local day of a time in seconds since 1970, as `2026-11-23`; `?` for none there is."""
    try:
        return time.strftime("%Y-%m-%d", time.localtime(time_s))
    except (OverflowError, OSError, ValueError):
        return "?"  # an import may hold any number
