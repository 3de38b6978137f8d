"""Reads the config, branch and HEAD of simple git repositories without libgit2.

A config file is plain if each line is a comment, a section head, or `name = value` without a
continuation line, and if it includes no other file. The results for such files equal libgit2's.
Without loading libgit2, a command takes a fifth less time.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.scope.location import (
    CONFIG_BYTES,
    REF_BYTES,
    Place,
    is_git_dir,
    read_plain,
    refuse_special_files,
    refuse_special_ref,
    shared_dir,
    users_configs,
)

if TYPE_CHECKING:
    import pygit2

_INCLUDING = {"include", "includeif"}
_REMARK = ("#", ";")
_QUOTED = ('"', "\\", *_REMARK)
_SEEN_ESCAPES = ("\\\\", '\\"', "\\n", "\\t", "\\b")
_YES = {"true", "yes", "on"}
_NO = {"false", "no", "off"}

Values = dict[str, str | None]
"""Whole name in lower case -> value; None for a value that is not plain."""


class NotPlain(Exception):
    """Only libgit2 can answer."""


class PlainConfig:
    """The settings of some files."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._values

    def has_section(self, name: str) -> bool:
        """Whether a section has any setting."""
        return any(key.startswith(f"{name}.") for key in self._values)

    def text(self, name: str) -> str | None:
        """Returns a setting as written; None if unset.

        Raises:
            NotPlain: the value is more than plain text.
        """
        key = name.lower()
        if key not in self._values:
            return None
        value = self._values[key]
        if value is None:
            raise NotPlain(name)
        return value

    def truth(self, name: str) -> bool | None:
        """Returns a boolean setting; None if unset.

        Raises:
            NotPlain: the value is not a usual boolean word.
        """
        value = self.text(name)
        if value is None:
            return None
        word = value.lower()
        if word not in _YES | _NO:
            raise NotPlain(name)
        return word in _YES


def read_config(files: Iterable[str]) -> PlainConfig:
    """Returns the settings of files. Later files win; a missing file has none.

    Raises:
        NotPlain: one of them is not plain, cannot be read, or is not a file.
    """
    values: Values = {}
    for file in files:
        values |= _values_in(_text_of(file))
    return PlainConfig(values)


def _text_of(file: str) -> str:
    try:
        data = read_plain(file, CONFIG_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        raise NotPlain(file) from error
    if len(data) == CONFIG_BYTES or b"\r" in data or b"\0" in data:
        raise NotPlain(file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotPlain(file) from error


def _values_in(text: str) -> Values:
    values: Values = {}
    section = ""
    for raw in text.split("\n"):
        line = raw.strip(" \t")
        if not line or line.startswith(_REMARK):
            continue
        if line[0] == "[":
            section = _section_of(line)
            continue
        name, equals, value = line.partition("=")
        name = name.rstrip(" \t")
        if not (section and equals and _is_name(name, "-") and name[0].isalpha()):
            raise NotPlain(line)
        values[f"{section}.{name.lower()}"] = _plain_value(value.lstrip(" \t"))
    return values


def _section_of(line: str) -> str:
    """Returns the name of the section that a line begins, including its subsection."""
    name, space, below = line[1:-1].partition(" ")
    if line[-1] != "]" or not _is_name(name, "-.") or name.lower() in _INCLUDING:
        raise NotPlain(line)
    if not space:
        return name.lower()
    inner = below[1:-1]
    if len(below) < 2 or below[0] + below[-1] != '""' or '"' in inner or "\\" in inner:
        raise NotPlain(line)
    return f"{name.lower()}.{inner}"


def _is_name(name: str, signs: str) -> bool:
    for sign in signs:
        name = name.replace(sign, "")
    return name.isascii() and name.isalnum()


def _plain_value(value: str) -> str | None:
    """Returns the value; None if it has quotes, escapes or a comment but is well-formed."""
    if not any(sign in value for sign in _QUOTED):
        return value if value.isprintable() else None
    for escape in _SEEN_ESCAPES:
        value = value.replace(escape, "")
    outside = value.split('"')
    ends = any(sign in part for part in outside[::2] for sign in _REMARK)
    if "\\" in value or not (ends or len(outside) % 2):
        raise NotPlain(value)
    return None


# Reads a repository's git config: parses it here if it is plain, otherwise with libgit2.


def config_files(git_dir: str, common_dir: str) -> list[str]:
    """Returns the files that may configure a worktree. Later files win."""
    home = str(Path.home())
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    personal = [named] if named else [os.path.join(xdg, "git", "config"), f"{home}/.gitconfig"]
    system = [] if os.environ.get("GIT_CONFIG_NOSYSTEM") else ["/etc/gitconfig"]
    own = [os.path.join(common_dir, "config"), os.path.join(git_dir, "config.worktree")]
    return [*system, *personal, *own]


class GitSettings:
    """The settings of one repository.

    Args:
        files: those of `config_files`.
        git: opens the repository with libgit2.
        plain: whether to try parsing the files first.
    """

    def __init__(
        self, files: list[str], git: Callable[[], pygit2.Repository], *, plain: bool
    ) -> None:
        self._files = files
        self._git = git
        self._may_be_plain = plain

    def text(self, name: str) -> str | None:
        """Returns a setting as written; None if unset."""
        if self._plain is not None:
            with contextlib.suppress(NotPlain):
                return self._plain.text(name)
        try:
            return self._config[name]
        except KeyError:
            return None

    def path(self, name: str) -> str | None:
        """Returns a path setting with `~` expanded."""
        value = self.text(name)
        return os.path.expanduser(value) if value else value

    def truth(self, name: str, *, usual: bool = False) -> bool:
        """Returns a boolean setting; `usual` if it is unset or invalid."""
        if self._plain is not None:
            with contextlib.suppress(NotPlain):
                is_set = self._plain.truth(name)
                return usual if is_set is None else is_set
        try:
            return self._config.get_bool(name)
        except (KeyError, ValueError):
            return usual

    @cached_property
    def _plain(self) -> PlainConfig | None:
        if self._may_be_plain:
            with contextlib.suppress(NotPlain):
                return read_config(self._files)
        return None

    @cached_property
    def _config(self) -> pygit2.Config:
        """Opens the config with libgit2, which ignores git's variables for config paths."""
        import pygit2

        if not {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"} & os.environ.keys():
            return self._git().config
        config = pygit2.Config()
        for level, file in enumerate(self._files, 1):
            if os.path.isfile(file):
                config.add_file(file, level)  # pyright: ignore[reportUnknownMemberType]
        return config


# Reads branch and HEAD of simple git repositories without libgit2.
#
# Most repositories are simple: refs in files, SHA-1, no extension, the place is the worktree, and
# the user owns it. In any other or doubtful case libgit2 decides, which takes 40 ms to load:
# `plain_repository` returns None, and later calls may raise `NotPlain`. All results equal
# libgit2's.

_SYMBOLIC = "ref: "
_HEADS = "refs/heads/"
_PACKED_BYTES = 1_000_000
"""In larger packed refs libgit2 finds a ref faster, as it need not read all of them."""
_PATH_BYTES = 64 * 1024
_OID = r"[0-9a-f]{40}"
_BRANCH = re.compile(r"[A-Za-z0-9_+=-][A-Za-z0-9_+=.-]*(?:/[A-Za-z0-9_+=-][A-Za-z0-9_+=.-]*)*")
"""Names that are valid by all of git's rules, together with `_is_branch`."""


class PlainRepository:
    """A simple repository. Its state is read again at each call."""

    def __init__(self, place: Place, common_dir: str) -> None:
        self._place = place
        self._common_dir = common_dir

    def head(self) -> tuple[str, str]:
        """Returns the branch, empty if HEAD is detached, and the commit.

        Raises:
            NotPlain: only libgit2 can answer.
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
        # Before the first ref is a comment on their sort order.
        end_of_its_line = f" {name}\n".encode()
        if end_of_its_line not in data:
            raise NotPlain(name)
        before = data.partition(end_of_its_line)[0]
        return _commit_in(before.rpartition(b"\n")[2].decode("ascii", "replace"))


def plain_repository(place: Place) -> PlainRepository | None:
    """Returns a reader without libgit2; None if libgit2 has to open the repository.

    Raises:
        UnsupportedRepository: a git file is a pipe, a socket or a device, or far too large.
    """
    if place.kind != "worktree" or os.name != "posix" or os.getuid() != os.geteuid():
        return None
    refuse_special_files(place.root, place.git_dir)
    try:
        common_dir = _common_dir(place)
        _require_ownership(
            [place.root, os.path.join(place.root, ".git"), place.git_dir, common_dir]
        )
        _require_plain_settings(place, common_dir)
        _require_plain_history(common_dir)
    except (NotPlain, OSError, ValueError):
        return None
    return PlainRepository(place, common_dir)


def _common_dir(place: Place) -> str:
    """Returns the folder that all worktrees share, if this is the main worktree or a linked one."""
    dot_git = os.path.join(place.root, ".git")
    common_dir = os.path.realpath(shared_dir(place.git_dir))
    if os.path.islink(dot_git):
        raise NotPlain(dot_git)
    linked = os.path.lexists(os.path.join(place.git_dir, "commondir"))
    if os.path.isdir(dot_git):
        if linked or place.git_dir != dot_git:
            raise NotPlain(dot_git)
        return common_dir
    # git recorded where the worktree was added; it may have been moved since.
    noted = os.path.join(place.git_dir, "gitdir")
    if not (linked and is_git_dir(common_dir)) or _line_of(noted) != dot_git:
        raise NotPlain(noted)
    if os.path.lexists(os.path.join(place.git_dir, "config")):
        raise NotPlain("it has its own config")
    return common_dir


def _require_ownership(paths: list[str]) -> None:
    user = os.geteuid()
    for path in paths:
        if os.lstat(path).st_uid != user or os.stat(path).st_uid != user:
            raise NotPlain(path)


def _require_plain_settings(place: Place, common_dir: str) -> None:
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


def _require_plain_history(common_dir: str) -> None:
    """Requires that there are no grafts and no shallow file, either of which may be damaged."""
    if os.path.lexists(os.path.join(common_dir, "info", "grafts")):
        raise NotPlain("grafts")
    shallow = os.path.join(common_dir, "shallow")
    if os.path.lexists(shallow):
        for line in _bytes_of(shallow, _PACKED_BYTES).decode("ascii").splitlines():
            _commit_in(line)


def _is_branch(name: str) -> bool:
    """Whether a name has only letters, digits and characters without a special meaning."""
    if not _BRANCH.fullmatch(name) or ".." in name:
        return False
    return not any(part.endswith((".", ".lock")) for part in name.split("/"))


def _commit_in(text: str) -> str:
    if not re.fullmatch(_OID, text):
        raise NotPlain(text)
    return text


def _line_of(file: str) -> str:
    """Returns the only line of a file, without its line end."""
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
