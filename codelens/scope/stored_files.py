"""What git would store of a file's bytes: line ends and `ident` as attributes and settings say.

Filters that are programs are never run: libgit2, which is asked, has none but these two.
"""

from __future__ import annotations

import os
import stat as stat_module
from functools import cached_property
from importlib import import_module
from typing import Any, cast

import pygit2
from pygit2.enums import ConfigLevel
from pygit2.errors import check_error
from pygit2.filter import FilterList

from codelens.errors import ScopeError
from codelens.scope.commits import expand_tree
from codelens.scope.git_index import EntriesByPath, read_by_path
from codelens.scope.git_index_file import IndexEntry, IndexGlance
from codelens.scope.location import RULES_BYTES, refuse_special_file
from codelens.scope.repository import Repository, Scope
from codelens.scope.tree_changes import GITLINK, LINK
from codelens.scope.uncommitted_changes import is_real_folder, same_stat

_ATTRIBUTES = ".gitattributes"


class TextFilters:
    """The filters of one worktree's files, as its disk and git's index are now."""

    def __init__(self, repository: Repository, glance: IndexGlance) -> None:
        self._repository = repository
        self._glance = glance
        self._by_path: dict[bytes, FilterList | None] = {}
        self._has_rules: dict[bytes, bool] = {}
        """Of a folder whether it, or one above, has attributes; none is a file to wait for."""

    def stored(self, path: bytes, data: bytes) -> bytes:
        """What git would store of a file's bytes."""
        try:
            filters = self._of(path)
            return _applied(filters, data) if filters is not None else data
        except pygit2.GitError:
            # `core.safecrlf` refuses to store what it cannot give back; git compares it even so.
            return data.replace(b"\r\n", b"\n")

    def _of(self, path: bytes) -> FilterList | None:
        if path not in self._by_path:
            has_rules = self._has_rules_above(path)
            # libgit2 takes names in UTF-8 alone; what attributes say hangs on the end of most.
            name = path.decode("utf-8", "replace")
            # Before it gives a list, libgit2 takes the whole of git's index apart.
            asks = has_rules or self._asks_anywhere
            self._by_path[path] = self._git.load_filter_list(name) if asks else None
        return self._by_path[path]

    def _has_rules_above(self, path: bytes) -> bool:
        folder = os.path.dirname(path)
        if folder not in self._has_rules:
            is_there = False
            for file in self._repository.rules_above(path):
                refuse_special_file(self._repository.place.root, file, RULES_BYTES)
                is_there |= file.endswith(_ATTRIBUTES) and os.path.lexists(file)
            self._has_rules[folder] = is_there
        return self._has_rules[folder]

    @cached_property
    def _asks_anywhere(self) -> bool:
        """Whether anything but attributes on the disk of the worktree may ask for a filter."""
        repository = self._repository
        of_system = pygit2.settings.search_path[ConfigLevel.SYSTEM].split(os.pathsep)
        files = [os.path.join(folder, "gitattributes") for folder in of_system]
        files += repository.attribute_files()
        return (
            repository.settings.text("core.autocrlf") not in {None, "", "false"}
            or self._glance.may_name(_ATTRIBUTES.encode())
            or any(map(os.path.lexists, files))
        )

    @cached_property
    def _git(self) -> pygit2.Repository:
        """To ask for filters: none of the files that it reads for them is one to wait for."""
        for file in self._repository.rule_files():
            refuse_special_file(self._repository.place.root, file, RULES_BYTES)
        return self._repository.git


def _applied(filters: FilterList, data: bytes) -> bytes:
    """What filters make of bytes; `FilterList.apply_to_buffer` ends at the first zero byte."""
    bindings = import_module("pygit2.ffi")  # nothing says the types in it
    ffi, library = bindings.ffi, bindings.C
    pointer = cast("Any", filters)._pointer  # there is no other way to it
    stored = ffi.new("git_buf *")
    check_error(library.git_filter_list_apply_to_buffer(stored, pointer, data, len(data)))
    try:
        return bytes(ffi.buffer(stored.ptr, stored.size))
    finally:
        library.git_buf_dispose(stored)


# How git sees the files of a worktree: what it would store of each, and which are not touched.
#
# What is compared with a commit is what `git add` would store: line ends and `ident` as the
# attributes and `core.autocrlf` say. Filters that are programs are never run. A file that they
# changed is untouched, to git and to us, as long as its stat is the one that git's index kept.

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
