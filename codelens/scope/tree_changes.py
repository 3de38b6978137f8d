"""Compares two trees or commits, and lists branches by their last commit."""

from __future__ import annotations

import itertools
import os
from typing import NamedTuple

import pygit2
from pygit2.enums import SortMode

from codelens.errors import ReadError, UnsupportedRepository
from codelens.scope.location import refuse_special_ref
from codelens.scope.repository import BRANCHES, Repository, ref_names
from codelens.types import CommitId, RelPath

LINK, GITLINK = 0o120000, 0o160000


class Entry(NamedTuple):
    """One entry of a tree: a file, a link or a submodule."""

    path: RelPath
    oid: bytes
    mode: int


class EntryChange(NamedTuple):
    """An entry that differs between two trees. Renames are not detected."""

    path: RelPath
    old: Entry | None
    new: Entry | None


def tree_changes(repository: Repository, old: str, new: str) -> list[EntryChange]:
    """Returns the entries that differ between two commits or trees, by path. `old` may be empty.

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
    files = delta.old_file, delta.new_file
    path = RelPath(files[1].raw_path or files[0].raw_path)
    old, new = (Entry(path, file.id.raw, int(file.mode)) if file.mode else None for file in files)
    return EntryChange(path, old, new)


def entry_at(repository: Repository, commit: str, path: bytes) -> Entry | None:
    """Returns one entry of a commit or tree; None if it does not exist or is a folder.

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
    """Returns the best common ancestor of two commits; empty for unrelated histories.

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
    """Returns git's object id for a file's bytes. No filter is run."""
    return pygit2.hashfile(os.path.join(repository.place.root, os.fsdecode(path))).raw


_MOST_COMMITS = 500
"""Counting stops here; a longer history is reported as "this many or more"."""


class CommitsSince(NamedTuple):
    """The changes from one commit to another."""

    commits: int
    """The number of commits that only the newer one has, at most `_MOST_COMMITS`."""
    is_all: bool
    subjects: tuple[str, ...]
    """The latest first."""
    paths: tuple[str, ...]
    """Files that differ between the two commits, sorted by name."""


def commits_since(
    repository: Repository, old: str, new: str, *, subjects: int = 3
) -> CommitsSince | None:
    """Returns the changes from `old` to `new`; None if one of them is not in this clone.

    Args:
        repository: the repository.
        old: a whole commit id.
        new: a whole commit id.
        subjects: the most subjects to return.
    """
    git = repository.git
    try:
        before, after = git[old].peel(pygit2.Commit), git[new].peel(pygit2.Commit)
        walk = git.walk(after.id, SortMode.TOPOLOGICAL)
        walk.hide(before.id)
        commits = list(itertools.islice(walk, _MOST_COMMITS + 1))
        count = min(len(commits), _MOST_COMMITS)
        shown = tuple(commit.message.strip().partition("\n")[0] for commit in commits[:subjects])
        difference = git.diff(before, after)
        paths = {os.fsdecode(delta.new_file.raw_path) for delta in difference.deltas}
        return CommitsSince(count, count == len(commits), shown, tuple(sorted(paths)))
    except (KeyError, ValueError, pygit2.GitError):
        # Shallow, partial and damaged repositories end early.
        return None


def subjects_after(repository: Repository, head: str, old: str, since_s: int) -> tuple[str, ...]:
    """Returns the subjects of recent commits that `head` has and `old` does not, latest first.

    Args:
        repository: the repository.
        head: a whole commit id.
        old: a whole commit id; empty to leave out none.
        since_s: seconds since the epoch; older commits are left out.
    """
    git = repository.git
    subjects: list[str] = []
    try:
        walk = git.walk(git[head].peel(pygit2.Commit).id, SortMode.TIME)
        if old and old in git:
            walk.hide(git[old].peel(pygit2.Commit).id)
        for commit in itertools.islice(walk, _MOST_COMMITS):
            if commit.commit_time < since_s:
                break
            subjects.append(commit.message.strip().partition("\n")[0])
    except (KeyError, ValueError, pygit2.GitError):
        # Shallow, partial and damaged repositories end early.
        return tuple(subjects)
    return tuple(subjects)


def recent_branches(repository: Repository, since_s: int) -> tuple[list[str], list[str]]:
    """Returns local branches with a commit since then, newest first, and those without one.

    Broken branches are left out.
    """
    git, common_dir = repository.git, repository.common_dir
    dated_names: list[tuple[int, str]] = []
    # libgit2's own list reads each file whole, even one of 3 GB, and blocks on a pipe.
    for name in ref_names(common_dir, (BRANCHES,)):
        try:
            refuse_special_ref(repository.place.root, common_dir, BRANCHES + name)
            commit = git.lookup_reference(BRANCHES + name).peel(pygit2.Commit)
        except (KeyError, ValueError, UnicodeError, pygit2.GitError, UnsupportedRepository):
            continue
        dated_names.append((-commit.commit_time, name))
    dated_names.sort()
    recent = [name for time, name in dated_names if -time >= since_s]
    return recent, [name for time, name in dated_names if -time < since_s]
