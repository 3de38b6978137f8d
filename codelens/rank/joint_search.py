"""One question to several views: ranked on a common scale, then put in one order.

The order, from the results of each view, which keep theirs: the view goes on whose next result is
first by (1) what the query names, quotes or pastes, before what goes by its score, before what is
only called nearly so; (2) the score, which means the same in all views (`CommonScale`); (3) the
order in which the views were given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.errors import CodelensError
from codelens.rank import search_pipeline
from codelens.rank.query.query_analysis import analyse
from codelens.rank.search_request import NAMED, CommonScale, Outcome, Ranked, Request, Visit, check
from codelens.rank.search_state import Read
from codelens.store.views.snapshot import Snapshot

_SCANS = ("text", "regex", "path", "meaning")
"""Modes whose scores come from no number of the view: one visit is enough."""


class View(NamedTuple):
    """A view, and what gives a file's bytes."""

    snapshot: Snapshot
    read: Read


def search(views: Sequence[View], request: Request) -> list[Outcome | CodelensError]:
    """The outcome of each view, or why it has none; the others are answered all the same.

    Raises:
        QueryError: the query, or a mode or content, cannot be understood.
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
    """The results of several views in one order: the view's number, and the result's in it."""
    left = {number: list(outcome.results) for number, outcome in outcomes.items()}
    order: list[tuple[int, int]] = []
    while len(order) < request.limit and any(left.values()):
        best = min(
            (number for number, results in left.items() if results),
            key=lambda number: (_place(left[number][0], outcomes[number], request), number),
        )
        order.append((best, len(outcomes[best].results) - len(left[best])))
        left[best].pop(0)
    return order


def _place(ranked: Ranked, outcome: Outcome, request: Request) -> tuple[int, float]:
    """Sorts the next results of several views."""
    # A path, or what was quoted, was found where it was said to be.
    placed = request.mode == "auto" and outcome.mode in {"path", "text"}
    return (NAMED if placed else ranked.standing, -ranked.own_score)
