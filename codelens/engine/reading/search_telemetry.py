"""A line of JSON on stderr for each search, where the setting `telemetry` asks for it.

It has numbers, and names that codelens itself has: nothing of the query, the filters or the
repository. So an error is told by its kind alone, since its message may quote the query.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelens.rank.query.search_filters import Filters

if TYPE_CHECKING:
    from codelens.config import Settings
    from codelens.rank.search_request import Request
    from codelens.store.views.snapshot import Snapshot


@dataclass(slots=True)
class SearchFigures:
    """What became of one search, filled in on its way."""

    tool: str
    """The method of `Engine`."""
    query_chars: int
    query_words: int
    """Parts between blanks."""
    max_tokens: int | None
    repositories: int = 1
    mode: str = ""
    """What was done, one of `codelens.rank.search_request.MODES`; in the repository that answered
    last; empty if it failed."""
    provider: str = ""
    """That was to rank; empty where none is enabled for the repository, or none is needed."""
    profile: str = ""
    """The capability profile of the provider; empty where it gave no vector of the query."""
    limit: int = 0
    """Results at most, after the profile's limits."""
    files_before_filters: int = 0
    """Of the views that gave an answer."""
    files_after_filters: int = 0
    """Of those, what languages, globs and content leave."""
    reranked: int = 0
    """Results that a reranker gave a score."""
    results: int = 0
    ms: float = 0.0
    error: str = ""
    """The kind of error that ended it."""

    def count_files(self, view: Snapshot, request: Request) -> None:
        """Count what of a view may answer a request."""
        filters = Filters(view, request)
        files = list(view.files)
        self.files_before_filters += len(files)
        self.files_after_filters += len(filters.keep(files) if filters.active else files)


@contextmanager
def search_told(settings: Settings, figures: SearchFigures) -> Generator[SearchFigures | None]:
    """Tell how the search in the block went, if that is asked for; it gets the figures then."""
    if not settings.telemetry:
        yield None
        return
    started = time.perf_counter()
    try:
        yield figures
    except BaseException as error:
        figures.error = type(error).__name__
        raise
    finally:
        figures.ms = round((time.perf_counter() - started) * 1000, 1)
        _write(figures)


def _write(figures: SearchFigures) -> None:
    # Who asks for nothing waits for no import.
    import json
    from dataclasses import asdict

    if sys.stderr is None:
        return
    try:
        # In one piece: a server's other questions write there too.
        sys.stderr.write(f"{json.dumps(asdict(figures))}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        # The file is full, or closed: a search is not refused for that, nor is there any other
        # place where it could be told.
        return
