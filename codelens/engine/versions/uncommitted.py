"""What of a worktree's files differs from its HEAD, untracked files included.

Of my own worktree all files are compared. Of another one only those that differ from mine, or from
my HEAD, or that I have changed: what is the same on both sides is as uncommitted there as here.
"""

from __future__ import annotations

from typing import NamedTuple

from codelens.branches.files_side import DIRTY, FilesSide, SideChange, SideFile
from codelens.branches.sides import CommitSide, entries_of
from codelens.engine.current_view import CurrentView
from codelens.scope.commits.tree_changes import GITLINK, LINK, entry_at, tree_changes
from codelens.store.database.database import Database


def files_side(view: CurrentView, name: str) -> FilesSide:
    """The files of a look, as a side."""
    return FilesSide(
        view.repository, view.scope, view.snapshot, view.settings, name,
        pending=view.refreshed.pending, is_checked=not view.refreshed.unchecked,
    )  # fmt: skip


def unlisted_notes(view: CurrentView | None) -> list[str]:
    """What cannot be said of a look at files that had no time to list all folders."""
    if view is None or not view.refreshed.unlisted:
        return []
    return ["at least: files that git does not track were not all looked for in time"]


class OwnEdits(NamedTuple):
    """What of my worktree differs from its HEAD."""

    by_path: dict[bytes, SideChange]
    special: frozenset[bytes]
    """Links and submodules of HEAD, which no view of files has."""


def own_edits(view: CurrentView, db: Database, side: FilesSide | None = None) -> OwnEdits:
    """What was at HEAD, and what is on disk.

    Uncommitted changes inside a submodule are left out: no commit here would take them.

    Args:
        view: at my files.
        db: where facts are.
        side: these files, where they are a side already.
    """
    head = CommitSide(view.repository, view.scope.head, "HEAD")
    entries = entries_of(head)
    changes = {
        change.path: change
        for differing in (side or files_side(view, "files")).unlike(entries, db)
        if (change := _as_committed(differing)) is not None
    }
    special = (path for path, entry in entries.items() if entry.mode in {LINK, GITLINK})
    return OwnEdits(changes, frozenset(special))


def _as_committed(change: SideChange) -> SideChange | None:
    """A change without what is not committed inside of a submodule; None if that is all of it."""
    old, new = change.old, change.new
    if new is None or not new.oid.endswith(DIRTY):
        return change
    clean = new._replace(oid=new.oid.removesuffix(DIRTY))
    return change._replace(new=clean) if clean != old else None


def other_edits(
    here: CurrentView, mine: OwnEdits, there: CurrentView, db: Database, side: FilesSide
) -> dict[bytes, SideChange]:
    """As `own_edits`, of another worktree and its side, given my own.

    A change of mode alone is one only where the file is changed here, too: else it is no matter.
    """
    before, after = here.snapshot.contents, there.snapshot.by_path
    unread_paths = (before.keys() - after.keys()).union(mine.by_path, mine.special)
    # No content: the text is not known, so it may differ.
    unread_paths.update(
        file.path
        for file in there.snapshot.files
        if file.content is None or before.get(file.path) != file.content
    )
    # Neither is it of those that the view there is behind with.
    unread_paths.update(there.refreshed.pending, after if there.refreshed.unchecked else ())
    if here.scope.head != there.scope.head:
        changes = tree_changes(there.repository, here.scope.head, there.scope.head)
        unread_paths.update(change.path for change in changes)
    entries: dict[bytes, SideFile] = {}
    for path in unread_paths:
        entry = entry_at(there.repository, there.scope.head, path) if there.scope.head else None
        if entry is not None:
            entries[path] = SideFile(entry.path, entry.mode, entry.oid)
    return {change.path: change for change in side.unlike(entries, db, unread_paths)}
