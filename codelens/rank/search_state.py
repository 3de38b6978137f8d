"""One call of `search`, as its steps hand it on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codelens.plurals import count_of
from codelens.rank.query.query_analysis import Query
from codelens.rank.query.search_filters import Filters, Keep
from codelens.rank.results.shown_texts import Read
from codelens.rank.search_request import NAMED, Ranked, Request
from codelens.store.views.snapshot import Snapshot


class SearchState(NamedTuple):
    """A view, what is asked of it, and what is to be said beside the answer."""

    view: Snapshot
    request: Request
    query: Query
    filters: Filters
    read: Read
    notes: list[str]
    """Grows on the way."""

    @property
    def keep(self) -> Keep | None:
        """What the filters leave of some files; None where nothing is filtered."""
        return self.filters.keep if self.filters.active else None

    def note(self, sentence: str) -> None:
        """Say something beside the answer, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def deny(self, sentence: str) -> None:
        """Say that something is not there; of files that nobody read nothing is denied."""
        unread = self.view.unread
        so_far = f"not found so far, {count_of(unread, 'file')} still unread: " if unread else ""
        self.note(so_far + sentence)


def before(
    first: Sequence[Ranked], rest: Sequence[Ranked], limit: int, standing: int = NAMED
) -> list[Ranked]:
    """`first`, then what of `rest` lies elsewhere; scores go on falling from one to the next.

    Args:
        first: these have the `standing`.
        rest: results that keep theirs.
        limit: results at most.
        standing: why the first come first.
    """
    shown = [ranked._replace(standing=standing) for ranked in first[:limit]]
    floor = max((ranked.score for ranked in rest), default=0.0)
    if shown and shown[-1].score <= floor:
        more = floor - shown[-1].score + 1.0
        shown = [_raised(ranked, more) for ranked in shown]
    for ranked in rest:
        if len(shown) >= limit:
            break
        if not any(_covers(other, ranked) for other in shown):
            shown.append(ranked)
    return shown


def _raised(ranked: Ranked, more: float) -> Ranked:
    explain = {**ranked.explain, "first": more} if ranked.explain else ranked.explain
    return ranked._replace(score=ranked.score + more, raised=ranked.raised + more, explain=explain)


def _covers(ranked: Ranked, other: Ranked) -> bool:
    return (
        ranked.file.path_id == other.file.path_id
        and ranked.start_line <= other.start_line
        and other.end_line <= ranked.end_line
    )
