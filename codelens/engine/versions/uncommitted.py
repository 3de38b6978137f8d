"""What of a worktree's files differs from its HEAD, untracked files included.

Of my own worktree all files are compared. Of another one only those that differ from mine, or from
my HEAD, or that I have changed: what is the same on both sides is as uncommitted there as here.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.branches.sides import CommitSide, FilesSide, SideChange, SideFile, side_changes
from codelens.engine.current_view import CurrentView
from codelens.scope.commits.tree_changes import entry_at, tree_changes
from codelens.store.database.database import Database


def files_side(view: CurrentView, name: str) -> FilesSide:
    """The files of a look, as a side."""
    return FilesSide(view.repository, view.scope, view.snapshot, view.settings, name)


def own_edits(view: CurrentView, db: Database) -> dict[bytes, SideChange]:
    """Path -> what was at HEAD, and what is on disk."""
    head = CommitSide(view.repository, view.scope.head, "HEAD")
    return {change.path: change for change in side_changes(head, files_side(view, "files"), db)}


def other_edits(
    here: CurrentView, mine: Iterable[bytes], there: CurrentView, db: Database
) -> dict[bytes, SideChange]:
    """As `own_edits`, of another worktree, given the paths of my own edits."""
    before, after = here.snapshot.contents, there.snapshot.by_path
    unread_paths = (before.keys() - after.keys()).union(mine)
    # No content: the text is not known, so it may differ.
    unread_paths.update(
        file.path
        for file in there.snapshot.files
        if file.content is None or before.get(file.path) != file.content
    )
    if here.scope.head != there.scope.head:
        changes = tree_changes(there.repository, here.scope.head, there.scope.head)
        unread_paths.update(change.path for change in changes)
    entries: dict[bytes, SideFile] = {}
    for path in unread_paths:
        entry = entry_at(there.repository, there.scope.head, path) if there.scope.head else None
        if entry is not None:
            entries[path] = SideFile(entry.path, entry.mode, entry.oid)
    side = files_side(there, "files")
    return {change.path: change for change in side.unlike(entries, db, unread_paths)}
