"""How git sees the files of a worktree: what it would store of each, and which are not touched.

What is compared with a commit is what `git add` would store: line ends and `ident` as the
attributes and `core.autocrlf` say. Filters that are programs are never run. A file that they
changed is untouched, to git and to us, as long as its stat is the one that git's index kept.
"""

from __future__ import annotations

import os
import stat as stat_module
from functools import cached_property

import pygit2

from codelens.errors import ScopeError
from codelens.scope.commits.commit_tree import expand_tree
from codelens.scope.commits.tree_changes import GITLINK, LINK
from codelens.scope.git_index.git_index import EntriesByPath, read_by_path
from codelens.scope.git_index.git_index_format import IndexEntry
from codelens.scope.git_index.index_glance import IndexGlance
from codelens.scope.repository import Repository, Scope
from codelens.scope.text_filters import TextFilters
from codelens.scope.uncommitted_changes import is_real_folder, same_stat

REGULAR, EXECUTABLE = 0o100644, 0o100755
TYPE = 0o170000
_OWNER_RUNS = 0o100


def canonical_mode(mode: int) -> int:
    """A mode as git writes it today: old trees hold others, such as 0o100664."""
    if mode & TYPE != REGULAR & TYPE:
        return mode
    return EXECUTABLE if mode & _OWNER_RUNS else REGULAR


class StoredFiles:
    """One worktree, as its disk and git's index are now."""

    def __init__(self, repository: Repository, scope: Scope) -> None:
        self._repository = repository
        self._scope = scope
        self._root = os.fsencode(scope.root)
        self._prefix = self._root.rstrip(b"/") + b"/"
        self._real = {self._root: True}

    @cached_property
    def entries(self) -> EntriesByPath:
        """What git's index holds by path; of a conflict the stage that is ours, if there is one.

        Raises:
            ReadError: the index cannot be read.
        """
        return read_by_path(
            self._index_file,
            expand_tree=lambda oid, prefix: expand_tree(self._repository, oid, prefix),
        )

    @cached_property
    def _glance(self) -> IndexGlance:
        return IndexGlance(self._index_file)

    @property
    def _index_file(self) -> str:
        return os.path.join(self._scope.git_dir, "index")

    @cached_property
    def _index_written_ns(self) -> int:
        try:
            return os.stat(self._index_file).st_mtime_ns
        except OSError:
            return 0

    @cached_property
    def _keeps_modes(self) -> bool:
        return self._repository.settings.truth("core.fileMode", usual=True) and os.name != "nt"

    @cached_property
    def keeps_links(self) -> bool:
        """Whether links are links on the disk; else they are files with the target as text."""
        return self._repository.settings.truth("core.symlinks", usual=True)

    def full(self, path: bytes) -> bytes:
        """Where a path lies on the disk."""
        return self._prefix + path

    def status(self, path: bytes) -> os.stat_result | None:
        """Its lstat; None where nothing is, or what is there is reached through a link."""
        full = self.full(path)
        if not is_real_folder(os.path.dirname(full), self._real):
            return None
        try:
            return os.lstat(full)
        except OSError:
            return None

    def mode(self, path: bytes, known: int) -> int:
        """Mode of a regular file, as git has it.

        Args:
            path: the file.
            known: its mode elsewhere, which it has where the disk keeps none.
        """
        if not self._keeps_modes:
            entry = self.entries.get(path)
            return canonical_mode(entry.mode) if entry is not None else canonical_mode(known)
        try:
            status = os.lstat(self.full(path))
        except OSError:
            return canonical_mode(known)
        return canonical_mode(stat_module.S_IFREG | status.st_mode & 0o777)

    def is_untouched(self, path: bytes, oid: bytes) -> bool:
        """Whether git's index says that a file is an object, without the file being read.

        By git's own rule: the stat is the one that the index kept, and older than the index; or
        git was told not to look (`--assume-unchanged`; `--skip-worktree`, if nothing is sparse).
        """
        status = self.status(path)
        if not self._glance.may_hold(path, oid, lambda entry: self._says_same(entry, status)):
            return False
        entry = self.entries.get(path)
        return entry is not None and entry.oid == oid and self._says_same(entry, status)

    def _says_same(self, entry: IndexEntry, status: os.stat_result | None) -> bool:
        if entry.stage or entry.intent_to_add:
            return False
        if entry.assume_unchanged or (entry.skip_worktree and not self._is_sparse):
            return True
        return (
            status is not None
            and same_stat(entry, status)
            and entry.mtime_ns < self._index_written_ns
        )

    @cached_property
    def _is_sparse(self) -> bool:
        return self._repository.settings.truth("core.sparseCheckout", usual=False)

    def is_left_out(self, path: bytes) -> bool:
        """Whether a tracked path is not to be on the disk: outside of a sparse checkout."""
        entry = self.entries.get(path)
        return entry is not None and entry.skip_worktree

    def is_tracked(self, path: bytes) -> bool:
        """Whether git's index holds a path."""
        return path in self.entries

    def stored(self, path: bytes, data: bytes) -> bytes:
        """What git would store of a file's bytes."""
        return self._filters.stored(path, data)

    @cached_property
    def _filters(self) -> TextFilters:
        return TextFilters(self._repository, self._glance)

    def special_entries(self) -> dict[bytes, tuple[int, bytes]]:
        """Links and submodules that git's index holds and that are on the disk: mode and object."""
        special: dict[bytes, tuple[int, bytes]] = {}
        for entry in self.entries.of_types({LINK, GITLINK}):
            present = None if entry.skip_worktree else self.special_at(entry.path)
            if present is not None:
                special[entry.path] = present
        return special

    def special_at(self, path: bytes) -> tuple[int, bytes] | None:
        """The link or the checked-out submodule at a path: its mode, and its object or commit."""
        status = self.status(path)
        if status is None:
            return None
        if stat_module.S_ISLNK(status.st_mode):
            return LINK, pygit2.hash(os.readlink(self.full(path))).raw
        if stat_module.S_ISDIR(status.st_mode):
            inner = self.submodule(path)
            head = inner.scope().head if inner is not None else ""
            return (GITLINK, bytes.fromhex(head)) if head else None
        return None

    def submodule(self, path: bytes) -> Repository | None:
        """The repository that is checked out at a folder; None if none is that can be opened."""
        folder = os.fsdecode(self.full(path))
        if not os.path.lexists(os.path.join(folder, ".git")):
            return None
        try:
            inner = Repository.at(folder)
            inner.scope()
        except ScopeError:
            return None
        return inner if inner.place.root == os.path.realpath(folder) else None
