"""Reading and replacing files that belong to others.

A file is written beside its target, read back, and renamed over it, so that no reader ever sees
half of it. A symbolic link stays: what it leads to is replaced. Mode and owner are kept.
"""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from codelens.hosts.faults import NotRead, NotWritten

LARGEST = 32 * 1024 * 1024
"""Bytes; no configuration is larger, and editing takes some ten times as much memory."""


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
        raise NotRead(path, "its symbolic links go in a circle") from error
    except OSError as error:
        raise NotRead(path, _why(error)) from error


def read(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none.

    Raises:
        NotRead: it is no file, too large, or may not be read.
    """
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):
            raise NotRead(path, "it is no regular file")
        if found.st_size > LARGEST:
            raise NotRead(path, f"it is larger than {LARGEST >> 20} MB")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotRead(path, _why(error)) from error


def write(path: Path, data: bytes) -> list[Path]:
    """Put `data` into a file, whole or not at all.

    Returns:
        The folders that had to be made, outermost first.

    Raises:
        NotWritten: it failed; the file is as it was and no folder is left behind.
    """
    made: list[Path] = []
    beside: Path | None = None
    try:
        before = _stat(path)
        # Renaming over it would work all the same; whoever set the mode did not want that.
        if before is not None and not (before.st_mode & 0o222 and os.access(path, os.W_OK)):
            raise PermissionError(errno.EACCES, "the file is read-only")
        made = _make_folders(path.parent)
        number, name = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=".codelens", dir=path.parent
        )
        beside = Path(name)
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if beside.read_bytes() != data:
            raise OSError(errno.EIO, "what was written reads back differently")
        _adopt(beside, before)
        beside.replace(path)
    except OSError as error:
        if beside is not None:
            with suppress(OSError):
                beside.unlink()
        remove_empty(made)
        raise NotWritten(path, _why(error)) from error
    return made


def remove(path: Path) -> None:
    """Delete a file.

    Raises:
        NotWritten: it failed.
    """
    try:
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


def _make_folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    for one in reversed(missing):
        try:
            one.mkdir()
        except OSError:
            remove_empty(made)
            raise
        made.append(one)
    return made


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
