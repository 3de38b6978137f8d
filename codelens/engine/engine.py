"""The one door: a method for each thing codelens can do, for Python, MCP and the command line.

    with Engine() as engine:
        for hit in engine.search("validate session", path="/src/app").results:
            print(hit.handle, hit.signature)

Every method works out the worktree anew from `path`, looks at the disk, and sends a receipt.
Methods may be called from any thread; calls on one repository take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from codelens.engine.answers.reading_answers import (
    Excerpt,
    ExpandAnswer,
    OutlineAnswer,
    SearchAnswer,
    StatusAnswer,
    SymbolLine,
)
from codelens.engine.contexts.memory_door import MemoryDoor
from codelens.engine.current_view import Look, looked
from codelens.engine.graph.graph_door import GraphDoor
from codelens.engine.index_pool import in_range, seconds_to_read
from codelens.engine.reading import search_hits, view_status
from codelens.engine.upkeep.upkeep_door import UpkeepDoor
from codelens.engine.usage.usage_counter import counted
from codelens.errors import QueryError, SettingError
from codelens.index.progress import Progress, silent
from codelens.types import Receipt


class Engine(GraphDoor, MemoryDoor, UpkeepDoor):
    """Searches and reads any number of repositories; close it, or use it in a `with`.

    Args:
        settings: as `codelens.config.load` gives them; None loads them.
        keep_going: finish in the background what a budget cut off; for servers.
    """

    @counted
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
                text (`codelens.render.search_text`) costs no more, as `within` estimates it.
            budget_ms: how long the look may take; None: until the view is fresh.
            progress: told of long work.

        Raises:
            ScopeError: `path` or `ref` cannot be served.
            QueryError: the query or a filter cannot be understood.
            StoreError: the index cannot be used.
        """
        from codelens.rank.search_pipeline import Request, search

        in_range(limit)
        if not query.strip():
            raise QueryError("the query is empty; give words, an identifier or a path")
        seconds = seconds_to_read(budget_ms)
        if languages:
            from codelens.engine.reading.language_list import called

            languages = called(languages)
        request = Request(
            query, mode, tuple(languages), tuple(globs), tuple(kinds), content, limit, explain,
            seconds,
        )  # fmt: skip
        with self._looked(path, ref, budget_ms, progress, query) as (opened, look):
            with opened.shelf.db.read():
                outcome = search(look.snapshot, request, look.read)
                hits = search_hits.hits(look, outcome, look.scope, explain=explain)
            receipt = look.receipt()
            if outcome.cut_short:
                receipt = replace(receipt, status="partial", note=outcome.cut_short)
            answer = SearchAnswer(receipt, hits, query, outcome.mode, tuple(outcome.notes))
        if max_tokens is None:
            return answer
        from codelens.render.search_text import kept_within

        return kept_within(answer, max_tokens)

    @counted
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
        from codelens.engine.reading.excerpts import excerpt

        if context < 0 or max_lines < 1:
            raise SettingError("context must be at least 0 and max_lines at least 1")
        items: list[Excerpt] = []
        with self._looked(path, ref, budget_ms, silent) as (opened, look):
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

    @counted
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
        from codelens.engine.reading.outline_query import outline, ref_of

        if ref is None:
            ref = ref_of(target) or None
        with self._looked(path, ref, budget_ms, progress) as (opened, look), opened.shelf.db.read():
            return outline(look, target)

    def look(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> Receipt:
        """Bring the view up to date and say so; what every other method does first."""
        with self._looked(path, ref, budget_ms, progress) as (_, look):
            return look.receipt()

    @counted
    def status(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> StatusAnswer:
        """Where `path` stands, how fresh its view is, what is in it and what was left out."""
        with self._looked(path, ref, budget_ms, progress) as (opened, look):
            return view_status.status(look, opened.repository, opened.shelf)

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
        with self._looked(path, ref, None, progress) as (opened, look), opened.shelf.db.read():
            lines = list(search_hits.symbol_lines(look))
        yield from lines
