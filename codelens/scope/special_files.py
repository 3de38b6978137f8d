"""Files of git's that must not be opened: pipes, devices, and files that are far too large.

libgit2 opens what it finds and reads it whole, and so does git. A pipe keeps whoever opens it
waiting for a writer that never comes; a `gitdir` of 3 GB takes 3 GB of memory. Both are refused
before anything is opened. Nothing is read for that but the configs, which may include others.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from codelens.errors import UnsupportedRepository
from codelens.scope.worktree_location import shared_dir

_KB, _MB = 1024, 1024 * 1024
_CONFIG_LIMIT = 16 * _MB
_OWN: Mapping[str, int] = {
    # More is no HEAD; libgit2 would take a minute for what it cannot use.
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
    # libgit2 maps it and reads of it what it needs.
    "objects/pack/multi-pack-index": sys.maxsize,
    "objects/info/commit-graph": sys.maxsize,
    "objects/info/commit-graphs/commit-graph-chain": 1 * _MB,
}
"""Files by name, with the most bytes that one may have."""
REF_BYTES = 64 * _KB
"""The most bytes of the file of one ref."""
_NAME_OF_A_REF = b"ref:"
_MOST_NAMES_OF_A_REF = 10
"""A symbolic ref may name another one; git follows five, libgit2 ten."""
LOG_BYTES = 64 * _MB
"""The most bytes of the log of a ref; some 400,000 changes."""
BLOB_BYTES = 128 * _MB
"""The most bytes of a blob that is read: a loose one of 3 MB may hold 3 GB."""
RULES_BYTES = 100 * _MB
"""The most bytes of a file of ignore rules or attributes; git's own limit for attributes."""
ANY_BYTES = 1024 * _MB
"""The most bytes of a file of git's that a ref may be mistaken for, such as `index`."""
_MOST_CONFIGS = 200
"""Each is looked at once, whoever includes it; git follows includes ten deep."""
CONFIG_BYTES = 1_000_000
"""The most bytes that are read of a config here; libgit2 reads all."""
_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)[^\]]*\]")
_PATH = re.compile(r"\s*path\s*=\s*(.*?)\s*$", re.IGNORECASE)
_REMARK = re.compile(r"\s[#;]")
READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open a file that may be a pipe, without waiting for its writer."""


def refuse_special_files(root: str, git_dir: str) -> None:
    """Refuse a repository where opening what git keeps would wait, or fill the memory.

    Costs one look at each of a dozen files; configs are read when they changed.

    Args:
        root: the place, as messages name it.
        git_dir: of the worktree.

    Raises:
        UnsupportedRepository: one of the files is a pipe, a socket or a device, or far too large.
    """
    for name, most in _OWN.items():
        _look_at(root, f"{git_dir}/{name}", most)
    common_dir = shared_dir(git_dir)
    for name, most in _SHARED.items():
        _look_at(root, f"{common_dir}/{name}", most)
    _look_at_configs(root, [f"{common_dir}/config", *users_configs()])


def refuse_special_file(root: str, file: str, most: int) -> None:
    """The same for one file, of at most so many bytes."""
    _look_at(root, file, most)


def refuse_special_ref(root: str, common_dir: str, name: str) -> None:
    """The same for the file of a ref, and of the refs that it is a name of.

    Args:
        root: the place, as messages name it.
        common_dir: where the repository keeps its refs.
        name: whole, such as `refs/heads/main`; it may not be there.
    """
    for _ in range(_MOST_NAMES_OF_A_REF):
        file = os.path.join(common_dir, name)
        status = _look_at(root, file, REF_BYTES)
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
    """The first `most` bytes of a file; nothing for a pipe, which would keep its opener waiting.

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
    """The system's and the user's configs, as libgit2 has them, which minds no variable."""
    home = os.path.expanduser("~")
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return ("/etc/gitconfig", f"{home}/.gitconfig", f"{xdg}/git/config")


def _look_at(root: str, file: str, most: int) -> os.stat_result | None:
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


def _look_at_configs(root: str, files: list[str]) -> None:
    seen: set[str] = set()
    while files and len(seen) < _MOST_CONFIGS:
        file = files.pop()
        if file in seen:
            continue
        seen.add(file)
        status = _look_at(root, file, _CONFIG_LIMIT)
        if status is not None:
            state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            files += _included(file, state)


@lru_cache(maxsize=64)
def _included(file: str, state: tuple[int, int, int, int]) -> tuple[str, ...]:
    """Files that a config includes, under whatever condition; read anew when `state` changes."""
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
