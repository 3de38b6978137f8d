"""Opens the view of a call: its request, freshness check, reader of files, and receipt."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from codelens.config import Settings
from codelens.engine.open_index import OpenIndex
from codelens.errors import HandleError, ReadError
from codelens.extract.file_kinds import classify, readable
from codelens.extract.language_detection import language_of
from codelens.extract.text_scan import NOTHING_ASKED, Wanted, wanted
from codelens.handles.handle_grammar import parse_handle
from codelens.handles.handle_reading import Reader
from codelens.index.ingestion import Progress, silent
from codelens.index.ref_view import refresh_ref
from codelens.index.text_facts import DiskSource, Work
from codelens.index.view_refresh import Refreshed, answered, refresh
from codelens.index.view_update import Budget
from codelens.index.worker_pool import InProcess
from codelens.index.worker_process import Task
from codelens.paths import can_be_named, printed
from codelens.scan.content_hash import hash_of
from codelens.scope.commits import CommitFolders
from codelens.scope.repository import Repository, Scope
from codelens.store.facts.contents import TIER_FULL, find, hashes, surfaces, symbols_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import Receipt, Symbol
from codelens.wording import count_of

MANY_MS = 100.0
"""`ViewRequest.many_ms` of answers that compare versions of files, which need no index."""


class ViewRequest(NamedTuple):
    """What all calls specify: the view and its freshness check."""

    path: str | Path = "."
    """Any path inside the worktree."""
    ref: str | None = None
    """A branch, tag or commit instead of the worktree's files."""
    budget_ms: float | None = None
    """How long the freshness check may take; None: until the view is fresh."""
    progress: Progress = silent
    """Called during long work."""
    words: str = ""
    """The query, if any: pending files that contain its words are read first."""

    targets: tuple[str, ...] = ()
    """Handles, paths or names in the call: pending files that they concern are read first."""
    only: frozenset[bytes] = frozenset()
    """Files of a commit that the answer needs; others are read only if their facts are stored."""
    then_others: bool = False
    """Whether all other files are read after those in `only`, if there is time."""
    many_ms: float | None = None
    """Without a budget: how long reading many new files of a worktree may take, for an answer that
    needs only some of them; None: until the view is fresh."""

    def budget(self, *, leaves_rest: bool = False) -> Budget:
        """The budget of a freshness check that starts now."""
        request = by_handles(self.targets) if self.targets else wanted(self.words, self.only)
        budget = Budget.starting_now(self.budget_ms, request, leaves_rest=leaves_rest)
        many_s = self.many_ms / 1000 if self.many_ms is not None else None
        return budget._replace(then_others=self.then_others, many_s=many_s)


def at_own_ref(view_request: ViewRequest, target: str) -> ViewRequest:
    """The request, at the ref in the target if the request has none.

    Raises:
        BadHandle: the target cannot be read.
    """
    if view_request.ref is not None or ":" not in target:
        return view_request
    return view_request._replace(ref=parse_handle(target, "/").ref or None)


# Finds the files that a call needs: if they are not indexed yet, they are read first.


def by_handles(targets: Sequence[str]) -> Wanted:
    """The files that handles, paths or names mean, and those that use what they name.

    Invalid targets are ignored here and reported later.
    """
    paths: list[bytes] = []
    words: list[str] = []
    for target in targets:
        if can_be_named(target):
            # The name of a file may look like a handle.
            paths.append(os.fsencode(target))
        try:
            handle = parse_handle(target, "/")
        except HandleError:
            continue
        if handle.path is not None:
            if not handle.path:
                # The whole tree: any file may count.
                return NOTHING_ASKED
            paths.append(handle.path)
        named = handle.symbol if not handle.bare or handle.path is None else ""
        # Other files name a file without its extension; a bare name may be such a stem.
        stem = os.fsdecode(os.path.basename(handle.path or b"")).partition(".")
        words.append(named or (f"{stem[0]} {stem[2]}" if "/" not in target else stem[0]))
    return wanted(" ".join(words), paths)


# Reads the files of a view; texts without stored facts are extracted for one answer.
#
# Such texts belong to files that changed after the freshness check, or are older versions that were
# never indexed. This process extracts them, under the crash mark of small index jobs.

_HANG_S = 5.0
"""Limits for texts that crashed a process before: a caller waits, and no facts are stored."""


def extractor_of(view: CurrentView) -> InProcess:
    """An extractor for texts outside of a view's index; close it."""
    return InProcess(view.snapshot.db.path, _HANG_S)


def reader_of(view: CurrentView) -> Reader:
    """A reader of a view's files."""

    def extract(data: bytes, language: str) -> Sequence[Symbol]:
        # A text too large for the index is not parsed here, either: each byte takes 300 of memory.
        if len(data) > view.settings.max_file_bytes:
            return ()
        with extractor_of(view) as extractor:
            return extractor.facts(Task(data, language, "full")).symbols

    return Reader(view.repository, view.scope, view.snapshot, extract, view.settings.languages)


class Older(NamedTuple):
    """Facts of an older text."""

    symbols: Sequence[Symbol]
    surface: int | None
    """Digest of what other files can see; None if nothing is extracted."""
    language: str = ""


NOTHING = Older((), None)
"""The facts of a missing text, or of one from which nothing is extracted."""


class OlderTexts:
    """Definitions of former texts of files, and digests of what other files can see of them.

    Args:
        view: the view whose index may have them.
        extractor: for texts that are not in the index.
    """

    def __init__(self, view: CurrentView, extractor: InProcess) -> None:
        self._view = view
        self._extractor = extractor

    def facts(self, path: bytes, data: bytes) -> Older:
        """The facts of a text, as if of a file with this name."""
        if classify(data)[0] != "parsed":
            return NOTHING
        db, settings = self._view.snapshot.db, self._view.settings
        language = language_of(path, data, settings.languages)
        key = (hash_of(data), language)
        stored = find(db, [key]).get(key)
        if stored is not None and stored.tier == TIER_FULL:
            seen = surfaces(db, {stored.id}).get(stored.id)
            symbols = symbols_of(db, [stored.id]).get(stored.id, ())
            return Older(symbols, seen[1] if seen else None, language)
        # A text too large for the index is not parsed here, either: each byte takes 300 of memory.
        if len(data) > settings.max_file_bytes:
            return Older((), None, language)
        facts = self._extractor.facts(Task(data, language, "full"))
        return Older(facts.symbols, facts.surface, language)


# The view of a scope, brought up to date, with what an answer needs of it.

_NAMES_SHOWN, _FOLDERS_SHOWN, _LONGEST_SHOWN = 5, 4, 40


@dataclass(frozen=True, slots=True)
class OpenRepository:
    """A repository, the scope of a call, and the repository's index."""

    repository: Repository
    scope: Scope
    index: OpenIndex
    settings: Settings

    def at(self, ref: str | None) -> OpenRepository:
        """The same repository with another scope: a ref, or (None) the current worktree.

        Raises:
            ScopeError: see `Repository.scope`.
        """
        return replace(self, scope=self.repository.scope(ref))

    def at_worktree(self, root: str) -> OpenRepository:
        """Another worktree of the same repository in its current state.

        Raises:
            ScopeError: see `Repository.at`.
        """
        repository = Repository.at(root)
        return replace(self, repository=repository, scope=repository.scope())


class CurrentView:
    """A fresh or partial view, with access to its files."""

    def __init__(
        self, opened: OpenRepository, refreshed: Refreshed, snapshot: Snapshot, started: float
    ) -> None:
        self.opened = opened
        self.repository, self.scope = opened.repository, opened.scope
        self.index, self.settings = opened.index, opened.settings
        self.refreshed = refreshed
        self.snapshot = snapshot
        self._started = started

    def reading(self) -> AbstractContextManager[None]:
        """Keep the index unchanged while an answer is built."""
        return self.index.db.read()

    def read_pending(self, words: str, budget_ms: float) -> None:
        """Read the pending files of a worktree that contain words, as far as a budget allows."""
        budget = Budget.starting_now(budget_ms, wanted(words))
        self.refreshed = answered(
            self.refreshed, self.index.db, self.scope, self.settings,
            budget=budget._replace(extract_s=budget.seconds / 2),
            works=[Work(path, 0) for path in self.refreshed.pending],
            source=DiskSource(
                os.fsencode(self.scope.root), self.settings.max_file_bytes, time.time_ns()
            ),
        )  # fmt: skip
        self.snapshot = self.index.snapshot(self.refreshed.view, self.refreshed.files)
        self.mark_pending()

    def mark_pending(self) -> None:
        """Let the snapshot know which files are pending."""
        self.snapshot.stale = ChangedFiles(self) if self.refreshed.pending else ()
        self.snapshot.unread = self.refreshed.unread

    def receipt(self) -> Receipt:
        """The basis of an answer; the time runs until now."""
        seen, scope = self.refreshed, self.scope
        is_fresh = seen.status == "fresh"
        # The freshness check counts only files that the view had before it, not new ones.
        files = len(seen.files) if is_fresh else max(len(seen.files), seen.checked)
        return Receipt(
            index_id=scope.index_id[:12],
            worktree=scope.worktree,
            branch=scope.ref or scope.branch,
            head=scope.head,
            status=seen.status,
            files=files,
            checked=files if is_fresh else seen.checked,
            indexed=seen.indexed,
            elapsed_ms=round((time.perf_counter() - self._started) * 1000, 1),
            pending=len(seen.pending) + seen.unchecked,
            unread=seen.unread,
            pending_names=tuple(printed(path) for path in seen.pending[:_NAMES_SHOWN]),
            note="; ".join(filter(None, (seen.note, _unread_folders(seen)))),
        )

    @cached_property
    def _commit(self) -> CommitFolders:
        return CommitFolders(self.repository, self.scope.head)

    @cached_property
    def _disk(self) -> DiskSource:
        return DiskSource(os.fsencode(self.scope.root), self.settings.max_file_bytes, 0)

    def read(self, file: FileRow) -> bytes | None:
        """The current text of a file, normalized as in the index; None if unavailable."""
        data = self.bytes_of(file)
        return None if data is None else readable(data)

    def read_path(self, path: bytes) -> bytes | None:
        """The same for the file at a path; None if the view has no such file."""
        file = self.snapshot.by_path.get(path)
        return None if file is None else self.read(file)

    def bytes_of(self, file: FileRow) -> bytes | None:
        """The current bytes of a file; None if unavailable."""
        if self.scope.kind != "ref":
            return self._disk.bytes_of(file.path)
        try:
            oid = self._commit.oid_of(file.path)
            return self.repository.read_blob(oid) if oid else None
        except (FileNotFoundError, ReadError):
            return None


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"


def _unread_folders(seen: Refreshed) -> str:
    """A note on the folders of files that the query did not reach, the fullest first."""
    unread = [path for path in seen.pending if path not in seen.cleared] if seen.unread else []
    if len(unread) <= _NAMES_SHOWN:
        return ""
    counts = Counter(path.partition(b"/")[0] if b"/" in path else b"" for path in unread)
    fullest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [
        f"{_short(printed(folder))}/ {count:,}" if folder else f"at the top {count:,}"
        for folder, count in fullest[:_FOLDERS_SHOWN]
    ]
    left = len(fullest) - len(shown)
    more = f" and {count_of(left, 'more folder')}" if left else ""
    return f"files not searched: {', '.join(shown)}{more}"


class ChangedFiles:
    """Files whose text on disk differs from the index, found by comparing bytes on demand.

    A pending file may be unchanged: perhaps only its text is indexed so far.
    """

    def __init__(self, view: CurrentView) -> None:
        self._view = view
        self._pending = frozenset(view.refreshed.pending)
        self._changed: dict[bytes, bool] = {}

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, bytes) or path not in self._pending:
            return False
        if path not in self._changed:
            self._changed[path] = self._has_changed(path)
        return self._changed[path]

    def _has_changed(self, path: bytes) -> bool:
        view = self._view
        file = view.snapshot.by_path.get(path)
        if file is None or file.content is None:
            return False
        data = view.bytes_of(file)
        stored_hashes = hashes(view.snapshot.db, [file.content])
        return data is None or hash_of(data) != stored_hashes.get(file.content)


def current_view(
    opened: OpenRepository, request: ViewRequest, *, leaves_rest: bool = False
) -> CurrentView:
    """The view of `opened.scope`, brought up to date within the budget of the request.

    Args:
        opened: the repository and scope.
        request: has the budget, and what the call looks for.
        leaves_rest: a background job completes what a first view lacks.

    Raises:
        ReadError: this clone lacks a commit's trees.
        StoreError: the index cannot be used.
    """
    started = time.perf_counter()
    common = opened.repository, opened.scope, opened.index.db, opened.settings
    budget = request.budget(leaves_rest=leaves_rest)
    if opened.scope.kind == "ref":
        refreshed = refresh_ref(*common, budget=budget, progress=request.progress)
    else:
        watched = opened.index.watched(opened.scope)
        refreshed = refresh(*common, budget=budget, progress=request.progress, watched=watched)
    snapshot = opened.index.snapshot(refreshed.view, refreshed.files)
    view = CurrentView(opened, refreshed, snapshot, started)
    view.mark_pending()
    return view
