"""What was committed since a commit: how many commits, their subjects, the files that differ."""

from __future__ import annotations

import itertools
import os
from typing import NamedTuple

import pygit2
from pygit2.enums import SortMode

from codelens.scope.repository import Repository

_MOST_COMMITS = 500
"""More is told as so many and more."""


class CommitsSince(NamedTuple):
    """The way from one commit to another."""

    commits: int
    """Those that the newer one has and the older one has not, `_MOST_COMMITS` at most."""
    is_all: bool
    subjects: tuple[str, ...]
    """The latest first."""
    paths: tuple[str, ...]
    """Files that differ between the two, in the order of their names."""


def commits_since(
    repository: Repository, old: str, new: str, *, subjects: int = 3
) -> CommitsSince | None:
    """The way from `old` to `new`; None where one of them is not here.

    Args:
        repository: where to look.
        old: a whole commit id.
        new: a whole commit id.
        subjects: how many to give.
    """
    git = repository.git
    try:
        before, after = git[old].peel(pygit2.Commit), git[new].peel(pygit2.Commit)
        walk = git.walk(after.id, SortMode.TOPOLOGICAL)
        walk.hide(before.id)
        subject_lines: list[str] = []
        count = 0
        for commit in walk:
            if count == _MOST_COMMITS:
                break
            count += 1
            if len(subject_lines) < subjects:
                subject_lines.append(commit.message.strip().partition("\n")[0])
        else:
            return CommitsSince(count, True, tuple(subject_lines), _differing(git, before, after))
        return CommitsSince(count, False, tuple(subject_lines), _differing(git, before, after))
    except (KeyError, ValueError, pygit2.GitError):
        # Shallow, partial and damaged repositories end somewhere.
        return None


def subjects_after(
    repository: Repository, head: str, old: str, since_s: int, *, most: int = _MOST_COMMITS
) -> tuple[str, ...]:
    """Subjects of the commits that `head` has and `old` has not, made after a time, latest first.

    Args:
        repository: where to look.
        head: a whole commit id.
        old: a whole commit id; empty: none is left out.
        since_s: seconds since the epoch.
        most: commits that are looked at.
    """
    git = repository.git
    subjects: list[str] = []
    try:
        walk = git.walk(git[head].peel(pygit2.Commit).id, SortMode.TIME)
        if old and old in git:
            walk.hide(git[old].peel(pygit2.Commit).id)
        for commit in itertools.islice(walk, most):
            if commit.commit_time < since_s:
                break
            subjects.append(commit.message.strip().partition("\n")[0])
    except (KeyError, ValueError, pygit2.GitError):
        # Shallow, partial and damaged repositories end somewhere.
        return tuple(subjects)
    return tuple(subjects)


def _differing(
    git: pygit2.Repository, before: pygit2.Commit, after: pygit2.Commit
) -> tuple[str, ...]:
    diff = git.diff(before, after)
    paths = {os.fsdecode(delta.new_file.raw_path) for delta in diff.deltas}
    return tuple(sorted(paths))
