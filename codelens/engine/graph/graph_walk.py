"""A view whose graph is walked by a question."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from codelens.engine.current_view import CurrentView
from codelens.engine.graph import edge_cache
from codelens.engine.index_pool import IndexPool
from codelens.engine.question_limits import seconds_left
from codelens.engine.view_request import ViewRequest


@contextmanager
def walked_view(
    pool: IndexPool,
    view_request: ViewRequest,
    seconds_to_walk: Callable[[float | None, float], float] = seconds_left,
) -> Generator[tuple[CurrentView, float]]:
    """A view in a read transaction, and the seconds left to walk; what is resolved is kept.

    Args:
        pool: opens the view.
        view_request: which.
        seconds_to_walk: of a budget and the time when the question began.
    """
    started = time.monotonic()
    with pool.view(view_request) as view:
        with view.reading():
            yield view, seconds_to_walk(view_request.budget_ms, started)
        edge_cache.keep(view)
