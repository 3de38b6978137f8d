"""Determines the bytes, mode and object that git would store for a file of a worktree.

Line ends and `ident` are converted as attributes and settings say. Filter programs are never run:
libgit2 has only these two filters.
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
from codelens.scope.git_index_file import IndexEntry, IndexGlance, same_stat
from codelens.scope.location import RULES_BYTES, refuse_special_file
from codelens.scope.repository import Repository, Scope
from codelens.scope.tree_changes import GITLINK, LINK
from codelens.scope.uncommitted_changes import is_real_folder

_ATTRIBUTES = ".gitattributes"


class TextFilters:
    """The filters for the files of one worktree, by its current disk and git index."""

    def __init__(self, repository: Repository, glance: IndexGlance) -> None:
        self._repository = repository
        self._glance = glance
        self._by_path: dict[bytes, FilterList | None] = {}
        self._has_rules: dict[bytes, bool] = {}
        """Folder -> whether it, or a folder above, has attributes. Special files are refused."""

    def stored(self, path: bytes, data: bytes) -> bytes:
        """Returns the bytes that git would store for a file."""
        try:
            filters = self._of(path)
            return _applied(filters, data) if filters is not None else data
        except pygit2.GitError:
            # `core.safecrlf` refuses conversions that cannot be reversed, but git still compares
            # them.
            return data.replace(b"\r\n", b"\n")

    def _of(self, path: bytes) -> FilterList | None:
        if path not in self._by_path:
            has_rules = self._has_rules_above(path)
            # libgit2 takes only UTF-8 names. Most attributes depend on the end of the name.
            name = path.decode("utf-8", "replace")
            # libgit2 parses the whole index before it returns filters.
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
        """Whether anything but attribute files in the worktree may request a filter."""
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
        """Returns libgit2's repository, after a check of the files that it reads for filters."""
        for file in self._repository.rule_files():
            refuse_special_file(self._repository.place.root, file, RULES_BYTES)
        return self._repository.git


def _applied(filters: FilterList, data: bytes) -> bytes:
    """Applies filters to bytes. `FilterList.apply_to_buffer` ends at the first NUL."""
    bindings = import_module("pygit2.ffi")  # untyped
    ffi, library = bindings.ffi, bindings.C
    pointer = cast("Any", filters)._pointer  # pygit2 has no public access
    stored = ffi.new("git_buf *")
    check_error(library.git_filter_list_apply_to_buffer(stored, pointer, data, len(data)))
    try:
        return bytes(ffi.buffer(stored.ptr, stored.size))
    finally:
        library.git_buf_dispose(stored)


# The files of a worktree as git would store them, and whether they are untouched.
#
# A comparison with a commit uses what `git add` would store: line ends and `ident` as the
# attributes and `core.autocrlf` say. Filter programs are never run. A file that a filter program
# has changed counts as untouched as long as its stat equals the one in git's index. git does the
# same.

REGULAR, EXECUTABLE = 0o100644, 0o100755
TYPE = 0o170000
_OWNER_RUNS = 0o100


def canonical_mode(mode: int) -> int:
    """Returns a mode as git writes it today. Old trees have others, such as 0o100664."""
    if mode & TYPE != REGULAR & TYPE:
        return mode
    return EXECUTABLE if mode & _OWNER_RUNS else REGULAR


class StoredFiles:
    """One worktree, by its current disk and git index."""

    def __init__(self, repository: Repository, scope: Scope) -> None:
        self._repository = repository
        self._scope = scope
        self._root = os.fsencode(scope.root)
        self._prefix = self._root.rstrip(b"/") + b"/"
        self._real = {self._root: True}

    @cached_property
    def entries(self) -> EntriesByPath:
        """Returns the entries of git's index by path; in a conflict the own side's stage, if any.

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
        """Whether links are links on disk, rather than files with the target as text."""
        return self._repository.settings.truth("core.symlinks", usual=True)

    def full(self, path: bytes) -> bytes:
        """Returns the absolute path."""
        return self._prefix + path

    def status(self, path: bytes) -> os.stat_result | None:
        """Returns the lstat of a path; None if it does not exist or is behind a link."""
        full = self.full(path)
        if not is_real_folder(os.path.dirname(full), self._real):
            return None
        try:
            return os.lstat(full)
        except OSError:
            return None

    def mode(self, path: bytes, known: int) -> int:
        """Returns the mode of a regular file as git has it.

        Args:
            path: the file.
            known: the mode to use if the disk stores none.
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
        """Whether git's index shows, without a read, that a file's content is this object.

        This follows git's rule: the file's stat equals the one in the index and is older than the
        index; or the user asked git not to check (`--assume-unchanged`; `--skip-worktree`, if
        nothing is sparse).
        """
        status = self.status(path)
        if not self._glance.may_hold(
            path, oid, lambda entry: self._has_same_attributes(entry, status)
        ):
            return False
        entry = self.entries.get(path)
        return entry is not None and entry.oid == oid and self._has_same_attributes(entry, status)

    def _has_same_attributes(self, entry: IndexEntry, status: os.stat_result | None) -> bool:
        if entry.stage or entry.intent_to_add:
            return False
        if entry.assume_unchanged or (entry.skip_worktree and not self._is_sparse):
            return True
        return (
            status is not None
            and same_stat(entry.stat, entry.mode, status)
            and entry.mtime_ns < self._index_written_ns
        )

    @cached_property
    def _is_sparse(self) -> bool:
        return self._repository.settings.truth("core.sparseCheckout", usual=False)

    def is_left_out(self, path: bytes) -> bool:
        """Whether a tracked path is outside of a sparse checkout."""
        entry = self.entries.get(path)
        return entry is not None and entry.skip_worktree

    def is_tracked(self, path: bytes) -> bool:
        """Whether git's index has a path."""
        return path in self.entries

    def stored(self, path: bytes, data: bytes) -> bytes:
        """Returns the bytes that git would store for a file."""
        return self._filters.stored(path, data)

    @cached_property
    def _filters(self) -> TextFilters:
        return TextFilters(self._repository, self._glance)

    def special_entries(self) -> dict[bytes, tuple[int, bytes]]:
        """Returns mode and object of links and submodules in git's index and on disk."""
        special: dict[bytes, tuple[int, bytes]] = {}
        for entry in self.entries.of_types({LINK, GITLINK}):
            present = None if entry.skip_worktree else self.special_at(entry.path)
            if present is not None:
                special[entry.path] = present
        return special

    def special_at(self, path: bytes) -> tuple[int, bytes] | None:
        """Returns the mode and object or commit of the link or checked-out submodule at a path."""
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
        """Returns the repository checked out at a folder; None if it cannot be opened."""
        folder = os.fsdecode(self.full(path))
        if not os.path.lexists(os.path.join(folder, ".git")):
            return None
        try:
            inner = Repository.at(folder)
            inner.scope()
        except ScopeError:
            return None
        return inner if inner.place.root == os.path.realpath(folder) else None
