"""Whether a folder is the top of another repository, as git's `is_nonbare_repository_dir` has it.

Its contents belong to that repository, so they never belong to the one around it. A `.git` that
is no repository (an empty folder, a file that points nowhere) changes nothing.
"""

from __future__ import annotations

import os
import re
import stat as stat_module
from typing import Final

_GITFILE_LIMIT: Final = 1 << 20
_HEAD_BYTES: Final = 255
_GITFILE_START: Final = b"gitdir: "
# A symbolic ref below refs/, or a detached commit. git's isspace has no vertical tab.
_HEAD: Final = re.compile(rb"ref:[ \t\n\r]*refs/|[0-9a-fA-F]{40}")


def is_repository(folder: bytes, own_git_dir: bytes | None = None) -> bool:
    """Whether the folder has a `.git` that is a repository, or leads to one.

    `own_git_dir` is the repository being looked at, which is not nested in itself.
    """
    dot_git = os.path.join(folder, b".git")
    try:
        status = os.stat(dot_git)
    except (OSError, ValueError):
        return False
    if stat_module.S_ISREG(status.st_mode):
        nested = status.st_size <= _GITFILE_LIMIT and _leads_to_one(dot_git)
    else:
        nested = _is_git_dir(dot_git)
    if not nested or own_git_dir is None:
        return nested
    return os.path.realpath(dot_git) != os.path.realpath(own_git_dir)


def _leads_to_one(gitfile: bytes) -> bool:
    try:
        with open(gitfile, "rb") as file:
            text = file.read(_GITFILE_LIMIT)
    except OSError:
        return True  # git takes one that it may not read for a repository
    if not text.startswith(_GITFILE_START):
        return False
    target = text.rstrip(b"\r\n")[len(_GITFILE_START) :].split(b"\0", 1)[0]
    return bool(target) and _is_git_dir(os.path.join(os.path.dirname(gitfile), target))


def _is_git_dir(folder: bytes) -> bool:
    """As git's `is_git_directory`, with no environment variable in play."""
    if not _is_head(os.path.join(folder, b"HEAD")):
        return False
    common = _common_dir(folder)
    return all(os.access(os.path.join(common, name), os.X_OK) for name in (b"objects", b"refs"))


def _is_head(path: bytes) -> bool:
    try:
        status = os.lstat(path)
        if stat_module.S_ISLNK(status.st_mode):
            return os.readlink(path).startswith(b"refs/")
        if not stat_module.S_ISREG(status.st_mode):
            return False
        with open(path, "rb") as file:
            text = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return _HEAD.match(text) is not None


def _common_dir(folder: bytes) -> bytes:
    named = os.path.join(folder, b"commondir")
    if not os.path.isfile(named):
        return folder  # to open a pipe is to wait
    try:
        with open(named, "rb") as file:
            text = file.read(_GITFILE_LIMIT)
    except OSError:
        return folder
    target = text.rstrip(b"\r\n").split(b"\0", 1)[0]
    return os.path.join(folder, target) if target else folder
