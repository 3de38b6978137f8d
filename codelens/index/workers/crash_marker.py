"""Remembers which text is being extracted in this process, in case it ends the process.

A fault in native code takes a small job's process with it, before anything can be caught. So the
digest of the text in hand is kept in a file beside the index,
`index-ID.db.extracting-PID-START-NUMBER`. A later run that finds such a file of a dead process
extracts that one text in a worker, where a crash or a hang costs the worker alone. The file goes
when a worker came through with the text, or when nobody has met the text for a week.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from codelens.small_files import open_regular
from codelens.store.database.writer_lease import process_start

_DIGEST_BYTES = 16
_KEPT_S = 7 * 86_400
"""A text that has not been seen again for so long is gone."""
_numbers = itertools.count()
"""The threads of a process have a mark each."""


class CrashMark:
    """The marks of one index: those of the dead, and this process's own. Close it."""

    def __init__(self, index: Path) -> None:
        pid = os.getpid()
        own = f"{index.name}.extracting-{pid}-{process_start(pid)}-{next(_numbers)}"
        self._own = index.with_name(own)
        self._descriptor: int | None = None
        self._dead = _dead_marks(index)

    def blames(self, data: bytes) -> bool:
        """A process ended while it extracted this text; for another week it is held against it."""
        if not self._dead:
            return False
        digest = _digest(data)
        marks = [file for file, mark in self._dead.items() if mark == digest]
        for file in marks:
            with suppress(OSError):
                os.utime(file)
        return bool(marks)

    def begin(self, data: bytes) -> None:
        """This text is in hand from now on; best effort, where nothing can be written."""
        with suppress(OSError):
            if self._descriptor is None:
                flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
                self._descriptor = os.open(self._own, flags, 0o600)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, _digest(data))

    def forgive(self, data: bytes) -> None:
        """The text was extracted elsewhere, and came through."""
        digest = _digest(data)
        for file in [file for file, mark in self._dead.items() if mark == digest]:
            file.unlink(missing_ok=True)
            del self._dead[file]

    def close(self) -> None:
        """Nothing is in hand any more."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._own.unlink(missing_ok=True)


def dead_marks(index: Path) -> list[Path]:
    """Marks of processes that ended in the midst of a text."""
    return list(_dead_marks(index))


def _dead_marks(index: Path) -> dict[Path, bytes]:
    marks_by_file: dict[Path, bytes] = {}
    start = f"{index.name}.extracting-"
    try:
        names = [name for name in os.listdir(index.parent) if name.startswith(start)]
    except OSError:
        return marks_by_file
    for name in names:
        pid, _, rest = name.removeprefix(start).partition("-")
        began = rest.partition("-")[0]
        if pid.isdigit() and began and process_start(int(pid)) == began:
            continue
        file = index.with_name(name)
        with suppress(OSError):
            with open_regular(file) as stream:
                digest = stream.read(_DIGEST_BYTES + 1)
            if len(digest) != _DIGEST_BYTES or time.time() - file.stat().st_mtime > _KEPT_S:
                file.unlink(missing_ok=True)
            else:
                marks_by_file[file] = digest
    return marks_by_file


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()
