"""The questions about who uses what: related, impact, map, and all edges."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.answers.graph_answers import ImpactAnswer, MapAnswer, RelatedAnswer
from codelens.engine.answers.reading_answers import EdgeLine
from codelens.engine.current_view import Look, looked
from codelens.engine.index_pool import Door, Opened, in_range, seconds_to_read
from codelens.engine.usage.usage_counter import counted
from codelens.errors import IndexLocked, ReadError, SettingError
from codelens.index.progress import Progress, silent

if TYPE_CHECKING:
    from codelens.engine.impact.impact_query import Base

_TILTED_BY = 12
_PATHS = 3
_LEAST_SHARE = 0.2
"""Of a budget, left for the walk when the look took it all."""


class GraphDoor(Door):
    """The part of the engine that follows edges."""

    @counted
    def related(  # noqa: PLR0913 - each a wish of its own, by name
        self,
        target: str,
        *,
        to: str | None = None,
        path: str | Path = ".",
        ref: str | None = None,
        kinds: Sequence[str] = (),
        direction: str = "both",
        depth: int = 1,
        paths: int = _PATHS,
        limit: int = 40,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> RelatedAnswer:
        """What is related to a definition or file; with `to`, the paths from it to another.

        Args:
            target: a handle, a file, a folder, or a bare name that one definition alone has.
            to: where paths shall lead.
            path: any path inside the worktree.
            ref: a branch, tag or commit to look at instead of the worktree's files.
            kinds: only these relations, of `codelens.engine.graph.relation_choice.RELATIONS`.
            direction: `in` (who uses it), `out` (what it uses) or `both`.
            depth: steps at most, 1 to 3.
            paths: distinct paths at most, with `to`.
            limit: results at most.
            budget_ms: how long the look may take; None: until the view is fresh.
            progress: told of long work.

        Raises:
            HandleError: `target` or `to` cannot be followed, or has several owners.
            SettingError: an argument is out of range.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.graph import related_query

        in_range(limit)
        if to is None and paths != _PATHS:
            raise SettingError("paths are looked for between two things: give `to` as well")
        if to is not None and (kinds or depth != 1 or direction != "both"):
            raise SettingError(
                "kinds, direction and depth do not go with `to`: paths are followed along every "
                "kind of use, as far as they lead; leave them out"
            )
        if ref is None:
            ref = _ref_of(target)
        with self._walked(path, ref, budget_ms, progress) as (look, seconds):
            if to is not None:
                return related_query.paths_between(look, target, to, paths, seconds)
            return related_query.related(look, target, kinds, direction, depth, limit, seconds)

    @counted
    def impact(
        self,
        targets: Sequence[str] = (),
        *,
        diff: str | None = None,
        path: str | Path = ".",
        ref: str | None = None,
        depth: int = 3,
        limit: int = 60,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> ImpactAnswer:
        """Who can be hit by a change of the targets, or of what differs from a commit.

        Args:
            targets: handles, files, folders or bare names.
            diff: instead of targets, all that differs between this commit and the files now.
            path: any path inside the worktree.
            ref: a branch, tag or commit to look at instead of the worktree's files.
            depth: steps at most, 1 to 5.
            limit: results at most.
            budget_ms: how long the look may take; None: until the view is fresh.
            progress: told of long work.

        Raises:
            HandleError: a target cannot be followed, or has several owners.
            NoSuchRef: `diff` names no commit.
            SettingError: an argument is out of range.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.impact import impact_query

        in_range(limit)
        if (diff is None) == (not targets):
            raise SettingError(
                "give targets (handles, files, folders or names), or diff, which takes what "
                "differs from a commit; not both"
            )
        if diff is not None:
            return self._impact_of_diff(diff, path, ref, depth, limit, budget_ms, progress)
        if ref is None:
            ref = _ref_of(targets[0])
        with self._walked(path, ref, budget_ms, progress) as (look, seconds):
            return impact_query.impact(look, targets, depth, limit, seconds)

    def _impact_of_diff(
        self,
        diff: str,
        path: str | Path,
        ref: str | None,
        depth: int,
        limit: int,
        budget_ms: float | None,
        progress: Progress,
    ) -> ImpactAnswer:
        from codelens.engine.graph import edge_cache
        from codelens.engine.impact import impact_query
        from codelens.engine.impact.symbol_diff import changes_of

        impact_query.check_depth(depth)
        started = time.monotonic()
        with self._looked(path, ref, budget_ms, progress) as (opened, look):
            with opened.shelf.db.read():
                found = changes_of(look, diff)
            base = impact_query.Base(diff, None)
            if impact_query.takes_away(found):
                base = self._base(opened, diff, budget_ms, progress)
            with opened.shelf.db.read():
                left = _left(budget_ms, started)
                answer = impact_query.impact_of_diff(look, found, base, depth, limit, left)
            for one in (look, base.look):
                if one is not None:
                    edge_cache.keep(one)
            return answer

    def _base(self, opened: Opened, diff: str, budget_ms: float | None, progress: Progress) -> Base:
        """A look at the commit that a diff is against."""
        from codelens.engine.impact.impact_query import Base

        scope = opened.repository.scope(diff)
        asked = (opened.repository, scope, opened.shelf, self.settings, budget_ms, progress)
        try:
            return Base(diff, looked(*asked))
        except (IndexLocked, ReadError) as error:
            return Base(diff, None, str(error))

    @counted
    def map(
        self,
        focus: Sequence[str] = (),
        *,
        query: str = "",
        path: str | Path = ".",
        ref: str | None = None,
        max_tokens: int = 2000,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> MapAnswer:
        """The repository at a glance: files by how much others use them, folded, in a budget.

        Args:
            focus: handles, files or folders near which the map is to be drawn.
            query: words that tilt it as a focus does.
            path: any path inside the worktree.
            ref: a branch, tag or commit to look at instead of the worktree's files.
            max_tokens: what the map's text may cost.
            budget_ms: how long the look may take, and with what is left of it the ranking, which
                has 2 s in any case; None: until the view is fresh, and 30 s.
            progress: told of long work.

        Raises:
            HandleError: a focus names nothing, or several things.
            SettingError: `max_tokens` is out of range.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.map.map_query import map_
        from codelens.rank.search_pipeline import Request, search

        started = time.monotonic()
        with self._looked(path, ref, budget_ms, progress, query) as (opened, look):
            # What the look left of a long budget is for the ranking.
            seconds = max(seconds_to_read(budget_ms), _left(budget_ms, started))

            def found(words: str) -> list[bytes]:
                request = Request(words, "auto", (), (), (), "code", _TILTED_BY, False, seconds)
                ranked = search(look.snapshot, request, look.read)
                return list(dict.fromkeys(one.file.path for one in ranked.results))

            with opened.shelf.db.read():
                return map_(look, focus, found, query.strip(), max_tokens, seconds)

    def export_edges(
        self, *, path: str | Path = ".", ref: str | None = None, progress: Progress = silent
    ) -> Iterator[EdgeLine]:
        """Every certain edge of the view, by path and line."""
        from codelens.engine.graph.edge_export import edge_lines

        with self._looked(path, ref, None, progress) as (opened, look), opened.shelf.db.read():
            lines = list(edge_lines(look))
        yield from lines

    @contextmanager
    def _walked(
        self, path: str | Path, ref: str | None, budget_ms: float | None, progress: Progress
    ) -> Generator[tuple[Look, float]]:
        """A look whose graph is walked, for so many seconds; what is resolved is kept."""
        from codelens.engine.graph import edge_cache

        started = time.monotonic()
        with self._looked(path, ref, budget_ms, progress) as (opened, look):
            with opened.shelf.db.read():
                yield look, _left(budget_ms, started)
            edge_cache.keep(look)


def _left(budget_ms: float | None, started: float) -> float:
    """Seconds to walk for: of a budget what the look left of it, and a share in any case."""
    if budget_ms is None:
        return seconds_to_read(None)
    seconds = budget_ms / 1000
    return max(seconds - (time.monotonic() - started), seconds * _LEAST_SHARE)


def _ref_of(target: str) -> str | None:
    """The ref that a handle names by itself."""
    from codelens.engine.reading.outline_query import ref_of

    return ref_of(target) or None
