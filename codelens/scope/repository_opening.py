"""Opens a place with libgit2, if git itself accepts the place.

git determines where the files are: `core.worktree` may name another folder. A linked worktree that
was moved by hand remains one for git, which follows the `.git` file there, while libgit2 uses the
folder where the worktree was added.
"""

from __future__ import annotations

import os
import shlex

import pygit2

from codelens.errors import (
    ScopeError,
    UnsupportedRepository,
)
from codelens.scope.location import Place, refuse_special_files

# libgit2 refuses unknown extensions; these do not affect anything that is read here.
pygit2.settings.set_extensions(
    ["partialclone", "worktreeconfig", "relativeworktrees", "preciousobjects", "noop"]
)


# To hash each object takes longer than to read it. Like git, rely on the checksum of the compressed
# data, which finds damage.
pygit2.settings.enable_strict_hash_verification(False)


class ForeignRepository(ScopeError):
    """Another user owns the repository."""

    def __init__(self, path: str) -> None:
        self.path = str(path)
        super().__init__(
            f"the repository at {self.path!r} belongs to another user; if you trust it run "
            f"`git config --global --add safe.directory {self.path}`"
        )


def opened(place: Place) -> tuple[pygit2.Repository, Place]:
    """Returns the open repository, and its place, which may turn out to be bare.

    Raises:
        UnsupportedRepository: libgit2 cannot open it, it would block, or its files are elsewhere.
        ForeignRepository: another user owns it.
    """
    refuse_special_files(place.root, place.git_dir)
    git = _open(place)
    if place.kind == "bare" or git.is_bare:
        return git, place._replace(kind="bare")
    linked = os.path.isfile(os.path.join(place.git_dir, "commondir"))
    root = os.path.realpath(place.root)
    added_at = os.path.realpath(git.workdir or root)
    files = os.path.realpath(_named(place.git_dir) or root) if linked else added_at
    if files != root:
        raise _elsewhere(place, files)
    if added_at != root:
        git.workdir = root
    return git, place


def _open(place: Place) -> pygit2.Repository:
    target = place.root if place.kind == "worktree" else place.git_dir
    try:
        return pygit2.Repository(target, pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        # OSError: an invalid file name in `commondir` or `config`.
        text = str(error)
        if "not owned by" in text:
            raise ForeignRepository(target) from error
        files = _named(place.git_dir)
        if files and not os.path.isdir(files):
            raise _elsewhere(place, os.path.normpath(files)) from error
        raise UnsupportedRepository(target, text, _remedy(text)) from error


def _named(git_dir: str) -> str:
    """Returns the folder that `core.worktree` names, as git reads it; empty if it names none."""
    own = os.path.join(git_dir, "config")
    if os.path.isfile(own):
        return _value(own, git_dir)
    # For a linked worktree the main config's setting counts only with this extension.
    shared = os.path.join(git_dir, "..", "..", "config")
    try:
        if not pygit2.Config(shared).get_bool("extensions.worktreeConfig"):
            return ""
    except (KeyError, ValueError, pygit2.GitError):
        return ""
    return _value(os.path.join(git_dir, "config.worktree"), git_dir) or _value(shared, git_dir)


def _value(file: str, git_dir: str) -> str:
    if not os.path.isfile(file):
        return ""
    try:
        named = pygit2.Config(file)["core.worktree"]
    except (KeyError, ValueError, pygit2.GitError):
        return ""
    return os.path.join(git_dir, named) if named else ""


def _elsewhere(place: Place, files: str) -> UnsupportedRepository:
    why = f"core.worktree points to {files!r}"
    if os.path.isdir(files):
        remedy = "index that folder by itself, or unset core.worktree"
        return UnsupportedRepository(place.root, why, remedy)
    config = os.path.join(place.git_dir, "config")
    if not os.path.isfile(config):
        remedy = "unset core.worktree"
    elif f"{os.sep}modules{os.sep}" in place.git_dir:
        remedy = "move the submodule back, then move it with `git mv`"
    else:
        setting = f"git config --file {shlex.quote(config)} core.worktree {shlex.quote(place.root)}"
        remedy = f"if it was moved, run `{setting}`"
    return UnsupportedRepository(place.root, f"{why}, which is gone", remedy)


def _remedy(text: str) -> str:
    low = text.lower()
    if "sha256" in low or "object format" in low or "objectformat" in low:
        return "libgit2 reads SHA-1 repositories only; index an export of it as a plain folder"
    if "refstorage" in low or "reftable" in low:
        return "libgit2 does not read reftable; `git refs migrate --ref-format=files` converts it"
    return "check it with `git -C <path> status`"
