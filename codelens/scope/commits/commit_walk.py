"""Commits and the objects at their paths, read fast: for walks over all of a history.

Trees are read raw and searched for one name; what a name of a tree leads to is kept, since most
commits share most of their trees with the next one.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import pygit2

from codelens.cancellation import check_cancelled
from codelens.scope.repository import Repository
from codelens.scope.special_files import read_plain
from codelens.types import CommitId

_TREE_MODE = b"40000"
_OID = 20
_SHALLOW_BYTES = 4 * 1024 * 1024
_MOST_KEPT = 100_000
_REPOSITORIES_KEPT = 2


class Commit(NamedTuple):
    """What of a commit a walk needs."""

    id: CommitId
    tree: bytes
    parents: tuple[CommitId, ...]
    time_s: int
    """When it was committed."""


class CommitText(NamedTuple):
    """What is said of a commit."""

    author: str
    time_s: int
    """When it was written, by the author's clock."""
    subject: str


class _Cached(NamedTuple):
    """What object ids stand for: true for good, so kept from question to question."""

    entries: dict[tuple[bytes, bytes], tuple[bytes, bytes] | None]
    commits: dict[CommitId, Commit]


_cached_by_repository: dict[str, _Cached] = {}
"""By the folder that all worktrees of a repository share."""


class CommitWalk:
    """Reads commits of one repository; missing objects are None, and nothing is fetched."""

    def __init__(self, repository: Repository) -> None:
        self._git = repository.git
        cached = _cached_by_repository.pop(repository.common_dir, None) or _Cached({}, {})
        _cached_by_repository[repository.common_dir] = cached
        while len(_cached_by_repository) > _REPOSITORIES_KEPT:
            del _cached_by_repository[next(iter(_cached_by_repository))]
        self._entries, self._commits = cached
        self.missing = False
        """Some object was not there."""
        self._shallow = _shallow_commits(repository)

    def is_cut(self, commit: Commit) -> bool:
        """Whether a shallow clone ends at this commit."""
        return commit.id in self._shallow

    def commit(self, name: CommitId) -> Commit | None:
        """A commit; None if it is not in this clone."""
        check_cancelled()
        known = self._commits.get(name)
        if known is None:
            known = self._read_commit(name)
            if known is not None:
                self._commits[name] = known
        return known

    def _read_commit(self, name: CommitId) -> Commit | None:
        try:
            commit = self._git[name].peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError):
            self.missing = True
            return None
        parents = tuple(CommitId(str(parent_id)) for parent_id in commit.parent_ids)
        return Commit(name, commit.tree_id.raw, parents, commit.commit_time)

    def text(self, name: CommitId) -> CommitText:
        """Author, time and subject."""
        commit = self._git[name].peel(pygit2.Commit)
        author = commit.author
        subject = commit.message.strip().partition("\n")[0]
        return CommitText(author.name, author.time, subject)

    def blob_at(self, commit: Commit, path: bytes) -> bytes | None:
        """Object id of the file at a path; None if there is none."""
        oid = commit.tree
        parts = path.split(b"/")
        for number, part in enumerate(parts):
            entry = self._entry(oid, part)
            if entry is None:
                return None
            mode, oid = entry
            if (mode == _TREE_MODE) == (number == len(parts) - 1):
                return None
        return oid

    def _entry(self, tree: bytes, name: bytes) -> tuple[bytes, bytes] | None:
        key = (tree, name)
        if key in self._entries:
            return self._entries[key]
        if len(self._entries) > _MOST_KEPT:
            self._entries.clear()
            self._commits.clear()
        try:
            _, data = self._git.read(pygit2.Oid(raw=tree))
        except (KeyError, ValueError, pygit2.GitError):
            self.missing = True
            return None
        entry = self._entries[key] = _entry_in(data, name)
        return entry

    def blob(self, oid: bytes) -> bytes | None:
        """Bytes of a file; None if they are not in this clone."""
        try:
            return self._git.read(pygit2.Oid(raw=oid))[1]
        except (KeyError, ValueError, pygit2.GitError):
            self.missing = True
            return None


def _entry_in(data: bytes, name: bytes) -> tuple[bytes, bytes] | None:
    """Mode and object id of a name in the bytes of a tree."""
    mark = b" " + name + b"\0"
    at = data.find(mark)
    while at >= 0:
        # An object id may hold the same bytes: a mode stands before the name, and before that
        # nothing or another object id.
        start = max(at - 6, 0)
        mode = data[start:at]
        mode = mode[-5:] if mode.endswith(_TREE_MODE) else mode
        if mode in _MODES:
            end = at + len(mark)
            return mode, data[end : end + _OID]
        at = data.find(mark, at + 1)
    return None


def _shallow_commits(repository: Repository) -> frozenset[str]:
    try:
        text = read_plain(os.path.join(repository.common_dir, "shallow"), _SHALLOW_BYTES)
    except OSError:
        return frozenset()
    return frozenset(text.decode("ascii", "replace").split())


_MODES = frozenset({_TREE_MODE, b"100644", b"100755", b"100664", b"120000", b"160000"})
