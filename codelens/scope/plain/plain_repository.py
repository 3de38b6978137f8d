"""A git repository of the plainest kind, told without libgit2: its branch, HEAD and settings.

Most are of it: files-based refs, SHA-1, no extension, the folder that a question is about is the
worktree, and the asking user owns it. Whatever else is found here, or cannot be told for sure, is
libgit2's to judge, which takes 40 ms to load: `plain_repository` gives None then, and each question
may raise `NotPlain`. Nothing is told here that libgit2 would tell otherwise.
"""

from __future__ import annotations

import os
import re
import stat

from codelens.scope.plain.plain_config import NotPlain, read_config
from codelens.scope.special_files import (
    REF_BYTES,
    read_plain,
    refuse_special_files,
    refuse_special_ref,
    users_configs,
)
from codelens.scope.worktree_location import Place, is_git_dir, shared_dir

_SYMBOLIC = "ref: "
_HEADS = "refs/heads/"
_PACKED_BYTES = 1_000_000
"""Of more packed refs libgit2 finds one sooner, as it need not read them all."""
_PATH_BYTES = 64 * 1024
_OID = r"[0-9a-f]{40}"
_BRANCH = re.compile(r"[A-Za-z0-9_+=-][A-Za-z0-9_+=.-]*(?:/[A-Za-z0-9_+=-][A-Za-z0-9_+=.-]*)*")
"""Names that are good in all of git's rules, together with `_is_branch`."""


class PlainRepository:
    """One that was found to be plain; what it says is read anew at each question."""

    def __init__(self, place: Place, common_dir: str) -> None:
        self._place = place
        self._common_dir = common_dir

    def head(self) -> tuple[str, str]:
        """The branch, empty where HEAD is detached, and the commit.

        Raises:
            NotPlain: ask libgit2.
            UnsupportedRepository: a file is a pipe, or far too large.
        """
        file = os.path.join(self._place.git_dir, "HEAD")
        if os.path.islink(file):
            raise NotPlain(file)
        text = _line_of(file)
        if not text.startswith(_SYMBOLIC):
            return "", _commit_in(text)
        name = text.removeprefix(_SYMBOLIC)
        branch = name.removeprefix(_HEADS)
        if branch == name or not _is_branch(branch):
            raise NotPlain(name)
        refuse_special_ref(self._place.root, self._common_dir, name)
        loose = os.path.join(self._common_dir, name)
        return branch, _commit_in(_line_of(loose)) if os.path.lexists(loose) else self._packed(name)

    def _packed(self, name: str) -> str:
        file = os.path.join(self._common_dir, "packed-refs")
        data = _bytes_of(file, _PACKED_BYTES)
        # The first of them follows a remark on how they are sorted.
        end_of_its_line = f" {name}\n".encode()
        if end_of_its_line not in data:
            raise NotPlain(name)
        before = data.partition(end_of_its_line)[0]
        return _commit_in(before.rpartition(b"\n")[2].decode("ascii", "replace"))


def plain_repository(place: Place) -> PlainRepository | None:
    """What answers without libgit2; None if libgit2 has to open the repository.

    Raises:
        UnsupportedRepository: a file of git's is a pipe, a socket or a device, or far too large.
    """
    if place.kind != "worktree" or os.name != "posix" or os.getuid() != os.geteuid():
        return None
    refuse_special_files(place.root, place.git_dir)
    try:
        common_dir = _common_dir(place)
        _need_own([place.root, os.path.join(place.root, ".git"), place.git_dir, common_dir])
        _need_plain_settings(place, common_dir)
        _need_plain_history(common_dir)
    except (NotPlain, OSError, ValueError):
        return None
    return PlainRepository(place, common_dir)


def _common_dir(place: Place) -> str:
    """The folder that all worktrees share, where this one is the main one or one linked to it."""
    dot_git = os.path.join(place.root, ".git")
    common_dir = os.path.realpath(shared_dir(place.git_dir))
    if os.path.islink(dot_git):
        raise NotPlain(dot_git)
    linked = os.path.lexists(os.path.join(place.git_dir, "commondir"))
    if os.path.isdir(dot_git):
        if linked or place.git_dir != dot_git:
            raise NotPlain(dot_git)
        return common_dir
    # What git noted of a worktree is where it was added; it may have been moved since.
    noted = os.path.join(place.git_dir, "gitdir")
    if not (linked and is_git_dir(common_dir)) or _line_of(noted) != dot_git:
        raise NotPlain(noted)
    if os.path.lexists(os.path.join(place.git_dir, "config")):
        raise NotPlain("a config of its own")
    return common_dir


def _need_own(paths: list[str]) -> None:
    user = os.geteuid()
    for path in paths:
        if os.lstat(path).st_uid != user or os.stat(path).st_uid != user:
            raise NotPlain(path)


def _need_plain_settings(place: Place, common_dir: str) -> None:
    if not os.environ.get("HOME") or os.environ.get("XDG_CONFIG_HOME") == "":
        raise NotPlain("HOME")
    for folder in (common_dir, place.git_dir):
        if os.path.lexists(os.path.join(folder, "config.worktree")):
            raise NotPlain("config.worktree")
    own = read_config([os.path.join(common_dir, "config")])
    everybodys = read_config(users_configs())
    if (
        own.text("core.repositoryFormatVersion") != "0"
        or own.truth("core.bare") is not False
        or any(
            "core.worktree" in config or config.has_section("extensions")
            for config in (own, everybodys)
        )
    ):
        raise NotPlain("config")


def _need_plain_history(common_dir: str) -> None:
    """Grafts and ends of a shallow clone are read as a repository is opened, and may be damaged."""
    if os.path.lexists(os.path.join(common_dir, "info", "grafts")):
        raise NotPlain("grafts")
    shallow = os.path.join(common_dir, "shallow")
    if os.path.lexists(shallow):
        for line in _bytes_of(shallow, _PACKED_BYTES).decode("ascii").splitlines():
            _commit_in(line)


def _is_branch(name: str) -> bool:
    """Whether a name needs no thought: letters, digits and signs without a meaning."""
    if not _BRANCH.fullmatch(name) or ".." in name:
        return False
    return not any(part.endswith((".", ".lock")) for part in name.split("/"))


def _commit_in(text: str) -> str:
    if not re.fullmatch(_OID, text):
        raise NotPlain(text)
    return text


def _line_of(file: str) -> str:
    """The only line of a file, without its end."""
    data = _bytes_of(file, min(_PATH_BYTES, REF_BYTES))
    try:
        return data.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise NotPlain(file) from error


def _bytes_of(file: str, most: int) -> bytes:
    try:
        data = read_plain(file, most)
        if not stat.S_ISREG(os.stat(file).st_mode) or len(data) == most:
            raise NotPlain(file)
    except (OSError, ValueError) as error:
        raise NotPlain(file) from error
    return data
