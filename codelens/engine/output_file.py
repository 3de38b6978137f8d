"""Writes a file that the user named, such as an exported index."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from codelens.errors import CodelensError, DiskFull, SettingError
from codelens.home_files import is_special, unique_draft
from codelens.paths import NO_ROOM


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
        temporary = Path(unique_draft(str(target.with_name(f".{target.name}.codelens"))))
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


def not_written(file: Path, title: str, error: OSError) -> CodelensError:
    """Return the error for a file that could not be written."""
    if error.errno in NO_ROOM:
        return DiskFull(file)
    why = error.strerror or error
    return SettingError(f"cannot write the {title} {str(file)!r}: {why}; name another file")
