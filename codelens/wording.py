"""Counts with their nouns, as messages and answers print them."""

from __future__ import annotations

import time


def count_of(count: int, noun: str) -> str:
    """`1 file`, `1,234 files`."""
    return f"{count:,} {plural(noun, count)}"


def plural(noun: str, count: int) -> str:
    """`file` for one, else `files`."""
    return noun if count == 1 else f"{noun}s"


# Days as messages and answers print them.


def day_of(time_s: int | None) -> str:
    """The local day of a time in seconds since 1970, as `2026-11-23`; `?` for none there is."""
    try:
        return time.strftime("%Y-%m-%d", time.localtime(time_s))
    except (OverflowError, OSError, ValueError):
        return "?"  # an import may hold any number
