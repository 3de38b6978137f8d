"""A view after a look, and what the receipt says of it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from codelens.index.worktree_comparison import Delta, Known
from codelens.scope.repository import Scope
from codelens.store.views import views
from codelens.store.views.views import FileRow, ViewRow


class Refreshed(NamedTuple):
    """A view after a look, and what the receipt says of it."""

    view: ViewRow
    files: list[FileRow]
    status: Literal["fresh", "partial", "unknown"]
    checked: int
    indexed: int
    pending: list[bytes]
    unchecked: int
    note: str
    cleared: frozenset[bytes] = frozenset()
    """Pending files that were scanned, and hold nothing of what is asked."""
    unlisted: int = 0
    """Folders that there was no time to list."""

    @property
    def unread(self) -> int:
        """Pending files that may hold what is asked: not scanned, or not extracted in time."""
        return len(self.pending) - len(self.cleared.intersection(self.pending)) + self.unchecked


def untouched(known: Known, view: ViewRow, delta: Delta) -> Refreshed:
    """A view that the look found as it is on disk, as far as it went."""
    whole = view.complete and not delta.unchecked
    status: Literal["fresh", "partial"] = "fresh" if whole else "partial"
    return Refreshed(view, known.files, status, delta.checked, 0, [], delta.unchecked, "")


def behind(known: Known, scope: Scope, delta: Delta, note: str) -> Refreshed:
    """The last committed state, and what is missing in it."""
    gone = set(delta.gone)
    files = [file for file in known.files if file.path not in gone]
    pending = [work.path for work in delta.works]
    view = known.view or views.nothing_yet(
        scope.key,
        scope.kind,
        scope.worktree,
        scope.branch,
        head=scope.head,
        index_id=scope.index_id,
    )
    return Refreshed(
        view, files, "partial", delta.checked, 0, pending, delta.unchecked, note,
        unlisted=delta.unlisted,
    )  # fmt: skip
