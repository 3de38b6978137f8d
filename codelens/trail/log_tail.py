"""The last lines of a log that several processes append to."""

from __future__ import annotations

import os

from codelens import file_owner
from codelens.small_files import open_regular


def tail_lines(path: str, most: int) -> list[bytes]:
    """The whole lines in the last `most` bytes of a log; none where it cannot be read.

    A log whose first line says that it is of something else was copied here: it is set aside.
    """
    try:
        with open_regular(path) as file:
            other = file_owner.other_head(path, file.read(file_owner.HEAD_BYTES))
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - most, 0))
            if size > most:
                file.readline()
            data = file.read(most)
    except OSError:
        return []
    if other:
        file_owner.set_aside(path, file_owner.written_for(other))
        return []
    return data.split(b"\n")
