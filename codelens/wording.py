"""Formats counts, lists and days for messages and answers."""

from __future__ import annotations

import time
from collections.abc import Sequence


def count_of(count: int, noun: str) -> str:
    """Format a count with its noun: `1 file`, `1,234 files`."""
    return f"{count:,} {plural(noun, count)}"


def plural(noun: str, count: int) -> str:
    """Return `file` for one, else `files`."""
    return noun if count == 1 else f"{noun}s"


def some_of(names: Sequence[str], most: int, sign: str = ", ") -> str:
    """Join the first names, and count the others: `a, b and 3 more`."""
    left = len(names) - most
    return f"{sign.join(names[:most])}{f' and {left:,} more' if left > 0 else ''}"


def first_of(names: Sequence[str], most: int, sign: str = ", ") -> str:
    """Join the first names, with `...` for the others: `a, b, ...`."""
    return sign.join([*names[:most], *(["..."] if len(names) > most else [])])


def day_of(time_s: int | None) -> str:
    """Format seconds since 1970 as a local day, `2026-11-23`; `?` for None and invalid times."""
    try:
        return time.strftime("%Y-%m-%d", time.localtime(time_s))
    except (OverflowError, OSError, ValueError):
        return "?"  # an import may contain any number
