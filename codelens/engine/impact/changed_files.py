"""Which files differ between a commit and a look: as git sees it, whatever the view has read.

Files whose text the view does not have, or is behind with, are named apart: nothing is said of what
is in them, and nothing is denied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codelens.branches.files_side import SideChange, SideFile
from codelens.branches.sides import CommitSide, side_changes
from codelens.engine.current_view import CurrentView
from codelens.engine.versions.uncommitted import files_side, unlisted_notes
from codelens.errors import NoSuchRef, NotInGit, SettingError
from codelens.paths import printed
from codelens.plurals import count_of
from codelens.scan.content_hash import hash_of
from codelens.scope.commits.tree_changes import GITLINK, LINK
from codelens.scope.membership.own_membership import own_rules
from codelens.scope.stored_files import TYPE
from codelens.scope.text_diff import base_commit
from codelens.store.facts.raw_hashes import hashes
from codelens.store.views.views import PENDING, FileRow
from codelens.types import CommitId

_NAMES_SHOWN = 5


class ChangedFile(NamedTuple):
    """One file that differs."""

    path: bytes
    """Where it is now; where it was, if it is gone."""
    how: str
    old_path: bytes
    """Where it was; empty if it is new."""
    old_oid: bytes


class FileChanges(NamedTuple):
    """All files that differ."""

    files: list[ChangedFile]
    unread: list[bytes]
    """Of those that differ and are not gone, the ones whose text the view does not have."""


def commit_of(view: CurrentView, base: str) -> CommitId:
    """The commit that a look is compared with.

    Raises:
        NoSuchRef: `base` names no commit.
        NotInGit: there is no git here.
        SettingError: there is no commit yet.
    """
    root = view.scope.root
    if not view.repository.is_git:
        raise NotInGit(root, "there is no commit to compare with")
    try:
        return base_commit(view.repository, base)
    except NoSuchRef:
        if view.scope.head:
            raise
    raise SettingError(
        f"{root!r} has no commit yet, so there is nothing to compare with; commit first, or name "
        "the files or definitions that change"
    )


def changed_files(view: CurrentView, commit: CommitId) -> FileChanges:
    """The regular files that differ between a commit and a look, untracked ones included.

    Raises:
        ReadError: what git has cannot be read.
    """
    by_path = view.snapshot.by_path
    have = _hashes_now(view)
    changed: list[ChangedFile] = []
    unread: list[bytes] = []
    gone: list[SideFile] = []
    for path, old, new in _side_changes(view, commit):
        if new is not None and (path not in by_path or _is_behind(view, by_path[path], have)):
            unread.append(path)
        elif new is None and old is not None:
            gone.append(old)
        elif old is None:
            changed.append(ChangedFile(path, "added", b"", b""))
        else:
            changed.append(ChangedFile(path, "changed", path, old.oid))
    moved = {
        have.get(by_path[added.path].content or 0, b""): added
        for added in changed
        if added.how == "added"
    }
    for old in gone:
        same = moved.pop(hash_of(view.repository.read_blob(old.oid)), None) if moved else None
        if same is None:
            changed.append(ChangedFile(old.path, "removed", old.path, old.oid))
        else:
            changed.remove(same)
            changed.append(ChangedFile(same.path, "moved", old.path, old.oid))
    return FileChanges(changed, unread)


def unread_notes(view: CurrentView, unread: Sequence[bytes]) -> list[str]:
    """What cannot be said because the freshness check came to no end; nothing, if it did."""
    notes: list[str] = []
    if unread:
        names = ", ".join(map(printed, unread[:_NAMES_SHOWN]))
        more = ", ..." if len(unread) > _NAMES_SHOWN else ""
        verb = "differs and is" if len(unread) == 1 else "differ and are"
        notes.append(
            f"at least: {count_of(len(unread), 'file')} {verb} not read yet: {names}{more}"
        )
    return [*notes, *unlisted_notes(view)]


def _side_changes(view: CurrentView, commit: CommitId) -> list[SideChange]:
    old = CommitSide(view.repository, commit, "base")
    if view.scope.kind == "ref":
        rules = own_rules(view.repository, view.scope, view.settings)
        new = CommitSide(view.repository, view.scope.head, view.scope.ref or "")
        changes = side_changes(old, new, view.snapshot.db)
        changes = [change for change in changes if not rules.leaves_out(change.path)]
    else:
        changes = side_changes(old, files_side(view, "files"), view.snapshot.db)
    regular = (SideChange(path, _regular(old), _regular(new)) for path, old, new in changes)
    return [change for change in regular if change.old is not None or change.new is not None]


def _regular(file: SideFile | None) -> SideFile | None:
    return file if file is not None and file.mode & TYPE not in {LINK, GITLINK} else None


def _hashes_now(view: CurrentView) -> dict[int, bytes]:
    contents = {file.content for file in view.snapshot.files if file.content is not None}
    return dict(hashes(view.snapshot.db, contents))


def _is_behind(view: CurrentView, file: FileRow, have: dict[int, bytes]) -> bool:
    """Whether the view has no text of a file, or another one than the file has now."""
    if file.state == PENDING:
        return True
    if view.refreshed.status == "fresh" or file.content is None:
        return False
    data = view.bytes_of(file)
    return data is None or hash_of(data) != have.get(file.content)
