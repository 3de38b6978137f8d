"""A method for each thing codelens can do, for Python, MCP and the command line.

    with Engine() as engine:
        for hit in engine.search("validate session", path="/src/app").results:
            print(hit.handle, hit.signature)

Every method works out the worktree anew from `path`, checks it against the disk, and sends a
receipt. Methods may be called from any thread; calls on one repository take turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from codelens import config
from codelens.engine.index_pool import IndexPool
from codelens.engine.usage.usage_counter import counted
from codelens.engine.view_request import ViewRequest
from codelens.engine.worktree_paths import root_of
from codelens.index.progress import Progress, silent

# Each capability is imported when it is first used: a search needs one of them.
if TYPE_CHECKING:
    from codelens.answers.branch_answers import (
        ConflictsAnswer,
        DiffAnswer,
        Elsewhere,
        HistoryAnswer,
    )
    from codelens.answers.context_answers import (
        ForgetAnswer,
        LoadAnswer,
        SaveAnswer,
        TakenOver,
        UsageAnswer,
    )
    from codelens.answers.explore_answers import ExploreAnswer
    from codelens.answers.graph_answers import ImpactAnswer, MapAnswer, RelatedAnswer
    from codelens.answers.reading_answers import (
        EdgeLine,
        ExpandAnswer,
        OutlineAnswer,
        SearchAnswer,
        StatusAnswer,
        SymbolLine,
    )
    from codelens.answers.upkeep_answers import Dropped, Pinned, PruneAnswer, RepositoryLife
    from codelens.config import Settings
    from codelens.engine.contexts.saved_contexts import SavedContexts
    from codelens.engine.explore.task_explorer import TaskExplorer
    from codelens.engine.graph.graph_queries import GraphQueries
    from codelens.engine.reading.code_reader import CodeReader
    from codelens.engine.upkeep.index_upkeep import IndexUpkeep
    from codelens.engine.usage.usage_report import UsageReports
    from codelens.engine.versions.version_queries import VersionQueries
    from codelens.types import Receipt


DEFAULT_TOKENS = 8_000
"""Of `explore`: what a search and the expansion of its first places cost; docs/explore.md."""


class Engine:
    """Searches and reads any number of repositories; close it, or use it in a `with`.

    These arguments mean the same in every method that takes them:

    - `path`: any path inside the worktree (or plain folder) that the question is about.
    - `ref`: a branch, tag or commit to look at instead of the worktree's files.
    - `budget_ms`: how long the freshness check may take; None: until the view is fresh.
    - `progress`: told of long work: stage, done, total.
    - `limit`: results at most, 1 to 1,000.

    Every method raises `ScopeError` where `path` or `ref` cannot be served, `StoreError` where the
    index cannot be used, and `SettingError` for an argument that is out of range.

    Args:
        settings: as `codelens.config.load` gives them; None loads them.
        keep_going: finish in the background what a budget cut off; for servers.
    """

    now_s: Callable[[], float] = staticmethod(time.time)
    """Seconds since 1970; for times to live."""

    def __init__(self, settings: Settings | None = None, *, keep_going: bool = False) -> None:
        self.settings: Settings = settings or config.load()
        self.pool = IndexPool(self.settings, keep_going=keep_going)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the open indexes; work in the background is given up."""
        self.pool.close()

    @cached_property
    def _reader(self) -> CodeReader:
        from codelens.engine.reading.code_reader import CodeReader

        return CodeReader(self.pool)

    @cached_property
    def _explorer(self) -> TaskExplorer:
        from codelens.engine.explore.task_explorer import TaskExplorer

        return TaskExplorer(self.pool, self._now)

    @cached_property
    def _graph(self) -> GraphQueries:
        from codelens.engine.graph.graph_queries import GraphQueries

        return GraphQueries(self.pool)

    @cached_property
    def _versions(self) -> VersionQueries:
        from codelens.engine.versions.version_queries import VersionQueries

        return VersionQueries(self.pool)

    @cached_property
    def _contexts(self) -> SavedContexts:
        from codelens.engine.contexts.saved_contexts import SavedContexts

        return SavedContexts(self.pool, self._now)

    @cached_property
    def _upkeep(self) -> IndexUpkeep:
        from codelens.engine.upkeep.index_upkeep import IndexUpkeep

        return IndexUpkeep(self.pool)

    @cached_property
    def _usage(self) -> UsageReports:
        from codelens.engine.usage.usage_report import UsageReports

        return UsageReports(self.settings, self._now)

    def _now(self) -> float:
        # Not `self.now_s`, which can be given anew.
        return self.now_s()

    # Finding and reading code.

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
            mode: `auto`, `symbol`, `text`, `regex` or `path`.
            languages: only these.
            globs: only paths that match one; `!glob` leaves out.
            kinds: only these kinds of symbol.
            content: `code`, `prose` or `all`.
            explain: give each feature's share of the score.
            max_tokens: leave out results, and count them in `more`, so that the answer's short
                text (`codelens.render.search_text`) costs no more, as `within` estimates it.

        Raises:
            QueryError: the query or a filter cannot be understood.
        """
        from codelens.rank.search_request import Request

        request = Request(
            query, mode, tuple(languages), tuple(globs), tuple(kinds), content, limit, explain
        )
        view = ViewRequest(path, ref, budget_ms, progress, query)
        return self._reader.search(view, request, max_tokens)

    @counted
    def explore(  # noqa: PLR0913 - each a wish of its own, by name
        self,
        task: str,
        *,
        max_tokens: int = DEFAULT_TOKENS,
        intent: str | None = None,
        path: str | Path = ".",
        ref: str | None = None,
        languages: Sequence[str] = (),
        globs: Sequence[str] = (),
        kinds: Sequence[str] = (),
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> ExploreAnswer:
        """The code that a task needs, whole where it fits, in a number of tokens.

        Args:
            task: what is to be done or understood, in as many words as there are; handles, paths,
                names, stack traces and messages in it come first.
            max_tokens: what the answer's text may cost, as `codelens.render.token_budget` counts.
            intent: `debug`, `refactor`, `modify` or `explore`; None: told by the task's words.
            languages: only these.
            globs: only paths that match one; `!glob` leaves out.
            kinds: only these kinds of definition are looked for; neighbours may be of any.

        Raises:
            QueryError: the task is empty, or a filter cannot be understood.
        """
        return self._explorer.explore(
            ViewRequest(path, ref, budget_ms, progress, task), max_tokens, intent,
            languages=languages, globs=globs, kinds=kinds,
        )  # fmt: skip

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
            context: number of lines to add before and after.
            max_lines: lines of one handle at most.
        """
        view = ViewRequest(path, ref, budget_ms, targets=tuple(handles))
        return self._reader.expand(view, handles, context, max_lines)

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
        """
        view = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
        return self._reader.outline(view, target)

    def look(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> Receipt:
        """Bring the view up to date and say so; what every other method does first."""
        return self._reader.refresh(ViewRequest(path, ref, budget_ms, progress))

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
        return self._reader.status(ViewRequest(path, ref, budget_ms, progress))

    def begin(self, path: str | Path) -> None:
        """Start to index a worktree in the background; nothing without `keep_going`."""
        if self.pool.background is not None:
            self.pool.background.finish(root_of(path), None)

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
            self._reader.rebuild(path, ref)
        return self.status(path=path, ref=ref, progress=progress)

    def bring(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        rebuild: bool = False,
        progress: Progress = silent,
    ) -> StatusAnswer:
        """As `index`, beside other questions: they do not wait for it."""
        if rebuild:
            self._reader.rebuild(path, ref)
        return self._reader.status_beside(ViewRequest(path, ref, None, progress))

    def export_symbols(
        self, *, path: str | Path = ".", ref: str | None = None, progress: Progress = silent
    ) -> Iterator[SymbolLine]:
        """Every definition of the view, by path and line."""
        return self._reader.symbols(ViewRequest(path, ref, None, progress))

    # Who uses what.

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
        paths: int = 3,
        limit: int = 40,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> RelatedAnswer:
        """What is related to a definition or file; with `to`, the paths from it to another.

        Args:
            target: a handle, a file, a folder, or a bare name that one definition alone has.
            to: where paths shall lead.
            kinds: only these relations, of `codelens.engine.graph.relation_choice.RELATIONS`.
            direction: `in` (who uses it), `out` (what it uses) or `both`.
            depth: steps at most, 1 to 3.
            paths: distinct paths at most, with `to`.

        Raises:
            HandleError: `target` or `to` cannot be followed, or has several owners.
        """
        asked = (target,) if to is None else (target, to)
        return self._graph.related(
            ViewRequest(path, ref, budget_ms, progress, targets=asked), target,
            to=to, kinds=kinds, direction=direction, depth=depth, paths=paths, limit=limit,
        )  # fmt: skip

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
        """Who can be affected by a change of the targets, or of what differs from a commit.

        Args:
            targets: handles, files, folders or bare names.
            diff: instead of targets, all that differs between this commit and the files now.
            depth: steps at most, 1 to 5.

        Raises:
            HandleError: a target cannot be followed, or has several owners.
            NoSuchRef: `diff` names no commit.
        """
        view = ViewRequest(path, ref, budget_ms, progress, targets=tuple(targets))
        return self._graph.impact(view, targets, diff=diff, depth=depth, limit=limit)

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
            max_tokens: what the map's text may cost.
            budget_ms: what the freshness check leaves of it is for the ranking, which has 2 s in
                any case; None: 30 s.

        Raises:
            HandleError: a focus names nothing, or several things.
        """
        return self._graph.map(
            ViewRequest(path, ref, budget_ms, progress, query), focus, max_tokens
        )

    def export_edges(
        self, *, path: str | Path = ".", ref: str | None = None, progress: Progress = silent
    ) -> Iterator[EdgeLine]:
        """Every certain edge of the view, by path and line."""
        return self._graph.edges(ViewRequest(path, ref, None, progress))

    # Branches, commits and worktrees.

    @counted
    def diff(
        self,
        spec: str = "",
        *,
        path: str | Path = ".",
        other: str = "",
        staged: bool = False,
        globs: Sequence[str] = (),
        kinds: Sequence[str] = (),
        uses: bool = True,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> DiffAnswer:
        """What differs between two sides, as definitions, and which uses that breaks.

        Args:
            spec: empty (HEAD to the files as they are), `REF` (to the files), `A..B`, or `A...B`
                (from the merge base to B).
            other: a worktree by path, or a ref, in place of the files here.
            staged: compare with git's index instead of the files.
            globs: only these paths, folders or globs; `!glob` leaves out.
            kinds: only these kinds of definitions or ways to differ.
            uses: look for uses that the change breaks, and for the tests to run.

        Raises:
            SettingError: the sides do not go together, or there is no git.
            NoSuchRef: a side names nothing here.
            ReadError: what git has cannot be read.
        """
        view = ViewRequest(path, None, budget_ms, progress)
        return self._versions.diff(
            view, spec, other=other, staged=staged, globs=globs, kinds=kinds, uses=uses
        )

    @counted
    def conflicts(
        self,
        *,
        path: str | Path = ".",
        others: Sequence[str] = (),
        base: str = "",
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> ConflictsAnswer:
        """What will collide when what is here is merged with the work of others.

        Args:
            others: worktrees by path, folder name or branch, and refs; none: all worktrees with
                their uncommitted edits, and branches with commits in the last 14 days.
            base: a ref in place of the merge base; then only definitions are compared.
            budget_ms: how long the freshness check of each view may take.

        Raises:
            SettingError: there is no git here.
            NoSuchRef: one of `others` names nothing here.
        """
        view = ViewRequest(path, None, budget_ms, progress)
        return self._versions.conflicts(view, others, base)

    @counted
    def history(  # noqa: PLR0913 - each a wish of its own, by name
        self,
        target: str,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        limit: int = 20,
        since: str = "",
        first_parent: bool = False,
        patch: bool = False,
        together: bool = False,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> HistoryAnswer:
        """Which commits changed a definition; of a file, when each definition last changed.

        Args:
            target: a handle, or a file.
            limit: changes at most.
            since: no older ones: a date, or `14d`, `6 weeks`.
            first_parent: follow merges to their first parent alone.
            patch: give the definition's own diff with each.
            together: count what else the same commits changed.

        Raises:
            HandleError: the target cannot be followed, or has several owners.
            SettingError: there is no git here, or an argument is out of range.
        """
        from codelens.engine.versions.history_query import HistoryRequest

        request = HistoryRequest(target, limit, since, first_parent, patch, together)
        return self._versions.history(ViewRequest(path, ref, budget_ms, progress), request)

    def changed_elsewhere(
        self, files: Sequence[str], *, path: str | Path = "."
    ) -> tuple[Elsewhere, ...]:
        """Definitions of some files that other worktrees changed: to be asked before an edit.

        Reads these files in each other worktree and nothing else: no view is brought up to date.

        Args:
            files: paths in the worktree, relative to its top.
            path: any path inside the worktree.
        """
        return self._versions.changed_elsewhere(path, files)

    # Saved contexts, and how much was used.

    @counted
    def save(  # noqa: PLR0913 - each a field of what is saved, by name
        self,
        name: str,
        note: str = "",
        handles: Sequence[str] = (),
        *,
        category: str = "note",
        tags: Sequence[str] = (),
        pinned: bool = False,
        ttl: str = "",
        replace: bool = False,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> SaveAnswer:
        """Keep a note with handles, for all worktrees of the repository; all or nothing.

        Args:
            name: to find it by; one line.
            note: what is worth knowing.
            handles: as `expand` takes them; each must name something here and now.
            category: one of `codelens.memory.context_fields.CATEGORIES`.
            tags: words to filter by.
            pinned: never expires, and stands first.
            ttl: after which time it is not shown any more: `12h`, `30d`, `2w`; empty: never.
            replace: take the place of what was saved under the name.

        Raises:
            NotSaved: handles that cannot be followed; it says which and why.
            ContextExists: the name is taken and `replace` is not set.
        """
        return self._contexts.save(
            ViewRequest(path, ref, budget_ms, progress), name, note, handles,
            category=category, tags=tags, pinned=pinned, ttl=ttl, replace=replace,
        )  # fmt: skip

    @counted
    def load(
        self,
        query: str = "",
        *,
        category: str = "",
        tags: Sequence[str] = (),
        expired: bool = False,
        limit: int = 20,
        path: str | Path = ".",
        ref: str | None = None,
        budget_ms: float | None = None,
        progress: Progress = silent,
    ) -> LoadAnswer:
        """What was saved, and how each handle of it fares in the view one stands in.

        Args:
            query: a name, else words that its name, note, tags or handles hold; empty: everything.
            category: only this one.
            tags: only what has all of them.
            expired: what expired as well.
        """
        view = ViewRequest(path, ref, budget_ms, progress)
        return self._contexts.load(
            view, query, category=category, tags=tags, expired=expired, limit=limit
        )

    @counted
    def forget(
        self, names: Sequence[str] = (), *, expired: bool = False, path: str | Path = "."
    ) -> ForgetAnswer:
        """Delete saved contexts, all of them or none; nothing else ever deletes one.

        Args:
            names: of what is to be deleted.
            expired: instead of names: those whose time to live is over, by the clock as it is now.

        Raises:
            NoSuchContext: nothing has one of the names; nothing was deleted.
        """
        return self._contexts.forget(names, path, expired=expired)

    def export_contexts(self, *, path: str | Path = ".") -> dict[str, object]:
        """All that was saved, as values for JSON; `import_contexts` takes it back."""
        return dict(self._contexts.exported(path))

    def import_contexts(
        self, text: str, *, replace: bool = False, path: str | Path = "."
    ) -> TakenOver:
        """Add what `export_contexts` gave; a name that is taken is left out unless `replace`.

        Raises:
            SettingError: `text` is no export; nothing was added.
        """
        return self._contexts.take_over(text, path, replace=replace)

    def adopt(self, place: str = "", *, path: str | Path = ".") -> TakenOver:
        """Take over what was saved before this repository was moved; nothing is overwritten.

        Args:
            place: where it was; empty: where its history tells that it was.

        Raises:
            ContextError: nothing was saved at such a place.
        """
        return self._contexts.adopt(place, path)

    def usage(self, *, days: int = 30) -> UsageAnswer:
        """How much codelens was used on this machine, in all repositories.

        Args:
            days: so many, today among them; 1 to 400.
        """
        return self._usage.report(days)

    # The indexes themselves.

    def prune(
        self, *, dry_run: bool = False, days: float | None = None, only: str | Path | None = None
    ) -> PruneAnswer:
        """Remove views that nobody has asked for long, and what no view needs, of all indexes.

        Never: a pinned view, the active one of a worktree that is there, one used lately, one whose
        folder cannot be reached, any while its index is being written.

        Args:
            dry_run: show what would be removed; remove nothing.
            days: how long a view is kept unused, for all kinds, in place of the settings.
            only: prune the repository that this path lies in, and no other.
        """
        return self._upkeep.prune(dry_run=dry_run, days=days, only=only)

    def overview(self, *, only: str | Path | None = None) -> list[RepositoryLife]:
        """Every index with its views: size, age, last use, and why each would go or not."""
        return self._upkeep.overview(only)

    def drop(self, target: str, *, path: str | Path = ".", force: bool = False) -> Dropped:
        """Remove one view of the repository that `path` lies in.

        Args:
            target: an index id, a branch, a ref, or a worktree's folder.
            force: also what is active or pinned.

        Raises:
            SettingError: no view is called so, several are, or it is not removed without force.
        """
        return self._upkeep.drop(target, path, force=force)

    def drop_repository(
        self, *, path: str | Path = ".", repo_id: str = "", force: bool = False
    ) -> Dropped:
        """Remove all views of a repository and, if no other process has it open, its index.

        Saved contexts stay.

        Args:
            repo_id: names it instead of `path`, when its folders are gone.
            force: also if views are active or pinned.

        Raises:
            SettingError: there is no such index, or it is not removed without force.
        """
        return self._upkeep.drop_repository(path, repo_id, force=force)

    def pin(
        self,
        target: str = "",
        *,
        path: str | Path = ".",
        pinned: bool = True,
        progress: Progress = silent,
    ) -> Pinned:
        """Keep a view whatever its age, or with `pinned` False no longer.

        Args:
            target: as in `drop`; empty: the view one stands in. To pin a ref that has no view
                makes it.
            pinned: whether to pin or to unpin.

        Raises:
            SettingError: no view is called so, or several are.
        """
        view = ViewRequest(path, target or None, None, progress)
        return self._upkeep.pin(view, target, pinned=pinned)
