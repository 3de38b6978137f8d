"""Compares two texts: differing lines and similarity. Also finds the base commit of a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from codelens.errors import NoSuchRef
from codelens.scope.repository import Repository
from codelens.types import CommitId


class LineChange(NamedTuple):
    """Lines that differ. If a side has none, its start is the line before the insertion point."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


def base_commit(repository: Repository, base: str) -> CommitId:
    """Returns the commit that `base` names.

    Raises:
        NoSuchRef: there is no such commit here.
    """
    if not repository.is_git:
        raise NoSuchRef(base, repository.place.root)
    return repository.scope(base).head


def changed_lines(old: bytes, new: bytes) -> list[LineChange]:
    """Returns the lines in which two texts differ, in order, ignoring their line ends."""
    import pygit2

    patch = pygit2.Patch.create_from(
        old.replace(b"\r\n", b"\n"),
        new.replace(b"\r\n", b"\n"),
        # A text may contain a NUL; binary files were excluded earlier.
        flag=pygit2.enums.DiffOption.FORCE_TEXT,
        context_lines=0,
    )
    return [
        LineChange(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
        for hunk in patch.hunks
    ]


def new_line(changes: Iterable[LineChange], line: int) -> tuple[bool, int]:
    """Returns whether an old line is unchanged, and its new number.

    A changed or deleted line has the number at which its replacement begins.
    """
    moved = 0
    for change in changes:
        first = change.old_start if change.old_lines else change.old_start + 1
        if line < first:
            break
        if line < first + change.old_lines:
            return False, change.new_start
        moved += change.new_lines - change.old_lines
    return True, line + moved


RENAME_SIMILARITY = 0.5
"""git's threshold: two files at least this similar are one renamed file (diffcore-rename)."""


def line_weights(lines: Iterable[bytes]) -> Counter[bytes]:
    """Returns the bytes per line; a repeated line counts each time."""
    weights: Counter[bytes] = Counter()
    for line in lines:
        weights[line] += len(line)
    return weights


def similarity(left: Counter[bytes], right: Counter[bytes]) -> float:
    """Returns the bytes in common lines as a share of the larger file, from 0 to 1."""
    larger = max(left.total(), right.total())
    return (left & right).total() / larger if larger else 0.0
