"""Handles with an absolute path, which say by themselves which worktree they are of.

/src/shop/auth.py#Session.validate
main:/src/shop/auth.py:10-42
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from codelens.errors import ScopeError
from codelens.paths import from_printed, printed
from codelens.scope.worktree_location import locate

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_REF = re.compile(r"[^:#/][^:#]*:(?=/|[A-Za-z]:[\\/])")
_LINES = re.compile(r":[0-9]+(?:[-:][0-9]+)?\Z")


def in_worktree(handle: str, root: str, ref: str = "") -> str:
    """A handle of the worktree at `root`, with its path made absolute.

    Args:
        handle: with a path that is relative to the root, and with the ref, if there is one.
        root: top of the worktree.
        ref: that the handle begins with.
    """
    sign = f"{printed(os.fsencode(ref))}:" if ref else ""
    top = printed(os.fsencode(root)).rstrip("/")
    return f"{sign}{top}/{handle.removeprefix(sign)}"


def common_worktree(handles: Sequence[str]) -> str:
    """The top of the git worktree that all of some absolute handles are in; empty for others."""
    roots = {_root_of(handle) for handle in handles}
    return roots.pop() if len(roots) == 1 else ""


def _root_of(handle: str) -> str:
    folder = _folder_of(handle)
    try:
        place = locate(folder) if folder else None
    except ScopeError:
        return ""
    # A folder without git is looked at when it is named itself, not for a file in it.
    return place.root if place is not None and place.git_dir else ""


def _folder_of(handle: str) -> str:
    """A folder that is there, above what an absolute handle names; empty for any other handle."""
    text = handle.strip()
    ref = None if _DRIVE.match(text) else _REF.match(text)
    path = text[ref.end() :] if ref else text
    if not (path.startswith("/") or _DRIVE.match(path)):
        return ""
    path = _LINES.sub("", path.partition("#")[0])
    folder = os.path.dirname(os.fsdecode(from_printed(path)))
    while folder and not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder
