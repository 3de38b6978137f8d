"""Which entries differ between two trees of git; nothing is written or fetched."""

from __future__ import annotations

import os
from typing import NamedTuple

import pygit2

from codelens.errors import ReadError
from codelens.scope.repository import Repository
from codelens.types import CommitId, RelPath

LINK, GITLINK = 0o120000, 0o160000


class Entry(NamedTuple):
    """One entry of a tree: a file, a link or a submodule."""

    path: RelPath
    oid: bytes
    mode: int


class EntryChange(NamedTuple):
    """An entry that is not the same on both sides; renames are not looked for."""

    path: RelPath
    old: Entry | None
    new: Entry | None


def tree_changes(repository: Repository, old: str, new: str) -> list[EntryChange]:
    """Entries that differ between two commits or trees, by path; `old` may be empty: no files.

    Raises:
        ReadError: an object is not in this clone, or damaged.
    """
    git = repository.git
    try:
        before = git[old].peel(pygit2.Tree) if old else None
        after = git[new].peel(pygit2.Tree) if new else None
        flags = pygit2.enums.DiffOption.INCLUDE_TYPECHANGE
        if before is not None and after is not None:
            difference = before.diff_to_tree(after, flags=flags)
        elif before is not None:
            difference = before.diff_to_tree(flags=flags)
        elif after is not None:
            difference = after.diff_to_tree(flags=flags, swap=True)
        else:
            return []
        changes = [_entry_change(delta) for delta in difference.deltas]
    except KeyError as error:
        raise ReadError(f"{error} is not in this clone; run `git fetch`") from error
    except (ValueError, pygit2.GitError) as error:
        raise ReadError(
            f"trees cannot be compared ({error}); `git fsck` lists all damage"
        ) from error
    return sorted(changes, key=lambda change: change.path)


def _entry_change(delta: pygit2.DiffDelta) -> EntryChange:
    old, new = delta.old_file, delta.new_file
    path = RelPath(new.raw_path or old.raw_path)
    return EntryChange(path, _entry(path, old), _entry(path, new))


def _entry(path: RelPath, file: pygit2.DiffFile) -> Entry | None:
    mode = int(file.mode)
    return Entry(path, file.id.raw, mode) if mode else None


def entry_at(repository: Repository, commit: str, path: bytes) -> Entry | None:
    """One entry of a commit or tree; None if there is none, or it is a folder.

    Raises:
        ReadError: an object is not in this clone, or damaged.
    """
    try:
        tree_entry = repository.git[commit].peel(pygit2.Tree)[os.fsdecode(path)]
    except KeyError:
        return None
    except (ValueError, pygit2.GitError) as error:
        raise ReadError(f"a tree of {commit} is damaged ({error})") from error
    if isinstance(tree_entry, pygit2.Tree):
        return None
    return Entry(RelPath(path), tree_entry.id.raw, int(tree_entry.filemode or 0))


def merge_base(repository: Repository, commit: CommitId, other: CommitId) -> CommitId:
    """The best common ancestor of two commits; empty for unrelated histories.

    Raises:
        ReadError: part of the history is not in this clone.
    """
    try:
        base = repository.git.merge_base(commit, other)
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise ReadError(
            f"the common ancestor of {commit[:7]} and {other[:7]} cannot be determined "
            f"({error}); `git fetch --unshallow` fetches the rest of the history"
        ) from error
    return CommitId(str(base or ""))


def file_oid(repository: Repository, path: bytes) -> bytes:
    """Object id that git would give a file's bytes as they are; no filter is run."""
    return pygit2.hashfile(os.path.join(repository.place.root, os.fsdecode(path))).raw
