"""Finds the worktree or folder of a path, and checks that its git files are safe to open."""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from codelens.errors import (
    NoSuchPath,
    RefusedFolder,
    UnsupportedRepository,
    WorkingFolderGone,
)
from codelens.paths import can_be_named

_TABLE = "/proc/self/mountinfo"
_LEAST_FIELDS = 10
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Mount(NamedTuple):
    """A line of the table; see proc_pid_mountinfo(5)."""

    number: int
    parent: int
    within: bytes
    """The folder of the file system that is mounted: `/`, or another one for a bind mount."""
    point: bytes
    filesystem: bytes
    """The type of the file system and its source."""


def mounts(table: bytes | None = None) -> list[Mount]:
    """Returns all mounts of this process; empty if there is no table.

    Args:
        table: read in place of the kernel's table.
    """
    if table is None:
        try:
            table = Path(_TABLE).read_bytes()
        except OSError:
            return []
    return [mount for line in table.splitlines() if (mount := _mount(line)) is not None]


def _mount(line: bytes) -> Mount | None:
    fields = line.split(b" ")
    # A single dash ends the optional fields.
    if len(fields) < _LEAST_FIELDS or b"-" not in fields[6:]:
        return None
    end = fields.index(b"-", 6)
    filesystem = b" ".join(fields[end + 1 : end + 3])
    return Mount(int(fields[0]), int(fields[1]), _plain(fields[3]), _plain(fields[4]), filesystem)


def _plain(field: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), field)


def mount_of(folder: str, table: Iterable[Mount]) -> Mount | None:
    """Returns the mount that contains a folder; None if the table does not show it.

    Args:
        folder: an absolute path without links.
        table: the mounts of the process.
    """
    path = os.fsencode(folder)
    covering = [mount for mount in table if _is_below(path, mount.point)]
    numbers = {mount.number for mount in covering}
    nearest: Mount | None = None
    while True:
        # If a mount hides another one further down, both have the same parent; the one nearer to
        # the root is visible.
        above = [
            mount
            for mount in covering
            if (mount.parent not in numbers if nearest is None else mount.parent == nearest.number)
        ]
        if not above:
            return nearest
        nearest = min(above, key=lambda mount: len(mount.point))
        covering.remove(nearest)


def _is_below(path: bytes, point: bytes) -> bool:
    return path == point or path.startswith(point.rstrip(b"/") + b"/")


# Finds the place of a path: the nearest worktree, or a plain folder.
#
# Climbs to the nearest `.git`, file or folder, and never past a worktree's `.git` file: a worktree
# nested in another checkout is its own place. Home, `/` and the folders of host tools are refused.

_GITFILE_LIMIT = 64 * 1024
HOST_FOLDERS = (
    ".claude .codex .cursor .gemini .copilot .qwen .config .factory .continue .codeium .vscode "
    ".codelens .cache .local .ssh .npm .amp .pi .kiro .junie Library AppData"
).split()


class Place(NamedTuple):
    """The worktree, folder or bare repository that a query is about."""

    kind: Literal["worktree", "folder", "bare"]
    root: str
    """The top of the worktree, the plain folder, or the bare repository."""
    git_dir: str
    """The repository's folder for this worktree; empty for a plain folder."""


def locate(path: str | os.PathLike[str]) -> Place:
    """Returns the place that contains `path`.

    Raises:
        NoSuchPath: the path does not exist.
        WorkingFolderGone: it is relative to a folder that was deleted.
        RefusedFolder: it is a folder that is never indexed as a whole.
        UnsupportedRepository: a `.git` file points nowhere.
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
    """A link in a worktree to a target outside of it."""

    link: str
    worktree: str
    target: str


def link_out(path: str | os.PathLike[str]) -> LinkOut | None:
    """Returns the link by which `path` leaves its worktree; None if it stays inside.

    The content of a repository must not direct a question to files outside of it. Links in plain
    folders, and in a home folder under git, are the user's own.
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
            # Within a `.git` folder, the place is the worktree around it.
            if os.path.basename(folder) == ".git":
                return Place("worktree", os.path.dirname(folder), folder)
            return Place("bare", folder, folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def shared_dir(git_dir: str) -> str:
    """Returns the folder that all worktrees of a repository share, as `git_dir` names it."""
    try:
        with open(
            os.path.join(git_dir, "commondir"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            # git reads a C string, which ends at a NUL.
            named = file.read(_GITFILE_LIMIT).partition("\0")[0]
            return os.path.join(git_dir, named.strip())
    except OSError:
        return git_dir


def is_git_dir(folder: str) -> bool:
    """Whether git accepts a folder as a git folder."""
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
        raise UnsupportedRepository(dot_git, why, _remedy_for_missing(dot_git, git_dir))
    return git_dir


def _remedy_for_missing(dot_git: str, git_dir: str) -> str:

    root = os.path.dirname(dot_git)
    if os.path.basename(os.path.dirname(git_dir)) == "worktrees":
        repair = f"git worktree repair {shlex.quote(root)}"
        return f"if the main repository was moved, run `{repair}` there; else remove that .git file"
    if f"{os.sep}modules{os.sep}" in git_dir:
        return "move the submodule back, then move it with `git mv`"
    return "if it was moved, write its new path into the .git file: gitdir: PATH"


def refused(folder: str, *, repository: bool) -> str:
    """Returns why a folder is never indexed as a whole; empty if it may be."""
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


# Refuses git files that must not be opened: pipes, devices, and files that are far too large.
#
# libgit2 and git open such files and read them whole. A pipe blocks until somebody writes to it; a
# `gitdir` of 3 GB takes 3 GB of memory. Both are refused before anything is opened. The check reads
# only configs, which may include others.

_KB, _MB = 1024, 1024 * 1024
_CONFIG_LIMIT = 16 * _MB
_OWN: Mapping[str, int] = {
    # A larger file is not a valid HEAD. libgit2 would spend a minute on it.
    "HEAD": 64 * _KB,
    "commondir": 64 * _KB,
    "gitdir": 64 * _KB,
    "config.worktree": _CONFIG_LIMIT,
    "index": 1024 * _MB,
}
_SHARED: Mapping[str, int] = {
    "packed-refs": 512 * _MB,
    "shallow": 64 * _MB,
    "info/attributes": 100 * _MB,
    "info/grafts": 64 * _MB,
    "objects/info/alternates": 1 * _MB,
    # libgit2 maps it and reads only the parts that it needs.
    "objects/pack/multi-pack-index": sys.maxsize,
    "objects/info/commit-graph": sys.maxsize,
    "objects/info/commit-graphs/commit-graph-chain": 1 * _MB,
}
"""Largest accepted size in bytes by file name."""
REF_BYTES = 64 * _KB
"""Largest file of one ref, in bytes."""
_NAME_OF_A_REF = b"ref:"
_MOST_NAMES_OF_A_REF = 10
"""A symbolic ref may name another one; git follows five, libgit2 ten."""
LOG_BYTES = 64 * _MB
"""Largest log of a ref, in bytes; some 400,000 changes."""
BLOB_BYTES = 128 * _MB
"""Largest blob to read, in bytes: a loose object of 3 MB may hold 3 GB."""
RULES_BYTES = 100 * _MB
"""Largest file of ignore rules or attributes, in bytes; git's own limit for attributes."""
ANY_BYTES = 1024 * _MB
"""Largest size, in bytes, of a git file that a branch's short name can also name, such as `index`.
"""
_MOST_CONFIGS = 200
"""The most configs to check; each counts once, even if several others include it."""
CONFIG_BYTES = 1_000_000
"""Bytes to read of a config here; libgit2 reads all of it."""
_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)[^\]]*\]")
_PATH = re.compile(r"\s*path\s*=\s*(.*?)\s*$", re.IGNORECASE)
_REMARK = re.compile(r"\s[#;]")
READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open a file that may be a pipe, without waiting for its writer."""


def refuse_special_files(root: str, git_dir: str) -> None:
    """Refuses a repository with git files that would block or fill the memory when opened.

    Costs one stat of each of a dozen files. Configs are read when they changed.

    Args:
        root: the place, as messages name it.
        git_dir: of the worktree.

    Raises:
        UnsupportedRepository: a file is a pipe, a socket or a device, or far too large.
    """
    for name, most in _OWN.items():
        _checked_stat(root, f"{git_dir}/{name}", most)
    common_dir = shared_dir(git_dir)
    for name, most in _SHARED.items():
        _checked_stat(root, f"{common_dir}/{name}", most)
    _check_configs(root, [f"{common_dir}/config", *users_configs()])


def refuse_special_file(root: str, file: str, most: int) -> None:
    """Refuses one special file, or a file of more than `most` bytes."""
    _checked_stat(root, file, most)


def refuse_special_ref(root: str, common_dir: str, name: str) -> None:
    """Refuses special files of a ref, and of the refs that it points to.

    Args:
        root: the place, as messages name it.
        common_dir: where the repository keeps its refs.
        name: whole, such as `refs/heads/main`; it may not exist.
    """
    for _ in range(_MOST_NAMES_OF_A_REF):
        file = os.path.join(common_dir, name)
        status = _checked_stat(root, file, REF_BYTES)
        if status is None or stat.S_ISDIR(status.st_mode):
            return
        try:
            text = read_plain(file, REF_BYTES)
        except OSError:
            return
        if not text.startswith(_NAME_OF_A_REF):
            return
        name = os.fsdecode(text.removeprefix(_NAME_OF_A_REF).strip())


def read_plain(file: str, most: int) -> bytes:
    """Returns the first `most` bytes of a file; nothing for a pipe, which would block.

    Raises:
        OSError: it cannot be read.
    """
    descriptor = os.open(file, READ)
    try:
        return os.read(descriptor, most)
    except BlockingIOError:
        return b""
    finally:
        os.close(descriptor)


def users_configs() -> tuple[str, ...]:
    """Returns the configs of system and user. Like libgit2, it ignores variables."""
    home = os.path.expanduser("~")
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return ("/etc/gitconfig", f"{home}/.gitconfig", f"{xdg}/git/config")


def _checked_stat(root: str, file: str, most: int) -> os.stat_result | None:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(status.st_mode) and status.st_size > most:
        why = f"{file!r} has {status.st_size:,} bytes, but at most {most:,} are read"
        raise UnsupportedRepository(root, why, "run `git status` there and repair or remove it")
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return status
    if stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev:
        return None
    raise UnsupportedRepository(
        root, f"{file!r} is a pipe or device", "put a file in its place, or remove it"
    )


def _check_configs(root: str, files: list[str]) -> None:
    seen: set[str] = set()
    while files and len(seen) < _MOST_CONFIGS:
        file = files.pop()
        if file in seen:
            continue
        seen.add(file)
        status = _checked_stat(root, file, _CONFIG_LIMIT)
        if status is not None:
            state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            files += _included(file, state)


@lru_cache(maxsize=64)
def _included(file: str, state: tuple[int, int, int, int]) -> tuple[str, ...]:
    """Returns the files that a config includes under any condition. `state` is a cache key."""
    try:
        text = read_plain(file, CONFIG_BYTES)
    except OSError:
        return ()
    if b"include" not in text.lower():
        return ()
    return tuple(_paths_in(text.decode("utf-8", "surrogateescape"), os.path.dirname(file)))


def _paths_in(text: str, folder: str) -> Iterator[str]:
    including = False
    for line in text.splitlines():
        section = _SECTION.match(line)
        if section:
            including = section.group(1).lower() in {"include", "includeif"}
        rest = line[section.end() :] if section else line
        named = _PATH.match(rest) if including else None
        if named:
            value = _REMARK.split(named.group(1))[0].replace('"', "")
            yield os.path.normpath(os.path.join(folder, os.path.expanduser(value)))
