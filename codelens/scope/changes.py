"""What differs from a commit: files and lines, of the worktree as it is now or of another commit.

Which files may differ is asked of libgit2, which compares stat signatures first; lines are
compared here, by the bytes that the caller reads. No filter of the repository is run, so line
ends are not compared.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import pygit2

from codelens.errors import NoSuchRef, ReadError
from codelens.scope.repository import Repository, Scope
from codelens.types import CommitId

How = Literal["changed", "added", "removed", "moved"]
_SIMILAR = 60


class FileChange(NamedTuple):
    """One file that differs."""

    path: bytes
    """Where it is now; where it was, if it is gone."""
    how: How
    old_path: bytes
    """Where it was; empty if it is new."""
    old_oid: bytes
    """What it was; empty if it is new."""


class LineChange(NamedTuple):
    """Lines that differ; a side without any has the line before which they would stand."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


def base_commit(repository: Repository, base: str) -> CommitId:
    """The commit that `base` names.

    Raises:
        NoSuchRef: none here.
    """
    if not repository.is_git:
        raise NoSuchRef(base, repository.place.root)
    return repository.scope(base).head


def changed_files(repository: Repository, scope: Scope, base: CommitId) -> list[FileChange]:
    """Files that differ between a commit and a scope; those that git does not know are not told.

    Raises:
        ReadError: an object is not in this clone, or the index cannot be read.
    """
    git = repository.git
    try:
        tree = git[base].peel(pygit2.Tree)
        if scope.kind == "ref":
            diff = tree.diff_to_tree(git[scope.head].peel(pygit2.Tree))
        else:
            diff = tree.diff_to_workdir()
        diff.find_similar(rename_threshold=_SIMILAR)
        return sorted(_change(delta) for delta in diff.deltas)
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise ReadError(f"cannot compare with commit {base[:12]}: {error}") from error


def _change(delta: pygit2.DiffDelta) -> FileChange:
    new, old = delta.new_file.raw_path, delta.old_file.raw_path
    oid = delta.old_file.id.raw
    status = delta.status_char()
    if status == "A":
        return FileChange(new, "added", b"", b"")
    if status == "D":
        return FileChange(old, "removed", old, oid)
    return FileChange(new, "moved" if old != new else "changed", old, oid)


def changed_lines(old: bytes, new: bytes) -> list[LineChange]:
    """Lines in which two texts differ, in order."""
    patch = pygit2.Patch.create_from(
        old.replace(b"\r\n", b"\n"), new.replace(b"\r\n", b"\n"), context_lines=0
    )
    return [
        LineChange(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
        for hunk in patch.hunks
    ]
