"""Walks a history fast: commits, the objects at their paths, and the commits of one path."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from typing import NamedTuple, Self

import pygit2

from codelens.cancellation import check_cancelled
from codelens.scope.location import read_plain
from codelens.scope.repository import Repository
from codelens.scope.scratch_merge import ScratchRepository
from codelens.types import CommitId

# Reads commits and the objects at their paths, for walks over a whole history.
#
# Trees are read raw and searched for one name. The results are cached, because most commits share
# most of their trees with the next one.

_TREE_MODE = b"40000"
_OID = 20
_SHALLOW_BYTES = 4 * 1024 * 1024
_MOST_KEPT = 20_000
_REPOSITORIES_KEPT = 2


class Commit(NamedTuple):
    """The properties of a commit that a walk needs."""

    id: CommitId
    tree: bytes
    parents: tuple[CommitId, ...]
    time_s: int
    """The commit time."""


class CommitText(NamedTuple):
    """The author and subject of a commit."""

    author: str
    time_s: int
    """The author time."""
    subject: str


class _Cached(NamedTuple):
    """Content by object id. It never changes, so it is cached across questions."""

    entries: dict[tuple[bytes, bytes], tuple[bytes, bytes] | None]
    commits: dict[CommitId, Commit]


_cached_by_repository: dict[str, _Cached] = {}
"""By the folder that all worktrees of a repository share."""


class CommitWalk:
    """Reads commits of one repository. Missing objects are None; nothing is fetched."""

    def __init__(self, repository: Repository) -> None:
        self._git = repository.git
        cached = _cached_by_repository.pop(repository.common_dir, None) or _Cached({}, {})
        _cached_by_repository[repository.common_dir] = cached
        while len(_cached_by_repository) > _REPOSITORIES_KEPT:
            del _cached_by_repository[next(iter(_cached_by_repository))]
        self._entries, self._commits = cached
        self.missing = False
        """Whether an object was missing."""
        self._shallow = _shallow_commits(repository)

    def is_cut(self, commit: Commit) -> bool:
        """Whether a shallow clone ends at this commit."""
        return commit.id in self._shallow

    def commit(self, name: CommitId) -> Commit | None:
        """Returns a commit; None if it is not in this clone."""
        check_cancelled()
        commit = self._commits.get(name)
        if commit is None:
            commit = self._read_commit(name)
            if commit is not None:
                self._commits[name] = commit
        return commit

    def _read_commit(self, name: CommitId) -> Commit | None:
        try:
            commit = self._git[name].peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError):
            self.missing = True
            return None
        parents = tuple(CommitId(str(parent_id)) for parent_id in commit.parent_ids)
        return Commit(name, commit.tree_id.raw, parents, commit.commit_time)

    def text(self, name: CommitId) -> CommitText:
        """Returns author, time and subject."""
        commit = self._git[name].peel(pygit2.Commit)
        author = commit.author
        subject = commit.message.strip().partition("\n")[0]
        return CommitText(author.name, author.time, subject)

    def blob_at(self, commit: Commit, path: bytes) -> bytes | None:
        """Returns the object id of the file at a path; None if there is no file."""
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
        """Returns the bytes of a file; None if they are not in this clone."""
        try:
            return self._git.read(pygit2.Oid(raw=oid))[1]
        except (KeyError, ValueError, pygit2.GitError):
            self.missing = True
            return None


def _entry_in(data: bytes, name: bytes) -> tuple[bytes, bytes] | None:
    """Returns mode and object id of a name in the bytes of a tree."""
    mark = b" " + name + b"\0"
    at = data.find(mark)
    while at >= 0:
        # An object id may contain the same bytes. In a real entry, the mode precedes the name, and
        # the entry starts the tree or follows another object id.
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


# Lists the commits that changed a path with git's own `rev-list`, which skips other commits
# fastest.
#
# History is simplified as in `git log -- PATH`: at a merge, git follows one parent with the same
# file, and each commit that changed the file has as its parents the next ones that did. Without
# git, or at a missing object, the list ends and the walk continues commit by commit.

_CLOCK_SKEW_S = 86_400
"""How much older than its parent a commit may claim to be. git lists commits by date, so a larger
clock error could hide one.
"""
_MOST_PATHS_KEPT = 64


class _Listed(NamedTuple):
    time_s: int
    commit: CommitId
    parents: tuple[CommitId, ...]


class _Listing(NamedTuple):
    listed: list[_Listed]
    complete: bool


_listed_before: dict[tuple[str, CommitId, bytes, bool], _Listing] = {}
"""Listed commits by repository, start, path and `first_parent`. They never change."""


class PathCommits:
    """Lists the commits that changed paths of a repository. A context manager.

    Args:
        repository: whose commits.
        first_parent: follow merges only to their first parent.
    """

    def __init__(self, repository: Repository, *, first_parent: bool) -> None:
        self._repository = repository
        self._first_parent = first_parent
        self._scratch = ScratchRepository(repository)
        self._entered = False
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()
        if self._entered:
            self._scratch.__exit__(*error)

    def of(self, path: bytes, start: CommitId) -> PathHistory:
        """Returns the commits that changed a path, from a commit backwards."""
        key = (self._repository.common_dir, start, path, self._first_parent)
        return PathHistory(self._listed(key))

    def _listed(self, key: tuple[str, CommitId, bytes, bool]) -> Generator[_Listed]:
        listing = _listed_before.get(key, _Listing([], False))
        yield from listing.listed
        process = self._started(key[1], key[2]) if not listing.complete else None
        if process is None or process.stdout is None:
            return
        listed = list(listing.listed)
        try:
            for number, line in enumerate(process.stdout):
                if number < len(listing.listed):
                    continue
                time_s, commit, *parents = line.decode("ascii", "replace").split()
                listed.append(_Listed(int(time_s), CommitId(commit), tuple(map(CommitId, parents))))
                _remember(key, _Listing(listed, complete=False))
                yield listed[-1]
        except GeneratorExit:
            # The caller has stopped reading, so git need not search the rest of the history.
            process.kill()
            self._ended(process)
            raise
        _remember(key, _Listing(listed, complete=self._ended(process) == 0))

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        """Returns the exit code."""
        self._processes.remove(process)
        if process.stdout is not None:
            process.stdout.close()
        return process.wait()

    def _started(self, start: CommitId, path: bytes) -> subprocess.Popen[bytes] | None:
        git = self._scratch.git
        if git is None:
            return None
        command = [git, "rev-list", "--parents", "--timestamp"]
        command += ["--first-parent"] if self._first_parent else []
        try:
            if not self._entered:
                self._scratch.__enter__()
                self._entered = True
            process = subprocess.Popen(  # noqa: S603 - our own arguments and a path behind `--`
                [*command, start, "--", os.fsdecode(path)],
                cwd=self._scratch.root, env=self._scratch.environment(),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError:
            return None  # the walk continues without git
        self._processes.append(process)
        return process


def _remember(key: tuple[str, CommitId, bytes, bool], listing: _Listing) -> None:
    _listed_before.pop(key, None)
    _listed_before[key] = listing
    while len(_listed_before) > _MOST_PATHS_KEPT:
        del _listed_before[next(iter(_listed_before))]


class PathHistory:
    """The commits that changed one path, read on demand."""

    def __init__(self, listed: Generator[_Listed]) -> None:
        self._listed = listed
        self._parents: dict[CommitId, tuple[CommitId, ...]] = {}
        self._newest: CommitId | None = None
        self._oldest_s: int | None = None

    def close(self) -> None:
        """Ends the search. Commits read so far remain available."""
        self._listed.close()

    def newest(self) -> CommitId | None:
        """Returns the latest commit before the start that changed the path; None if unknown."""
        if self._newest is None:
            self._read()
        return self._newest

    def parents(self, commit: CommitId, time_s: int) -> tuple[CommitId, ...] | None:
        """Returns for each parent of a commit the next commit that changed the path.

        None if the commit did not change the path, or if that is unknown. Parents without the path
        in their history are left out.

        Args:
            commit: a commit before the start.
            time_s: its commit time.
        """
        while commit not in self._parents and (
            self._oldest_s is None or self._oldest_s >= time_s - _CLOCK_SKEW_S
        ):
            if not self._read():
                break
        return self._parents.get(commit)

    def _read(self) -> bool:
        entry = next(self._listed, None)
        if entry is None:
            return False
        if self._newest is None:
            self._newest = entry.commit
        self._parents[entry.commit] = entry.parents
        self._oldest_s = min(entry.time_s, self._oldest_s or entry.time_s)
        return True
