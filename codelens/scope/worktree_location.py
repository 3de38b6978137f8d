"""From any path to the folder that a question is about: the nearest worktree, or a plain folder.

Climbs to the nearest `.git`, file or folder, and never past a worktree's `.git` file: a worktree
nested in another checkout answers for itself. Home, `/` and hosts' own folders are refused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple

from codelens.errors import NoSuchPath, RefusedFolder, UnsupportedRepository, WorkingFolderGone
from codelens.paths import can_be_named

_GITFILE_LIMIT = 64 * 1024
HOST_FOLDERS = (
    ".claude .codex .cursor .gemini .copilot .qwen .config .factory .continue .codeium .vscode "
    ".codelens .cache .local .ssh .npm .amp .pi .kiro .junie Library AppData"
).split()


class Place(NamedTuple):
    """Where a question was asked."""

    kind: Literal["worktree", "folder", "bare"]
    root: str
    """Top of the worktree, the plain folder, or the bare repository."""
    git_dir: str
    """The repository's folder for this worktree; empty for a plain folder."""


def locate(path: str | os.PathLike[str]) -> Place:
    """The place that `path` lies in.

    Raises:
        NoSuchPath: nothing is there.
        WorkingFolderGone: it is relative to a folder that was deleted.
        RefusedFolder: it is a folder never indexed as a whole.
        UnsupportedRepository: a `.git` file that points nowhere.
    """
    path_text = os.fspath(path)
    if not can_be_named(path_text):
        raise NoSuchPath(path_text)
    try:
        here = os.path.realpath(os.path.expanduser(path_text))
    except FileNotFoundError as error:
        raise WorkingFolderGone from error
    if not os.path.lexists(here):
        raise NoSuchPath(path_text)
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    place = _climb(here) or Place("folder", here, "")
    why = refused(place.root, repository=place.kind != "folder")
    if why:
        raise RefusedFolder(place.root, why)
    return place


class LinkOut(NamedTuple):
    """A link of a worktree that leads out of it."""

    link: str
    worktree: str
    target: str


def link_out(path: str | os.PathLike[str]) -> LinkOut | None:
    """The link by which `path` leaves the worktree that it begins in; None if it stays.

    What a repository holds may not decide that a question is about something outside of it. Links
    of plain folders, and of a home folder kept under git, are the user's own.
    """
    path_text = os.fspath(path)
    drive, rest = os.path.splitdrive(os.path.expanduser(path_text))
    here = drive + os.sep
    for name in rest.split(os.sep):
        if name in {"", "."}:
            continue
        if name == "..":
            here = os.path.dirname(here)
            continue
        at = os.path.join(here, name)
        here = os.path.realpath(at) if os.path.islink(at) else at
        if here == at:
            continue
        holder = _climb(os.path.dirname(at))
        if holder is None or holder.kind != "worktree" or refused(holder.root, repository=True):
            continue
        if here != holder.root and not here.startswith(holder.root + os.sep):
            return LinkOut(at, holder.root, here)
    return None


def _climb(here: str) -> Place | None:
    folder = here
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.isdir(dot_git):
            if is_git_dir(dot_git):
                return Place("worktree", folder, dot_git)
        elif os.path.isfile(dot_git):
            return Place("worktree", folder, _follow_gitfile(dot_git))
        if is_git_dir(folder):
            # Inside a `.git` folder the worktree around it is meant.
            if os.path.basename(folder) == ".git":
                return Place("worktree", os.path.dirname(folder), folder)
            return Place("bare", folder, folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def shared_dir(git_dir: str) -> str:
    """The folder that all worktrees of a repository share, as `git_dir` names it."""
    try:
        with open(
            os.path.join(git_dir, "commondir"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            # What git reads as a C string ends at a NUL.
            named = file.read(_GITFILE_LIMIT).partition("\0")[0]
            return os.path.join(git_dir, named.strip())
    except OSError:
        return git_dir


def is_git_dir(folder: str) -> bool:
    """Whether git takes a folder for one of its own."""
    head = os.path.join(folder, "HEAD")
    if not (os.path.isfile(head) or os.path.islink(head)):
        return False
    if os.path.isfile(os.path.join(folder, "commondir")):
        return True
    return all(os.path.isdir(os.path.join(folder, name)) for name in ("objects", "refs"))


def _follow_gitfile(dot_git: str) -> str:
    remedy = "repair or remove that .git file"
    try:
        with open(dot_git, "rb") as file:
            text = file.read(_GITFILE_LIMIT)
    except OSError as error:
        raise UnsupportedRepository(dot_git, str(error), remedy) from error
    if not text.startswith(b"gitdir:"):
        raise UnsupportedRepository(dot_git, "its .git file is invalid", remedy)
    target = os.fsdecode(text[len(b"gitdir:") :].strip())
    if not target or "\0" in target:
        raise UnsupportedRepository(dot_git, "its .git file is invalid", remedy)
    git_dir = os.path.realpath(os.path.join(os.path.dirname(dot_git), target))
    if not is_git_dir(git_dir):
        why = f"it points to {git_dir!r}, which is gone"
        raise UnsupportedRepository(dot_git, why, _remedy_of_gone(dot_git, git_dir))
    return git_dir


def _remedy_of_gone(dot_git: str, git_dir: str) -> str:
    import shlex

    root = os.path.dirname(dot_git)
    if os.path.basename(os.path.dirname(git_dir)) == "worktrees":
        repair = f"git worktree repair {shlex.quote(root)}"
        return f"if the main repository was moved, run `{repair}` there; else remove that .git file"
    if f"{os.sep}modules{os.sep}" in git_dir:
        return "a submodule is moved with `git mv`: move it back and do that"
    return "if that was moved, write its new place into the .git file: gitdir: PATH"


def refused(folder: str, *, repository: bool) -> str:
    """Why a folder is never indexed as a whole; empty if it may be."""
    home = os.path.realpath(Path.home())
    if folder == os.path.dirname(folder):
        return "the root of the file system"
    if folder == home:
        return "a home folder"
    if home.startswith(folder.rstrip(os.sep) + os.sep):
        return "a folder above a home folder"
    if repository:
        return ""
    import tempfile

    if folder == os.path.realpath(tempfile.gettempdir()):
        return "the folder for temporary files"
    if os.path.dirname(folder) == os.path.dirname(os.path.dirname(folder)):
        return "a top-level folder of the system"
    for name in HOST_FOLDERS:
        own = os.path.join(home, name)
        if folder == own or folder.startswith(own + os.sep):
            return f"inside {own}, where tools keep their own files"
    return ""
