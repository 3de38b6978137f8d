"""The one door: a method for each thing codelens can do, for Python, MCP and the command line.

    with Engine() as engine:
        for hit in engine.search("validate session", path="/src/app").results:
            print(hit.handle, hit.signature)

Every method works out the worktree anew from `path`, looks at the disk, and sends a receipt.
Methods may be called from any thread; calls on one repository take turns.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from codelens import config
from codelens.config import Settings
from codelens.engine import background, present, status
from codelens.engine.answers import (
    EdgeLine,
    Excerpt,
    ExpandAnswer,
    OutlineAnswer,
    SearchAnswer,
    StatusAnswer,
    SymbolLine,
)
from codelens.engine.graph_answers import ImpactAnswer, MapAnswer, RelatedAnswer
from codelens.engine.look import Look, looked
from codelens.engine.shelf import Shelf
from codelens.errors import IndexCorrupt, QueryError, SettingError
from codelens.index.progress import Progress, silent
from codelens.scope.repository import Repository, Scope
from codelens.types import Receipt

logger = logging.getLogger(__name__)

_MAX_LIMIT = 1000
_HEAD_TRIES = 3
_TILTED_BY = 12
# A text or regex search may have to read every file; who waits for a fresh view waits for that.
_READ_S, _READ_BUDGETED_S = 30.0, 2.0


class _Opened(NamedTuple):
    repository: Repository
    scope: Scope
    shelf: Shelf


class Engine:
    """Searches and reads any number of repositories; close it, or use it in a `with`.

    Args:
        settings: as `codelens.config.load` gives them; None loads them.
        keep_going: finish in the background what a budget cut off; for servers.
    """

    def __init__(self, settings: Settings | None = None, *, keep_going: bool = False) -> None:
        self.settings = settings or config.load()
        self._shelves: dict[Path, Shelf] = {}
        self._lock = threading.Lock()
        self._background = background.Background(self.settings) if keep_going else None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the open indexes; work in the background is given up."""
        if self._background is not None:
            self._background.stop()
        with self._lock:
            for shelf in self._shelves.values():
                shelf.close()
            self._shelves.clear()

    def search(  # noqa: PLR0913 - each a filter of its own, by name
        self,
        query: str,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        mode: str = "auto",
        languages: Sequence[str] = (),
        globs: Sequence[str] = (),
        kinds: Sequence[str] = (),
        content: str = "all",
        limit: int = 10,
        explain: bool = False,
        max_tokens: int | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> SearchAnswer:
        """Places that answer `query`, best first, true for the worktree that `path` lies in.

        Args:
            query: words, an identifier, a path, a sentence; by `mode` a text or a regex.
            path: any path inside the worktree.
            ref: a branch, tag or commit to search instead of the worktree's files.
            mode: `auto`, `symbol`, `text`, `regex` or `path`.
            languages: only these.
            kinds: only these kinds of symbol.
            globs: only paths that match one; `!glob` leaves out.
            content: `code`, `prose` or `all`.
            limit: results at most.
            explain: give each feature's share of the score.
            max_tokens: leave out results, and count them in `more`, so that the answer's short
                text (`codelens.engine.search_text`) costs no more, as `within` estimates it.
            budget_ms: how long the look may take; None: until the view is fresh.
            progress: told of long work.

        Raises:
            ScopeError: `path` or `ref` cannot be served.
            QueryError: the query or a filter cannot be understood.
            StoreError: the index cannot be used.
        """
        from codelens.rank.search import Request, search

        _in_range(limit)
        if not query.strip():
            raise QueryError("the query is empty; give words, an identifier or a path")
        seconds = _READ_S if budget_ms is None else _READ_BUDGETED_S
        if languages:
            from codelens.engine.languages import called

            languages = called(languages)
        request = Request(
            query, mode, tuple(languages), tuple(globs), tuple(kinds), content, limit, explain,
            seconds,
        )  # fmt: skip
        with self._look(path, ref, budget_ms, progress, query) as (opened, look):
            with opened.shelf.db.read():
                outcome = search(look.snapshot, request, look.read)
                hits = present.hits(look, outcome, look.scope, explain=explain)
            receipt = look.receipt()
            if outcome.cut_short:
                receipt = replace(receipt, status="partial", note=outcome.cut_short)
            answer = SearchAnswer(receipt, hits, query, outcome.mode, tuple(outcome.notes))
        if max_tokens is None:
            return answer
        from codelens.engine.search_text import kept_within

        return kept_within(answer, max_tokens)

    def expand(
        self,
        handles: Sequence[str],
        *,
        path: str | Path = ".",
        ref: str | None = None,
        context: int = 0,
        max_lines: int = 400,
        budget_ms: float | None = None,
    ) -> ExpandAnswer:
        """The text each handle names, read from the disk or the git object now.

        A handle whose symbol moved is followed and says so; one that cannot be followed carries
        its error, and the others are answered all the same.

        Args:
            handles: as `search` gives them; a handle may name its own ref (`ref:path#name`).
            path: any path inside the worktree.
            ref: read this branch, tag or commit instead of the worktree's files.
            context: lines to add before and after.
            max_lines: lines of one handle at most.
            budget_ms: how long the look may take; None: until the view is fresh.

        Raises:
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.expand import excerpt

        if context < 0 or max_lines < 1:
            raise SettingError("context must be at least 0 and max_lines at least 1")
        items: list[Excerpt] = []
        with self._look(path, ref, budget_ms, silent) as (opened, look):
            others: dict[str, Look] = {}

            def look_at(other: str) -> Look:
                if other not in others:
                    others[other] = looked(
                        opened.repository, opened.repository.scope(other), opened.shelf,
                        self.settings, budget_ms, silent,
                    )  # fmt: skip
                return others[other]

            for handle in handles:
                items.append(excerpt(handle, look, look_at, context, max_lines))
            receipt = look.receipt()
            if others:
                read = ", ".join(f"{ref}@{one.scope.head[:7]}" for ref, one in others.items())
                receipt = replace(receipt, note=f"handles with a ref were read from {read}")
            return ExpandAnswer(receipt, tuple(items))

    def outline(
        self,
        target: str = ".",
        *,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> OutlineAnswer:
        """A file or folder, folded: signatures, first lines of docs, line numbers, token counts.

        Raises:
            HandleNotFound: there is no such file or folder in the view.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.outline import outline, ref_of

        if ref is None:
            ref = ref_of(target) or None
        with self._look(path, ref, budget_ms, progress) as (opened, look), opened.shelf.db.read():
            return outline(look, target)

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
        paths: int = 3,
        limit: int = 40,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> RelatedAnswer:
        """What is related to a definition or file; with `to`, the paths from it to another.

        Args:
            target: a handle, a path, or a bare name that one definition alone has.
            to: where paths shall lead.
            path: any path inside the worktree.
            ref: a branch, tag or commit to look at instead of the worktree's files.
            kinds: only these relations, of `codelens.resolve.walk.RELATIONS`.
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
        from codelens.engine import related

        _in_range(limit)
        if ref is None:
            ref = _ref_of(target)
        with self._walked(path, ref, budget_ms, progress) as (look, seconds):
            if to is not None:
                return related.paths_between(look, target, to, paths, seconds)
            return related.related(look, target, kinds, direction, depth, limit, seconds)

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
            targets: handles, paths or bare names.
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
        from codelens.engine import impact

        _in_range(limit)
        if (diff is None) == (not targets):
            raise SettingError("give targets, or a commit to compare with, and not both")
        if ref is None and targets:
            ref = _ref_of(targets[0])
        with self._walked(path, ref, budget_ms, progress) as (look, seconds):
            if diff is not None:
                return impact.impact_of_diff(look, diff, depth, limit, seconds)
            return impact.impact(look, targets, depth, limit, seconds)

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
            budget_ms: how long the look may take; None: until the view is fresh.
            progress: told of long work.

        Raises:
            HandleError: a focus names nothing, or several things.
            SettingError: `max_tokens` is out of range.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.map import map_
        from codelens.rank.search import Request, search

        with self._look(path, ref, budget_ms, progress, query) as (opened, look):
            seconds = _READ_S if budget_ms is None else _READ_BUDGETED_S

            def found(words: str) -> list[bytes]:
                request = Request(words, "auto", (), (), (), "code", _TILTED_BY, False, seconds)
                ranked = search(look.snapshot, request, look.read)
                return list(dict.fromkeys(one.file.path for one in ranked.results))

            with opened.shelf.db.read():
                return map_(look, focus, found, query.strip(), max_tokens, seconds)

    def look(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> Receipt:
        """Bring the view up to date and say so; what every other method does first."""
        with self._look(path, ref, budget_ms, progress) as (_, look):
            return look.receipt()

    def status(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> StatusAnswer:
        """Where `path` stands, how fresh its view is, what is in it and what was left out."""
        with self._look(path, ref, budget_ms, progress) as (opened, look):
            return status.status(look, opened.repository, opened.shelf)

    def index(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        rebuild: bool = False,
        progress: Progress = silent,
    ) -> StatusAnswer:
        """Bring the view up to date, to the end; `rebuild` starts the repository's index anew."""
        if rebuild:
            opened = self._open(path, ref)
            with opened.shelf.lock:
                opened.shelf.rebuild()
        return self.status(path=path, ref=ref, progress=progress)

    def export_symbols(
        self, *, path: str | Path = ".", ref: str | None = None, progress: Progress = silent
    ) -> Iterator[SymbolLine]:
        """Every definition of the view, by path and line."""
        with self._look(path, ref, None, progress) as (opened, look), opened.shelf.db.read():
            lines = list(present.symbol_lines(look))
        yield from lines

    def export_edges(
        self, *, path: str | Path = ".", ref: str | None = None, progress: Progress = silent
    ) -> Iterator[EdgeLine]:
        """Every certain edge of the view, by path and line."""
        from codelens.engine.edges import edge_lines

        with self._look(path, ref, None, progress) as (opened, look), opened.shelf.db.read():
            lines = list(edge_lines(look))
        yield from lines

    @contextmanager
    def _walked(
        self, path: str | Path, ref: str | None, budget_ms: float | None, progress: Progress
    ) -> Generator[tuple[Look, float]]:
        """A look whose graph is walked, for so many seconds; what is resolved is kept."""
        from codelens.engine import graphs

        with self._look(path, ref, budget_ms, progress) as (opened, look):
            with opened.shelf.db.read():
                yield look, _READ_S if budget_ms is None else _READ_BUDGETED_S
            graphs.keep(look)

    def _settled(
        self,
        opened: _Opened,
        look: Look,
        ref: str | None,
        budget_ms: float | None,
        progress: Progress,
        query: str,
    ) -> Look:
        """The look, taken again if HEAD moved meanwhile: a receipt must not name another tree."""
        for _ in range(_HEAD_TRIES):
            now = opened.repository.scope(ref)
            if now == look.scope:
                return look
            look = looked(
                opened.repository, now, opened.shelf, self.settings, budget_ms, progress, query
            )
        note = "HEAD moved during the look; ask again"
        look.refreshed = look.refreshed._replace(status="partial", note=note)
        return look

    def _open(self, path: str | Path, ref: str | None) -> _Opened:
        if ref is not None and not ref.strip():
            raise SettingError("the ref is empty; name a branch, tag or commit, or leave it out")
        repository = Repository.at(path)
        scope = repository.scope(ref)
        return _Opened(repository, scope, self._shelf(scope))

    def _shelf(self, scope: Scope) -> Shelf:
        with self._lock:
            file = Shelf.file_of(self.settings, scope)
            shelf = self._shelves.get(file)
            if shelf is None:
                shelf = self._shelves[file] = Shelf(self.settings, scope)
            return shelf

    @contextmanager
    def _look(
        self,
        path: str | Path,
        ref: str | None,
        budget_ms: float | None,
        progress: Progress,
        query: str = "",
    ) -> Generator[tuple[_Opened, Look]]:
        opened = self._open(path, ref)
        asked = (opened.repository, opened.scope, opened.shelf, self.settings, budget_ms)
        with opened.shelf.lock, opened.shelf.mended():
            try:
                look = looked(*asked, progress, query)
            except IndexCorrupt as error:
                logger.warning("%s", error)
                opened.shelf.set_aside()
                look = looked(*asked, progress, query)
            look = self._settled(opened, look, ref, budget_ms, progress, query)
            if look.refreshed.status == "partial" and self._background is not None:
                self._background.finish(opened.repository.place.root, ref)
            yield opened, look


def _in_range(limit: int) -> None:
    if not 1 <= limit <= _MAX_LIMIT:
        raise SettingError(f"limit must be between 1 and {_MAX_LIMIT}, not {limit}")


def _ref_of(target: str) -> str | None:
    """The ref that a handle names by itself."""
    from codelens.engine.outline import ref_of

    return ref_of(target) or None
