"""Limits that several questions share: how many results, how long to work after a refresh."""

from __future__ import annotations

import time

from codelens.errors import InvalidArgument

_MAX_LIMIT = 1000
# A text or regex search may have to read every file; who waits for a fresh view waits for that.
_READ_S, _READ_BUDGETED_S = 30.0, 2.0
_USES_S = 1.0
"""What uses of a name cost grows with the repository, not with what was asked."""
_LEAST_SHARE = 0.2
"""Of a budget, left for the walk when the freshness check took it all."""


def check_limit(limit: int, most: int = _MAX_LIMIT) -> None:
    """Refuse a number of results that no question takes.

    Raises:
        InvalidArgument: always when it refuses.
    """
    if not 1 <= limit <= most:
        raise InvalidArgument("limit", f"must be between 1 and {most:,}, not {limit:,}")


def seconds_to_read(budget_ms: float | None) -> float:
    """How long a question may work after the refresh: longer for who waits for a fresh view."""
    return _READ_S if budget_ms is None else _READ_BUDGETED_S


def seconds_beside(budget_ms: float | None, started: float) -> float:
    """Seconds to follow uses of what an answer is about, after it: some are always left."""
    return _USES_S if budget_ms is None else max(seconds_left(budget_ms, started), _USES_S)


def seconds_left(budget_ms: float | None, started: float) -> float:
    """Seconds to walk for: of a budget what the refresh left of it, and a share in any case.

    Args:
        budget_ms: as the caller gave it.
        started: `time.monotonic` value when the question began.
    """
    if budget_ms is None:
        return seconds_to_read(None)
    seconds = budget_ms / 1000
    return max(seconds - (time.monotonic() - started), seconds * _LEAST_SHARE)
