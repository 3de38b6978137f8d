"""Handles as they are typed in a shell: paths are relative to where one stands, then to the top."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_LINES = re.compile(r":[0-9]+(?:-[0-9]+|:[0-9]+)?\Z")


def from_here(target: str, path: str, *, folders: bool = False) -> str:
    """A handle whose path exists where one stands, or starts with a dot, with it made absolute.

    Others are left as they are: relative to the top of the worktree.

    Args:
        target: a handle, a file or a folder.
        path: where one stands, `-C`.
        folders: a single word may be a folder that is here, and no name.
    """
    dotted = target in {".", ".."} or target.startswith(("./", "../", f".{os.sep}", f"..{os.sep}"))
    # Escaped as in a handle, and `#` and `:` left to be what follows the path.
    here = os.path.realpath(path)
    folder = here if os.path.isdir(here) else os.path.dirname(here)
    if dotted:
        return f"{_shown(os.path.join(folder, ''))}{target}"
    if not _is_here(target, folder, folders):
        return target
    top = folder
    while not os.path.exists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return f"{_shown(os.path.join(folder, ''))}{target}"
        top = above
    within = os.path.relpath(folder, top).replace(os.sep, "/")
    return target if within == "." else f"{_shown(within)}/{target}"


def standing_at(path: str, targets: Sequence[str]) -> str:
    """Where a question is asked from: `-C`, else the worktree that absolute handles are of."""
    if path != "." or not all(map(_is_absolute, targets)):
        return path
    from codelens.engine.worktree_paths import common_worktree

    return common_worktree(targets) or path


def _is_absolute(target: str) -> bool:
    return os.path.isabs(target.rpartition(":")[2]) or os.path.isabs(target)


def _shown(path: str) -> str:
    from codelens.paths import printed

    return printed(os.fsencode(path))


def _is_here(target: str, folder: str, folders: bool) -> bool:
    named = _LINES.sub("", target.partition("#")[0])
    if not named or "\0" in named or os.path.isabs(named):
        return False
    there = os.path.join(folder, named)
    if os.path.isfile(there):
        return True
    return os.path.isdir(there) and (folders or "/" in named)
