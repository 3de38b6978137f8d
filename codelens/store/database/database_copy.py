"""A whole copy of a database that may be in use."""

from __future__ import annotations

import os
from pathlib import Path

import apsw


def copy_database(path: Path, target: Path) -> None:
    """Copy what was committed at `path` to a new file, readable by its owner alone.

    Raises:
        FileExistsError: `target` is there.
        apsw.Error: the database cannot be read.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    source, copy = apsw.Connection(str(path)), apsw.Connection(str(target))
    try:
        with copy.backup("main", source, "main") as backup:
            backup.step()
    finally:
        source.close()
        copy.close()
