"""Finds the repository, worktree and branch of a folder, from `.git` without pygit2.

`codelens.scope` does the same with pygit2, which costs 190 ms of CPU. This module only reads three
small files, of at most `_LONGEST` bytes. A repository with an unusual layout counts as a plain
folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import NamedTuple

_LONGEST = 4_096
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_HEADS = "refs/heads/"
_LONGEST_PACKED = 4_000_000
_MOST_SIBLINGS = 300


class Checkout(NamedTuple):
    """A worktree, or a plain folder."""

    root: str
    common_dir: str
    """The git directory that all worktrees of a repository share; the folder itself without git."""
    branch: str
    """The short name; empty when detached or outside git."""
    head: str = ""
    """The commit of a detached HEAD."""

    @property
    def repository(self) -> str:
        """The repository's id, as `Scope.repo_id` gives it."""
        return _digest(self.common_dir)

    @property
    def worktree(self) -> str:
        """An id of the worktree."""
        return _digest(self.root)[:8]

    @property
    def label(self) -> str:
        """The branch, or the start of the commit; U+FFFD for what is not UTF-8."""
        return os.fsencode(self.branch).decode("utf-8", "replace") or self.head[:10]


def checkout_at(path: str) -> Checkout:
    """The worktree that contains a path, or else its folder.

    Raises:
        OSError: the path is relative and the working directory was deleted.
    """
    here = os.path.realpath(path)
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    folder = here
    while True:
        dot_git = os.path.join(folder, ".git")
        git_dir = dot_git if os.path.isdir(dot_git) else _followed(dot_git)
        if git_dir and os.path.lexists(os.path.join(git_dir, "HEAD")):
            shared = _text(os.path.join(git_dir, "commondir"))
            common = os.path.realpath(os.path.join(git_dir, shared) if shared else git_dir)
            branch, head = _head(git_dir)
            return Checkout(folder, common, branch, head)
        parent = os.path.dirname(folder)
        if parent == folder:
            return Checkout(here, here, "")
        folder = parent


def head_commit(place: Checkout) -> str:
    """The HEAD commit of the worktree; empty if it cannot be found without pygit2."""
    if not place.branch:
        return place.head
    loose = _text(os.path.join(place.common_dir, _HEADS + place.branch))
    if loose:
        return loose
    try:
        with open(os.path.join(place.common_dir, "packed-refs"), "rb") as file:
            packed = file.read(_LONGEST_PACKED)
    except OSError:
        return ""
    suffix = b" " + os.fsencode(_HEADS + place.branch)
    matching_lines = (line for line in packed.splitlines() if line.endswith(suffix))
    return next(matching_lines, b"").partition(b" ")[0].decode("ascii", "replace")


def sibling_roots(place: Checkout) -> list[str]:
    """The roots of the repository's other worktrees, as git has recorded them."""
    admin = os.path.join(place.common_dir, "worktrees")
    siblings: list[str] = []
    if os.path.basename(place.common_dir) == ".git":
        siblings.append(os.path.dirname(place.common_dir))
    for name in sorted(os.listdir(admin))[:_MOST_SIBLINGS] if os.path.isdir(admin) else []:
        dot_git = _text(os.path.join(admin, name, "gitdir"))
        if dot_git:
            own = os.path.join(admin, name)
            siblings.append(os.path.realpath(os.path.dirname(os.path.join(own, dot_git))))
    return [root for root in siblings if root != place.root and os.path.isdir(root)]


def _head(git_dir: str) -> tuple[str, str]:
    head_text = _text(os.path.join(git_dir, "HEAD"))
    if not head_text.startswith("ref:"):
        return "", head_text
    name = head_text.removeprefix("ref:").strip()
    # In a repository with a reftable, HEAD does not name the branch.
    return ("" if name == _HEADS + ".invalid" else name.removeprefix(_HEADS)), ""


def _followed(dot_git: str) -> str:
    pointer = _text(dot_git)
    if not pointer.startswith("gitdir:"):
        return ""
    return os.path.realpath(
        os.path.join(os.path.dirname(dot_git), pointer.removeprefix("gitdir:").strip())
    )


def _text(path: str) -> str:
    """The first line of a small file; empty for anything else, such as a pipe or device."""
    try:
        descriptor = os.open(path, _READ)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        data = os.read(descriptor, _LONGEST)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return os.fsdecode(data.split(b"\n", 1)[0].strip().replace(b"\0", b""))


def _digest(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
