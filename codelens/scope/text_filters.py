"""What git would store of a file's bytes: line ends and `ident` as attributes and settings say.

Filters that are programs are never run: libgit2, which is asked, has none but these two.
"""

from __future__ import annotations

import os
from functools import cached_property
from importlib import import_module
from typing import Any, cast

import pygit2
from pygit2.enums import ConfigLevel
from pygit2.errors import check_error
from pygit2.filter import FilterList

from codelens.scope.git_index.index_glance import IndexGlance
from codelens.scope.repository import Repository
from codelens.scope.special_files import RULES_BYTES, refuse_special_file

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
