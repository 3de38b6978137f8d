"""Formats counts and days for messages and answers."""

from __future__ import annotations

import time


def count_of(count: int, noun: str) -> str:
    """Format a count with its noun: `1 file`, `1,234 files`."""
    return f"{count:,} {plural(noun, count)}"


def plural(noun: str, count: int) -> str:
    """Return `file` for one, else `files`."""
    return noun if count == 1 else f"{noun}s"


def day_of(time_s: int | None) -> str:
    """Format seconds since 1970 as a local day, `2026-11-23`; `?` for None and invalid times."""
    try:
        return time.strftime("%Y-%m-%d", time.localtime(time_s))
    except (OverflowError, OSError, ValueError):
        return "?"  # an import may contain any number
