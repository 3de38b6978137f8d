"""A look: the view of a scope brought up to date, and all that an answer needs of it."""

from __future__ import annotations

import os
import re
import time
from functools import cached_property

from codelens.config import Settings
from codelens.engine.open_index import Shelf
from codelens.errors import ReadError
from codelens.extract.file_kinds import decode
from codelens.index.progress import Progress
from codelens.index.ref_view import refresh_ref
from codelens.index.text_sources import DiskSource, Unavailable, Work
from codelens.index.view_refresh import Budget, Refreshed, refresh
from codelens.paths import printed
from codelens.scope.commit_tree import read_tree
from codelens.scope.repository import Repository, Scope
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import PENDING, FileRow
from codelens.types import Receipt

_WORD = re.compile(r"\w{2,}")
_WORDS_KEPT = 32
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_NAMES_SHOWN = 5


class Look:
    """A fresh or partial view, with the means to read its files."""

    def __init__(
        self,
        repository: Repository,
        scope: Scope,
        settings: Settings,
        refreshed: Refreshed,
        snapshot: Snapshot,
        started: float,
    ) -> None:
        self.repository = repository
        self.scope = scope
        self.settings = settings
        self.refreshed = refreshed
        self.snapshot = snapshot
        self._started = started

    def receipt(self) -> Receipt:
        """What the answer stands on; time is counted up to now."""
        seen, scope = self.refreshed, self.scope
        return Receipt(
            index_id=scope.index_id[:12],
            worktree=scope.worktree,
            branch=scope.ref or scope.branch,
            head=scope.head,
            status=seen.status,
            files=len(seen.files),
            checked=seen.checked,
            indexed=seen.indexed,
            elapsed_ms=round((time.perf_counter() - self._started) * 1000, 1),
            pending=len(seen.pending) + seen.unchecked,
            pending_names=tuple(printed(path) for path in seen.pending[:_NAMES_SHOWN]),
            note=seen.note,
        )

    @cached_property
    def oids(self) -> dict[bytes, bytes]:
        """Path -> object id, for a ref."""
        tree = read_tree(self.repository, self.scope.head)
        return {file.path: file.oid for file in tree.files}

    @cached_property
    def _disk(self) -> DiskSource:
        return DiskSource(os.fsencode(self.scope.root), self.settings.max_file_bytes, 0)

    def read(self, file: FileRow) -> bytes | None:
        """A file's text as it is now, in UTF-8; None where it cannot be had."""
        try:
            if self.scope.kind == "ref":
                oid = self.oids.get(file.path)
                data = self.repository.read_blob(oid) if oid else None
            else:
                data = self._disk.fetch(Work(file.path, 0)).data
        except (FileNotFoundError, Unavailable, ReadError):
            return None
        return decode(data) if data is not None and data.startswith(_WIDE) else data


def looked(
    repository: Repository,
    scope: Scope,
    shelf: Shelf,
    settings: Settings,
    budget_ms: float | None,
    progress: Progress,
    query: str = "",
) -> Look:
    """Bring the scope's view up to date within the budget."""
    started = time.perf_counter()
    deadline = None if budget_ms is None else time.monotonic() + budget_ms / 1000
    words = tuple(dict.fromkeys(_WORD.findall(query.lower())))[:_WORDS_KEPT]
    bring = refresh_ref if scope.kind == "ref" else refresh
    refreshed = bring(repository, scope, shelf.db, settings, Budget(deadline, words), progress)
    # A pending file that has a content shows the older text.
    pending = set(refreshed.pending)
    stale = frozenset(
        file.path
        for file in refreshed.files
        if file.content is not None and (file.path in pending or file.state == PENDING)
    ) if pending else frozenset[bytes]()  # fmt: skip
    snapshot = shelf.snapshot(refreshed.view, refreshed.files, stale)
    return Look(repository, scope, settings, refreshed, snapshot, started)
