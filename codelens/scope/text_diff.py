"""What a change is made of: the commit it starts from, and the lines in which two texts differ."""

from __future__ import annotations

from typing import NamedTuple

import pygit2

from codelens.errors import NoSuchRef
from codelens.scope.repository import Repository
from codelens.types import CommitId


class LineChange(NamedTuple):
    """Lines that differ; a side without any has the line before which they would stand."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


def base_commit(repository: Repository, base: str) -> CommitId:
    """The commit that `base` names.

    Raises:
        NoSuchRef: none here.
    """
    if not repository.is_git:
        raise NoSuchRef(base, repository.place.root)
    return repository.scope(base).head


def changed_lines(old: bytes, new: bytes) -> list[LineChange]:
    """Lines in which two texts differ, in order; line ends do not count, as filters change them."""
    patch = pygit2.Patch.create_from(
        old.replace(b"\r\n", b"\n"),
        new.replace(b"\r\n", b"\n"),
        # A text may hold a NUL; what is binary was sorted out before.
        flag=pygit2.enums.DiffOption.FORCE_TEXT,
        context_lines=0,
    )
    return [
        LineChange(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
        for hunk in patch.hunks
    ]
