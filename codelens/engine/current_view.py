"""The view of a scope brought up to date, and all that an answer needs of it."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property

from codelens.config import Settings
from codelens.engine.open_index import OpenIndex
from codelens.engine.view_request import ViewRequest
from codelens.errors import ReadError
from codelens.extract.file_kinds import readable
from codelens.index.ref_view import refresh_ref
from codelens.index.text_sources import DiskSource
from codelens.index.view_refresh import Refreshed, refresh
from codelens.paths import printed
from codelens.scan.content_hash import hash_of
from codelens.scope.commits.commit_tree import CommitFolders
from codelens.scope.repository import Repository, Scope
from codelens.store.facts.raw_hashes import hashes
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import Receipt

_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class OpenRepository:
    """A repository, the scope that a question is about, and the repository's index."""

    repository: Repository
    scope: Scope
    index: OpenIndex
    settings: Settings

    def at(self, ref: str | None) -> OpenRepository:
        """The same with another scope: of a ref, or (None) of the worktree as it is now.

        Raises:
            ScopeError: as `Repository.scope`.
        """
        return replace(self, scope=self.repository.scope(ref))

    def at_worktree(self, root: str) -> OpenRepository:
        """Another worktree of the same repository, as it is now.

        Raises:
            ScopeError: as `Repository.at`.
        """
        repository = Repository.at(root)
        return replace(self, repository=repository, scope=repository.scope())


class CurrentView:
    """A fresh or partial view, with the means to read its files."""

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
        """Hold the index unchanged while an answer is made."""
        return self.index.db.read()

    def receipt(self) -> Receipt:
        """What the answer is based on; time is counted up to now."""
        seen, scope = self.refreshed, self.scope
        is_fresh = seen.status == "fresh"
        # A look counts the files that were known before it; those that are new were read.
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
            note=seen.note,
        )

    @cached_property
    def _commit(self) -> CommitFolders:
        return CommitFolders(self.repository, self.scope.head)

    @cached_property
    def _disk(self) -> DiskSource:
        return DiskSource(os.fsencode(self.scope.root), self.settings.max_file_bytes, 0)

    def read(self, file: FileRow) -> bytes | None:
        """A file's text as it is now, as the index has it; None where it cannot be had."""
        data = self.bytes_of(file)
        return None if data is None else readable(data)

    def bytes_of(self, file: FileRow) -> bytes | None:
        """A file's bytes as they are now; None where they cannot be had."""
        if self.scope.kind != "ref":
            return self._disk.bytes_of(file.path)
        try:
            oid = self._commit.oid_of(file.path)
            return self.repository.read_blob(oid) if oid else None
        except (FileNotFoundError, ReadError):
            return None


class ChangedFiles:
    """Files whose text in the index is not that on the disk; told by their bytes, when asked.

    A file that is pending need not have changed: it may be that only its text is indexed yet.
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
        known = hashes(view.snapshot.db, [file.content])
        return data is None or hash_of(data) != known.get(file.content)


def current_view(
    opened: OpenRepository, request: ViewRequest, *, leaves_rest: bool = False
) -> CurrentView:
    """The view of `opened.scope`, brought up to date within the budget of the request.

    Args:
        opened: the repository and scope.
        request: says how long it may take, and what is asked.
        leaves_rest: somebody finishes in the background what a first view lacks.

    Raises:
        ReadError: a commit's trees are not in this clone.
        StoreError: the index cannot be used.
    """
    started = time.perf_counter()
    stood = opened.repository, opened.scope, opened.index.db, opened.settings
    budget = request.budget(leaves_rest=leaves_rest)
    if opened.scope.kind == "ref":
        refreshed = refresh_ref(*stood, budget=budget, progress=request.progress)
    else:
        watched = opened.index.watched(opened.scope)
        refreshed = refresh(*stood, budget=budget, progress=request.progress, watched=watched)
    snapshot = opened.index.snapshot(refreshed.view, refreshed.files)
    view = CurrentView(opened, refreshed, snapshot, started)
    snapshot.stale = ChangedFiles(view) if refreshed.pending else ()
    snapshot.unread = refreshed.unread
    return view
