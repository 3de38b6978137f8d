"""Compares two texts: the lines that differ, how alike they are, and the commit to start from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
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


RENAME_SIMILARITY = 0.5
"""git's threshold: files that are alike at least so much are one that was renamed."""


def line_weights(lines: Iterable[bytes]) -> Counter[bytes]:
    """Bytes by line; a line that stands several times weighs as often."""
    weights: Counter[bytes] = Counter()
    for line in lines:
        weights[line] += len(line)
    return weights


def similarity(left: Counter[bytes], right: Counter[bytes]) -> float:
    """The bytes of the lines that both have, as a share of the larger one; from 0 to 1."""
    larger = max(left.total(), right.total())
    return (left & right).total() / larger if larger else 0.0
