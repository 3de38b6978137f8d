"""The linked worktrees that git knows of, by its own notes on them."""

from __future__ import annotations

import os

from codelens.scope.special_files import read_plain

_PATH_BYTES = 64 * 1024


def listed_worktrees(common_dir: str) -> dict[str, bool]:
    """Roots of the linked worktrees, and whether they are locked.

    Raises:
        OSError: the list cannot be read.
    """
    admin = os.path.join(common_dir, "worktrees")
    is_locked: dict[str, bool] = {}
    if not os.path.isdir(admin):
        os.stat(common_dir)
        return is_locked
    for name in os.listdir(admin):
        own = os.path.join(admin, name)
        try:
            text = read_plain(os.path.join(own, "gitdir"), _PATH_BYTES).strip()
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not text or b"\0" in text:
            continue
        # Relative since git 2.48, if so configured.
        dot_git = os.path.join(own, os.fsdecode(text))
        is_locked[os.path.realpath(os.path.dirname(dot_git))] = os.path.exists(f"{own}/locked")
    return is_locked
