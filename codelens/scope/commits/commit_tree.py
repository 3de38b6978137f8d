"""The files of a commit, from git's object database: any ref can be searched without a checkout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pygit2

from codelens.errors import ReadError
from codelens.scope.repository import Repository
from codelens.types import CommitId, RelPath

_LINK, _GITLINK, _TREE = 0o120000, 0o160000, 0o040000


class TreeFile(NamedTuple):
    """One file of a commit's tree."""

    path: RelPath
    oid: bytes


class Tree(NamedTuple):
    """A commit's files, and what in it is no file."""

    files: list[TreeFile]
    links: list[RelPath]
    submodules: list[RelPath]


def read_tree(repository: Repository, commit: CommitId) -> Tree:
    """All files of a commit.

    Raises:
        ReadError: a tree object is not in this clone, or damaged.
    """
    tree = Tree([], [], [])
    for path, mode, oid in _entries(repository, commit):
        if mode == _LINK:
            tree.links.append(path)
        elif mode == _GITLINK:
            tree.submodules.append(path)
        else:
            tree.files.append(TreeFile(path, oid))
    return tree


def tree_entries(repository: Repository, commit: CommitId) -> Iterator[tuple[RelPath, int, bytes]]:
    """Path, mode and object id of all that a commit holds, links and submodules included.

    Raises:
        ReadError: a tree object is not in this clone, or damaged.
    """
    return _entries(repository, commit)


def expand_tree(
    repository: Repository, oid_hex: str, prefix: bytes
) -> Iterator[tuple[bytes, int, bytes]]:
    """Path, mode and object id of everything below a tree object; for sparse indexes."""
    yield from _walk(repository, repository.git[oid_hex], prefix)


def file_at(repository: Repository, commit: CommitId, path: RelPath) -> bytes | None:
    """Object id of one file of a commit; None if there is none."""
    entry: pygit2.Object = _root(repository, commit)
    for part in path.split(b"/"):
        if not isinstance(entry, pygit2.Tree):
            return None
        try:
            item = next((item for item in entry if item.raw_name == part), None)
        except (KeyError, pygit2.GitError) as error:
            raise _unreadable(f"a tree of commit {commit}", error) from error
        if item is None:
            return None
        entry = item
    plain = isinstance(entry, pygit2.Blob) and entry.filemode != _LINK
    return entry.id.raw if plain else None


def _root(repository: Repository, commit: CommitId) -> pygit2.Tree:
    try:
        tree = repository.git[commit].peel(pygit2.Tree)
    except (KeyError, pygit2.GitError) as error:
        raise _unreadable(f"commit {commit}", error) from error
    return tree


def _unreadable(what: str, error: Exception) -> ReadError:
    if isinstance(error, KeyError):
        return ReadError(f"{what} is not in this clone: {error}; run `git fetch`")
    return ReadError(f"{what} is damaged: {error}; `git fsck` lists all damage")


def _entries(repository: Repository, commit: CommitId) -> Iterator[tuple[RelPath, int, bytes]]:
    for path, mode, oid in _walk(repository, _root(repository, commit), b""):
        yield RelPath(path), mode, oid


def _walk(
    repository: Repository, root: pygit2.Object, prefix: bytes
) -> Iterator[tuple[bytes, int, bytes]]:
    pending: list[tuple[bytes, pygit2.Object]] = [(prefix, root)]
    entries: list[pygit2.Object]
    while pending:
        base, tree = pending.pop()
        try:
            assert isinstance(tree, pygit2.Tree)
            entries = list(tree)
        except (KeyError, pygit2.GitError) as error:
            raise _unreadable("a tree of this commit", error) from error
        for entry in entries:
            path = base + (entry.raw_name or b"")
            if entry.filemode == _TREE:
                pending.append((path + b"/", entry))
            else:
                yield path, int(entry.filemode), entry.id.raw
