"""Errors that nobody expects and what was found in the index then: `index-ID.db.unexplained`.

The index was decoded and found sound, or it was damaged and set aside. While that is noted, for a
day and for a week, an error from the same place is told, and nothing is decoded or rebuilt for it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from codelens.small_files import read_small, replace_file
from codelens.store.database.database_recovery import KEPT_S

SOUND, DAMAGED = "sound", "damaged"
_KEPT_S = {SOUND: 86_400, DAMAGED: KEPT_S}
_MOST_BYTES = 20_000
_MOST_NOTED = 50


def file_of(path: Path) -> Path:
    """The file beside an index."""
    return path.with_name(f"{path.name}.unexplained")


def outcomes(path: Path) -> dict[str, str]:
    """By where errors came from: `SOUND` or `DAMAGED`; nothing where it cannot be read."""
    return {origin: outcome for origin, (_, outcome) in _noted(path).items()}


def note(path: Path, origin: str, outcome: str) -> None:
    """Note where an error came from, and what was found.

    Raises:
        OSError: it cannot be written.
    """
    noted = _noted(path) | {origin: (int(time.time()), outcome)}
    latest = list(noted.items())[-_MOST_NOTED:]
    text = "".join(f"{when_s} {known} {place}\n" for place, (when_s, known) in latest)
    file = str(file_of(path))
    replace_file(file, text.encode(), beside=f"{file}.new-{os.getpid()}")


def _noted(path: Path) -> dict[str, tuple[int, str]]:
    try:
        text = read_small(file_of(path), _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    now = time.time()
    noted: dict[str, tuple[int, str]] = {}
    for line in text.splitlines():
        when, _, rest = line.partition(" ")
        outcome, _, origin = rest.partition(" ")
        if when.isdecimal() and abs(now - int(when)) < _KEPT_S.get(outcome, 0):
            noted[origin] = int(when), outcome
    return noted
