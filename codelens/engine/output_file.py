"""Writes a file that the user named, such as an exported index."""

from __future__ import annotations

import errno
import glob
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from codelens.errors import CodelensError, DiskFull, SettingError
from codelens.home_files import is_special
from codelens.paths import NO_ROOM

_DRAFT = ".codelens-draft"
_DRAFT_S = 3600


@contextmanager
def output_file(file: Path, title: str) -> Generator[BinaryIO]:
    """Open a file for writing; it appears whole, or not at all.

    A link is followed. A pipe or a device is written to: it must not become a file.

    Args:
        file: overwritten if it exists.
        title: what the file is, as messages call it.

    Raises:
        DiskFull: there is no room.
        SettingError: the file cannot be written.
    """
    try:
        if is_special(file):
            with file.open("wb") as out:
                yield out
            return
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        target = Path(os.path.realpath(file))
        _sweep(target)
        unique = f"{os.getpid()}-{time.time_ns()}"
        temporary = target.with_name(f".{target.name}.{unique}{_DRAFT}")
        out = temporary.open("xb")
        try:
            # What is left in its buffer may not fit on the disk.
            with out:
                yield out
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise not_written(file, title, error) from error


def _sweep(target: Path) -> None:
    """Remove the drafts of a file that killed processes left."""
    with suppress(OSError):
        for draft in target.parent.glob(f".{glob.escape(target.name)}.*-*{_DRAFT}"):
            if time.time() - draft.lstat().st_mtime > _DRAFT_S:
                draft.unlink()


def not_written(file: Path, title: str, error: OSError) -> CodelensError:
    """Return the error for a file that could not be written."""
    if error.errno in NO_ROOM:
        return DiskFull(file)
    why = error.strerror or error
    return SettingError(f"cannot write the {title} {str(file)!r}: {why}; name another file")
