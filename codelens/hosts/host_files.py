"""Reads and replaces the files of hosts safely; its errors name the file and what to do."""

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
    """A host cannot be configured, or its configuration cannot be removed."""


class NotRead(HostError):
    """A file cannot be read; nothing was changed."""

    def __init__(self, path: PurePath, why: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be read: {why}; it was left unchanged")


class NotEditable(HostError):
    """A file cannot be edited safely; nothing was changed."""

    def __init__(self, path: PurePath, why: str, remedy: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}; it was left unchanged, {remedy}")


class NotWritten(HostError):
    """A file cannot be written; its content is unchanged."""

    def __init__(self, path: PurePath, why: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be written: {why}; it was left unchanged")


class Overtaken(HostError):
    """Another program wrote a file after it was read; nothing was changed."""

    def __init__(self, path: PurePath) -> None:
        self.path = path
        super().__init__(
            f"another program keeps writing {path}; it was left unchanged; close that program "
            "and try again"
        )


class InstallRunning(HostError):
    """Another install or uninstall is running; nothing was changed."""

    def __init__(self, lock: PurePath) -> None:
        super().__init__(
            f"another codelens install or uninstall has locked {lock}; nothing was changed; try "
            "again when it has finished"
        )


class NoLauncher(HostError):
    """No command was found that a host could start."""


# Reads and replaces files that belong to other programs.
#
# A temporary file in the same folder is written, read back, and renamed to the target, so that no
# reader ever sees half of it. For a symbolic link, its target is replaced. Mode and owner are kept.

LARGEST = 32 * 1024 * 1024
"""Maximum size in bytes; no configuration is larger, and editing takes ten times the memory."""

_BESIDE = ".codelens"


def real(path: Path) -> Path:
    """The target of `path` through symbolic links; it need not exist.

    Raises:
        NotRead: the links form a loop.
    """
    try:
        return (
            path.resolve(strict=False) if path.is_symlink() else path.parent.resolve() / path.name
        )
    except RuntimeError as error:
        raise NotRead(path, "its symbolic links form a loop") from error
    except OSError as error:
        raise NotRead(path, _reason(error)) from error


def read(path: Path) -> bytes | None:
    """The bytes of a file; None if it does not exist.

    Raises:
        NotRead: it is not a file, is too large, or cannot be read.
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
        raise NotRead(path, _reason(error)) from error


def write(
    path: Path,
    data: bytes,
    *,
    onto: bytes | Literal["anything"] | None = "anything",
    private: bool = False,
) -> None:
    """Write a file atomically.

    Args:
        path: the real file.
        data: the new content.
        onto: the expected old content; None if the file does not exist.
        private: whether only the owner may read a new file.

    Raises:
        Overtaken: the file has another content; it is unchanged.
        NotWritten: writing failed; the file is unchanged and no new folder remains.
    """
    paths: list[Path] = []
    temporary: Path | None = None
    try:
        before = _stat(path)
        # Renaming would work anyway, but the user made the file read-only on purpose.
        if before is not None and not (before.st_mode & 0o222 and os.access(path, os.W_OK)):
            raise PermissionError(errno.EACCES, "the file is read-only")
        paths = _make_folders(path)
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_BESIDE, dir=path.parent)
        temporary = Path(name)
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if temporary.read_bytes() != data:
            raise OSError(errno.EIO, "the file does not read back as it was written")
        if before is not None or not private:
            _adopt(temporary, before)
        # Programs save their settings at any time. A race remains between the last check and the
        # rename; checking `_stamp` last keeps it short, because reading takes longer.
        if onto != "anything":
            stamp = _stamp(path)
            if _current_bytes(path) != onto or _stamp(path) != stamp:
                raise Overtaken(path)
        temporary.replace(path)
    except (OSError, Overtaken) as error:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()
        remove_empty(paths)
        if isinstance(error, Overtaken):
            raise
        raise NotWritten(path, _reason(error)) from error


def others_read(path: Path) -> bool:
    """Whether the mode of a file lets users other than its owner read it."""
    status = _stat(path) if os.name == "posix" else None
    return status is not None and bool(status.st_mode & 0o044)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    status = _stat(path)
    return None if status is None else (status.st_ino, status.st_mtime_ns, status.st_size)


def _current_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def remove(path: Path, *, holding: bytes | None = None) -> None:
    """Delete a file.

    Args:
        path: the file; it need not exist.
        holding: the expected content; None: any.

    Raises:
        Overtaken: the file has another content; it is not deleted.
        NotWritten: it cannot be deleted.
    """
    try:
        if holding is not None and _current_bytes(path) not in (None, holding):
            raise Overtaken(path)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise NotWritten(path, _reason(error)) from error


def remove_empty(folders: list[Path]) -> None:
    """Delete the empty folders among these, innermost first."""
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def sweep(path: Path) -> None:
    """Delete temporary files of earlier `write`s of this file whose process was killed."""
    _sweep(path.parent, f".{glob.escape(path.name)}.????????{_BESIDE}")


def sweep_all(folder: Path) -> None:
    """Delete the temporary files of earlier `write`s to a folder that only we write to."""
    _sweep(folder, f".*.????????{_BESIDE}")


def _sweep(folder: Path, pattern: str) -> None:
    with suppress(OSError):
        for left in folder.glob(pattern):
            left.unlink()


def missing_folders(path: Path) -> list[Path]:
    """The folders that a `write` of this file would create, outermost first."""
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
    """Give the new file the mode and the owner of the old one; without one, the defaults."""
    if before is None:
        umask = os.umask(0)
        os.umask(umask)
        fresh.chmod(0o666 & ~umask)
        return
    fresh.chmod(before.st_mode & 0o7777)
    if hasattr(os, "chown"):
        now = fresh.stat()
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            # Only members of a group can set it; the owner is the current user in this case.
            with suppress(PermissionError):
                os.chown(fresh, before.st_uid, before.st_gid)


def _reason(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "no space left on the disk"
    return (error.strerror or str(error)).lower()
