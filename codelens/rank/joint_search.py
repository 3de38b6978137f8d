"""Ranks the answers of several views to one question on a common scale, and merges them.

The results of each view keep their order. The merge takes the next result from the view that is
first by (1) standing: results that the query names, quotes or pastes come before scored ones, and
these before near matches; (2) score, which is comparable between views (`CommonScale`); (3) the
order of the views.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from codelens.errors import CodelensError
from codelens.rank import search_pipeline
from codelens.rank.query.query_analysis import analyse
from codelens.rank.search_request import NAMED, CommonScale, Outcome, Ranked, Request, Visit, check
from codelens.rank.search_state import Read
from codelens.store.views.snapshot import Snapshot

_SCANS = ("text", "regex", "path", "meaning")
"""Modes whose scores use no statistics of the view, so one visit is enough."""


class View(NamedTuple):
    """A view, and the function that reads a file's bytes."""

    snapshot: Snapshot
    read: Read


def search(views: Sequence[View], request: Request) -> list[Outcome | CodelensError]:
    """Search all views; return the outcome or the error of each.

    Raises:
        QueryError: the query, mode or content is invalid.
    """
    check(request)
    analyse(request.query)
    common = CommonScale()
    request = request._replace(common=common, likeness=None)
    failed: dict[int, CodelensError] = {}
    for visit in (Visit.COUNT, Visit.MEASURE):
        common.visit = visit
        for number, view in enumerate(views) if request.mode not in _SCANS else ():
            if number not in failed:
                try:
                    search_pipeline.measure(view.snapshot, request, view.read)
                except CodelensError as error:
                    failed[number] = error
    common.visit = Visit.RANK
    outcomes: list[Outcome | CodelensError] = []
    for number, view in enumerate(views):
        try:
            outcomes.append(
                failed.get(number) or search_pipeline.search(view.snapshot, request, view.read)
            )
        except CodelensError as error:
            outcomes.append(error)
    return outcomes


def in_order(outcomes: Mapping[int, Outcome], request: Request) -> list[tuple[int, int]]:
    """Merge the results of several views: the view's number, and the result's position in it."""
    rows = (
        [
            (_place(ranked, outcome, request), number, at)
            for at, ranked in enumerate(outcome.results)
        ]
        for number, outcome in outcomes.items()
    )
    merged = heapq.merge(*rows, key=itemgetter(0))
    return [(number, at) for _, number, at in islice(merged, request.limit)]


def _place(ranked: Ranked, outcome: Outcome, request: Request) -> tuple[int, float]:
    """Return the sort key of a view's next result."""
    # The results match the path or quoted text exactly as the query gives it.
    placed = request.mode == "auto" and outcome.mode in {"path", "text"}
    return (NAMED if placed else ranked.standing, -ranked.own_score)
