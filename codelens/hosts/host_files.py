"""What can go wrong with a file of a host; each names the file and what to do."""

from __future__ import annotations

import errno
import glob
import os
import tempfile
from contextlib import suppress
from pathlib import Path, PurePath
from stat import S_ISREG
from typing import Literal

from codelens.errors import CodelensError


class HostError(CodelensError):
    """A host cannot be wired, or its wiring not be taken out."""


class NotRead(HostError):
    """A file cannot be read; nothing was changed."""

    def __init__(self, path: PurePath, why: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be read: {why}; it was left unchanged")


class LeftAlone(HostError):
    """A file cannot be edited safely; nothing was changed."""

    def __init__(self, path: PurePath, why: str, remedy: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}; it was left unchanged, {remedy}")


class NotWritten(HostError):
    """A file cannot be written; what was there is still there."""

    def __init__(self, path: PurePath, why: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be written: {why}; it was left unchanged")


class Overtaken(HostError):
    """Another program wrote a file after it was read; nothing was changed."""

    def __init__(self, path: PurePath) -> None:
        self.path = path
        super().__init__(
            f"{path} is constantly being written by another program; it was left unchanged; "
            "close that program and try again"
        )


class TurnTaken(HostError):
    """Another install or uninstall is at work; nothing was changed."""

    def __init__(self, lock: PurePath) -> None:
        super().__init__(
            f"another codelens install or uninstall holds {lock}; nothing was changed; try "
            "again when it has finished"
        )


class NoLauncher(HostError):
    """There is no command that a host could start."""


# Reading and replacing files that belong to others.
#
# A file is written beside its target, read back, and renamed over it, so that no reader ever sees
# half of it. A symbolic link stays: what it leads to is replaced. Mode and owner are kept.

LARGEST = 32 * 1024 * 1024
"""Bytes; no configuration is larger, and editing takes some ten times as much memory."""

_BESIDE = ".codelens"


def real(path: Path) -> Path:
    """What `path` leads to through symbolic links; the target need not exist.

    Raises:
        NotRead: the links go in a circle.
    """
    try:
        return (
            path.resolve(strict=False) if path.is_symlink() else path.parent.resolve() / path.name
        )
    except RuntimeError as error:
        raise NotRead(path, "its symbolic links form a loop") from error
    except OSError as error:
        raise NotRead(path, _why(error)) from error


def read(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none.

    Raises:
        NotRead: it is no file, too large, or may not be read.
    """
    try:
        status = path.stat()
        if not S_ISREG(status.st_mode):
            raise NotRead(path, "it is not a regular file")
        if status.st_size > LARGEST:
            raise NotRead(path, f"it is larger than {LARGEST >> 20} MB")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotRead(path, _why(error)) from error


def write(
    path: Path,
    data: bytes,
    *,
    onto: bytes | Literal["anything"] | None = "anything",
    private: bool = False,
) -> None:
    """Put `data` into a file, whole or not at all.

    Args:
        path: the real file.
        data: what it shall hold.
        onto: what it must hold up to that moment; None for a file that is not there.
        private: a file that was not there is for its owner alone.

    Raises:
        Overtaken: it holds something else; it stays so.
        NotWritten: it failed; the file is as it was and no folder is left behind.
    """
    paths: list[Path] = []
    beside: Path | None = None
    try:
        before = _stat(path)
        # Renaming over it would work all the same; whoever set the mode did not want that.
        if before is not None and not (before.st_mode & 0o222 and os.access(path, os.W_OK)):
            raise PermissionError(errno.EACCES, "the file is read-only")
        paths = _make_folders(path)
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_BESIDE, dir=path.parent)
        beside = Path(name)
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if beside.read_bytes() != data:
            raise OSError(errno.EIO, "what was written does not read back the same")
        if before is not None or not private:
            _adopt(beside, before)
        # Programs save their own settings at any time. What is left is the time between the last
        # look and the rename: `_stamp` is looked at again because reading takes longer.
        if onto != "anything":
            stamp = _stamp(path)
            if _now(path) != onto or _stamp(path) != stamp:
                raise Overtaken(path)
        beside.replace(path)
    except (OSError, Overtaken) as error:
        if beside is not None:
            with suppress(OSError):
                beside.unlink()
        remove_empty(paths)
        if isinstance(error, Overtaken):
            raise
        raise NotWritten(path, _why(error)) from error


def others_read(path: Path) -> bool:
    """Whether users other than its owner may read a file, as far as its mode tells."""
    status = _stat(path) if os.name == "posix" else None
    return status is not None and bool(status.st_mode & 0o044)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    status = _stat(path)
    return None if status is None else (status.st_ino, status.st_mtime_ns, status.st_size)


def _now(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def remove(path: Path, *, holding: bytes | None = None) -> None:
    """Delete a file.

    Args:
        path: the file; one that is not there is fine.
        holding: what it must hold up to that moment, if that matters.

    Raises:
        Overtaken: it holds something else; it stays.
        NotWritten: it failed.
    """
    try:
        if holding is not None and _now(path) not in (None, holding):
            raise Overtaken(path)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise NotWritten(path, _why(error)) from error


def remove_empty(folders: list[Path]) -> None:
    """Delete folders, innermost first, as far as they are empty."""
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def sweep(path: Path) -> None:
    """Delete what a `write` of this file left beside it whose process was killed."""
    with suppress(OSError):
        for left in path.parent.glob(f".{glob.escape(path.name)}.????????{_BESIDE}"):
            left.unlink()


def missing_folders(path: Path) -> list[Path]:
    """The folders that a `write` of this file would have to make, outermost first."""
    missing: list[Path] = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    return missing[::-1]


def _make_folders(path: Path) -> list[Path]:
    paths: list[Path] = []
    for missing_folder in missing_folders(path):
        try:
            missing_folder.mkdir()
        except OSError:
            remove_empty(paths)
            raise
        paths.append(missing_folder)
    return paths


def _adopt(fresh: Path, before: os.stat_result | None) -> None:
    """Give the new file the mode and the owner of the old one, or those of any new file."""
    if before is None:
        umask = os.umask(0)
        os.umask(umask)
        fresh.chmod(0o666 & ~umask)
        return
    fresh.chmod(before.st_mode & 0o7777)
    if hasattr(os, "chown"):
        now = fresh.stat()
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            # A group that we are not in cannot be kept; the owner is then us in any case.
            with suppress(PermissionError):
                os.chown(fresh, before.st_uid, before.st_gid)


def _why(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "no space left on the disk"
    return (error.strerror or str(error)).lower()
