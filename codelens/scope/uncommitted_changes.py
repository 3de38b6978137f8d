"""Determines whether a worktree differs from its HEAD.

libgit2's own status matches every untracked name against the ignore rules, although untracked files
do not count here, and some patterns would keep its matcher busy for years. libgit2 therefore
compares git's index with HEAD, codelens compares the disk with the index, and libgit2 checks single
files whose bytes a filter may have changed.
"""

from __future__ import annotations

import os
import stat as stat_module
from collections.abc import Iterator

import pygit2

from codelens.errors import ReadError, ScopeError
from codelens.scope.commits import expand_tree
from codelens.scope.git_index import read_index
from codelens.scope.git_index_file import IndexEntry, same_mode, same_stat
from codelens.scope.location import RULES_BYTES, refuse_special_file
from codelens.scope.repository import Repository

_TYPE, _GITLINK = 0o170000, 0o160000
_DEEPEST = 10
"""The deepest level of nested submodules to check."""
_CLEAN = {pygit2.enums.FileStatus.CURRENT, pygit2.enums.FileStatus.IGNORED}


def is_dirty(repository: Repository, depth: int = 0) -> bool | None:
    """Whether tracked files, or those of submodules, differ from HEAD; None if unknown.

    Costs a stat of each tracked file. Files whose stat differs from git's index are read.
    `submodule.NAME.ignore` is ignored.
    """
    try:
        if _staged(repository):
            return True
        unknown = False
        for verdict in _changes(repository, depth):
            if verdict:
                return True
            unknown = unknown or verdict is None
    except (pygit2.GitError, KeyError, ValueError, UnicodeError, OSError, ReadError, ScopeError):
        return None  # sparse and split indexes, missing objects
    finally:
        repository.release()
    return None if unknown else False


def _staged(repository: Repository) -> bool:
    index = repository.git.index
    index.read(force=False)
    if repository.git.head_is_unborn:
        return len(index) > 0
    tree = repository.git.head.peel(pygit2.Tree)
    return next(iter(index.diff_to_tree(tree).deltas), None) is not None


def _changes(repository: Repository, depth: int) -> Iterator[bool | None]:
    """Yields whether an entry has changed, for each tracked entry that is not certainly clean."""
    index = os.path.join(repository.place.git_dir, "index")
    written_ns = os.stat(index).st_mtime_ns if os.path.exists(index) else 0
    root = os.fsencode(repository.place.root)
    real = {root: True}
    for entry in read_index(index, expand_tree=lambda oid, at: expand_tree(repository, oid, at)):
        if entry.stage or entry.intent_to_add:
            yield True
        if entry.assume_unchanged or entry.skip_worktree:
            continue
        file = os.path.join(root, entry.path)
        status = _lstat(file) if is_real_folder(os.path.dirname(file), real) else None
        if status is None:
            yield True
            continue
        if entry.mode & _TYPE == _GITLINK:
            yield _submodule(file, status, entry, depth)
            continue
        clean = same_stat(entry.stat, entry.mode, status) and entry.mtime_ns < written_ns
        if not clean and not _same_bytes(entry, file, status):
            yield _differs_by_libgit2(repository, entry.path)


def _lstat(file: bytes) -> os.stat_result | None:
    try:
        return os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_real_folder(folder: bytes, real: dict[bytes, bool]) -> bool:
    """Whether a folder exists and no part of its path is a link. `real` caches the results."""
    names: list[bytes] = []
    while folder not in real:
        names.append(folder)
        folder = os.path.dirname(folder)
    for name in reversed(names):
        status = _lstat(name) if real[os.path.dirname(name)] else None
        real[name] = status is not None and stat_module.S_ISDIR(status.st_mode)
    return real[names[0] if names else folder]


def _same_bytes(entry: IndexEntry, file: bytes, status: os.stat_result) -> bool:
    if not same_mode(entry.mode, status):
        return False
    if stat_module.S_ISLNK(status.st_mode):
        oid = pygit2.hash(os.readlink(file))
    else:
        oid = pygit2.hashfile(os.fsdecode(file))
    return oid.raw == entry.oid


def _differs_by_libgit2(repository: Repository, path: bytes) -> bool:
    """Whether one file has changed after the filters of its attributes."""
    for file in (*repository.rule_files(), *repository.rules_above(path)):
        refuse_special_file(repository.place.root, file, RULES_BYTES)
    return repository.git.status_file(os.fsdecode(path)) not in _CLEAN


def _submodule(file: bytes, status: os.stat_result, entry: IndexEntry, depth: int) -> bool | None:
    if not stat_module.S_ISDIR(status.st_mode):
        return True
    folder = os.fsdecode(file)
    if not os.path.lexists(os.path.join(folder, ".git")):
        return False  # not checked out
    if depth == _DEEPEST:
        return None
    inner = Repository.at(folder)
    if inner.place.root != os.path.realpath(folder):
        return None
    return inner.scope().head != entry.oid.hex() or is_dirty(inner, depth + 1)
