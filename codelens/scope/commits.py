"""Reads the files of a commit from git's object database, without a checkout."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from codelens.errors import ReadError
from codelens.scope.repository import Repository
from codelens.types import CommitId, RelPath

if TYPE_CHECKING:
    import pygit2

_LINK, _GITLINK, _TREE = 0o120000, 0o160000, 0o040000
_REGULAR, _EXECUTABLE, _OWNER_RUNS, _KIND = 0o100644, 0o100755, 0o100, 0o170000
_OID = 20
_NEVER_CHECKED_OUT = frozenset({b"", b".", b"..", b".git"})
"""Compared in lower case. git also refuses every name that contains a slash."""


class TreeFile(NamedTuple):
    """One file of a commit's tree."""

    path: RelPath
    oid: bytes


class Tree(NamedTuple):
    """The files of a commit, and its entries that are not files."""

    files: list[TreeFile]
    links: list[RelPath]
    submodules: list[RelPath]


class CommitFolders:
    """Finds files of a commit by path. Each folder is read on first use.

    Args:
        repository: the repository with the commit.
        commit: the commit.
    """

    def __init__(self, repository: Repository, commit: CommitId) -> None:
        self._repository = repository
        self._commit = commit
        self._folders: dict[bytes, dict[bytes, tuple[int, bytes]]] = {}

    def oid_of(self, path: bytes) -> bytes | None:
        """Returns the object id of a file; None if the commit does not have it.

        Raises:
            ReadError: a tree object is not in this clone, or damaged.
        """
        *folders, name = path.split(b"/")
        base, entries = b"", self._entries_of(b"", None)
        for folder in folders:
            mode, oid = entries.get(folder, (0, b""))
            if mode != _TREE:
                return None
            base += folder + b"/"
            entries = self._entries_of(base, oid)
        mode, oid = entries.get(name, (0, b""))
        return oid if mode in {_REGULAR, _EXECUTABLE} else None

    def _entries_of(self, folder: bytes, oid: bytes | None) -> dict[bytes, tuple[int, bytes]]:
        entries_by_name = self._folders.get(folder)
        if entries_by_name is None:
            oid = _root(self._repository, self._commit).id.raw if oid is None else oid
            entries = _entries_in(self._repository, oid)
            entries_by_name = self._folders[folder] = {
                name: (mode, oid) for name, mode, oid in entries
            }
        return entries_by_name


def read_tree(repository: Repository, commit: CommitId) -> Tree:
    """Returns all files of a commit.

    Raises:
        ReadError: a tree object is not in this clone, or damaged.
    """
    tree = Tree([], [], [])
    for path, mode, oid in tree_entries(repository, commit):
        if mode == _LINK:
            tree.links.append(path)
        elif mode == _GITLINK:
            tree.submodules.append(path)
        else:
            tree.files.append(TreeFile(path, oid))
    return tree


def expand_tree(
    repository: Repository, oid_hex: str, prefix: bytes
) -> Iterator[tuple[bytes, int, bytes]]:
    """Yields path, mode and object id of everything below a tree object, for sparse indexes."""
    yield from _walk(repository, repository.git[oid_hex], prefix)


def _root(repository: Repository, commit: CommitId) -> pygit2.Tree:
    import pygit2

    try:
        tree = repository.git[commit].peel(pygit2.Tree)
    except (KeyError, pygit2.GitError) as error:
        raise _unreadable(f"commit {commit}", error) from error
    return tree


def _unreadable(subject: str, error: Exception) -> ReadError:
    if isinstance(error, KeyError):
        return ReadError(f"{subject} is not in this clone: {error}; run `git fetch`")
    return ReadError(f"{subject} is damaged: {error}; `git fsck` lists all damage")


def tree_entries(repository: Repository, commit: CommitId) -> Iterator[tuple[RelPath, int, bytes]]:
    """Yields path, mode and object id of all entries of a commit, including links and submodules.

    Raises:
        ReadError: a tree object is not in this clone, or damaged.
    """
    for path, mode, oid in _walk(repository, _root(repository, commit), b""):
        yield RelPath(path), mode, oid


def _walk(
    repository: Repository, root: pygit2.Object, prefix: bytes
) -> Iterator[tuple[bytes, int, bytes]]:
    # Trees are parsed from bytes: a libgit2 object per entry costs five times as much.
    pending = [(prefix, root.id.raw)]
    while pending:
        base, oid = pending.pop()
        for name, mode, entry_oid in _entries_in(repository, oid):
            if mode == _TREE:
                pending.append((base + name + b"/", entry_oid))
            else:
                yield base + name, mode, entry_oid


def _entries_in(repository: Repository, oid: bytes) -> list[tuple[bytes, int, bytes]]:
    """Returns name, mode and object id of each entry of a tree object."""
    import pygit2

    try:
        kind, data = repository.git.read(pygit2.Oid(raw=oid))
        if kind != pygit2.enums.ObjectType.TREE:
            raise ValueError(f"object {oid.hex()} is not a tree")
        return list(_tree_entries(data))
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise _unreadable("a tree of this commit", error) from error


def _tree_entries(data: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """Yields name, mode and object id of each entry in the bytes of a tree.

    Leaves out names that git never checks out, because a path with one could lead out of the
    worktree.
    """
    at, size = 0, len(data)
    while at < size:
        space = data.index(b" ", at)
        end = data.index(b"\0", space)
        stop = end + 1 + _OID
        if stop > size:
            raise ValueError("a tree ends within an object id")
        name = data[space + 1 : end]
        if b"/" not in name and name.lower() not in _NEVER_CHECKED_OUT:
            yield name, _mode(data[at:space]), data[end + 1 : stop]
        at = stop


@cache
def _mode(digits: bytes) -> int:
    """Reads a mode as git does: of a file's permissions only the owner's execute bit counts."""
    mode = int(digits, 8)
    kind = mode & _KIND
    if kind in {_LINK, _GITLINK, _TREE}:
        return kind
    return _EXECUTABLE if mode & _OWNER_RUNS else _REGULAR
